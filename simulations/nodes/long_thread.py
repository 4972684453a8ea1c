"""The thread of long requests of a simulated process: its jobs run in a greenlet, in turns with the loop."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

from simulations.world.files import Dead

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.nodes.loop import SimLoop

# The time that a thread needs until it runs a job, and the longest time of one slice, s.
WAKE_S = 0.00002
SLICE_S_MAX = 0.003
# How often a pause ends the slice, and how often a long time passes before the next one.
SWITCH_CHANCE = 0.5
LONG_CHANCE = 0.05
LONG_S_MAX = 0.3
# How many pauses of a step end a slice at most. A slice of the product lasts some ms, whatever it does; here each pause
# may end one, and a step of 10,000 entries would last longer than the recovery phase.
SWITCHES_MAX = 100


class SimLongThread:
    """An executor of `controller.node.long_thread` in virtual time. switches: how many pauses ended a slice."""

    def __init__(self, loop: SimLoop, rng: Random) -> None:
        self.switches = 0
        self._switches_left = 0
        self._loop = loop
        self._rng = rng
        self._jobs: deque[Callable[[], None]] = deque()
        self._thread: greenlet | None = None
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._then: Callable[[Any, BaseException | None], None]
        self._used_s = 0.0
        self._is_closed = False

    def submit(self, job: Callable[[], None]) -> None:
        self._jobs.append(job)
        self._loop.call_later(WAKE_S, self._begin)

    def take_turns(self, work: Callable[[], Any], then: Callable[[Any, BaseException | None], None]) -> None:
        self._outcome, self._then = None, then
        self._switches_left = SWITCHES_MAX
        self._wait()
        try:
            self._outcome = work(), None
        except Exception as error:  # as the product's
            self._outcome = None, error
        self._leave()

    def pause(self) -> bool:
        if getcurrent() is not self._thread or not self._switches_left or self._rng.random() >= SWITCH_CHANCE:
            return False
        self.switches += 1
        self._switches_left -= 1
        self._wait()
        return True

    def call(self, function: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(function)

    def clock(self) -> float:
        return self._used_s

    def close(self) -> None:
        self._is_closed = True

    def _wait(self) -> None:
        """Until the next slice."""
        limit_s = LONG_S_MAX if self._rng.random() < LONG_CHANCE else SLICE_S_MAX
        wait_s = self._rng.uniform(0, limit_s)
        self._used_s += min(wait_s, SLICE_S_MAX)
        self._loop.call_later(wait_s, self._resume)
        self._leave()
        if self._is_closed:
            raise Dead

    def _leave(self) -> None:
        assert self._thread is not None
        self._thread.parent.switch()

    def _begin(self) -> None:
        if self._jobs and self._thread is None and not self._is_closed:
            self._thread = greenlet(self._run)
            self._resume()

    def _resume(self) -> None:
        """On the loop: let the job run until its next pause, or its end."""
        thread = self._thread
        if thread is None or self._is_closed:
            return
        thread.parent = getcurrent()
        thread.switch()
        while self._outcome is not None:
            (result, error), self._outcome = self._outcome, None
            self._then(result, error)
            thread.parent = getcurrent()
            thread.switch()

    def _run(self) -> None:
        try:
            while self._jobs and not self._is_closed:
                self._jobs.popleft()()
        except Dead:
            pass
        self._thread = None
