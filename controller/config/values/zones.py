"""The zones of controllers, as in `kraft.autopilot.zones`: a list of `id:zone`."""

from __future__ import annotations

from controller.config.values.definition import Check, Value, invalid
from records.java.java_values import parse_integer

ZONES = "kraft.autopilot.zones"


def parse_zones(entries: tuple[str, ...]) -> dict[int, str]:
    """Node id -> zone, of each `id:zone`. Raises ConfigError."""
    zones: dict[int, str] = {}
    for entry in entries:
        node, _, zone = entry.partition(":")
        number = parse_integer(node)
        if number is None or not 0 <= number < 1 << 31 or not zone:
            raise invalid(ZONES, entry, "Each entry should be in the form `{id}:{zone}`.")
        if number in zones:
            raise invalid(ZONES, ",".join(entries), "Each node should have one zone.")
        zones[number] = zone
    return zones


class Zones(Check):
    """A list of `id:zone`, or an empty one."""

    __slots__ = ()

    def __call__(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple), (name, value)
        parse_zones(value)

    def __str__(self) -> str:
        return "list of id:zone"
