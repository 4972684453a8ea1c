"""Numbers, times and durations as the page has them."""

from __future__ import annotations

import pytest

from pipeline.report.words import duration, number, short_number, short_time, time

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1000, "1 s"),
        (12_540, "12.5 s"),
        (59_990, "1 min"),
        (60_000, "1 min"),
        (61_499, "1 min 1 s"),
        (3_599_900, "1 h"),
        (3_600_000, "1 h"),
        (5_400_000, "1 h 30 min"),
        (86_399_999, "1 d"),
        (90 * 3_600_000, "3 d 18 h"),
        (400 * DAY_MS, "400 d"),
    ],
)
def test_a_duration_has_two_units_at_most(ms: int, said: str) -> None:
    assert duration(ms) == said


def test_numbers_are_grouped_and_fractions_have_one_digit() -> None:
    assert [number(1_234_567), number(2.0), number(1234.56)] == ["1,234,567", "2", "1,234.6"]
    assert [short_number(one) for one in (0, 0.5, 900, 1200, 3.4e6, 2e9)] == ["0", "0.5", "900", "1.2k", "3.4M", "2G"]


def test_times_are_utc_with_a_precision_for_the_span() -> None:
    moment = 1_795_914_305_000

    assert time(moment) == "2026-11-29 01:05:05"
    spans = (60_000, 3_600_000, 9 * DAY_MS)
    assert [short_time(moment, span) for span in spans] == ["01:05:05", "01:05", "Nov 29"]
