"""The node level: clusters whose messages are bytes on simulated sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.plans.plan import from_json
from simulations.plans.plan import to_json as show
from simulations.raft.level import simpler
from simulations.raft.playing import play_run
from simulations.sockets.plan import SocketPlan
from simulations.sockets.run import SocketRun
from simulations.sockets.swarm import draw
from simulations.world.messages import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.outcomes.closeup import OnDetail
    from simulations.outcomes.outcome import Outcome
    from simulations.world.trace import Entry

__all__ = ["FIELDS", "draw", "play", "read", "show", "simpler"]

FIELDS = {kind.name: kind.fields for kind in KINDS.values()}


def read(text: str) -> SocketPlan:
    """The plan in a text. Raises ValueError where it is not one."""
    plan: SocketPlan = from_json(text, SocketPlan)
    return plan


def play(
    plan: SocketPlan,
    written: Callable[[bytes], None] | None = None,
    on_detail: OnDetail | None = None,
    *,
    counts: bool = False,
) -> tuple[Outcome, list[Entry]]:
    """Run a plan. Returns its outcome, and the newest entries of its trace, oldest first."""
    return play_run(SocketRun(plan, written), on_detail, counts=counts)
