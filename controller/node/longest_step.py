"""The longest time for which one step kept the loop, over the last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW_S = 60.0


class LongestStep:
    """The longest step of this window and of the one before it: of the last one to two minutes. clock: monotonic, s."""

    __slots__ = ("_before_s", "_begin_s", "_clock", "_longest_s")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begin_s = clock()
        self._longest_s = self._before_s = 0.0

    def add(self, taken_s: float) -> None:
        """A step has taken this time, s."""
        self._turn()
        self._longest_s = max(self._longest_s, taken_s)

    def seconds(self) -> float:
        self._turn()
        return max(self._longest_s, self._before_s)

    def _turn(self) -> None:
        passed_s = self._clock() - self._begin_s
        if passed_s >= WINDOW_S:
            self._before_s = self._longest_s if passed_s < 2 * WINDOW_S else 0.0
            self._longest_s = 0.0
            self._begin_s += passed_s
