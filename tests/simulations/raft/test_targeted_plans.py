"""Targeted plans have their seeds, are valid plans, and reach the events that they are made for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulations.cluster import swarm as cluster_swarm
from simulations.cluster import targeted_plans as of_clusters
from simulations.levels.table import load
from simulations.raft import swarm
from simulations.raft import targeted_plans as of_raft
from simulations.raft.run import Run
from simulations.running.tasks import Task
from simulations.running.workers import rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from simulations.plans.plan import Fault

LEVELS = {"raft": of_raft, "controller": of_clusters}

CAUGHT = {
    "raft": {
        "new-segments": ("D03d", 2),
        "begun-anew": ("D12", 1),
        "snapshots-lost": ("D11", 1),
        "cut-back": ("D24", 1),
        "emptied": ("M08", 1),
        "resigning": ("R34", 8),
        "deposed": ("R45", 9),
        "in-lockstep": ("R37", 1),
        "rotten": ("D07b", 1),
        "failing-disks": ("D08", 1),
        "sectors-lost": ("D23b", 19),
    },
    "controller": {
        "preferred": ("Q37", 2),
        "registering": ("Q42", 1),
        "silent": ("Q44", 3),
        "leaving": ("Q47", 1),
        "in-batches": ("Q49", 1),
        "asked-between-batches": ("Q55", 2),
        "cut-between-batches": ("Q56", 1),
        "eligible": ("Q52", 1),
        "directories": ("Q69", 1),
        "levels": ("Q64", 3),
    },
}

NAMES = [(level, name) for level, targeted_plans in LEVELS.items() for name in targeted_plans.TARGETED_PLANS]


@pytest.mark.parametrize(
    ("level", "targeted_plans", "otherwise", "crowded"),
    [("raft", of_raft, swarm.draw, None), ("controller", of_clusters, cluster_swarm.draw, of_clusters.CROWDED)],
)
def test_targeted_plans_take_turns_and_do_not_change_other_seeds(
    level: str, targeted_plans: ModuleType, otherwise: Callable[[int], Any], crowded: int | None
) -> None:
    draw = load(level).draw
    names = [*targeted_plans.TARGETED_PLANS, next(iter(targeted_plans.TARGETED_PLANS))]

    aimed = [draw(targeted_plans.EVERY * turn) for turn in range(len(names))]

    assert aimed == [targeted_plans.of(name, targeted_plans.EVERY * turn) for turn, name in enumerate(names)]
    for seed in range(1, 60):
        place = seed % targeted_plans.EVERY
        if place:
            assert draw(seed) == (targeted_plans.of("crowded", seed) if place == crowded else otherwise(seed))


@pytest.mark.parametrize(("level", "name"), NAMES)
def test_targeted_plans_go_through_json_and_run(level: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed of each; `sweep --ci` plays more of them, in turn."""
    found = load(level)
    plan = LEVELS[level].of(name, 1)
    reached = _reached(monkeypatch)

    outcome = found.play(found.read(found.show(plan)))[0]

    assert found.read(found.show(plan)) == plan
    assert outcome.text == ""
    assert {fault.kind for fault in plan.faults} <= {kind for kind, count in outcome.fired.items() if count}
    points = [_place(fault.on) for fault in plan.faults]
    assert {point for point in points if points.count(point) > 1} <= reached


def _reached(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The points at which faults are injected from now on."""
    points: set[str] = set()
    strike = Run._strike

    def strikes(run: Run, place: int, fault: Fault, struck: Any) -> None:
        points.add(_place(fault.on))
        strike(run, place, fault, struck)

    monkeypatch.setattr(Run, "_strike", strikes)
    return points


def _place(point: str) -> str:
    """Whether a point is before or after an effect, or neither."""
    return point.removeprefix("before:").removeprefix("after:")


def test_targeted_plans_wipe_a_voter_and_lose_a_snapshot() -> None:
    play = load("raft").play

    emptied = [play(of_raft.of("emptied", seed))[0].fired for seed in range(1, 5)]
    lost = [play(of_raft.of("snapshots-lost", seed))[0].fired for seed in range(1, 5)]

    assert sum(fired.get("wipe:done", 0) for fired in emptied) >= 3
    assert sum(fired.get("lose_snapshot:done", 0) for fired in lost) >= 3


@pytest.mark.parametrize(("level", "caught"), CAUGHT.items())
def test_each_targeted_plan_catches_the_mutant_it_was_made_for(level: str, caught: dict[str, tuple[str, int]]) -> None:
    show = load(level).show
    tasks = [
        Task((), level, mutant_id, plans=(show(LEVELS[level].of(name, seed)),), names=(name,))
        for name, (mutant_id, seed) in caught.items()
    ]

    found = {row.task.names[0]: row for row in rows(tasks, 1)}

    assert list(caught) == list(LEVELS[level].TARGETED_PLANS)
    assert [name for name in caught if found[name].error or found[name].outcomes[0].is_well] == []
