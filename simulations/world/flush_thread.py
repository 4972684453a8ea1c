"""The flush thread of a simulated process: it runs the real jobs of `raft.storage`, which wait while a sync runs.

Each job runs in a greenlet, so that the node can continue, or die, between any two operations of a job.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from greenlet import getcurrent, greenlet

from simulations.world.files import Dead

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.world.world import World

# From a job's arrival until the thread that slept runs it, in microseconds.
WAKE_US = 15


class SimFlushThread:
    """An executor in virtual time. on_death: called when the process died within a job."""

    def __init__(self, world: World, on_death: Callable[[Dead], None]) -> None:
        self._world = world
        self._on_death = on_death
        self._jobs: deque[Callable[[], None]] = deque()
        self._thread: greenlet | None = None
        self._hub = getcurrent()
        self._is_waking = False
        self._is_dead = False
        self._hurries = False

    def submit(self, job: Callable[[], None]) -> None:
        self._jobs.append(job)
        if self._thread is None and not self._is_waking:
            self._is_waking = True
            self._world.after(WAKE_US, self._begin)

    def close(self) -> None:
        """Run all queued jobs, and accept no more; the caller waits."""
        self._hurries = True
        if self._thread is not None:
            self._resume()
        elif self._jobs:
            self._begin()

    def is_running(self) -> bool:
        """Whether this thread is the one that runs now."""
        return self._thread is not None and getcurrent() is self._thread

    def pause(self, delay: int) -> None:
        """Within a job: sleep so many microseconds, then go on if the process is still alive."""
        if self._hurries:
            return
        self._world.after(delay, self._resume, self._thread)
        self._hub.switch()

    def die(self) -> None:
        """The process has ended: the running job ends where it is."""
        self._is_dead = True
        self._jobs.clear()
        thread = self._thread
        if thread is not None and getcurrent() is not thread:
            self._thread = None
            self._hub = thread.parent = getcurrent()  # where it goes on when the job has ended
            thread.throw(Dead())

    def _begin(self) -> None:
        self._is_waking = False
        if self._is_dead or self._thread is not None:
            return
        self._thread = greenlet(self._run)
        self._resume()

    def _resume(self, thread: greenlet | None = None) -> None:
        if self._thread is None or (thread is not None and thread is not self._thread):
            return  # it ended, be it in a hurry
        self._hub = getcurrent()
        self._thread.parent = self._hub
        self._thread.switch()

    def _run(self) -> None:
        try:
            while self._jobs:
                self._jobs.popleft()()
        except Dead as death:
            if not self._is_dead:
                self._on_death(death)
        self._thread = None
