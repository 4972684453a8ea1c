"""One run of a world whose voters change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.faults.table import KINDS
from simulations.members.recovery_phase import MembersRecovery
from simulations.members.voter_changes import CHANGES, OF_SOME_PLANS
from simulations.members.world import MembersWorld

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.plans.plan import Fault, Plan
    from simulations.world.process import Process


class MembersRun(MembersWorld):
    """One run of a plan at the members level."""

    def __init__(self, plan: Plan, written: Callable[[bytes], None] | None = None) -> None:
        super().__init__(plan, written)
        self.recovery_phase = MembersRecovery(self)

    def _do(self, fault: Fault, struck: Process | None) -> bool:
        kind = OF_SOME_PLANS.get(fault.kind) or CHANGES.get(fault.kind) or KINDS[fault.kind]
        return kind.strike(self, fault.args, struck)
