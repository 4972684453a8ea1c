"""How a plan is read and played, alike at each level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.plans.plan import from_json
from simulations.world.triggers import STATES

if TYPE_CHECKING:
    from collections.abc import Collection

    from simulations.outcomes.closeup import OnDetail
    from simulations.outcomes.outcome import Outcome
    from simulations.plans.plan import Plan
    from simulations.raft.run import Run
    from simulations.world.trace import Entry


def read_plan(text: str, faults: Collection[str]) -> Plan:
    """The plan in a text. Raises ValueError where it is not one, or names an unknown fault or state."""
    plan: Plan = from_json(text)
    for fault in plan.faults:
        if fault.kind not in faults:
            raise ValueError(f"no fault {fault.kind!r}; known are {', '.join(faults)}")
        if fault.when and fault.when not in STATES:
            raise ValueError(f"no state {fault.when!r}; known are {', '.join(STATES)}")
    return plan


def play_run(run: Run, on_detail: OnDetail | None, *, counts: bool) -> tuple[Outcome, list[Entry]]:
    """Execute a run. Returns its outcome, and the newest entries of its trace, oldest first.

    on_detail: takes each step in detail; counts: whether the run counts what it does, by kind.
    """
    run.watch.on_detail = on_detail
    if counts:
        run.keep_count()
    outcome = run.execute()
    return outcome, run.trace.recent()
