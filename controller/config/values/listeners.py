"""Listeners: their URIs, names, security protocols, and what must differ between them."""

from __future__ import annotations

import re

from controller.config.values.definition import ILLEGAL_ARGUMENT, KAFKA_EXCEPTION, parse_map
from records.java.config_error import ConfigError
from records.java.java_values import java_text

PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
PROTOCOL_MAP = "listener.security.protocol.map"
WILDCARD_HOST = "0.0.0.0"  # noqa: S104 - a text to compare with; nothing is bound here

_LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
_HOST_AND_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")


class Endpoint:
    """A listener's bound or advertised address. name: upper case; protocol: one of PROTOCOLS; host: None for any."""

    __slots__ = ("host", "name", "port", "protocol")

    def __init__(self, name: str, protocol: str, host: str | None, port: int) -> None:
        self.name = name
        self.protocol = protocol
        self.host = host
        self.port = port

    def _key(self) -> tuple[str, str, str | None, int]:
        return self.name, self.protocol, self.host, self.port

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Endpoint) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Endpoint{self._key()}"

    def __str__(self) -> str:
        host = self.host or ""
        return f"{self.name}://{f'[{host}]' if ':' in host else host}:{self.port}"


def host_and_port(text: str) -> tuple[str, int] | None:
    """The parts of `host:port`, `[address]:port` or `scheme://host:port`; None if the text has none of these forms."""
    match = _HOST_AND_PORT.fullmatch(text)
    if match is None or len(match[2]) > 10 or int(match[2]) > 65535:
        return None
    return match[1], int(match[2])


def normalise(name: str) -> str:
    """A listener name in upper case. Raises ConfigError if it is blank."""
    if not name.strip():
        raise ConfigError("The provided listener name is null or empty string")
    return name.upper()


def security_protocols(
    text: str, is_set: bool, listeners: tuple[str, ...], controllers: tuple[str, ...]
) -> dict[str, str]:
    """Listener name -> security protocol, with what stock adds where the map is not set.

    text: of `listener.security.protocol.map`, is_set: whether by the user; controllers: `controller.listener.names`.
    Raises ConfigError.
    """
    protocols = {
        normalise(name): parse_protocol(protocol, PROTOCOL_MAP)
        for name, protocol in parse_map(PROTOCOL_MAP, text).items()
    }
    if is_set or any(_is_secure(name) for name in controllers):
        return protocols
    if any(_is_secure(_name_of(listener)) for listener in listeners):
        return protocols
    protocols.update({name: "PLAINTEXT" for name in controllers if name != "PLAINTEXT"})
    return protocols


def parse_protocol(text: str, key: str) -> str:
    """The security protocol of this name, in any case. Raises ConfigError, which names `key`."""
    if text.upper() not in PROTOCOLS:
        raise ConfigError(f"Invalid security protocol `{text}` defined in {key}")
    return text.upper()


def _is_secure(name: str) -> bool:
    return name in {"SSL", "SASL_SSL", "SASL_PLAINTEXT"}


def _name_of(listener: str) -> str:
    name, colon, _ = listener.partition(":")
    if not colon:
        raise ConfigError(f"Unable to parse a listener name from {listener}", KAFKA_EXCEPTION)
    return name.upper()


def parse_listeners(
    listeners: tuple[str, ...], protocols: dict[str, str], distinct_ports: bool = True
) -> tuple[Endpoint, ...]:
    """The endpoints of `listeners` or `advertised.listeners`. Raises ConfigError.

    distinct_ports: whether two may not have the same port (other than 0), unless one is IPv4 and the other IPv6.
    """
    try:
        endpoints = tuple(_parse_listener(text, protocols) for text in listeners)
        if len({endpoint.name for endpoint in endpoints}) != len(endpoints):
            raise ConfigError(f"Each listener must have a different name, listeners: {java_text(listeners)}")
        if distinct_ports:
            _check_ports(endpoints, java_text(listeners))
    except ConfigError as error:
        text = f"Error creating broker listeners from '{java_text(listeners)}': {error.text}"
        raise ConfigError(text, ILLEGAL_ARGUMENT) from error
    return endpoints


def _parse_listener(text: str, protocols: dict[str, str]) -> Endpoint:
    match = _LISTENER.fullmatch(text)
    if match is None:
        raise ConfigError(f"Unable to parse {text} to a broker endpoint")
    name, port = normalise(match[1]), match[3]
    if len(port) > 10 or not 0 <= int(port) <= 65535:
        raise ConfigError(f"port {port[:20]} of {text} is not within 0 to 65535")
    if name not in protocols:
        raise ConfigError(f"No security protocol defined for listener {name}")
    return Endpoint(name, protocols[name], match[2] or None, int(port))


def _check_ports(endpoints: tuple[Endpoint, ...], listeners: str) -> None:
    by_port: dict[int, list[Endpoint]] = {}
    for endpoint in endpoints:
        if endpoint.port != 0:
            by_port.setdefault(endpoint.port, []).append(endpoint)
    for port, sharing in by_port.items():
        if len(sharing) == 1:
            continue
        families = [_address_family(endpoint.host) for endpoint in sharing]
        if families.count(0) > 1:
            raise ConfigError(f"Each listener must have a different port, listeners: {listeners}")
        if sorted(families) in ([4, 6], [0, 4, 6], [4, 4], [6, 6], [0, 4, 4], [0, 6, 6]):
            if sorted(families) == [4, 6]:
                continue
            raise ConfigError(
                "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6, "
                f"listeners: {listeners}, port: {port}"
            )
        raise ConfigError(
            "Each listener must have a different port unless exactly one listener has an IPv4 address and the other "
            f"IPv6 address, listeners: {listeners}, port: {port}"
        )


def _address_family(host: str | None) -> int:
    """4 or 6 for an address, 0 for a name or none."""
    from ipaddress import ip_address

    try:
        return ip_address(host or "").version
    except ValueError:
        return 0
