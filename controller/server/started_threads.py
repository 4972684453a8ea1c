"""The threads that a loop starts when it needs them, started with the node.

With little memory, or at the limit of threads, a start may fail or hang later (python/cpython#140746), and libuv ends
the process where one of its own threads does not start.
"""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

# libuv looks names up on half of its threads, 2 of 4 by default. A lookup without an answer takes a thread for half a
# minute or longer, and each peer may have several: peers of other names would not be connected meanwhile. They are idle
# otherwise, and take 1 MiB.
LOOKUP_THREADS = 64
# For steps of Kerberos.
OTHER_THREADS = 2


async def start_threads_of(loop: asyncio.AbstractEventLoop) -> None:
    """Start all threads that the loop looks names up on and runs other blocking calls on.

    Raises RuntimeError if this process may not have so many.
    """
    start_threads(LOOKUP_THREADS).shutdown()  # so that libuv's threads can be started
    loop.set_default_executor(start_threads(OTHER_THREADS))
    await loop.getaddrinfo("127.0.0.1", 0, flags=socket.AI_NUMERICHOST)


def start_threads(count: int) -> ThreadPoolExecutor:
    """An executor whose threads all run, so that it starts none later. Raises RuntimeError if one does not start."""
    executor = ThreadPoolExecutor(count, "blocking")
    all_run = Barrier(count + 1)
    try:
        for _ in range(count):
            executor.submit(all_run.wait)
    except RuntimeError:
        all_run.abort()
        executor.shutdown(wait=False, cancel_futures=True)
        raise RuntimeError(
            f"this process may not start {count} threads more: raise the limit of threads (pids.max, TasksMax, "
            "ulimit -u) or of memory"
        ) from None
    all_run.wait()
    return executor
