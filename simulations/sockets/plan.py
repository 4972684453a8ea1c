"""Plans of the node level: those of clusters, with the properties of their sockets, and with rogue clients."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulations.plans.cluster_plan import ClusterPlan


@dataclass(slots=True)
class SocketPlan(ClusterPlan):
    """window: bytes in flight in one direction of a connection. segments: how writes are split, see `network`.
    like_uvloop: how reads are delivered. bounds: of `raft.network.server.Server`, by the names of its arguments.
    forwards: whether admin clients send requests through a broker.
    """

    window: int = 256 << 10
    segments: str = "whole"
    like_uvloop: bool = True
    forwards: bool = False
    bounds: dict[str, int] = field(default_factory=dict)
