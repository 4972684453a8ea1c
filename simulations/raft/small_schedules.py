"""Schedules of one or two faults without noise: if noise with many decisions has violated a property, one delayed
message or one node that dies at the right moment often violates it too.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from simulations.faults.table import Scale
from simulations.raft.swarm import QUICK, draw_fault, timeouts_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulations.plans.plan import Plan

CHAOS_MS = 700
"""Long enough for an election, a fault and its consequences at the quick pace."""

WRITES_MS = 20
POINTS_SHARE = 0.5

# Kinds with their weights; a delayed message is the most useful.
KINDS = (
    ("hold", 30), ("isolate", 20), ("kill", 10), ("pause", 8), ("part", 8), ("power", 6), ("reset", 4), ("hang", 3),
    ("drop", 4),
)  # fmt: skip


def tiny(plan: Plan) -> Iterator[Plan]:
    """Endless plans with two faults and one fault in turn, on the quorum of `plan` at the quick pace."""
    rng = Random(f"tiny {plan.seed}")
    every_ms = plan.load.every_ms if 0 < plan.load.every_ms <= WRITES_MS else WRITES_MS
    base = replace(
        plan, noise_ms=[0, 0], noise_of=[], chaos_ms=CHAOS_MS, config={**plan.config, **QUICK.config},
        load=replace(plan.load, every_ms=every_ms), faults=[],
    )  # fmt: skip
    scale = Scale(base.ids, base.voter_ids, timeouts_ms(base), CHAOS_MS)
    while True:
        for count in (2, 1):
            yield replace(base, faults=[draw_fault(rng, scale, KINDS, POINTS_SHARE) for _ in range(count)])
