"""The threads of a node are started with it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from controller.server.started_threads import OTHER_THREADS, start_threads, start_threads_of


def test_no_lookup_and_no_blocking_call_starts_a_thread() -> None:
    # In a process without the threads of other tests.
    script = f"import uvloop; from {__name__} import count_threads; print(*uvloop.run(count_threads()))"
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout

    before, after = map(int, printed.split())
    assert before == after > OTHER_THREADS


async def count_threads() -> tuple[int, int]:
    """The threads of this process before and after some lookups and blocking calls."""
    loop = asyncio.get_running_loop()
    await start_threads_of(loop)
    before = thread_count()
    for _ in range(3):
        await loop.getaddrinfo("localhost", 1)
        await loop.run_in_executor(None, threading.get_ident)
    return before, thread_count()


def test_a_thread_that_does_not_start_is_told_and_the_others_end(monkeypatch: pytest.MonkeyPatch) -> None:
    start, names = threading.Thread.start, []

    def start_two(thread: threading.Thread) -> None:
        if len(names) == 2:
            raise RuntimeError("can't start new thread")
        names.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_two)
    with pytest.raises(RuntimeError, match="may not start 4 threads more: raise the limit of threads"):
        start_threads(4)

    for thread in threading.enumerate():
        if thread.name in names:
            thread.join(10)
            assert not thread.is_alive()


def thread_count() -> int:
    """Of this process, those of libuv among them."""
    return len(list(Path("/proc/self/task").iterdir()))
