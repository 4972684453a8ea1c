"""Counting the inputs and effects between the cores and the driver, with a clock of the test."""

from __future__ import annotations

import math
from typing import Any

from controller.interface import effects as controller_effects
from controller.interface.access import Access
from controller.rules.authorizer import StandardAuthorizer
from controller.server.http.counted import WINDOW_S, Counted, Histogram, Window
from raft.interface import effects as raft_effects
from tests.raft.building import active, follower


class Clock:
    """now_s: what it says."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def counting(replica: Any) -> tuple[Counted, Clock, Any]:
    """The counter, its clock, and a function that performs an effect."""
    clock = Clock()
    counted = Counted(replica, lambda: 1_000, clock)
    passed: list[Any] = []

    def let_pass(effect: Any) -> None:
        counted.around(type(effect), passed.append)(effect)
        assert passed[-1] is effect

    return counted, clock, let_pass


def test_commit_latency_is_per_batch_and_its_average_per_record() -> None:
    counted, clock, let_pass = counting(active().replica)

    let_pass(controller_effects.Append(2, 10, 13, b""))
    clock.now_s += 0.004
    let_pass(controller_effects.Append(2, 14, 14, b""))
    clock.now_s += 0.004
    let_pass(raft_effects.HighWatermark(14))
    clock.now_s += 0.002
    let_pass(raft_effects.HighWatermark(15))

    assert (counted.commits.count, round(counted.commits.sum, 6)) == (2, 0.014)
    assert next(bound for bound, count in counted.commits.cumulate() if count >= 2) == 0.01
    assert round(counted.commit_ms_per_record.mean(clock.now_s), 6) == (8 / 4 + 6) / 2
    assert round(counted.commit_ms_per_record.highest(clock.now_s), 6) == 6


def test_batches_of_a_deposed_leader_do_not_count_as_commits() -> None:
    counted, clock, let_pass = counting(active().replica)

    let_pass(controller_effects.Append(2, 10, 13, b""))
    let_pass(raft_effects.Noted("role_changed", {"was": "Leader", "now": "Resigned", "epoch": 2, "leader_id": 1}))
    let_pass(raft_effects.HighWatermark(100))

    assert counted.commits.count == 0
    assert math.isnan(counted.commit_ms_per_record.mean(clock.now_s))


def test_records_are_appended_by_a_leader_and_fetched_by_a_follower() -> None:
    led, _, pass_leader = counting(active(epoch=2).replica)
    followed, _, pass_follower = counting(follower(epoch=1).replica)

    pass_leader(raft_effects.Append(1, 5, 9, 2, b""))
    pass_follower(raft_effects.Append(1, 5, 9, 1, b""))

    assert (led.appended, led.fetched) == (4, 0)
    assert (followed.appended, followed.fetched) == (0, 4)


def test_an_election_lasts_from_its_start_to_a_known_leader() -> None:
    counted, clock, let_pass = counting(follower().replica)

    for was, now in [
        ("Follower", "Prospective"),
        ("Prospective", "Candidate"),
        ("Candidate", "Prospective"),
        ("Prospective", "Follower"),
        ("Follower", "Unattached"),
        ("Unattached", "Follower"),
    ]:
        clock.now_s += 0.01
        let_pass(raft_effects.Noted("role_changed", {"was": was, "now": now, "epoch": 3, "leader_id": None}))

    assert counted.elections == 1
    assert round(counted.election_ms.highest(clock.now_s), 6) == 30
    assert [role["now"] for role in counted.roles] == [
        "Prospective",
        "Candidate",
        "Prospective",
        "Follower",
        "Unattached",
        "Follower",
    ]


def test_a_window_forgets_after_one_to_two_of_its_lengths() -> None:
    window = Window(0.0)
    window.add(4, 1)
    window.add(2, 2)

    then = (window.mean(3), window.highest(3))
    later = (window.mean(WINDOW_S + 3), window.highest(WINDOW_S + 3), window.rate(2 * WINDOW_S - 1) > 0)
    at_last = (window.mean(2 * WINDOW_S), window.highest(2 * WINDOW_S), window.rate(2 * WINDOW_S))

    assert then == (3, 4)
    assert later == (3, 4, True)
    assert math.isnan(at_last[0])
    assert math.isnan(at_last[1])
    assert at_last[2] == 0


def test_a_value_on_a_bound_counts_below_it() -> None:
    histogram = Histogram()

    for value in (0.001, 0.0011, 100.0):
        histogram.add(value)

    assert [count for _, count in histogram.cumulate()] == [0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]


def test_decisions_of_the_authorizer_count_once_each_by_the_minute() -> None:
    counted, clock, _ = counting(active().replica)
    access = Access(StandardAuthorizer())

    access.allowed_count, access.denied_count = 30, 6
    counted.see_decisions(access)
    clock.now_s += WINDOW_S / 2
    access.denied_count += 3
    for _ in range(2):
        counted.see_decisions(access)
    counted.see_decisions(None)

    rates = [round(60 * window.rate(clock.now_s)) for window in (counted.allowed_rate, counted.denied_rate)]
    assert rates == [40, 12]
