"""Stored snapshots: registering them, starting the log from one, deleting old ones (KIP-630)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.effects import DeleteSnapshot
from raft.interface.limits import NEVER
from raft.interface.recovered import StoredSnapshot
from raft.state.roles import Follower, Unattached

if TYPE_CHECKING:
    from raft.interface.config import SnapshotId
    from raft.interface.inputs import SnapshotStored, SnapshotTaken
    from raft.state.replica import Replica


def may_take(replica: Replica, snapshot: SnapshotId) -> bool:
    """Whether the state machine should write a snapshot with this id.

    It must end where a batch ends. False where the same snapshot exists, or the log starts after its end. Asserts that
    all its records are committed.
    """
    log = replica.log
    assert snapshot.end_offset <= log.committed, f"{snapshot} holds more than is committed, {log.committed}"
    if snapshot.end_offset < log.start or log.snapshot(snapshot) is not None:
        return False
    wrong = log.validate(snapshot.end_offset, snapshot.epoch)
    assert wrong is None, f"{snapshot} is no prefix of the log: {wrong}"
    return True


def on_taken(replica: Replica, taken: SnapshotTaken, _now_ms: int) -> None:
    """The state machine wrote a snapshot: register it, and forget the voter sets that it replaces."""
    log = replica.log
    if taken.id.end_offset < log.start:
        # While it was being written, the log was reset to a newer snapshot from the leader.
        replica.emit(DeleteSnapshot(taken.id))
        return
    if not may_take(replica, taken.id):
        return
    log.add_snapshot(StoredSnapshot(taken.id, taken.size, taken.timestamp_ms))
    replica.voter_sets.forget_before(taken.id.end_offset)
    replica.kraft_versions.forget_before(taken.id.end_offset)
    replica.note("snapshot_taken", end_offset=taken.id.end_offset, epoch=taken.id.epoch, bytes=taken.size)


def on_stored(replica: Replica, stored: SnapshotStored, now_ms: int) -> None:
    """A downloaded snapshot is stored and checked: the log starts from it, and the state machine loads it."""
    if replica.freezing is None or replica.freezing[0] != stored.number:
        return
    snapshot = replica.freezing[1]
    replica.freezing = None
    log, role = replica.log, replica.role
    if stored.refused:
        # The leader's copy may be corrupt too: back off for longer before the next download.
        replica.note("snapshot_corrupt", end_offset=snapshot.end_offset, epoch=snapshot.epoch)
        if isinstance(role, Follower):
            replica.peers.back_off(role.leader_id, now_ms, replica.config.request_timeout_ms)
        return
    is_newer = (snapshot.epoch, snapshot.end_offset) > (log.last_epoch, log.end)
    # A replica in an election, or a leader, has reported its log end to others: the log must not be reset.
    if not is_newer or snapshot.end_offset < log.committed or not isinstance(role, (Follower, Unattached)):
        replica.note("snapshot_not_needed", end_offset=snapshot.end_offset, epoch=snapshot.epoch)
        replica.emit(DeleteSnapshot(snapshot))
        return
    replica.reset_log(snapshot, stored.voters, stored.kraft_version)
    log.add_snapshot(StoredSnapshot(snapshot, stored.size, stored.timestamp_ms))
    _forget_before(replica, snapshot)
    replica.load_snapshot(snapshot)
    replica.set_high_watermark(snapshot.end_offset)
    replica.note("snapshot_stored", end_offset=snapshot.end_offset, epoch=snapshot.epoch, bytes=stored.size)


def clean(replica: Replica, now_ms: int) -> None:
    """Delete the oldest snapshots, and the log below the next one, by size (retention_bytes_max) or age (retention_ms).

    The newest snapshot stays. After a deletion by size the next one waits until the new size of the log is known.
    """
    log, config = replica.log, replica.config
    replica.clean_deadline_ms = now_ms + config.clean_interval_ms
    if len(log.snapshots) < 2:
        return
    size = log.bytes + sum(snapshot.size for snapshot in log.snapshots)
    if 0 <= config.retention_bytes_max < size and _drop_oldest(replica, "size"):
        replica.cleaning = log.issued
        replica.clean_deadline_ms = NEVER
        return
    oldest_ms = now_ms + replica.wall_offset_ms - config.retention_ms
    while config.retention_ms >= 0 and len(log.snapshots) >= 2 and log.snapshots[0].timestamp_ms < oldest_ms:
        if not _drop_oldest(replica, "age"):
            return


def go_on_cleaning(replica: Replica, now_ms: int) -> None:
    """A deletion by size is complete on disk: check at the next poll whether more must be deleted."""
    if replica.log.done >= replica.cleaning:
        replica.cleaning = 0
        replica.clean_deadline_ms = now_ms


def _drop_oldest(replica: Replica, reason: str) -> bool:
    """Start the log at the second snapshot. Returns False where that is not committed, or the log starts after it."""
    log = replica.log
    following = log.snapshots[1].id
    if not log.start < following.end_offset <= min(log.committed, log.snapshots[-1].id.end_offset):
        return False
    if replica.high_watermark is None or following.end_offset > replica.high_watermark:
        return False
    replica.advance_log_start(following.end_offset)
    replica.note("log_cleaned", reason=reason, start_offset=following.end_offset)
    _forget_before(replica, following)
    return True


def _forget_before(replica: Replica, snapshot: SnapshotId) -> None:
    for older in replica.log.forget_snapshots_before(snapshot):
        replica.emit(DeleteSnapshot(older))
