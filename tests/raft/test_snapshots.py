from __future__ import annotations

from typing import Any

import pytest

from raft.interface.config import SnapshotId
from raft.interface.effects import AdvanceLogStart, DeleteSnapshot, SaveEpochs
from raft.interface.inputs import Flushed, SnapshotTaken, Ticked, WallClock
from raft.snapshots import may_take
from tests.raft.building import (
    Bench,
    dynamic_voters,
    fetch_response,
    follower,
    log,
    snapshot,
)


def committed(high_watermark: int = 20, recovered: Any = None, **config: Any) -> Bench:
    """A follower of epoch 5 with a log of epochs 1 and 3 up to 20."""
    bench = follower(leader=2, epoch=5, recovered=recovered or log(20, (1, 0), (3, 8)), **config)
    bench.answer(bench.last_send(), fetch_response(5, 2, high_watermark=high_watermark))
    return bench


def taken(bench: Bench, end_offset: int, epoch: int, size: int = 100, timestamp_ms: int = 0) -> list[Any]:
    return bench.tell(SnapshotTaken(SnapshotId(end_offset, epoch), size, timestamp_ms))


def stored(bench: Bench) -> list[SnapshotId]:
    return [each.id for each in bench.replica.log.snapshots]


# Taking


def test_a_snapshot_of_committed_records_is_registered() -> None:
    bench = committed()

    taken(bench, 10, 3)

    assert bench.replica.log.snapshots == [snapshot(10, 3)]
    assert "snapshot_taken" in bench.notes


@pytest.mark.parametrize(("end", "epoch"), [(8, 1), (20, 3), (5, 1)])
def test_a_snapshot_may_end_where_a_batch_ends(end: int, epoch: int) -> None:
    assert may_take(committed().replica, SnapshotId(end, epoch))


@pytest.mark.parametrize(("end", "epoch"), [(21, 3), (10, 1), (8, 3), (10, 2), (20, 5)])
def test_a_snapshot_that_contradicts_the_log_fails_an_assertion(end: int, epoch: int) -> None:
    bench = committed()
    wrong = SnapshotId(end, epoch)

    if (end, epoch) == (8, 3):
        assert may_take(bench.replica, wrong)  # an epoch may begin where a snapshot ends: as Kafka has it
    else:
        with pytest.raises(AssertionError):
            may_take(bench.replica, wrong)


def test_a_snapshot_of_uncommitted_records_fails_an_assertion() -> None:
    with pytest.raises(AssertionError):
        may_take(committed(high_watermark=10).replica, SnapshotId(15, 3))


def test_a_snapshot_is_taken_once() -> None:
    bench = committed()
    taken(bench, 10, 3)

    again = taken(bench, 10, 3)

    assert (again, stored(bench)) == ([], [SnapshotId(10, 3)])
    assert not may_take(bench.replica, SnapshotId(10, 3))


def test_a_snapshot_from_before_the_log_is_deleted() -> None:
    """While it was written, the leader's snapshot replaced the log."""
    bench = committed(recovered=log(20, (3, 10), start=10, snapshots=(snapshot(10, 2),)))

    assert taken(bench, 7, 1) == [DeleteSnapshot(SnapshotId(7, 1))]
    assert not may_take(bench.replica, SnapshotId(7, 1))


def test_a_snapshot_replaces_earlier_voter_sets() -> None:
    recovered = log(20, (1, 0), (3, 8))
    recovered.voter_sets = ((2, dynamic_voters(1)), (5, dynamic_voters(1, 2)), (12, dynamic_voters(1, 2, 3)))
    recovered.kraft_versions = ((1, 1),)
    bench = committed(recovered=recovered)

    taken(bench, 10, 3)

    assert [offset for offset, _ in bench.replica.voter_sets.entries] == [5, 12]
    assert bench.replica.control_state_at(10) == (1, dynamic_voters(1, 2))


# Cleaning


