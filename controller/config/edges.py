"""The keys of the HTTP port and of the watch service that limit their clients: TLS, client certificates, tokens."""

from __future__ import annotations

from typing import NamedTuple

from controller.config.values.addresses import parse_address
from records.java.config_error import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.node import NodeConfig

ANYONE = "*"
# The kinds of names that a certificate has.
KINDS = ("CN", "DNS", "URI", "EMAIL", "IP")
PLAINTEXT = "PLAINTEXT"


class Edge(NamedTuple):
    """The keys of one port of our own. prefix: what they begin with."""

    prefix: str

    @property
    def listener(self) -> str:
        return f"{self.prefix}.listener"

    @property
    def certificate(self) -> str:
        return f"{self.prefix}.tls.certificate.path"

    @property
    def key(self) -> str:
        return f"{self.prefix}.tls.key.path"

    @property
    def client_ca(self) -> str:
        return f"{self.prefix}.tls.client.ca.path"

    @property
    def allow(self) -> str:
        return f"{self.prefix}.allow"

    @property
    def token(self) -> str:
        return f"{self.prefix}.token.path"


HTTP = Edge("kraft.http")
GRPC = Edge("kraft.grpc")
EDGES = (HTTP, GRPC)


def check_edges(config: NodeConfig) -> None:
    """Raises ConfigError, with one line that says what to do, for keys of a port that contradict each other."""
    for edge in EDGES:
        if config.text(edge.listener) is not None:
            _check(config, edge)


def _check(config: NodeConfig, edge: Edge) -> None:
    certificate, key, client_ca = (config.text(name) for name in (edge.certificate, edge.key, edge.client_ca))
    if (certificate is None) != (key is None):
        given, missing = (edge.certificate, edge.key) if key is None else (edge.key, edge.certificate)
        raise ConfigError(f"{given} is set and {missing} is not: TLS needs both, and no TLS neither")
    if client_ca is not None and certificate is None:
        raise ConfigError(
            f"{edge.client_ca} is set without {edge.certificate}: only over TLS are clients asked for certificates"
        )
    allowed = config.list(edge.allow)
    if client_ca is None and allowed:
        raise ConfigError(
            f"{edge.allow} names who may call, but nobody is asked for a certificate; set {edge.client_ca}, or remove "
            f"{edge.allow}"
        )
    if client_ca is not None and not allowed:
        raise ConfigError(
            f"{edge.client_ca} is set and {edge.allow} is not: name who may call, as CN=name or DNS=name, or * for "
            "anyone whose certificate is of that authority"
        )
    for name in allowed:
        kind, _, rest = name.partition("=")
        if name != ANYONE and (kind not in KINDS or not rest):
            kinds = ", ".join(f"{one}=…" for one in KINDS)
            raise ConfigError(f"{edge.allow} has {name}: each name must be one of {kinds}, or be {ANYONE}")


def unprotected_edges(config: NodeConfig) -> list[tuple[str, str]]:
    """(key, warning in one line) of each port that anybody may call, or whose token can be read on the way, where the
    controller's listeners are secured and the port can be reached from other machines.
    """
    if all(endpoint.protocol == PLAINTEXT for endpoint in config.controller_listeners):
        return []
    edges = []
    for edge in EDGES:
        address = config.text(edge.listener)
        if address is None or is_loopback(address) or config.text(edge.client_ca) is not None:
            continue
        if config.text(edge.token) is None:
            edges.append((edge.listener, _OPEN.format(edge=edge, address=address)))
        elif config.text(edge.certificate) is None:
            edges.append((edge.listener, _READABLE.format(edge=edge, address=address)))
    return edges


_OPEN = (
    "{edge.listener}={address}: anyone who reaches this port may read the metadata, while the controller's listeners "
    "are secured; set {edge.token} or {edge.client_ca}, or listen on a loopback address"
)
_READABLE = (
    "{edge.listener}={address}: tokens pass this port in plain text; set {edge.certificate} and {edge.key}, or listen "
    "on a loopback address"
)


def is_loopback(address: str) -> bool:
    """Whether an address to listen on can be reached from this machine alone."""
    parsed = parse_address(address)
    assert parsed is not None, address
    return is_loopback_host(parsed[0])


def is_loopback_host(host: str) -> bool:
    """Whether a host is this machine. A name other than localhost counts as another machine."""
    from ipaddress import ip_address  # 0.2 MiB, which a node without such a port does not need

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
