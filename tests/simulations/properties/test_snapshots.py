"""A planted violation of each property of snapshots is detected."""

from __future__ import annotations

import pytest

from raft.interface.effects import AdvanceLogStart, DeleteSnapshot
from raft.interface.inputs import SnapshotTaken
from simulations.plans.plan import Load
from simulations.world.disk import DIRECTORY
from simulations.world.violation import Violation
from simulations.world.writes import State
from tests.simulations.building import followers, leader, lived


def test_a_log_that_starts_late_without_a_snapshot_is_detected() -> None:
    run = lived()

    with pytest.raises(Violation, match="S17"):
        run.watch.performs(leader(run), AdvanceLogStart(99, 2))


def test_a_log_that_starts_within_a_batch_is_detected() -> None:
    run = lived(load=Load(every_ms=10, records=5))
    found = leader(run)
    ends = run.ledger.shadow(found).ends
    within = next(offset for offset in range(ends[-1]) if offset and offset not in ends)

    with pytest.raises(Violation, match="S17"):
        run.watch.performs(found, AdvanceLogStart(99, within))


def test_dropping_the_snapshot_that_the_log_starts_from_is_detected() -> None:
    run = lived(1500, snapshot_every=10, config={"clean_interval_ms": 100, "retention_bytes_max": 500})
    found = next(each for each in run.ledger.running() if run.ledger.shadow(each).start)
    stored = run.ledger.durable(found.node).snapshots
    for snapshot in sorted(stored)[:-1]:
        run.watch.performs(found, DeleteSnapshot(snapshot))
        stored.discard(snapshot)

    with pytest.raises(Violation, match="S17"):
        run.watch.performs(found, DeleteSnapshot(max(stored)))


def test_a_stored_snapshot_whose_bytes_are_not_on_disk_is_detected() -> None:
    run = lived(1500, snapshot_every=10)
    found = followers(run)[0]
    snapshot = max(run.ledger.durable(found.node).snapshots)
    path = next(path for path in found.node.disk.durable if path.endswith(".checkpoint"))
    assert path.startswith(DIRECTORY)
    for path, inode in found.node.disk.durable.items():
        if path.endswith(".checkpoint"):
            del inode.synced[-20:]

    with pytest.raises(Violation, match=r"S17.*(damaged|incomplete)"):
        run.watch.on_stepped(found, "input:SnapshotTaken", SnapshotTaken(snapshot, 100, 0), [])


def test_a_loaded_state_that_differs_from_the_log_is_detected() -> None:
    run = lived(1500, snapshot_every=10)
    found = followers(run)[0]
    snapshot = max(run.ledger.durable(found.node).snapshots)

    with pytest.raises(Violation, match="S17"):
        run.watch.on_loaded(found, snapshot, State(1, 2, ((3, 4),)))
