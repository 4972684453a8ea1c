"""A simulated run with the faults of a real one, and the comparison of their requests."""

from __future__ import annotations

import pytest

from simulations.chaos.mix import Mix, plan_of, simulate
from simulations.chaos.nemesis import FAULTS, Fault, Injected
from simulations.faults.table import KINDS


def test_the_difference_is_the_share_of_requests_of_another_kind() -> None:
    assert Mix({"Fetch": 90, "Vote": 10}, {"Fetch": 8, "Vote": 2}).difference == pytest.approx(0.1)
    assert Mix({"Fetch": 90}, {"Fetch": 8}).difference == 0
    assert Mix({"Fetch": 5}, {"Vote": 5}).difference == 1


def test_each_fault_of_the_nemesis_has_a_simulated_one() -> None:
    injected = [Injected(100, Fault(name, (1, 2, 3), 1.0, of_leader=True)) for name in FAULTS]

    plan = plan_of(injected, 5.0, 100.0)

    assert {fault.kind for fault in plan.faults} <= set(KINDS)
    assert len(plan.faults) >= len(FAULTS)


def test_a_simulated_run_beside_a_real_one_elects_again_after_a_crash() -> None:
    injected = [Injected(2000, Fault("crash", (1, 2, 3), 0.3, of_leader=True))]

    counts = simulate(injected, 5.0, 20.0)

    assert counts["Fetch"] > 100
    assert counts["Vote"] >= 4
    assert counts["Begin"] > 2
