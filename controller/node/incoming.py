"""What the network tells of a request besides its body, as the cores want it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface.inputs import RequestContext

if TYPE_CHECKING:
    from raft.network.requests import Incoming
    from raft.network.server import Server


def context_of(incoming: Incoming, server: Server, now_ms: int) -> RequestContext:
    """The context of a request that came in now; of an envelope, not of what is in it."""
    return RequestContext(
        incoming.source,
        incoming.api_key,
        incoming.version,
        server.listener(incoming.source),
        now_ms,
        client_address=server.peer(incoming.source).rpartition(":")[0],
        client_id=incoming.client_id,
    )
