"""Plans of the node level: those of clusters, with what their sockets are like, and with rogue clients."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulations.cluster.plan import ClusterPlan


@dataclass(slots=True)
class SocketPlan(ClusterPlan):
    """window: bytes under way on one way of a connection. segments: how writes come apart, see `network`. like_uvloop:
    how reads are handed over. bounds: of `raft.network.server.Server`, by the names of its arguments.
    forwards: whether admin clients ask through a broker.
    """

    window: int = 256 << 10
    segments: str = "whole"
    like_uvloop: bool = True
    forwards: bool = False
    bounds: dict[str, int] = field(default_factory=dict)
