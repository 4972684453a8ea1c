"""Plans of the node level: those of clusters, with what their sockets are like, and with strangers on the network."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from simulations.cluster.plan import ClusterPlan
from simulations.cluster.plan import draw as draw_cluster
from simulations.faults.table import pick
from simulations.sockets.network import SEGMENTS
from simulations.streams import stream

if TYPE_CHECKING:
    from random import Random


@dataclass(slots=True)
class SocketPlan(ClusterPlan):
    """window: bytes under way on one way of a connection. segments: how writes come apart, see `network`. like_uvloop:
    how reads are handed over. bounds: of `raft.network.server.Server`, by the names of its arguments.
    """

    window: int = 256 << 10
    segments: str = "whole"
    like_uvloop: bool = True
    bounds: dict[str, int] = field(default_factory=dict)


def draw(seed: int) -> SocketPlan:
    """The plan of a seed."""
    base = draw_cluster(seed)
    luck = stream(seed, "sockets plan")
    plan = SocketPlan(**{each.name: getattr(base, each.name) for each in fields(base)})
    _draw_sockets(luck, plan)
    return plan


def _draw_sockets(luck: Random, plan: SocketPlan) -> None:
    plan.window = pick(luck, (256 << 10, 256 << 10, 16 << 10, 2 << 10))
    plan.segments = pick(luck, (*SEGMENTS, "torn"))
    plan.like_uvloop = luck.random() < 0.5
