"""The retry policy of the clients: how long the pauses are, and when there is no further attempt."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tools.client import retries
from tools.client.retries import Retries

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses; a pause moves the clock."""
    found: list[float] = []
    clock: Callable[[], float] = lambda: sum(found)  # noqa: E731
    monkeypatch.setattr(retries, "time", SimpleNamespace(monotonic=clock, sleep=found.append))
    return found


def test_pauses_double_up_to_a_maximum_and_the_last_ends_with_the_time(slept: list[float]) -> None:
    found = Retries(10.0, 0.5, 3.0)

    while found.pause():
        pass

    assert slept == [0.5, 1.0, 2.0, 3.0, 3.0, 0.5]
    assert (found.failures, found.left_s) == (7, 0.0)


def test_pauses_without_a_maximum_are_equal(slept: list[float]) -> None:
    found = Retries(1.0, 0.25)

    while found.pause():
        pass

    assert slept == [0.25] * 4


def test_attempts_are_counted_also_without_a_time(slept: list[float]) -> None:
    found = Retries(inf, 2.0, count_max=2)

    assert [found.pause() for _ in range(3)] == [True, True, False]
    assert slept == [2.0, 2.0]


def test_a_time_that_is_over_has_one_attempt(slept: list[float]) -> None:
    assert not Retries(0.0, 1.0).pause()
    assert slept == []
