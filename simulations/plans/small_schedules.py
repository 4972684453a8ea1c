"""Schedules of one or two faults and no noise, drawn anew: where luck of many decisions has broken a property, one
message that is held up, or one node that is gone at the right moment, often does as well.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from simulations.faults.table import Scale
from simulations.plans.swarm import QUICK, draw_fault, timeouts_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulations.plans.plan import Plan

CHAOS_MS = 700
"""By then a quick quorum has had an election, a fault, and what comes of it."""

WRITES_MS = 20
POINTS_SHARE = 0.5

# What a person would try first: a message that is held up comes first of all.
KINDS = (
    ("hold", 30), ("isolate", 20), ("kill", 10), ("pause", 8), ("part", 8), ("power", 6), ("reset", 4), ("hang", 3),
    ("drop", 4),
)  # fmt: skip


def tiny(plan: Plan) -> Iterator[Plan]:
    """Such plans without end, of two faults and of one in turn; the quorum is that of `plan`, at a quick pace."""
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
