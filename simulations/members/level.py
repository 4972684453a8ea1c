"""The members level: the raft level with voters that are added, removed, replaced and renamed (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.faults.table import KINDS
from simulations.members.run import MembersRun
from simulations.members.swarm import draw
from simulations.members.voter_changes import CHANGES, OF_SOME_PLANS
from simulations.plans.plan import to_json as show
from simulations.raft.playing import play_run, read_plan
from simulations.raft.simplification import simpler
from simulations.world.messages import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.outcomes.closeup import OnDetail
    from simulations.outcomes.outcome import Outcome
    from simulations.plans.plan import Plan
    from simulations.world.trace import Entry

__all__ = ["FAULTS", "FIELDS", "draw", "play", "read", "show", "simpler"]

FAULTS = (*KINDS, *CHANGES, *OF_SOME_PLANS)


def read(text: str) -> Plan:
    """The plan in a text. Raises ValueError where it is not one, or names an unknown fault or state."""
    return read_plan(text, FAULTS)


def play(
    plan: Plan,
    written: Callable[[bytes], None] | None = None,
    on_detail: OnDetail | None = None,
    *,
    counts: bool = False,
) -> tuple[Outcome, list[Entry]]:
    """Run a plan. Returns its outcome, and the newest entries of its trace, oldest first."""
    return play_run(MembersRun(plan, written), on_detail, counts=counts)
