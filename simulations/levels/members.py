"""The members level: the raft level with voters that are added, removed, replaced and renamed (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.faults.table import KINDS
from simulations.faults.voter_changes import CHANGES
from simulations.members.run import MembersRun
from simulations.members.swarm import draw
from simulations.plans.plan import from_json
from simulations.plans.plan import to_json as show
from simulations.plans.simplification import simpler
from simulations.world.messages import FIELDS
from simulations.world.triggers import STATES

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.plans.plan import Plan
    from simulations.running.closeup import OnDetail
    from simulations.running.outcome import Outcome
    from simulations.world.trace import Entry

__all__ = ["FAULTS", "FIELDS", "draw", "play", "read", "show", "simpler"]

FAULTS = (*KINDS, *CHANGES)


def read(text: str) -> Plan:
    """The plan in a text. Raises ValueError where it is not one, or names an unknown fault or state."""
    plan: Plan = from_json(text)
    for fault in plan.faults:
        if fault.kind not in FAULTS:
            raise ValueError(f"no fault {fault.kind!r}; known are {', '.join(FAULTS)}")
        if fault.when and fault.when not in STATES:
            raise ValueError(f"no state {fault.when!r}; known are {', '.join(STATES)}")
    return plan


def play(
    plan: Plan,
    written: Callable[[bytes], None] | None = None,
    on_detail: OnDetail | None = None,
    *,
    counts: bool = False,
) -> tuple[Outcome, list[Entry]]:
    """Run a plan. Returns its outcome, and the newest entries of its trace, oldest first."""
    run = MembersRun(plan, written)
    run.watch.on_detail = on_detail
    if counts:
        run.keep_count()
    outcome = run.execute()
    return outcome, run.trace.recent()
