"""Whole clusters live through faults, and the same plan has the same life."""

from __future__ import annotations

import pytest

from simulations.controller_level import draw, play, read, show


@pytest.mark.parametrize("seed", range(1, 9))
def test_every_property_of_a_cluster_holds(seed):
    outcome, _ = play(draw(seed))

    assert outcome.property_id == "", outcome.text
    assert outcome.acknowledged > 0


def test_a_plan_from_its_json_has_the_same_life():
    plan = draw(2)

    again = read(show(plan))

    assert again == plan
    assert play(again)[0].trace_hash == play(plan)[0].trace_hash


def test_clusters_differ_in_all_that_they_are_drawn_from():
    plans = [draw(seed) for seed in range(1, 200)]

    kinds = {fault.kind for plan in plans for fault in plan.faults}
    assert {"broker_crash", "broker_leaves", "broker_doubles", "broker_cut", "lose", "kill", "power"} <= kinds
    assert {plan.brokers for plan in plans} == {1, 2, 3, 4, 5}
    assert any(not plan.faults for plan in plans)
    assert not {"wipe", "rot", "restore"} & kinds
