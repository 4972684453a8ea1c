"""Turns: how much of the loop the watch service may have, whoever watches.

It shares the loop with the quorum, since a thread would take the interpreter from it for 5 ms at a time. So all of its
work is cut into slices of well under a millisecond, and behind each slice everybody else has a multiple of its time.
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


class Turns:
    """Hands out slices, one at a time and in the order in which they were asked for."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._free_s = 0.0

    @asynccontextmanager
    async def slice(self) -> AsyncIterator[None]:
        """Around work that does not wait: it begins when the rest behind the slice before it is over."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            rest_s = self._free_s - loop.time()
            if rest_s > 0:
                await asyncio.sleep(rest_s)
            # Of this thread alone: on a busy machine others take time too, which nobody has to rest for.
            begin_s = time.thread_time()
            try:
                yield
            finally:
                self._free_s = loop.time() + max((time.thread_time() - begin_s) * REST, REST_S_MIN)
