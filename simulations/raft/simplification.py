"""Plans that are simpler in one respect, for the shrinker; the changes that help a reader most come first."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from simulations.raft.swarm import PACES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulations.plans.plan import Plan

# Fields with rules of their own; any other field is set to its default.
_OWN = frozenset({"seed", "voters", "observers", "chaos_ms", "noise_ms", "noise_of", "load", "recovery", "faults"})

# Timeouts and waits: a wait longer than the waiting side's timeout would be an invalid configuration.
_PACES = {key for pace in PACES for key in pace.config}


def simpler(plan: Plan) -> Iterator[Plan]:
    """Plans of any level with fewer nodes, fewer settings, and rounder times."""
    yield from _fewer_nodes(plan)
    yield from _simpler_fields(plan)
    yield from _simpler_faults(plan)
    for share in (8, 4, 2):
        if plan.chaos_ms > 200:
            yield replace(plan, chaos_ms=plan.chaos_ms - plan.chaos_ms // share)


def _fewer_nodes(plan: Plan) -> Iterator[Plan]:
    if plan.observers and not _needs(plan, plan.ids[plan.voters :]):
        yield replace(plan, observers=0)
    for voters in range(1, plan.voters):
        if not _needs(plan, range(voters + 1, plan.voters + 1)):
            yield replace(plan, voters=voters, recovery=replace(plan.recovery, core=_of(plan.recovery.core, voters)))


def _simpler_fields(plan: Plan) -> Iterator[Plan]:
    plain = type(plan)(plan.seed)
    for each in fields(plan):
        value, default = getattr(plan, each.name), getattr(plain, each.name)
        if each.name in _OWN or value == default:
            continue
        yield replace(plan, **{each.name: default})
        if isinstance(value, dict) and len(value) > 1:
            for keys in _together(value):
                less: dict[str, Any] = {each.name: {key: held for key, held in value.items() if key not in keys}}
                yield replace(plan, **less)
    for name in ("asks", "slow_ms", "size", "records", "every_ms"):
        value = getattr(plain.load, name)
        if getattr(plan.load, name) != value:
            yield replace(plan, load=replace(plan.load, **{name: value}))
    plain_calm: dict[str, Any] = {"others": "join", "quiet": False, "core": plan.voter_ids}
    for name, value in plain_calm.items():
        if getattr(plan.recovery, name) != value:
            yield replace(plan, recovery=replace(plan.recovery, **{name: value}))


def _together(settings: dict[Any, Any]) -> list[set[Any]]:
    """Reset settings one by one; timeouts and waits depend on each other, and are reset together."""
    paces = {key for key in settings if key in _PACES}
    return [{key} for key in settings if key not in paces] + ([paces] if paces else [])


def _simpler_faults(plan: Plan) -> Iterator[Plan]:
    for place, fault in enumerate(plan.faults):
        changes: list[dict[str, Any]] = []
        if fault.on or fault.when:
            changes += [{"at_ms": 0}, {"nth": 1}, {"node": 0}, {"role": ""}]
        changes.append({"at_ms": fault.at_ms // 100 * 100})
        for name, value in fault.args.items():
            if name.endswith("_ms") and isinstance(value, int) and value > 100:
                changes.append({"args": {**fault.args, name: value // 100 * 100}})
        for change in changes:
            if any(getattr(fault, name) != value for name, value in change.items()):
                faults = [*plan.faults]
                faults[place] = replace(fault, **change)
                yield replace(plan, faults=faults)


def _needs(plan: Plan, ids: Iterable[int]) -> bool:
    """Whether a fault names one of these nodes by its id."""
    wanted = set(ids)
    return any(fault.node in wanted or _mentions(fault.args, wanted) for fault in plan.faults)


def _mentions(value: Any, ids: set[int]) -> bool:
    if isinstance(value, dict):
        return any(_mentions(each, ids) for name, each in value.items() if name in {"whom", "other", "third", "sender"})
    return value in ids if isinstance(value, int) else False


def _of(core: list[int], voters: int) -> list[int]:
    return [each for each in core if each <= voters] or list(range(1, voters + 1))
