"""The level of whole clusters, as `levels` asks for it: controllers, brokers and admin clients over the real quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.cluster import swarm, targeted_plans
from simulations.cluster.plan import ClusterPlan
from simulations.cluster.run import ClusterRun
from simulations.cluster.simplification import simpler
from simulations.cluster.swarm import FAULT_KINDS
from simulations.plans.plan import from_json
from simulations.plans.plan import to_json as show
from simulations.world.messages import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.running.closeup import OnDetail
    from simulations.running.outcome import Outcome
    from simulations.world.trace import Entry

__all__ = ["FAULTS", "FIELDS", "draw", "play", "read", "show", "simpler"]

FAULTS = FAULT_KINDS
FIELDS = {kind.name: kind.fields for kind in KINDS.values()}


def draw(seed: int) -> ClusterPlan:
    """The plan of a seed: one with an aim, or by luck."""
    return targeted_plans.draw(seed) or swarm.draw(seed)


def read(text: str) -> ClusterPlan:
    """A plan from its JSON; raises ValueError."""
    plan: ClusterPlan = from_json(text, ClusterPlan)
    return plan


def play(
    plan: ClusterPlan,
    written: Callable[[bytes], None] | None = None,
    on_detail: OnDetail | None = None,
    *,
    counts: bool = False,
) -> tuple[Outcome, list[Entry]]:
    """Live a plan through. Returns what came of it, and the newest entries of its trace, oldest first."""
    run = ClusterRun(plan, written)
    run.watch.on_detail = on_detail
    if counts:
        run.keep_count()
    outcome = run.execute()
    return outcome, run.trace.recent()
