"""Whole clusters under faults: no property is violated, and the same plan has the same trace."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from simulations.cluster import upkeep
from simulations.cluster.clients.requests import ADMIN_REQUESTS
from simulations.cluster.faults import BROKER_KINDS
from simulations.cluster.level import FAULTS, draw, play, read, show
from simulations.raft import level as raft_level


# `sweep --ci` plays the first 83 seeds; the world of the first is six times as large as the others.
@pytest.mark.parametrize("seed", range(2, 9))
def test_every_property_of_a_cluster_holds(seed):
    outcome, _ = play(draw(seed))

    assert outcome.property_id == "", outcome.text
    assert outcome.acknowledged > 0


def test_a_plan_read_from_json_has_the_same_trace():
    plan = draw(2)

    again = read(show(plan))

    assert again == plan
    assert play(again)[0].trace_hash == play(plan)[0].trace_hash


def test_clusters_differ_in_every_drawn_setting():
    plans = [draw(seed) for seed in range(1, 200)]

    kinds = {fault.kind for plan in plans for fault in plan.faults}
    assert {"broker_crash", "broker_leaves", "broker_doubles", "broker_cut", "lose", "kill", "power"} <= kinds
    assert {plan.brokers for plan in plans} == {1, 2, 3, 4, 5}
    assert any(not plan.faults for plan in plans)
    assert not {"wipe", "rot", "restore"} & kinds


def test_every_operation_and_every_broker_fault_is_drawn() -> None:
    plans = [draw(seed) for seed in range(1, 200)]

    assert {each for plan in plans for each in plan.operations} == set(ADMIN_REQUESTS)
    assert {*BROKER_KINDS, *upkeep.KINDS} <= {fault.kind for plan in plans for fault in plan.faults} <= set(FAULTS)


def test_crowded_worlds_have_what_they_are_for() -> None:
    """Disks that move to other brokers, failed directories, shutdowns and cordons beside moves of many partitions."""
    fired: Counter[str] = Counter()
    for seed in (13, 18, 23):
        outcome, _ = play(draw(seed))
        assert outcome.property_id == "", outcome.text
        fired += outcome.fired

    assert {"broker_crash", "broker_leaves", "broker_disk", "broker_disk_moves", "broker_cordon"} <= set(fired)


def test_a_disk_that_moves_is_on_the_next_broker_once_both_have_restarted() -> None:
    def machine(*directories: bytes, offline: tuple[bytes, ...] = ()) -> Any:
        return SimpleNamespace(
            directories=list(directories), offline=set(offline), crash=lambda: acts.append("crash"), start="start"
        )

    acts: list[Any] = []
    run: Any = SimpleNamespace(
        brokers=[machine(b"a"), machine(b"b", b"c")], later=lambda ms, act: acts.append((ms, act))
    )

    assert not upkeep.move_disk(run, {"broker": 0, "down_ms": 5}, None)  # its only one
    assert upkeep.move_disk(run, {"broker": 1, "down_ms": 5}, None)

    assert [each.directories for each in run.brokers] == [[b"a", b"c"], [b"b"]]
    assert acts == ["crash", (5, "start"), "crash", (5, "start")]
    run.brokers = [machine(b"a", b"c"), machine(b"b", offline=(b"b",))]
    assert not upkeep.move_disk(run, {"broker": 0, "down_ms": 5}, None)


def test_one_plan_in_ten_has_software_of_several_releases_on_both_levels() -> None:
    of_clusters = [draw(seed) for seed in range(1, 200)]
    of_raft = [raft_level.draw(seed) for seed in range(1, 400)]

    for plans in (of_clusters, of_raft):
        kinds = [{fault.kind for fault in plan.faults} & {"release", "controller_release"} for plan in plans]
        mixed = [plan for plan, other in zip(plans, kinds, strict=True) if len(plan.software) > 1 or other]
        assert len(mixed) >= len(plans) // 10
