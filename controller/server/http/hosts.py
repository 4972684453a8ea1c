"""The hosts that a request may name: a web page must not read the port by a name of its own (DNS rebinding).

A browser lets a page read what its own host name answers, and whoever owns the name can make it resolve to the address
of a node. Such a request has that name in its Host header. No page has an IP address for its name.
"""

from __future__ import annotations

import socket
from itertools import chain

from controller.config.values.addresses import parse_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from controller.config.node import NodeConfig

KEY = "kraft.http.hosts"
ANY = "*"


class Hosts:
    """The names of this port: localhost, this machine's, those of controllers in the configuration, those of KEY."""

    def __init__(self, config: NodeConfig) -> None:
        own = parse_address(config.text("kraft.http.listener") or "")
        endpoints = chain(config.listeners, config.advertised_listeners)
        full = {
            socket.gethostname(),
            *(() if own is None else (own[0],)),
            *(endpoint.host for endpoint in endpoints),
            *(host for host, _ in chain(config.voters.values(), config.bootstrap_servers)),
        }
        # `kraft-0` for kraft-0.kraft.svc.cluster.local: a name without a dot belongs to no site.
        first_labels = {name.partition(".")[0] for name in full}
        given = config.list(KEY)
        self._is_any = ANY in given
        self._names = {name.rstrip(".").lower() for name in ("localhost", *full, *first_labels, *given)} - {""}

    def has(self, host: str) -> bool:
        """Whether a request may name this `host` or `host:port`; IP addresses always, and none, as in HTTP/1.0."""
        name = host.lower()
        if name.startswith("["):
            return True  # an IPv6 address
        name = name.rpartition(":")[0] if ":" in name else name
        return self._is_any or not host or name.rstrip(".") in self._names or _is_ipv4(name)


def _is_ipv4(name: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET, name)
    except (OSError, ValueError):
        return False
    return True
