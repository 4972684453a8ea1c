"""Where a port of our own listens: `host:port`, `[address]:port`, or `:port` for all addresses of the machine."""

from __future__ import annotations

from controller.config.values.definition import Check, Value, invalid
from controller.config.values.listeners import host_and_port

FORM = "It must be host:port, [address]:port, or :port for all addresses of this machine"


def parse_address(text: str) -> tuple[str, int] | None:
    """Host, empty for all addresses, and port, 0 for any; None if the text is not such an address."""
    host, _, port = text.rpartition(":")
    if not host:
        # Any host, so that the parser of listeners checks the port.
        parsed = host_and_port(f"all:{port}") if text.startswith(":") else None
        return None if parsed is None else ("", parsed[1])
    return None if "/" in text else host_and_port(text)


class Address(Check):
    """A check that a text is an address to listen on; null is valid."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        if value is None:
            return
        assert isinstance(value, str), (name, value)
        if parse_address(value) is None:
            raise invalid(name, value, FORM)

    def __str__(self) -> str:
        return "host:port"
