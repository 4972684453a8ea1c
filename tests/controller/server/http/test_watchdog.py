"""Liveness: a disk that makes no progress is detected, and a busy disk is not mistaken for it."""

from __future__ import annotations

import asyncio
import math
import sys
from collections import deque
from typing import TYPE_CHECKING

import pytest

from controller.server.http import watchdog as watchdog_module
from controller.server.http.watchdog import Watchdog
from raft.interface.effects import SaveElection
from raft.storage.files import OsFiles
from raft.storage.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Stuck:
    """An executor that runs a job when the test says so."""

    def __init__(self) -> None:
        self.jobs: deque[Callable[[], None]] = deque()

    def submit(self, job: Callable[[], None]) -> None:
        self.jobs.append(job)

    def close(self) -> None:
        while self.jobs:
            self.jobs.popleft()()


def test_a_disk_that_completes_no_write_is_not_live_and_a_slow_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog_module, "INTERVAL_S", 0.01)
    monkeypatch.setattr(watchdog_module, "DISK_S_MAX", 0.4)
    stuck = Stuck()
    files = OsFiles()
    storage = Storage(files, str(tmp_path / "p"), stuck, on_input=lambda _: None, on_failure=lambda _: None)
    stuck.close()

    async def look() -> list[bool]:
        watchdog = Watchdog(asyncio.get_running_loop())
        watchdog.watch(storage)
        seen = []
        await asyncio.sleep(0.1)
        seen.append(watchdog.disk().passed)
        for epoch in (1, 2):
            storage.perform(SaveElection(epoch, epoch, None, None, 0, (1,)))
        await asyncio.sleep(0.7)
        seen.append(watchdog.disk().passed)
        stuck.jobs.popleft()()  # one of the two is done
        await asyncio.sleep(0.1)
        seen.append(watchdog.disk().passed)
        await asyncio.sleep(0.7)
        seen.append(watchdog.disk().passed)
        stuck.close()
        await asyncio.sleep(0.1)
        seen.append(watchdog.disk().passed)
        watchdog.close()
        return seen

    assert asyncio.run(look()) == [True, False, True, False, True]
    storage.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_linux_says_what_the_process_read_and_wrote() -> None:
    async def look() -> dict[str, float]:
        watchdog = Watchdog(asyncio.get_running_loop())
        names = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes", "none")
        found = {name: watchdog.process_io(name) for name in names}
        watchdog.close()
        return found

    found = asyncio.run(look())

    assert math.isnan(found.pop("none"))
    assert all(value >= 0 for value in found.values())
    assert min(found["rchar"], found["syscr"]) > 0


def test_a_busy_thread_has_a_lower_idle_ratio() -> None:
    async def look() -> tuple[float, float]:
        watchdog = Watchdog(asyncio.get_running_loop())
        await asyncio.sleep(0.2)
        idle = watchdog.idle_ratio()
        sum(range(10_000_000))
        busy = watchdog.idle_ratio()
        watchdog.close()
        return idle, busy

    idle, busy = asyncio.run(look())

    assert 0 <= busy < idle <= 1
