"""When a snapshot is due: after so many bytes of records, or so much time (KIP-630, KIP-876)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from raft.interface.config import SnapshotId

if TYPE_CHECKING:
    from controller.interface.settings import Settings

# The bytes of records since the last snapshot from which on a node that stops takes one.
STOP_BYTES_MIN = 1 << 20


class Appended(NamedTuple):
    """A record batch that is in the log. end_offset: after its last record; size: bytes."""

    end_offset: int
    epoch: int
    timestamp_ms: int
    size: int


class SnapshotSchedule:
    """Counts what was committed since the last snapshot. A snapshot can become due only when something is committed.

    last: the last batch that is committed. writing: the snapshot that is being written; there is one at a time.
    """

    __slots__ = ("_pending", "bytes", "last", "settings", "since_ms", "writing")

    def __init__(self, settings: Settings, now_ms: int) -> None:
        self.settings = settings
        self.bytes = 0
        self.since_ms = now_ms
        self.last = Appended(0, 0, 0, 0)
        self.writing: SnapshotId | None = None
        self._pending: deque[Appended] = deque()

    def on_appended(self, batch: Appended) -> None:
        """The active controller wrote a batch, which is not committed yet."""
        self._pending.append(batch)

    def on_committed(self, end_offset: int) -> None:
        """The active controller's batches below `end_offset` are committed."""
        while self._pending and self._pending[0].end_offset <= end_offset:
            self.on_replayed(self._pending.popleft())

    def on_replayed(self, batch: Appended) -> None:
        """A batch is committed."""
        self.bytes += batch.size
        self.last = batch

    def on_leadership_lost(self) -> None:
        """Leadership is lost: batches that are not committed count no more."""
        self._pending.clear()

    def restart(self, id_: SnapshotId, timestamp_ms: int, now_ms: int) -> None:
        """The state was replaced by this snapshot."""
        self.last = Appended(id_.end_offset, id_.epoch, timestamp_ms, 0)
        self.begin(now_ms)
        self.writing = None

    def on_done(self, id_: SnapshotId) -> None:
        """A snapshot was written or given up. It may have been begun before `restart`, and not be the one being written
        now.
        """
        if self.writing == id_:
            self.writing = None

    def begin(self, now_ms: int) -> None:
        """Reset the counts."""
        self.bytes = 0
        self.since_ms = now_ms

    def due(self, stable_end_offset: int, now_ms: int) -> SnapshotId | None:
        """The snapshot to take now; None where none is due, or cannot be: in a batch, or within a transaction."""
        settings = self.settings
        interval_ms = settings.metadata_log_max_snapshot_interval_ms
        is_large = self.bytes >= settings.metadata_log_max_record_bytes_between_snapshots
        is_old = 0 < interval_ms <= now_ms - self.since_ms
        return self._possible(stable_end_offset) if is_large or is_old else None

    def due_at_stop(self, stable_end_offset: int) -> SnapshotId | None:
        """The snapshot to take before the node stops; None where a restart has little to replay, or in a batch
        or transaction.
        """
        return self._possible(stable_end_offset) if self.bytes >= STOP_BYTES_MIN else None

    def _possible(self, stable_end_offset: int) -> SnapshotId | None:
        if self.writing is not None or self.bytes == 0 or self.last.end_offset != stable_end_offset:
            return None
        return SnapshotId(stable_end_offset, self.last.epoch)
