"""Plans of the node level, drawn from a seed."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from simulations.cluster.swarm import draw as draw_cluster
from simulations.faults.table import pick
from simulations.sockets.faults import draw_envelopes, draw_fault
from simulations.sockets.network import SEGMENTS
from simulations.sockets.plan import SocketPlan
from simulations.world.streams import between, stream

if TYPE_CHECKING:
    from random import Random

# More than all regular clients open to one node.
CONNECTIONS = 70
# The share of the plans with faults in which envelopes come from a client that is not a broker of the cluster.
ENVELOPES_SHARE = 0.6


def draw(seed: int) -> SocketPlan:
    """The plan of a seed."""
    base = draw_cluster(seed)
    rng = stream(seed, "sockets plan")
    plan = SocketPlan(**{each.name: getattr(base, each.name) for each in fields(base)})
    _make_small(rng, plan)
    plan.window = pick(rng, (256 << 10, 256 << 10, 16 << 10, 2 << 10))
    plan.segments = pick(rng, (*SEGMENTS, "torn"))
    plan.like_uvloop = rng.random() < 0.5
    plan.forwards = rng.random() < 0.4
    if rng.random() < 0.5:
        plan.bounds = {
            "idle_ms_max": pick(rng, (600_000, 5_000, 2_000)),
            "held_bytes_max": pick(rng, (32 << 20, 20_000, 4_000)),
            "unsent_bytes_max": pick(rng, (32 << 20, 150_000)),
            "connections_max": pick(rng, (1 << 20, CONNECTIONS)),
        }
    if base.faults:  # plans without faults have none of these
        plan.faults += [draw_fault(rng, plan) for _ in range(between(rng, 2, 8))]
        apart = stream(seed, "sockets letters")
        if apart.random() < ENVELOPES_SHARE:
            plan.faults += draw_envelopes(apart, plan)
    return plan


def _make_small(rng: Random, plan: SocketPlan) -> None:
    """Loads with many brokers over a long time are of the controller level; here are more worlds
    with fewer messages.
    """
    before = plan.chaos_ms
    plan.chaos_ms = between(rng, 1_500, 3_500)
    for fault in plan.faults:
        fault.at_ms = fault.at_ms * plan.chaos_ms // before
    plan.brokers, plan.admins = min(plan.brokers, 2), min(plan.admins, 2)
