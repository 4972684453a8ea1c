"""Shrinking: making a plan that breaks a property as small as possible, so that a reader sees what the break needs.

It cuts off what comes after the break. Then it leaves out groups of faults, then single ones (delta debugging, Zeller
2002), limits noise to as short a time as possible, and simplifies the rest: fewer nodes, fewer settings, rounder times.
Where much remains, it tries small schedules instead. A smaller plan counts only if the same property breaks.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simulations.plans.noise import names
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simulations.outcomes.outcome import Outcome

RUNS_MAX = 400
"""Limit of the number of plans that are tried."""

MUCH = 2
"""Faults and decisions of noise above which small schedules are tried instead."""

TINY_MAX = 200
"""Limit of small schedules. TINY_SHARE: the share of runs and CPU time for them and what follows from them."""

TINY_SHARE = 0.4

CPU_S_MAX = 50.0
"""Limit of shrinking in CPU seconds; a run that is under way is completed."""


class Shrinker:
    """play: runs a plan; property_id: the property that must break; simpler: plans that are simpler in one respect;
    tiny: small schedules to try instead of a plan.

    runs: number of plans tried. outcome: of the smallest plan so far, None before `shrink`.
    """

    def __init__(
        self,
        play: Callable[[Any], Outcome],
        property_id: str,
        simpler: Callable[[Any], Iterable[Any]],
        runs_max: int = RUNS_MAX,
        cpu_s_max: float = CPU_S_MAX,
        tiny: Callable[[Any], Iterable[Any]] = lambda _plan: (),
    ) -> None:
        self._play = play
        self._property_id = property_id
        self._simpler = simpler
        self._tiny = tiny
        self._runs_max = runs_max
        self._cpu_s_left = cpu_s_max * TINY_SHARE
        self._cpu_s_end = time.process_time() + cpu_s_max - self._cpu_s_left
        self._is_amid_faults = False
        self.runs = 0
        self.outcome: Outcome | None = None

    def shrink(self, plan: Any) -> Any:
        """The smallest plan that was found; the plan itself where nothing can be left out, or nothing breaks."""
        if not self._holds(plan):
            return plan
        assert self.outcome is not None, "it broke"
        # Then the recovery phase, the longer part of most runs, can be skipped.
        self._is_amid_faults = self.outcome.at_us <= plan.chaos_ms * MS
        plan = self._fewer(self._cut(plan), "faults")
        plan = self._smaller(plan)
        return self._smaller(self._anew(plan)) if self._is_much(plan) else plan

    def _smaller(self, plan: Any) -> Any:
        """Cut, reduce noise and simplify until nothing changes any more."""
        before = None
        while plan != before and not self._is_spent():
            before = plan
            plan = self._quieter(self._cut(plan))
            plan = self._fewer(self._plain(plan), "faults")
        return plan

    def _is_much(self, plan: Any) -> bool:
        assert self.outcome is not None, "what is smaller has broken"
        return self._is_amid_faults and len(plan.faults) + max(self.outcome.decisions, 0) > MUCH

    def _anew(self, plan: Any) -> Any:
        """A small schedule that breaks the same property, if one is found within the limits; else the plan."""
        self._runs_max = self.runs + TINY_MAX + int(self._runs_max * TINY_SHARE)
        self._cpu_s_end = time.process_time() + self._cpu_s_left
        for _, other in zip(range(TINY_MAX), self._tiny(plan), strict=False):
            if self._is_spent():
                break
            if self._holds(other):
                return other
        return plan

    def _is_spent(self) -> bool:
        return self.runs >= self._runs_max or time.process_time() > self._cpu_s_end

    def _holds(self, plan: Any) -> bool:
        if self._is_spent():
            return False
        self.runs += 1
        outcome = self._play(replace(plan, recovery=replace(plan.recovery, skipped=self._is_amid_faults)))
        if outcome.property_id != self._property_id:
            return False
        self.outcome = outcome
        return True

    def _cut(self, plan: Any) -> Any:
        """The plan without what comes after the break, and with an end of noise."""
        assert self.outcome is not None, "what is cut has broken"
        end_ms = self.outcome.at_us // MS + 1
        shorter = replace(plan, noise_ms=plan.noise_ms or [0, end_ms])
        if end_ms < plan.chaos_ms:
            faults = [fault for fault in plan.faults if fault.at_ms <= end_ms]
            shorter = replace(shorter, chaos_ms=end_ms, faults=faults)
        return shorter if shorter != plan and self._holds(shorter) else plan

    def _fewer(self, plan: Any, name: str, least: int = 0) -> Any:
        """The plan with as few items in this field as possible, but at least `least`."""
        held = getattr(plan, name)
        size = len(held) - least
        while size > 0:
            at = 0
            while at < len(held):
                less = held[:at] + held[at + size :]
                fewer = replace(plan, **{name: less})
                if len(less) >= least and self._holds(fewer):
                    plan, held = fewer, less
                else:
                    at += size
            size //= 2
        return plan

    def _quieter(self, plan: Any) -> Any:
        """The plan with as little noise as possible, in time and in links and disks."""
        if not plan.noise_ms or plan.noise_ms == [0, 0]:
            return plan
        silent = replace(plan, noise_ms=[0, 0], noise_of=[])
        if self._holds(silent):
            return silent
        begin, end = plan.noise_ms
        step = (end - begin) // 2
        while step:
            for window in ([begin + step, end], [begin, end - step]):
                quieter = replace(plan, noise_ms=window)
                if self._holds(quieter):
                    plan = quieter
                    begin, end = window
                    break
            else:
                step //= 2
            step = min(step, (end - begin) // 2)
        return self._fewer(replace(plan, noise_of=plan.noise_of or names(plan.ids)), "noise_of", least=1)

    def _plain(self, plan: Any) -> Any:
        """The plan simplified as far as possible."""
        again = True
        while again and not self._is_spent():
            again = False
            for other in self._simpler(plan):
                if other != plan and self._holds(other):
                    plan, again = other, True
                    break
        return plan


def needed_kinds(plan: Any, is_well: Callable[[Any], bool]) -> list[str]:
    """The kinds of faults that a plan needs to break a property, found by leaving out one after the other."""
    if not is_well(replace(plan, faults=[])):
        return []
    kinds = sorted({fault.kind for fault in plan.faults})
    for kind in list(kinds):
        fewer = replace(plan, faults=[fault for fault in plan.faults if fault.kind != kind])
        if not is_well(fewer):
            plan = fewer
            kinds.remove(kind)
    return kinds
