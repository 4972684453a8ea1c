"""A planted violation of what disks promise is seen."""

from __future__ import annotations

import pytest

from raft.storage.errors import StorageError
from simulations.process import DIRECTORY
from simulations.violation import Violation
from tests.simulations.building import followers, lived


def test_a_start_that_lacks_what_was_flushed_is_seen() -> None:
    run = lived()
    node = followers(run)[0].node
    node.kill()
    path = next(path for path in node.disk.files if path.endswith(".log"))
    kept = bytes(node.disk.files[path].synced)
    node.disk.put(path, kept[: len(kept) // 2])

    with pytest.raises(Violation, match="S18"):
        node.start()


def test_a_start_that_forgot_an_election_is_seen() -> None:
    run = lived()
    node = followers(run)[0].node
    node.kill()
    node.disk.take_away(f"{DIRECTORY}/quorum-state")

    with pytest.raises(Violation, match="S18"):
        node.start()


def test_a_start_from_what_a_power_failure_would_take_is_seen() -> None:
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


def test_a_refusal_to_start_from_what_a_crash_left_is_seen() -> None:
    run = lived()
    found = followers(run)[0]

    with pytest.raises(Violation, match="S18"):
        run.watch.refused_to_start(found, StorageError("a hole"))


def test_a_refusal_to_start_from_a_damaged_disk_is_right() -> None:
    run = lived()
    found = followers(run)[0]
    run.ledger.damaged.add(found.node.id)

    run.watch.refused_to_start(found, StorageError("a hole"))
