"""When a snapshot is due."""

import pytest

from controller.core import snapshot_schedule
from controller.core.snapshot_schedule import STOP_BYTES_MIN, Appended, SnapshotSchedule
from controller.interface.effects import TakeSnapshot
from controller.interface.inputs import (
    CaughtUp,
    Committed,
    ShutDown,
    SnapshotClosed,
    SnapshotOpened,
    SnapshotPart,
    SnapshotWritten,
    Stopping,
)
from controller.interface.settings import Settings
from controller.state.snapshots import batches
from controller.state.view import stable_view
from raft.interface.config import SnapshotId
from records.batch import build_control_batch
from records.messages.topics import CreateTopicsRequest
from tests.controller.rig import Rig, new_topic, set_config


def schedule(bytes_max=1000, interval_ms=0):
    settings = Settings(
        metadata_log_max_record_bytes_between_snapshots=bytes_max, metadata_log_max_snapshot_interval_ms=interval_ms
    )
    return SnapshotSchedule(settings, 0)


def test_a_snapshot_is_due_after_the_configured_number_of_bytes():
    s = schedule()
    s.on_replayed(Appended(10, 3, 77, 999))
    assert s.due(10, 1) is None
    s.on_replayed(Appended(12, 4, 78, 1))

    assert s.due(12, 1) == SnapshotId(12, 4)


def test_a_snapshot_is_due_after_the_configured_time_if_records_were_written():
    s = schedule(interval_ms=5000)
    assert s.due(0, 9999) is None
    s.on_replayed(Appended(10, 3, 77, 1))

    assert (s.due(10, 4999), s.due(10, 5000)) == (None, SnapshotId(10, 3))


def test_control_batches_alone_cause_no_snapshot():
    s = schedule(interval_ms=5000)
    s.on_replayed(Appended(10, 3, 77, 0))

    assert s.due(10, 9999) is None


def test_no_snapshot_is_due_within_a_batch_or_transaction():
    s = schedule(bytes_max=1)
    s.on_replayed(Appended(10, 3, 77, 100))

    assert (s.due(9, 0), s.due(5, 0)) == (None, None)


def test_one_snapshot_is_written_at_a_time():
    s = schedule(bytes_max=1)
    s.on_replayed(Appended(10, 3, 77, 100))
    s.writing = SnapshotId(8, 3)
    assert s.due(10, 0) is None
    s.on_done(SnapshotId(7, 3))
    assert s.due(10, 0) is None
    s.on_done(SnapshotId(8, 3))
    assert s.due(10, 0) == SnapshotId(10, 3)


def test_a_snapshot_that_was_being_written_stops_no_other_once_the_state_was_replaced():
    s = schedule(bytes_max=1)
    s.writing = SnapshotId(8, 3)

    s.restart(SnapshotId(20, 4), 77, 0)
    s.on_replayed(Appended(30, 4, 78, 100))

    assert s.due(30, 0) == SnapshotId(30, 4)


def test_a_node_that_stops_takes_a_snapshot_from_1_mib_of_records_on():
    s = schedule(bytes_max=20 << 20)
    s.on_replayed(Appended(10, 3, 77, STOP_BYTES_MIN - 1))
    assert s.due_at_stop(10) is None
    s.on_replayed(Appended(12, 4, 78, 1))

    assert (s.due(12, 0), s.due_at_stop(12)) == (None, SnapshotId(12, 4))
    assert s.due_at_stop(11) is None
    s.writing = SnapshotId(8, 3)
    assert s.due_at_stop(12) is None


def test_records_of_the_active_controller_count_when_committed():
    s = schedule(bytes_max=150)
    s.on_appended(Appended(10, 3, 77, 100))
    s.on_appended(Appended(20, 3, 78, 100))

    s.on_committed(15)
    assert (s.bytes, s.due(15, 0)) == (100, None)
    s.on_committed(20)
    assert s.due(20, 0) == SnapshotId(20, 3)


def test_lost_records_do_not_count_towards_a_snapshot():
    s = schedule()
    s.on_appended(Appended(10, 3, 77, 100))

    s.on_leadership_lost()
    s.on_committed(10)

    assert s.bytes == 0


def test_a_batch_that_was_lost_with_leadership_causes_no_snapshot():
    rig = Rig(metadata_log_max_record_bytes_between_snapshots=500).lead()
    rig.auto = False
    set_config(rig, 4, "", "log.dir", "x" * 500)
    lost_end = rig.end_offset

    rig.follow().lead()
    assert rig.end_offset == lost_end
    rig.commit()

    assert (rig.controller.snapshots.bytes < 500, rig.snapshots()) == (True, [])


def test_a_snapshot_contains_only_committed_records():
    rig = Rig(metadata_log_max_record_bytes_between_snapshots=500).lead()
    rig.brokers(0)
    rig.create("foo", (0,))
    assert rig.snapshots() != []

    first = rig.snapshots()[0]
    assert isinstance(first, TakeSnapshot)
    assert first.id.epoch == 1
    assert first.view.end_offset == first.id.end_offset
    count = len(rig.snapshots())
    rig.create("bar", (0,), segment_ms="60000", retention_ms="1000")
    rig.create("baz", *[(0,)] * 20)
    assert len(rig.snapshots()) == count
    rig.step(SnapshotWritten(first.id, 321))
    rig.create("quux", (0,))
    assert len(rig.snapshots()) == count + 1
    assert rig.noted("snapshot_written") == [{"end_offset": first.id.end_offset, "epoch": 1, "bytes": 321}]


