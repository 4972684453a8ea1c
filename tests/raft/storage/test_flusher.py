"""Flushes on a thread, one after another."""

from __future__ import annotations

import threading
from functools import partial

from raft.storage.disk_queue import DiskQueue, GroupCommit, LogPoint
from raft.storage.flusher import AtOnce, FlushThread
from tests.raft.storage.test_disk_queue import disk_with


def test_after_a_failed_sync_nothing_is_reported_or_retried() -> None:
    disk, (a,) = disk_with("a")
    synced: list[LogPoint] = []
    failures: list[str] = []
    queue = DiskQueue(AtOnce(), lambda failure: failures.append(str(failure)))
    commit = GroupCommit(disk, "", queue, synced.append)
    disk.fail_at = 1

    for number in (1, 2):
        commit.add(LogPoint(number, a, False, number, 0))
    queue.submit("something else", lambda: synced.append(LogPoint(3, a, False, 3, 0)))

    assert synced == []
    assert disk.operations == [("sync", "a")]
    assert failures == ["flush of the log: [Errno 5] sync was made to fail: 'a'"]


def test_an_error_that_no_disk_causes_fails_the_node_too() -> None:
    failures: list[str] = []
    ran: list[str] = []
    thread = FlushThread()
    queue = DiskQueue(thread, lambda failure: failures.append(str(failure)))

    def job() -> None:
        raise AssertionError("two segments with one name")

    queue.submit("flush of the log", job)
    queue.submit("quorum-state", lambda: ran.append("quorum-state"))
    queue.close()

    assert failures == ["flush of the log: AssertionError: two segments with one name"]
    assert ran == []
    assert (queue.asked, queue.done) == (2, 2)


def test_a_second_failure_is_not_reported() -> None:
    failures: list[str] = []
    queue = DiskQueue(AtOnce(), lambda failure: failures.append(str(failure)))

    first = queue.fail("one", OSError("a"))
    second = queue.fail("two", OSError("b"))

    assert first is second
    assert failures == ["one: a"]


def test_the_flush_thread_runs_jobs_in_order_on_its_own() -> None:
    ran: list[tuple[int, bool]] = []
    thread = FlushThread()

    def run(number: int) -> None:
        ran.append((number, threading.current_thread().name == "flush"))

    for number in range(200):
        thread.submit(partial(run, number))
    thread.close()
    thread.close()

    assert ran == [(number, True) for number in range(200)]


def test_no_operation_is_lost_between_the_threads() -> None:
    """Points are added while the flush thread runs: the last one reported is the last one added."""
    disk, (a,) = disk_with("a")
    synced: list[int] = []
    thread = FlushThread()
    commit = GroupCommit(disk, "", DiskQueue(thread, lambda _: None), lambda point: synced.append(point.number))

    for number in range(1, 5001):
        commit.add(LogPoint(number, a, False, number, 0))
    thread.close()

    assert synced[-1] == 5000
    assert synced == sorted(synced)
