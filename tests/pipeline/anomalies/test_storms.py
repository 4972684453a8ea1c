"""ISR storms: the planted ones are found, and what every cluster has now and then is none."""

from __future__ import annotations

import pytest

from pipeline.anomalies.anomaly import Anomaly
from pipeline.anomalies.storms import KIND, Drops, storms


def drops(*spans: tuple[int, int], broker: int = 7) -> list[Drops]:
    """Spans as (second, how many)."""
    return [Drops("c", second * 1000, broker, count) for second, count in spans]


def test_ten_drops_within_a_minute_are_a_storm_of_the_broker_that_has_most() -> None:
    found = storms([*drops((100, 3), (130, 3)), *drops((159, 4), broker=8)], {"c": 500})

    seen = "10 replicas of active brokers left their ISRs, 6 of them on broker 7."
    assert found == [Anomaly("c", KIND, "broker 7", 100_000, 160_000, seen)]


def test_a_storm_in_a_larger_cluster_needs_more_drops() -> None:
    planted = drops((100, 60), (101, 40))

    assert storms(planted, {"c": 10_001}) == []
    assert [one.seen.split()[0] for one in storms(planted, {"c": 10_000})] == ["100"]


def test_minutes_that_overlap_or_touch_are_one_storm_and_later_ones_another() -> None:
    found = storms(drops((100, 12), (150, 2), (190, 12), (400, 10)), {})

    assert [(one.start_ms, one.end_ms, one.seen.split()[0]) for one in found] == [
        (100_000, 191_000, "26"),
        (400_000, 401_000, "10"),
    ]


def test_clusters_are_evaluated_separately() -> None:
    planted = [*drops((1, 6)), *(one._replace(cluster="d") for one in drops((1, 6)))]

    assert storms(planted, {}) == []


@pytest.mark.parametrize(
    "clean", [[], drops((1, 9)), drops((1, 5), (61, 5)), drops(*((10 * at, 1) for at in range(99)))]
)
def test_a_history_without_problems_has_no_anomaly(clean: list[Drops]) -> None:
    assert storms(clean, {"c": 30}) == []
