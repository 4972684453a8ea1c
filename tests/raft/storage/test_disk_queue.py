"""Group commit: each flush covers all pending operations, and reports the newest; after a failure
nothing is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.storage.disk_queue import DiskQueue, GroupCommit, LogPoint
from tests.raft.storage.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable


class Held:
    """An executor that keeps its jobs."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], None]] = []

    def submit(self, job: Callable[[], None]) -> None:
        self.jobs.append(job)

    def close(self) -> None:
        while self.jobs:
            self.jobs.pop(0)()


def disk_with(*paths: str) -> tuple[Disk, list[int]]:
    disk = Disk()
    handles = [disk.open(path, create=True) for path in paths]
    disk.operations.clear()
    return disk, handles


def test_one_flush_covers_all_operations_added_before_it() -> None:
    disk, (a, b) = disk_with("a", "b")
    executor = Held()
    synced: list[LogPoint] = []
    commit = GroupCommit(disk, "", DiskQueue(executor, lambda _: None), synced.append)

    for number in (1, 2, 3):
        commit.add(LogPoint(number, a, False, number, 0))
    commit.add(LogPoint(4, b, False, 4, 0))

    assert len(executor.jobs) == 1
    executor.close()
    assert disk.operations == [("sync", "a"), ("sync", "b")]
    assert synced == [LogPoint(4, b, False, 4, 0)]


def test_operations_added_during_a_flush_are_covered_by_the_next() -> None:
    disk, (a,) = disk_with("a")
    executor = Held()
    synced: list[LogPoint] = []
    commit = GroupCommit(disk, "", DiskQueue(executor, lambda _: None), synced.append)
    commit.add(LogPoint(1, a, False, 1, 0))
    real = disk.sync_data

    def sync_data(handle: int) -> None:
        real(handle)
        if len(synced) == 0:
            commit.add(LogPoint(2, a, False, 2, 0))

    disk.sync_data = sync_data  # type: ignore[method-assign]
    executor.close()

    assert [point.number for point in synced] == [1, 2]
    assert disk.operations == [("sync", "a"), ("sync", "a")]


def test_names_are_synced_after_the_files_and_only_where_they_changed() -> None:
    disk, (a,) = disk_with("d/a")
    executor = Held()
    synced: list[LogPoint] = []
    commit = GroupCommit(disk, "d", DiskQueue(executor, lambda _: None), synced.append)

    commit.add(LogPoint(1, a, True, 1, 0))
    commit.add(LogPoint(2, None, False, 1, 0))
    executor.close()

    assert disk.operations == [("sync", "d/a"), ("sync directory", "d")]
    assert [point.number for point in synced] == [2]
