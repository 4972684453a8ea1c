"""The level of raft alone, as `levels` asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.messages import FIELDS
from simulations.plans import from_json as read
from simulations.plans import to_json as show
from simulations.runs import Run
from simulations.swarm import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.outcome import Outcome
    from simulations.plans import Plan
    from simulations.trace import Entry

__all__ = ["FIELDS", "draw", "play", "read", "show"]


def play(plan: Plan, written: Callable[[bytes], None] | None = None) -> tuple[Outcome, list[Entry]]:
    """Live a plan through. Returns what came of it, and the newest entries of its trace, oldest first."""
    run = Run(plan, written)
    outcome = run.execute()
    return outcome, run.trace.recent()
