"""Counters of a controller: how requests, snapshots and changes of the leader update them."""

from __future__ import annotations

from controller.core.metrics import KEPT, Durations
from controller.interface.inputs import SnapshotWritten
from raft.interface.config import SnapshotId
from records.messages.topics import CreateTopicsRequest
from tests.controller.rig import Rig, new_topic, registration


def test_quantiles_are_those_of_the_last_durations() -> None:
    durations = Durations()

    for ms in range(3 * KEPT):
        durations.add(ms)

    assert (durations.count, durations.sum_ms) == (3 * KEPT, sum(range(3 * KEPT)))
    assert durations.quantiles((0.0, 0.5, 0.999, 1.0)) == [2 * KEPT, 2.5 * KEPT, 3 * KEPT - 2, 3 * KEPT - 1]
    assert Durations().quantiles((0.5, 1.0)) == [0.0, 0.0]


def test_the_processing_time_of_a_write_includes_the_wait_for_its_commit() -> None:
    rig = Rig(auto=False).lead()
    rig.commit()
    metrics = rig.controller.metrics

    rig.send(CreateTopicsRequest(topics=(new_topic("a", (1,)),)), arrived_ms=rig.now_ms - 3)
    refused = (metrics.queue_ms.sum_ms, metrics.processing_ms.sum_ms)
    rig.send(registration(7))
    rig.now_ms += 20
    rig.commit()

    assert refused == (3, 3)
    assert (metrics.operations_started, metrics.queue_ms.count, metrics.processing_ms.count) == (2, 2, 2)
    assert metrics.processing_ms.sum_ms == 23


def test_a_snapshot_that_was_written_is_the_latest_one() -> None:
    rig = Rig().lead()

    rig.step(SnapshotWritten(SnapshotId(1, 1), 4711))

    assert (rig.controller.metrics.snapshot_bytes, rig.controller.metrics.snapshot_ms) == (4711, rig.now_ms)
