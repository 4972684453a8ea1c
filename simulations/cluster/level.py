"""The controller level: controllers, brokers and admin clients over the real quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.cluster import swarm, targeted_plans
from simulations.cluster.run import ClusterRun
from simulations.cluster.simplification import simpler
from simulations.cluster.swarm import FAULT_KINDS
from simulations.plans.cluster_plan import ClusterPlan
from simulations.plans.plan import from_json
from simulations.plans.plan import to_json as show
from simulations.raft.playing import play_run
from simulations.world.messages import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.outcomes.closeup import OnDetail
    from simulations.outcomes.outcome import Outcome
    from simulations.world.trace import Entry

__all__ = ["FAULTS", "FIELDS", "draw", "play", "read", "show", "simpler"]

FAULTS = FAULT_KINDS
FIELDS = {kind.name: kind.fields for kind in KINDS.values()}


def draw(seed: int) -> ClusterPlan:
    """The plan of a seed: a targeted plan, or one of the swarm."""
    return targeted_plans.draw(seed) or swarm.draw(seed)


def read(text: str) -> ClusterPlan:
    """The plan in a text. Raises ValueError where it is not one."""
    plan: ClusterPlan = from_json(text, ClusterPlan)
    return plan


def play(
    plan: ClusterPlan,
    written: Callable[[bytes], None] | None = None,
    on_detail: OnDetail | None = None,
    *,
    counts: bool = False,
) -> tuple[Outcome, list[Entry]]:
    """Run a plan. Returns its outcome, and the newest entries of its trace, oldest first."""
    return play_run(ClusterRun(plan, written), on_detail, counts=counts)
