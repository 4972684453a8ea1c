"""Users that send large requests without a pause, beside a writer, brokers and followers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.fetch import FetchRequest
from simulations.cluster.run import ClusterRun
from simulations.cluster.swarm import HOSTILE_SHARE, draw
from simulations.nodes import long_thread

# No client waits longer: the longest step of a large request, in slices of 3 ms, and a commit.
WAIT_MS_MAX = long_thread.SWITCHES_MAX * long_thread.SLICE_S_MAX * 1000 + 100


@pytest.fixture
def calm_run(monkeypatch: pytest.MonkeyPatch) -> ClusterRun:
    """A world without faults, in which the machine does not stand still."""
    monkeypatch.setattr(long_thread, "LONG_CHANCE", 0.0)
    plan = replace(
        draw(2), faults=[], chaos_ms=5000, voters=3, brokers=3, admins=1, fuzz_clients=0, hostile=3, sliced=0.0,
        operations=["create", "delete"], ask_every_ms=20, latency=[200, 800, 0.0, 0], clocks={}, session_ms=1500,
        heartbeat_ms=100, fetch_wait_ms=50,
    )  # fmt: skip
    return ClusterRun(plan)


def test_a_writer_waits_for_one_large_request_at_most(calm_run: ClusterRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """And Fetches and heartbeats come between slices."""
    run, between = calm_run, {BrokerHeartbeatRequest: 0, FetchRequest: 0}
    watch = run.watch
    controller_stepped, stepped = watch.on_controller_stepped, watch.on_stepped

    def count(process: Any, event: Any) -> None:
        kind = type(getattr(event, "request", None))
        if kind in between and process.controller.long.present is not None:
            between[kind] += 1

    def count_controller(process: Any, event: Any, effects: list[Any]) -> None:
        count(process, event)
        controller_stepped(process, event, effects)

    def count_raft(process: Any, name: str, event: Any, effects: list[Any]) -> None:
        count(process, event)
        stepped(process, name, event, effects)

    monkeypatch.setattr(watch, "on_controller_stepped", count_controller)
    monkeypatch.setattr(watch, "on_stepped", count_raft)
    outcome = run.execute()

    moments = run.recorder.moments
    waits_ms = [
        (moments[each.returned] - moments[each.invoked]) / 1000
        for each in run.recorder.operations
        if each.client == "admin-1" and each.returned is not None and each.returned < len(moments)
    ]
    assert (outcome.property_id, outcome.text) == ("", "")
    assert outcome.epochs == 1
    assert len(waits_ms) > 20
    assert max(waits_ms) <= WAIT_MS_MAX
    assert min(between.values()) > 5, between
    assert not any(broker.fenced for broker in watch.log_rules.image.brokers.values())


def test_each_user_has_its_turns(calm_run: ClusterRun) -> None:
    calm_run.execute()

    processes: list[Any] = calm_run.ledger.running()
    served = [process.driver.turns.served for process in processes]
    most: dict[str, int] = max(served, key=lambda by_user: sum(by_user.values()))
    hostile = [count for user, count in most.items() if "hostile" in user]
    assert len(hostile) == 3
    assert max(hostile) <= 1.5 * min(hostile)
    assert min(hostile) > 3
    assert sum(client.answered for client in calm_run.hostile_clients) > 10


def test_adding_hostile_clients_changes_no_other_plan() -> None:
    plans = [draw(seed) for seed in range(1, 200)]

    hostile = [plan for plan in plans if plan.hostile]
    assert 0.4 * HOSTILE_SHARE < len(hostile) / len(plans) < 2 * HOSTILE_SHARE
