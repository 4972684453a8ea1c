"""A planted violation of each property of disks is detected."""

from __future__ import annotations

import errno

import pytest

from raft.storage.errors import CorruptSnapshot, DiskFailed, StorageError
from simulations.world.disk import DIRECTORY
from simulations.world.violation import Violation
from tests.simulations.building import followers, lived


def test_a_start_that_lacks_what_was_flushed_is_detected() -> None:
    run = lived()
    node = followers(run)[0].node
    node.kill()
    path = next(path for path in node.disk.files if path.endswith(".log"))
    kept = bytes(node.disk.files[path].synced)
    node.disk.put(path, kept[: len(kept) // 2])

    with pytest.raises(Violation, match="S18"):
        node.start()


def test_a_start_that_forgot_an_election_is_detected() -> None:
    run = lived()
    node = followers(run)[0].node
    node.kill()
    for name in ("quorum-state", "quorum-state-kept"):
        node.disk.take_away(f"{DIRECTORY}/{name}")

    with pytest.raises(Violation, match="S18"):
        node.start()


def test_a_start_without_quorum_state_alone_has_forgotten_nothing() -> None:
    run = lived()
    node = followers(run)[0].node
    node.kill()
    node.disk.take_away(f"{DIRECTORY}/quorum-state")

    node.start()

    assert node.process is not None


def test_a_start_from_state_that_is_not_durable_is_detected() -> None:
    run = lived()
    node = followers(run)[0].node
    node.kill()
    path = next(path for path in node.disk.files if path.endswith(".log"))
    inode = node.disk.files[path]
    inode.synced = inode.synced[:-30]
    inode.stable = len(inode.synced)
    inode.version += 1
    node.disk.settled.count += 1

    with pytest.raises(Violation, match="S18"):
        node.start()


def test_a_refusal_to_start_after_a_plain_crash_is_detected() -> None:
    run = lived()
    found = followers(run)[0]

    with pytest.raises(Violation, match="S18"):
        run.watch.on_start_refused(found, StorageError("a hole"))


def test_a_refusal_to_start_from_a_damaged_disk_is_no_violation() -> None:
    run = lived()
    found = followers(run)[0]
    run.ledger.damaged.add(found.node.id)

    run.watch.on_start_refused(found, StorageError("a hole"))


def test_a_node_that_stops_without_a_fault_is_detected() -> None:
    run = lived()
    found = followers(run)[0]

    with pytest.raises(Violation, match="S29"):
        found.node.on_failed(found, DiskFailed("append", OSError(errno.EBADF, "wrong")))


@pytest.mark.parametrize("error", [DiskFailed("append", OSError(errno.EIO, "bad")), OSError(errno.ENOSPC, "full")])
def test_a_node_whose_disk_failed_may_stop(error: Exception) -> None:
    run = lived()
    found = followers(run)[0]

    found.node.on_failed(found, error)


def test_a_node_that_was_damaged_may_stop() -> None:
    run = lived()
    found = followers(run)[0]
    run.ledger.damaged.add(found.node.id)

    found.node.on_failed(found, CorruptSnapshot("a snapshot", 0, "rotten"))
