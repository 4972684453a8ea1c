"""The replica's storage: opens a directory, performs the core's effects on it, and reports their completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.effects import (
    AdvanceLogStart,
    Append,
    DeleteSnapshot,
    DropSnapshotPart,
    FreezeSnapshot,
    HighWatermark,
    ResetLog,
    SaveElection,
    SaveEpochs,
    Truncate,
    WriteSnapshotPart,
)
from raft.interface.inputs import Flushed, Saved
from raft.storage.disk_queue import DiskQueue, GroupCommit
from raft.storage.epoch_checkpoint import epochs_text
from raft.storage.errors import StorageError
from raft.storage.files import replace_file
from raft.storage.log import DEFAULT_LIMITS, LogLimits
from raft.storage.names import COMMITTED_PREFIX, EPOCH_CHECKPOINT, QUORUM_STATE
from raft.storage.opening import open_partition
from raft.storage.prefix_keeper import PrefixKeeper
from raft.storage.quorum_state import quorum_state_text, write_quorum_state
from raft.storage.snapshots import SnapshotStore, SnapshotWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from raft.interface.config import SnapshotId
    from raft.interface.effects import Effect
    from raft.interface.inputs import Input
    from raft.interface.voters import VoterSet
    from raft.storage.disk_queue import LogPoint
    from raft.storage.errors import DiskFailed
    from raft.storage.files import Files
    from raft.storage.flusher import Executor
    from records.batch import Batch

# How long a file that is renamed to `.deleted` stays, for a reader that has it open by name (file.delete.delay.ms).
DELETE_DELAY_MS = 60_000


class Storage:
    """The partition's directory of one replica, from its opening to its close.

    Effects are performed on one thread; jobs that wait for the disk run on `executor`, and report inputs from there.

    recovered: the state that the core starts from. notes: events of the opening, as (name, fields). on_input: takes
    `Saved`, `Flushed`, `PartWritten`, `SnapshotStored` and `SnapshotTaken`; on_failure: takes the one failure after
    which nothing more is done or reported; on_note: takes events for the log. They are called on the executor's thread,
    on_failure also on the caller's, and must not call back.
    """

    def __init__(
        self,
        files: Files,
        directory: str,
        executor: Executor,
        *,
        on_input: Callable[[Input], None],
        on_failure: Callable[[DiskFailed], None],
        on_note: Callable[[str, dict[str, Any]], None] = lambda _name, _fields: None,
        limits: LogLimits = DEFAULT_LIMITS,
    ) -> None:
        """Open the directory, make it if it is missing.

        Raises StorageError if a node cannot start from it: see DESIGN.md for what is repaired and what is refused.
        """
        try:
            opened = open_partition(files, directory, limits)
        except OSError as error:
            raise StorageError(f"{directory} cannot be opened: {error}") from error
        self.files = files
        self.directory = directory
        self.log = opened.log
        self.recovered = opened.recovered
        self.notes = opened.notes
        self._on_input = on_input
        self._queue = DiskQueue(executor, on_failure)
        self._commit = GroupCommit(files, directory, self._queue, self._on_flushed)
        self._prefix = PrefixKeeper(files, directory, self._queue, self.log, opened.committed)
        self._snapshots = SnapshotStore(files, directory, self._queue, on_input, on_note)
        self._snapshots.sizes = {snapshot.id: snapshot.size for snapshot in opened.recovered.snapshots}
        self._epochs: tuple[tuple[int, int], ...] | None = None  # to be saved
        self._doomed: list[tuple[int, str]] = []  # when to unlink what
        self._closed = False
        self._actions: dict[type, Callable[[Any], None]] = {
            Append: self._append,
            HighWatermark: self._high_watermark,
            SaveElection: self._save_election,
            SaveEpochs: self._save_epochs,
            Truncate: self._truncate,
            ResetLog: self._reset,
            AdvanceLogStart: self._advance,
            WriteSnapshotPart: self._snapshots.write_part,
            FreezeSnapshot: self._snapshots.freeze,
            DropSnapshotPart: self._snapshots.drop_part,
            DeleteSnapshot: self._delete_snapshot,
        }

    def perform(self, effect: Effect) -> None:
        """Start an effect; raises DiskFailed if the disk fails, or has failed before."""
        if self._queue.failure is not None:
            raise self._queue.failure
        try:
            self._actions[type(effect)](effect)
        except OSError as error:
            raise self._queue.fail(type(effect).__name__, error) from error

    def performs(self, effect: Effect) -> bool:
        """Whether this is an effect for the storage."""
        return type(effect) in self._actions

    def read(self, offset: int, end_offset: int, bytes_max: int) -> bytes:
        """Whole batches from the one with `offset` on, none reaching above `end_offset`: at least one, then as many as
        fit into `bytes_max` and are in the same segment; empty if `offset` is the end.

        Raises CorruptLog or OSError if the disk does not return them, ValueError if the log starts after `offset`.
        """
        return self.log.read(offset, end_offset, bytes_max)

    def read_snapshot(self, snapshot: SnapshotId, position: int, length: int) -> bytes:
        """Bytes of a stored snapshot, fewer only at its end; raises OSError."""
        return self._snapshots.read(snapshot, position, length)

    def snapshot_batches(self, snapshot: SnapshotId) -> Iterator[tuple[bytes, Batch]]:
        """The batches of a stored snapshot, each with the bytes that contain it; raises CorruptSnapshot or OSError."""
        return self._snapshots.batches(snapshot)

    def new_snapshot(
        self,
        snapshot: SnapshotId,
        timestamp_ms: int,
        time_ms: int,
        *,
        kraft_version: int = 0,
        voters: VoterSet | None = None,
    ) -> SnapshotWriter | None:
        """A writer for a snapshot of the state machine; None if that one is stored already.

        timestamp_ms: of the last record that it covers; time_ms: wall clock; kraft_version and voters: as of its end.
        """
        if snapshot in self._snapshots.sizes:
            return None
        if self._queue.failure is not None:
            raise self._queue.failure
        return SnapshotWriter(
            self._snapshots, snapshot, timestamp_ms, time_ms, kraft_version=kraft_version, voters=voters
        )

    def jobs(self) -> tuple[int, int]:
        """How many jobs the disk got, and how many of them are complete."""
        return self._queue.asked, self._queue.done

    def tick(self, now_ms: int) -> None:
        """Called about every second: writes the committed prefix when its interval is over, and unlinks files that were
        deleted a minute ago. now_ms: of any clock that does not go back. Raises DiskFailed if the disk fails.
        """
        if self._queue.failure is not None:
            return
        if self._prefix.is_overdue(now_ms):
            try:
                self._prefix.schedule()
            except OSError as error:
                raise self._queue.fail(COMMITTED_PREFIX, error) from error
        for owner in (self.log, self._snapshots):
            self._doomed += [(now_ms + DELETE_DELAY_MS, path) for path in owner.deleted]
            owner.deleted.clear()
        due = [path for when, path in self._doomed if when <= now_ms]
        if due:
            self._doomed = [entry for entry in self._doomed if entry[0] > now_ms]
            self._queue.submit("deleting files", lambda: self._unlink(due))

    def close(self) -> None:
        """Flush everything and leave the directory as Kafka leaves it; after a failure, only close its files."""
        if self._closed:
            return
        self._closed = True
        self._queue.close()
        try:
            if self._queue.failure is None:
                self.files.sync(self.log.segments[-1].handle)
                self._prefix.write_now()
                self.log.write_closing()
                self._unlink([path for _, path in self._doomed] + self.log.deleted + self._snapshots.deleted)
                self.files.sync_directory(self.directory)
        except OSError as error:
            raise self._queue.fail("close", error) from error
        finally:
            self._snapshots.close()
            self.log.close()

    def _append(self, effect: Append) -> None:
        self._on_logged(self.log.append(effect.number, effect.base_offset, effect.end_offset, effect.data))

    def _truncate(self, effect: Truncate) -> None:
        self._on_logged(self.log.truncate(effect.number, effect.end_offset, self._prefix.high_watermark))

    def _reset(self, effect: ResetLog) -> None:
        self._on_logged(self.log.reset(effect.number, effect.id.end_offset))
        self._on_committed(effect.id.end_offset)

    def _advance(self, effect: AdvanceLogStart) -> None:
        self._on_logged(self.log.advance_start(effect.number, effect.start_offset))

    def _save_election(self, effect: SaveElection) -> None:
        text = quorum_state_text(effect.epoch, effect.leader_id, effect.voted, effect.kraft_version, effect.voter_ids)
        number = effect.number

        def job() -> None:
            write_quorum_state(self.files, self.directory, text)
            self._on_input(Saved(number))

        self._queue.submit(QUORUM_STATE, job)

    def _save_epochs(self, effect: SaveEpochs) -> None:
        # A start rebuilds this file, so nothing depends on it: of several pending writes only the last is done.
        waits = self._epochs is not None
        self._epochs = effect.epochs
        if not waits:
            self._queue.submit(EPOCH_CHECKPOINT, self._write_epochs)

    def _write_epochs(self) -> None:
        epochs, self._epochs = self._epochs, None
        assert epochs is not None
        replace_file(self.files, f"{self.directory}/{EPOCH_CHECKPOINT}", epochs_text(epochs))

    def _delete_snapshot(self, effect: DeleteSnapshot) -> None:
        self._snapshots.delete(effect.id)

    def _high_watermark(self, effect: HighWatermark) -> None:
        self._on_committed(effect.offset)

    def _on_committed(self, offset: int) -> None:
        self._prefix.high_watermark = max(self._prefix.high_watermark, offset)
        if self._prefix.is_due():
            self._prefix.schedule()

    def _on_logged(self, point: LogPoint) -> None:
        self._commit.add(point)
        if self.log.retired:
            handles, self.log.retired = self.log.retired, []
            # Behind the flushes that may use them.
            self._queue.submit("closing files", lambda: self._close_all(handles))

    def _on_flushed(self, point: LogPoint) -> None:
        self.log.flushed = point.number
        self._on_input(Flushed(point.number, point.end_offset, point.log_bytes))

    def _close_all(self, handles: list[int]) -> None:
        for handle in handles:
            self.files.close(handle)

    def _unlink(self, paths: list[str]) -> None:
        for path in paths:
            if self.files.exists(path):
                self.files.remove(path)
