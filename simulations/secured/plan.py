"""Plans of the secured level: those of nodes, with a security protocol and a default of the authorizer."""

from __future__ import annotations

from dataclasses import dataclass

from simulations.sockets.plan import SocketPlan

PROTOCOLS = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(slots=True)
class SecuredPlan(SocketPlan):
    """protocol: of the listener; mechanism: by which processes authenticate to each other, where it has SASL.
    reauth_ms: connections.max.reauth.ms, 0 for never; delay_ms: before the answer to a failed authentication.
    allows_without_acls: allow.everyone.if.no.acl.found.
    """

    protocol: str = "SSL"
    mechanism: str = "PLAIN"
    reauth_ms: int = 0
    delay_ms: int = 20
    allows_without_acls: bool = False
