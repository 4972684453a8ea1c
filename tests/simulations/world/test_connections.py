"""Connections behave as between kernels."""

from __future__ import annotations

import pytest

from simulations.plans.plan import Fault, Plan, RecoveryPlan
from simulations.raft.run import Run

BRISK = {
    "election_timeout_ms": 300, "fetch_timeout_ms": 600, "request_timeout_ms": 600, "fetch_wait_max_ms": 150,
    "election_backoff_max_ms": 300,
}  # fmt: skip


@pytest.mark.parametrize("crossed", [(1, 2, 3), (3, 2, 1)])
def test_a_connection_to_a_crossed_address_is_refused_once_the_address_is_restored(
    crossed: tuple[int, int, int],
) -> None:
    whom, other, third = crossed
    plan = Plan(1, chaos_ms=2500, config=BRISK, recovery=RecoveryPlan([1, 2, 3]))
    plan.faults = [
        Fault("cross", {"whom": whom, "other": other, "third": third, "for_ms": 9000}, at_ms=500),
        # So that what asks for a connection stays on its way until the recovery phase.
        Fault("isolate", {"whom": whom, "direction": "both", "for_ms": 9000}, at_ms=500),
    ]

    outcome = Run(plan).execute()

    assert (outcome.property_id, outcome.text) == ("", "")
