"""Watches whether the event loop runs and the disk completes writes."""

from __future__ import annotations

import math
from collections import deque
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

from controller.server.http.probes import Check

if TYPE_CHECKING:
    import asyncio

    from raft.storage.storage import Storage

# A disk that has completed nothing for this time counts as failed.
DISK_S_MAX = 30.0
INTERVAL_S = 1.0
KEPT = 60


class Watchdog:
    """Measures every second.

    began_s: when it started, on the loop's clock. late_s: the delay of each of the last measurements, the newest last.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._storage: Storage | None = None
        self._done = 0
        self._stuck_since_s: float | None = None
        self.began_s = loop.time()
        self._due_s = self.began_s + INTERVAL_S
        self._timer = loop.call_at(self._due_s, self._look)
        self.late_s: deque[float] = deque(maxlen=KEPT)
        # (time, CPU time of this thread until then)
        self._worked: deque[tuple[float, float]] = deque([(loop.time(), thread_time())], maxlen=KEPT)

    def live(self) -> list[Check]:
        """Whether the process makes progress: its loop runs, and the disk completes its requests."""
        return [self.loop(), self.disk()]

    def watch(self, storage: Storage) -> None:
        """Start watching the disk."""
        self._storage = storage

    def close(self) -> None:
        self._timer.cancel()

    def idle_ratio(self) -> float:
        """The share of the last minute in which this thread used no CPU, 0 to 1."""
        then_s, before_s = self._worked[0]
        passed_s = self._loop.time() - then_s
        return 1.0 if passed_s <= 0 else min(max(1 - (thread_time() - before_s) / passed_s, 0.0), 1.0)

    def process_io(self, name: str) -> float:
        """A value of /proc/self/io; NaN if the system does not have it."""
        try:
            lines = Path("/proc/self/io").read_text().splitlines()
        except OSError:
            return math.nan
        return next((float(line.split()[1]) for line in lines if line.startswith(f"{name}:")), math.nan)

    def loop(self) -> Check:
        """Whether the loop runs, which answering proves; the reason has its longest delay."""
        held_up_s = max(self.late_s, default=0.0)
        return Check("loop", True, f"it runs; its longest delay in the last minute was {held_up_s * 1000:.0f} ms")

    def disk(self) -> Check:
        """Whether the oldest pending write is not too old."""
        if self._stuck_since_s is None:
            return Check("disk", True, "no write is pending for long")
        waits_s = self._loop.time() - self._stuck_since_s
        return Check("disk", waits_s < DISK_S_MAX, f"a write has been pending for {waits_s:.0f} s")

    def _look(self) -> None:
        now_s = self._loop.time()
        self.late_s.append(max(now_s - self._due_s, 0.0))
        self._worked.append((now_s, thread_time()))
        if self._storage is not None:
            asked, done = self._storage.jobs()
            if asked == done:
                self._stuck_since_s = None
            elif done != self._done or self._stuck_since_s is None:
                self._stuck_since_s = now_s
            self._done = done
        self._due_s = now_s + INTERVAL_S
        self._timer = self._loop.call_at(self._due_s, self._look)
