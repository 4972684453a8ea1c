"""Fuzz clients send requests of every API, and the responses are checked."""

from dataclasses import replace

from simulations.cluster.run import ClusterRun
from simulations.cluster.swarm import draw
from simulations.nodes.config_values import BY_KIND, TOPIC, is_taken


def test_requests_of_fuzz_clients_are_checked_by_the_rules():
    plan = replace(
        draw(7), faults=[], chaos_ms=1500, brokers=3, fuzz_clients=2, racks=2, is_inherited=True, ask_every_ms=20
    )

    run = ClusterRun(plan)
    outcome = run.execute()

    assert (outcome.property_id, outcome.text) == ("", "")
    assert run.watch.api_oracle.cases > 20


def test_adding_fuzz_clients_changes_no_other_plan():
    plans = [draw(seed) for seed in range(1, 60)]

    without = [plan for plan in plans if not plan.fuzz_clients]
    assert 20 < len(without) < 50
    assert all((plan.racks, plan.is_inherited) == (0, False) for plan in without)


def test_no_value_is_both_valid_and_invalid():
    both = [key for values in BY_KIND.values() for key, (good, bad) in values.items() if set(good) & set(bad)]

    assert both == []
    assert [is_taken(TOPIC, "segment.ms", each) for each in ("1", "0", "12345")] == [True, False, None]
