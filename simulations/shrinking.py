"""Making a plan that breaks a property as small as can be: whoever reads it should see at once what it takes.

First whole groups of faults are left out, then single ones (delta debugging, Zeller 2002); then what is left is made
plainer: fewer nodes, less noise, rounder times. A smaller plan counts only if the same property breaks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulations.plans import Plan

RUNS_MAX = 400
"""How often a plan is tried at most."""


class Shrinker:
    """is_broken: whether a plan still breaks what it should; plainer: what of a plan may be plainer, plan by plan.

    runs: how many plans were tried.
    """

    def __init__(
        self, is_broken: Callable[[Any], bool], plainer: Callable[[Any], Iterable[Any]], runs_max: int = RUNS_MAX
    ) -> None:
        self._is_broken = is_broken
        self._plainer = plainer
        self._runs_max = runs_max
        self.runs = 0

    def shrink(self, plan: Any) -> Any:
        """The smallest plan that was found; the plan itself where nothing can be left out."""
        plan = self._fewer(plan)
        before = None
        while plan != before and not self._is_spent():
            before = plan
            plan = self._fewer(self._plain(plan))
        return plan

    def _is_spent(self) -> bool:
        return self.runs >= self._runs_max

    def _holds(self, plan: Any) -> bool:
        if self._is_spent():
            return False
        self.runs += 1
        return self._is_broken(plan)

    def _fewer(self, plan: Any) -> Any:
        """As few faults as can be."""
        size = max(1, len(plan.faults) // 2)
        while plan.faults:
            at = 0
            while at < len(plan.faults):
                fewer = replace(plan, faults=plan.faults[:at] + plan.faults[at + size :])
                if self._holds(fewer):
                    plan = fewer
                else:
                    at += size
            if size == 1:
                break
            size //= 2
        return plan

    def _plain(self, plan: Any) -> Any:
        """As plain as can be: whatever holds is gone on from."""
        again = True
        while again and not self._is_spent():
            again = False
            for other in self._plainer(plan):
                if other != plan and self._holds(other):
                    plan, again = other, True
                    break
        return plan


def plainer(plan: Plan) -> Iterator[Plan]:
    """Plans of raft's level that are plainer in one thing, what helps a reader most first."""
    if plan.observers and not _needs(plan, plan.ids[plan.voters :]):
        yield replace(plan, observers=0)
    for voters in range(1, plan.voters):
        if not _needs(plan, range(voters + 1, plan.voters + 1)):
            yield replace(plan, voters=voters, calm=replace(plan.calm, core=_of(plan.calm.core, voters)))
    plain = type(plan)(plan.seed)
    for name in ("late_answers", "clocks", "releases", "latency", "pace", "kraft_version", "journal", "cache_bytes"):
        if getattr(plan, name) != getattr(plain, name):
            yield replace(plan, **{name: getattr(plain, name)})
    for name in ("snapshot_padding", "segment_bytes", "snapshot_every"):
        if getattr(plan, name) != getattr(plain, name):
            yield replace(plan, **{name: getattr(plain, name)})
    for name in plan.config:
        yield replace(plan, config={key: value for key, value in plan.config.items() if key != name})
    for name in ("asks", "slow_ms", "size", "records", "every_ms"):
        value = getattr(type(plan.load)(), name)
        if getattr(plan.load, name) != value:
            yield replace(plan, load=replace(plan.load, **{name: value}))
    yield from _later_faults(plan)
    for share in (8, 4, 2):
        if plan.chaos_ms > 200:
            yield replace(plan, chaos_ms=plan.chaos_ms - plan.chaos_ms // share)


def _later_faults(plan: Plan) -> Iterator[Plan]:
    """One fault is plainer."""
    for place, fault in enumerate(plan.faults):
        changes: list[dict[str, Any]] = []
        if fault.on or fault.when:
            changes += [{"at_ms": 0}, {"nth": 1}, {"node": 0}, {"role": ""}]
        rounded = fault.at_ms // 100 * 100
        changes.append({"at_ms": rounded})
        for name, value in fault.args.items():
            if name.endswith("_ms") and isinstance(value, int) and value > 100:
                changes.append({"args": {**fault.args, name: value // 100 * 100}})
        for change in changes:
            if any(getattr(fault, name) != value for name, value in change.items()):
                faults = [*plan.faults]
                faults[place] = replace(fault, **change)
                yield replace(plan, faults=faults)


def _needs(plan: Plan, ids: Iterable[int]) -> bool:
    """Whether a fault or clock speaks of these nodes by number."""
    wanted = set(ids)
    return any(fault.node in wanted or _mentions(fault.args, wanted) for fault in plan.faults)


def _mentions(value: Any, ids: set[int]) -> bool:
    if isinstance(value, dict):
        return any(_mentions(each, ids) for name, each in value.items() if name in {"whom", "other", "third", "sender"})
    return value in ids if isinstance(value, int) else False


def _of(core: list[int], voters: int) -> list[int]:
    return [each for each in core if each <= voters] or list(range(1, voters + 1))
