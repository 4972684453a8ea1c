"""Virtual time: one heap of events, in microseconds. A run is a function of the events that are added.

Events of one moment happen in the order in which they were added, so nothing depends on memory addresses.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MS = 1000
SECOND = 1_000_000


class World:
    """now: microseconds since the world began. events: how many have happened."""

    __slots__ = ("_heap", "_order", "events", "now")

    def __init__(self) -> None:
        self.now = 0
        self.events = 0
        self._heap: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._order = 0

    def at(self, when: int, act: Callable[..., None], *args: Any) -> None:
        """Have `act(*args)` called at a moment; a past moment means now."""
        self._order += 1
        heappush(self._heap, (when if when > self.now else self.now, self._order, act, args))  # noqa: FURB136 - no call

    def after(self, delay: int, act: Callable[..., None], *args: Any) -> None:
        """Have `act(*args)` called this many microseconds from now."""
        self._order += 1
        heappush(self._heap, (self.now + delay, self._order, act, args))

    def run(self, until: int, events_max: int = 1 << 62) -> None:
        """Run all events that are due up to `until`, inclusive; `now` is then `until`.

        Raises TooBusy after `events_max` events in all.
        """
        heap = self._heap
        while heap and heap[0][0] <= until:
            self.now, _, act, args = heappop(heap)
            self.events += 1
            if self.events > events_max:
                raise TooBusy(self.events, self.now)
            act(*args)
        self.now = until

    def step(self, until: int) -> bool:
        """One event, if there is one up to `until`."""
        if not self._heap or self._heap[0][0] > until:
            return False
        self.now, _, act, args = heappop(self._heap)
        self.events += 1
        act(*args)
        return True


class TooBusy(Exception):
    """More events than a correct run has: something loops."""

    def __init__(self, events: int, now: int) -> None:
        super().__init__(f"{events} events in {now / SECOND:.3f} simulated seconds")
