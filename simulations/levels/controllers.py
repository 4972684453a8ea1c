"""The level of whole clusters, as `levels` asks for it: controllers, brokers and admin clients over the real quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.cluster import swarm
from simulations.cluster import targeted_plans as aims
from simulations.cluster.plan import ClusterPlan
from simulations.cluster.run import ClusterRun
from simulations.cluster.simplification import plainer
from simulations.cluster.swarm import FAULT_KINDS
from simulations.plans.plan import from_json
from simulations.plans.plan import to_json as show
from simulations.world.messages import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.running.closeup import Told
    from simulations.running.outcome import Outcome
    from simulations.world.trace import Entry

__all__ = ["FAULTS", "FIELDS", "draw", "plainer", "play", "read", "show"]

FAULTS = FAULT_KINDS
FIELDS = {kind.name: kind.fields for kind in KINDS.values()}


def draw(seed: int) -> ClusterPlan:
    """The plan of a seed: one with an aim, or by luck."""
    return aims.draw(seed) or swarm.draw(seed)


def read(text: str) -> ClusterPlan:
    """A plan from its JSON; raises ValueError."""
    plan: ClusterPlan = from_json(text, ClusterPlan)
    return plan


def play(
    plan: ClusterPlan, written: Callable[[bytes], None] | None = None, told: Told | None = None, *, counts: bool = False
) -> tuple[Outcome, list[Entry]]:
    """Live a plan through. Returns what came of it, and the newest entries of its trace, oldest first."""
    run = ClusterRun(plan, written)
    run.watch.told = told
    if counts:
        run.keep_count()
    outcome = run.execute()
    return outcome, run.trace.recent()
