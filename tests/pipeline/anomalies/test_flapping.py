"""Flapping brokers: the planted one is found, and a history of restarts and single falls has none."""

from __future__ import annotations

import pytest

from pipeline.anomalies.anomaly import Anomaly
from pipeline.anomalies.flapping import KIND, Fall, flapping, is_fall

MINUTE = 60_000


def falls(*minutes: float, broker: int = 4, reason: str = "fenced") -> list[Fall]:
    return [Fall("c", broker, int(minute * MINUTE), reason) for minute in minutes]


def test_a_broker_that_falls_three_times_in_ten_minutes_flaps() -> None:
    found = flapping(falls(100, 104, 110))

    seen = "It fell 3 times: 3 by being fenced, 0 by starting anew."
    assert found == [Anomaly("c", KIND, "broker 4", 100 * MINUTE, 110 * MINUTE, seen)]


def test_falls_that_follow_each_other_are_one_episode_and_later_ones_another() -> None:
    history = falls(1, 2, 3, 9, 15, 16) + falls(200, 201, reason="registered") + falls(202)

    found = flapping(reversed(history))

    assert [(one.start_ms // MINUTE, one.end_ms // MINUTE) for one in found] == [(1, 16), (200, 202)]
    assert found[1].seen == "It fell 3 times: 1 by being fenced, 2 by starting anew."


@pytest.mark.parametrize(
    "clean",
    [
        [],
        falls(1, 5),
        falls(1, 6, 12),  # three, but in eleven minutes
        falls(1, broker=1) + falls(2, broker=2) + falls(3, broker=3),  # a rack that went away
        [fall._replace(cluster=name) for name, fall in zip("abc", falls(1, 2, 3), strict=True)],
    ],
)
def test_a_history_without_problems_has_no_anomaly(clean: list[Fall]) -> None:
    assert flapping(clean) == []


@pytest.mark.parametrize(
    ("state", "reason", "falls"),
    [
        ("active", "fenced", True),
        ("active", "registered", True),
        ("active", "shutdown", False),
        ("active", "unregistered", False),
        ("active", None, False),
        ("shutting_down", "fenced", False),
        ("fenced", "registered", False),
        ("fenced", "unfenced", False),
    ],
)
def test_only_the_unclean_end_of_an_active_session_is_a_fall(state: str, reason: str | None, falls: bool) -> None:
    assert is_fall(state, reason) is falls