def three(**config: Any) -> Bench:
    return committed(
        recovered=log(20, (1, 0), (3, 8), snapshots=(snapshot(5, 1), snapshot(10, 3), snapshot(15, 3))),
        clean_interval_ms=1000,
        **config,
    )


def cleaned(effects: list[Any]) -> list[Any]:
    return [each for each in effects if isinstance(each, (AdvanceLogStart, DeleteSnapshot, SaveEpochs))]


def wait(bench: Bench, ms: int) -> list[Any]:
    """Time passes, and the leader answers each Fetch."""
    effects = []
    for _ in range(ms // 100):
        effects += bench.wait(100)
        if bench.sends(effects)[-1:]:
            effects += bench.answer(bench.last_send(), fetch_response(5, 2, high_watermark=20))
    return effects


def test_a_log_within_the_limits_is_not_cleaned() -> None:
    bench = three()

    assert cleaned(wait(bench, 3000)) == []
    assert len(stored(bench)) == 3


def test_a_log_that_is_too_large_is_cleaned_step_by_step() -> None:
    bench = three(retention_bytes_max=250)
    bench.replica.log.bytes = 90
    bench.wait(999)
    bench.now += 1

    first = cleaned(bench.step(Ticked()))
    bench.step(Flushed(1, -1, 40))

    assert first == [
        AdvanceLogStart(1, 10),
        SaveEpochs(((3, 10),)),
        DeleteSnapshot(SnapshotId(5, 1)),
    ]
    assert stored(bench) == [SnapshotId(10, 3), SnapshotId(15, 3)]


def test_cleaning_continues_when_the_new_size_is_known() -> None:
    bench = three(retention_bytes_max=150)
    bench.replica.log.bytes = 90

    effects = cleaned(bench.wait(1000))

    assert [each for each in effects if isinstance(each, AdvanceLogStart)] == [
        AdvanceLogStart(1, 10),
        AdvanceLogStart(2, 15),
    ]
    assert stored(bench) == [SnapshotId(15, 3)]


def test_the_newest_snapshot_is_never_deleted() -> None:
    bench = three(retention_bytes_max=0)

    wait(bench, 5000)

    assert stored(bench) == [SnapshotId(15, 3)]
    assert bench.replica.log.start == 15


def test_all_snapshots_that_are_too_old_are_deleted_at_once() -> None:
    old = (
        snapshot(5, 1, timestamp_ms=1000),
        snapshot(10, 3, timestamp_ms=2000),
        snapshot(15, 3, timestamp_ms=9_000_000),
    )
    bench = committed(recovered=log(20, (1, 0), (3, 8), snapshots=old), clean_interval_ms=1000, retention_ms=50_000)
    bench.tell(WallClock(60_000))

    effects = cleaned(bench.wait(1000))

    assert [each for each in effects if isinstance(each, AdvanceLogStart)] == [
        AdvanceLogStart(1, 10),
        AdvanceLogStart(2, 15),
    ]
    assert stored(bench) == [SnapshotId(15, 3)]


@pytest.mark.parametrize("config", [{"retention_bytes_max": -1, "retention_ms": 10**15}, {"retention_ms": -1}])
def test_a_negative_limit_means_no_limit(config: dict[str, int]) -> None:
    bench = three(**config)
    bench.tell(WallClock(10**12))
    bench.replica.log.bytes = 1

    assert cleaned(wait(bench, 2000)) == []


def test_nothing_is_cleaned_before_it_is_known_to_be_committed() -> None:
    bench = follower(
        leader=2,
        epoch=5,
        recovered=log(20, (1, 0), (3, 8), snapshots=(snapshot(5, 1), snapshot(10, 3))),
        clean_interval_ms=100,
        retention_bytes_max=0,
    )

    assert cleaned(bench.wait(500)) == []


def test_cleaning_runs_once_per_interval() -> None:
    bench = three(retention_bytes_max=0)

    assert cleaned(bench.wait(999)) == []
    assert cleaned(bench.wait(1)) != []