def test_a_standby_takes_its_own_snapshots():
    active = Rig().lead().brokers(0)
    active.create("foo", *[(0,)] * 30)
    standby = Rig(node_id=7, metadata_log_max_record_bytes_between_snapshots=500)

    for data in active.log:
        standby.step(Committed(data))

    assert standby.snapshots()[0].id.end_offset <= standby.state.end_offset
    assert standby.snapshots()[0].id.epoch == 1


def test_control_batches_of_the_quorum_cause_no_snapshot_on_a_standby():
    standby = Rig(node_id=7, metadata_log_max_snapshot_interval_ms=5000)
    change = [(b"\0\0\0\2", b"")]

    for epoch in (1, 2, 3):
        standby.now_ms += 6000
        batch = build_control_batch(change, base_offset=epoch - 1, leader_epoch=epoch, timestamp_ms=0)
        standby.step(Committed(batch))

    assert (standby.state.end_offset, standby.snapshots()) == (3, [])


def test_a_controller_that_is_about_to_stop_takes_one_snapshot_of_what_is_stable(monkeypatch):
    monkeypatch.setattr(snapshot_schedule, "STOP_BYTES_MIN", 500)
    rig = Rig().lead().brokers(0)
    rig.create("foo", *[(0,)] * 10)
    end_offset = rig.end_offset
    rig.auto = False
    rig.send(CreateTopicsRequest(topics=(new_topic("bar", (0,)),)))

    rig.step(Stopping())
    rig.step(Stopping())

    assert [each.id for each in rig.snapshots()] == [SnapshotId(end_offset, 1)]
    assert rig.snapshots()[0].view.end_offset == end_offset
    assert rig.controller.is_active
    assert rig.controller.snapshots.bytes == 0


def test_a_standby_that_is_about_to_stop_takes_a_snapshot_once_it_has_caught_up(monkeypatch):
    monkeypatch.setattr(snapshot_schedule, "STOP_BYTES_MIN", 500)
    active = Rig().lead().brokers(0)
    active.create("foo", *[(0,)] * 10)
    standby = Rig(node_id=7)
    standby.controller.is_catching_up = True
    standby.step(Committed(active.log_from(0)))

    standby.step(Stopping())
    assert standby.snapshots() == []
    standby.step(CaughtUp())
    standby.step(Stopping())

    assert [each.id for each in standby.snapshots()] == [SnapshotId(active.end_offset, 1)]


def test_a_controller_that_loads_a_snapshot_or_has_shut_down_takes_none_at_its_stop(monkeypatch):
    monkeypatch.setattr(snapshot_schedule, "STOP_BYTES_MIN", 1)
    active = Rig().lead().brokers(0)
    loading, ended = Rig(node_id=7), Rig(node_id=8)
    loading.step(Committed(active.log_from(0)))
    loading.step(SnapshotOpened(SnapshotId(active.end_offset, 1)))
    ended.step(Committed(active.log_from(0)))
    ended.step(ShutDown())

    loading.step(Stopping())
    ended.step(Stopping())

    assert (loading.snapshots(), ended.snapshots()) == ([], [])


@pytest.mark.parametrize("at_a_time", [1 << 30, 3, 1])
@pytest.mark.parametrize("records_max", [1024, 4])
def test_loading_a_snapshot_replaces_the_state_and_resets_the_counts(records_max, at_a_time):
    active = Rig(elr=True).lead().brokers(0, 1, 2)
    active.create("foo", (0, 1, 2), (1, 2, 0), min_insync_replicas="2")
    active.fence(1)
    view = stable_view(active.state)
    parts = list(batches(view, base_offset=1, leader_epoch=1, timestamp_ms=0, records_max=records_max))
    standby = Rig(node_id=7)
    standby.step(Committed(active.log[0]))

    standby.step(SnapshotOpened(SnapshotId(active.end_offset, 1)))
    for data in parts:
        standby.step(SnapshotPart(data, at_a_time))
        while standby.controller.loaded is not None:
            standby.step(SnapshotPart(data, at_a_time))
    standby.step(SnapshotClosed())

    assert standby.state.contents() == active.state.contents()
    assert set(standby.state.registration_offsets.values()) == {active.end_offset - 1}
    assert standby.state.end_offset == active.end_offset
    assert standby.controller.snapshots.last == Appended(active.end_offset, 1, 1000, 0)
    active.create("bar", (0,))
    standby.step(Committed(active.log[-1]))
    assert standby.state.contents() == active.state.contents()


def test_the_records_of_the_first_snapshot_are_not_state_but_written_by_the_first_leader():
    """Kafka 4.4 formats a directory with them (KIP-1170); brokers read the log alone."""
    formatted = stable_view(Rig().lead().state)
    node = Rig(node_id=7)

    node.step(SnapshotOpened(SnapshotId(0, 0)))
    for data in batches(formatted, base_offset=1, leader_epoch=0, timestamp_ms=0):
        node.step(SnapshotPart(data, 1 << 30))
    node.step(SnapshotClosed())
    before = dict(node.state.features)
    node.lead()

    assert before == {}
    assert node.state.features["metadata.version"] == 30
    assert node.log
