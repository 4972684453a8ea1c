"""What a call says of its client: the names in its certificate, and its token."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Kind of a name in the configuration -> where gRPC has such names of a verified certificate.
KINDS = {"CN": "x509_common_name", "DNS": "peer_dns", "URI": "peer_uri", "EMAIL": "peer_email", "IP": "peer_ip"}
AUTHORIZATION = "authorization"


def names_of(context: Mapping[str, Iterable[bytes]]) -> list[str]:
    """The names of a verified client, each with its kind: `CN=ops`, `DNS=watch.example.org`; none without TLS."""
    return [
        f"{kind}={name.decode('utf-8', 'replace')}" for kind, where in KINDS.items() for name in context.get(where, ())
    ]


def authorization_of(metadata: Iterable[tuple[str, str | bytes]] | None) -> bytes | None:
    """The value of `authorization` in a call's metadata; None if there is none."""
    for key, value in metadata or ():
        if key == AUTHORIZATION:
            return value if isinstance(value, bytes) else value.encode()
    return None
