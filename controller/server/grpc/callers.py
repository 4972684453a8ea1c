"""Who may watch: clients by the names in their certificates, as `kraft.grpc.allow` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.config.watch_service import ANYONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Kind of a name in the configuration -> where gRPC has such names of a verified certificate.
KINDS = {
    "CN": "x509_common_name",
    "DNS": "peer_dns",
    "URI": "peer_uri",
    "EMAIL": "peer_email",
    "IP": "peer_ip",
}


def names_of(context: Mapping[str, Iterable[bytes]]) -> list[str]:
    """The names of a verified client, each with its kind: `CN=ops`, `DNS=watch.example.org`; none without TLS."""
    return [
        f"{kind}={name.decode('utf-8', 'replace')}" for kind, where in KINDS.items() for name in context.get(where, ())
    ]


def may_watch(allowed: Iterable[str], names: Iterable[str]) -> bool:
    """Whether one of the names is allowed. An empty list: the listener requires no client certificates."""
    known = set(allowed)
    return not known or ANYONE in known or not known.isdisjoint(names)
