"""The raft-long level: the raft level at Kafka's own timeouts, each world for half a minute and more.

Less happens in a simulated second than at the raft level, whose timeouts are short. This level is for events that take
long: pauses of many timeouts, drift, retention, stable leaders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.raft import swarm
from simulations.raft.level import FIELDS, play, read, show, simpler

if TYPE_CHECKING:
    from simulations.plans.plan import Plan

__all__ = ["FIELDS", "draw", "play", "read", "show", "simpler"]


def draw(seed: int) -> Plan:
    """The plan of a seed."""
    return swarm.draw(seed, swarm.LONG)
