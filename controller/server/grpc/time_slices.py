"""Limits the share of the event loop that the watch service takes.

The service shares the loop with the quorum: a thread would hold the interpreter lock for 5 ms at a time. All its work
is cut into slices of well under a millisecond, and each slice is followed by a pause of a multiple of its time.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

REST = 3.0
REST_S_MIN = 0.001


class TimeSlices:
    """Grants slices, one at a time and in the order of the requests."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._free_s = 0.0

    @asynccontextmanager
    async def slice(self) -> AsyncIterator[None]:
        """Hold a slice for work that does not wait; it begins after the pause that follows the slice before."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            rest_s = self._free_s - loop.time()
            if rest_s > 0:
                await asyncio.sleep(rest_s)
            # CPU time of this thread only: time that other processes take needs no pause.
            begin_s = time.thread_time()
            try:
                yield
            finally:
                self._free_s = loop.time() + max((time.thread_time() - begin_s) * REST, REST_S_MIN)
