"""The level of raft alone with long lives: each world at Kafka's own time-outs, for half a minute and more.

Less happens in a second of these than in one of the swarm of `raft_level`, whose time-outs are short; what takes long
comes here: pauses of many time-outs, drift, retention, leaders that last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.levels.raft import FIELDS, play, read, show, simpler
from simulations.plans import swarm

if TYPE_CHECKING:
    from simulations.plans.plan import Plan

__all__ = ["FIELDS", "draw", "play", "read", "show", "simpler"]


def draw(seed: int) -> Plan:
    """The plan of a seed."""
    return swarm.draw(seed, swarm.LONG)
