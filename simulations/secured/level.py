"""The secured level: the node level with TLS, SASL, an authorizer, and rogue clients with few or no permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.plans.plan import from_json
from simulations.plans.plan import to_json as show
from simulations.raft.level import simpler
from simulations.raft.playing import play_run
from simulations.secured.plan import SecuredPlan
from simulations.secured.run import SecuredRun
from simulations.secured.swarm import draw
from simulations.sockets.level import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.outcomes.closeup import OnDetail
    from simulations.outcomes.outcome import Outcome
    from simulations.world.trace import Entry

__all__ = ["FIELDS", "draw", "play", "read", "show", "simpler"]


def read(text: str) -> SecuredPlan:
    """The plan in a text. Raises ValueError where it is not one."""
    plan: SecuredPlan = from_json(text, SecuredPlan)
    return plan


def play(
    plan: SecuredPlan,
    written: Callable[[bytes], None] | None = None,
    on_detail: OnDetail | None = None,
    *,
    counts: bool = False,
) -> tuple[Outcome, list[Entry]]:
    """Run a plan. Returns its outcome, and the newest entries of its trace, oldest first."""
    return play_run(SecuredRun(plan, written), on_detail, counts=counts)
