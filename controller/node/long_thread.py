"""The thread of long requests: it runs beside the loop, but where a job needs the state, in turns with it."""

from __future__ import annotations

import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

# A slice in which the loop waits. It ends at the first `pause` after this time.
SLICE_S = 0.004


class Closed(BaseException):
    """Raised in a job when the node ends: nothing of the job may be continued."""


class Executor(Protocol):
    """Runs one job after the other. A simulation has its own."""

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job beside the loop; it must not raise, and touches nothing that the loop changes."""

    def take_turns(self, work: Callable[[], Any], then: Callable[[Any, BaseException | None], None]) -> None:
        """Within a job: run `work` while the loop waits, and let the loop run at `pause`s. then: called on the loop at
        the end, before anything else runs there, with what `work` has returned or raised. Returns after that.
        """

    def pause(self) -> bool:
        """Within `work`: end the slice if it has lasted long enough; returns whether the loop has run meanwhile."""

    def call(self, function: Callable[[], None]) -> None:
        """Within a job: call a function on the loop, later."""

    def clock(self) -> float:
        """The CPU time of the jobs, in s; asked within a job."""

    def close(self) -> None:
        """End the present job, at its next `pause` if it has one, and run no more."""


class LongThread:
    """A thread of the process. on_slice: takes how long each slice has taken, s."""

    def __init__(self, loop: AbstractEventLoop, on_slice: Callable[[float], None] = lambda _: None) -> None:
        self._loop = loop
        self.on_slice = on_slice
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._may_run = threading.Semaphore(0)  # given by the loop for each slice
        self._has_run = threading.Semaphore(0)  # given back at the end of the slice
        self._slice_end = 0.0
        self._is_closed = False
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._then: Callable[[Any, BaseException | None], None]
        # Started now: with little memory, or at the limit of threads, a start may fail or hang (python/cpython#140746).
        # A daemon, so that a job that hangs does not keep the process.
        self._thread = threading.Thread(target=self._run, name="long-requests", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], None]) -> None:
        self._jobs.put(job)

    def take_turns(self, work: Callable[[], Any], then: Callable[[Any, BaseException | None], None]) -> None:
        self._outcome, self._then = None, then
        self.call(self._slice)
        self._begin_slice()
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = work(), None
        except Exception as error:  # whatever it is, the loop decides on it
            outcome = None, error
        self._outcome = outcome
        self._has_run.release()
        self._may_run.acquire()  # until `then` has returned

    def pause(self) -> bool:
        if time.perf_counter() < self._slice_end:
            return False
        self._has_run.release()
        self._begin_slice()
        return True

    def call(self, function: Callable[[], None]) -> None:
        if not self._is_closed:
            self._loop.call_soon_threadsafe(function)

    def clock(self) -> float:
        return time.thread_time()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._jobs.put(None)
            self._may_run.release()

    def _begin_slice(self) -> None:
        self._may_run.acquire()
        if self._is_closed:
            raise Closed
        self._slice_end = time.perf_counter() + SLICE_S

    def _slice(self) -> None:
        """On the loop: let the job have the state for one slice."""
        if self._is_closed:
            return
        begin = time.perf_counter()
        self._may_run.release()
        self._has_run.acquire()
        self.on_slice(time.perf_counter() - begin)
        if self._outcome is None:
            self._loop.call_soon(self._slice)
            return
        result, error = self._outcome
        try:
            self._then(result, error)
        finally:
            self._may_run.release()

    def _run(self) -> None:
        try:
            while not self._is_closed and (job := self._jobs.get()) is not None:
                job()
        except Closed:
            pass
