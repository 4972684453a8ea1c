"""The snapshots on disk: snapshots of this node being written, downloads, and stored ones (KIP-630)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.inputs import PartWritten, SnapshotStored, SnapshotTaken
from raft.interface.voters import VoterSet, control_values, voters_record
from raft.storage.errors import CorruptSnapshot
from raft.storage.names import DELETED, PART, snapshot_name
from raft.storage.snapshot_file import SnapshotBytes, check_snapshot, snapshot_batches
from records.batch import CorruptBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from raft.interface.config import SnapshotId
    from raft.interface.effects import DropSnapshotPart, FreezeSnapshot, WriteSnapshotPart
    from raft.interface.inputs import Input
    from raft.storage.disk_queue import DiskQueue
    from raft.storage.files import Files
    from raft.storage.snapshot_file import SnapshotHead
    from records.batch import Batch

# A snapshot of this node is written to the file in pieces of about this size.
_PIECE_BYTES = 256 << 10
_SYNC_BYTES = 4 << 20


class SnapshotStore:
    """The snapshots of the partition's directory.

    sizes: id -> bytes, of the stored ones. deleted: files renamed to `.deleted`, to be unlinked later. Inputs come from
    the flush thread. note: takes events for the log.
    """

    def __init__(
        self,
        files: Files,
        directory: str,
        queue: DiskQueue,
        on_input: Callable[[Input], None],
        note: Callable[[str, dict[str, object]], None],
    ) -> None:
        self.files = files
        self.directory = directory
        self.queue = queue
        self.sizes: dict[SnapshotId, int] = {}
        self.deleted: list[str] = []
        self._on_input = on_input
        self._note = note
        self._downloads: dict[SnapshotId, tuple[str, int]] = {}  # path and handle
        self._readers: dict[SnapshotId, int] = {}
        self._parts_made = 0

    def path(self, snapshot: SnapshotId) -> str:
        return f"{self.directory}/{snapshot_name(snapshot.end_offset, snapshot.epoch)}"

    def read(self, snapshot: SnapshotId, position: int, length: int) -> bytes:
        """Bytes of a stored snapshot, fewer only at its end."""
        handle = self._readers.get(snapshot)
        if handle is None:
            handle = self._readers[snapshot] = self.files.open_to_read(self.path(snapshot))
        return self.files.read(handle, position, length)

    def batches(self, snapshot: SnapshotId) -> Iterator[tuple[bytes, Batch]]:
        """The batches of a stored snapshot, each with the bytes it is found in; raises CorruptSnapshot."""
        return snapshot_batches(self.files, self.path(snapshot))

    def write_part(self, effect: WriteSnapshotPart) -> None:
        """Write a part of a download; `PartWritten` follows."""
        if effect.position == 0:
            self._forget_download(effect.id)
            path, handle = self.make_part(effect.id)
            self._downloads[effect.id] = path, handle
        _, handle = self._downloads[effect.id]
        self.files.write(handle, effect.position, effect.data)
        number = effect.number
        self.queue.submit("part of a snapshot", lambda: self._on_input(PartWritten(number)))

    def freeze(self, effect: FreezeSnapshot) -> None:
        """A download is complete: check it and give it its name; `SnapshotStored` follows."""
        path, handle = self._downloads.pop(effect.id)
        number, snapshot = effect.number, effect.id

        def job() -> None:
            try:
                head = check_snapshot(self.files, path)
                if head.batch.leader_epoch != snapshot.epoch:
                    raise CorruptSnapshot(path, 0, f"it is of epoch {head.batch.leader_epoch}, not {snapshot.epoch}")
                kraft_version, voters = control_state(head, path)
            except CorruptSnapshot as error:
                self.files.close(handle)
                self.files.remove(path)
                self._note("snapshot_refused", {"snapshot": str(snapshot), "reason": str(error)})
                self._on_input(SnapshotStored(number, size=0, refused=True))
                return
            size = self.store(snapshot, path, handle)
            stored = SnapshotStored(number, size, head.timestamp_ms, voters, kraft_version)
            self._on_input(stored)

        self.queue.submit("freezing a snapshot", job)

    def drop_part(self, effect: DropSnapshotPart) -> None:
        """Delete an incomplete download."""
        self._forget_download(effect.id)

    def delete(self, snapshot: SnapshotId) -> None:
        """Delete a stored snapshot: it is renamed now and unlinked later."""
        handle = self._readers.pop(snapshot, None)
        if handle is not None:
            self.files.close(handle)
        if self.sizes.pop(snapshot, None) is not None:
            path = self.path(snapshot)
            self.files.rename(path, path + DELETED)
            self.deleted.append(path + DELETED)

    def make_part(self, snapshot: SnapshotId) -> tuple[str, int]:
        """Make an empty file for a new snapshot: its path and handle."""
        self._parts_made += 1
        name = snapshot_name(snapshot.end_offset, snapshot.epoch, f"-{self._parts_made}{PART}")
        path = f"{self.directory}/{name}"
        handle = self.files.open(path, create=True, mode=0o600)
        self.files.truncate(handle, 0)
        return path, handle

    def store(self, snapshot: SnapshotId, path: str, handle: int) -> int:
        """Make a complete file a stored snapshot; returns its size. Called by a job of the queue.

        The order makes it safe: first the bytes are on disk, then the file is renamed, then the name is on disk.
        """
        size = self.files.size(handle)
        self.files.sync(handle)
        self.files.close(handle)
        self.files.protect(path)
        self.files.rename(path, self.path(snapshot))
        self.files.sync_directory(self.directory)
        self.sizes[snapshot] = size
        return size

    def on_taken(self, snapshot: SnapshotId, path: str, handle: int, timestamp_ms: int) -> None:
        """A snapshot of this node is complete; `SnapshotTaken` follows."""

        def job() -> None:
            size = self.store(snapshot, path, handle)
            self._on_input(SnapshotTaken(snapshot, size, timestamp_ms))

        self.queue.submit("freezing a snapshot", job)

    def close(self) -> None:
        for handle in self._readers.values():
            self.files.close(handle)
        self._readers.clear()
        for snapshot in list(self._downloads):
            self._forget_download(snapshot)

    def _forget_download(self, snapshot: SnapshotId) -> None:
        download = self._downloads.pop(snapshot, None)
        if download is not None:
            path, handle = download
            self.files.close(handle)
            self.files.remove(path)


class SnapshotWriter:
    """Writes a snapshot of the state machine, in steps of any size: records are appended, then the snapshot is frozen
    or dropped.

    timestamp_ms: of the last record that the snapshot covers; time_ms: wall clock, the timestamp of the batches.
    """

    def __init__(
        self,
        store: SnapshotStore,
        snapshot: SnapshotId,
        timestamp_ms: int,
        time_ms: int,
        *,
        kraft_version: int = 0,
        voters: VoterSet | None = None,
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._timestamp_ms = timestamp_ms
        self._bytes = SnapshotBytes(snapshot.epoch, time_ms)
        self._pieces: list[bytes] = []
        self._pending = 0
        self._position = self._synced = 0
        with_voters = None if voters is None or kraft_version == 0 else voters_record(voters)
        header = self._bytes.header(timestamp_ms, kraft_version, with_voters)
        try:
            self._path, self._handle = store.make_part(snapshot)
        except OSError as error:
            raise store.queue.fail("a snapshot", error) from error
        self._put(header)

    def append(self, values: Sequence[bytes]) -> None:
        """One batch of metadata records, in their frames; at least one."""
        self._put(self._bytes.data(values))

    def append_body(self, body: bytes, count: int) -> None:
        """One batch of `count` records that are encoded already, with offset deltas from 0."""
        self._put(self._bytes.body(body, count))

    def freeze(self) -> None:
        """All records are written: `SnapshotTaken` follows."""
        self._put(self._bytes.footer())
        self._write()
        self._store.on_taken(self._snapshot, self._path, self._handle, self._timestamp_ms)

    def drop(self) -> None:
        """Abandon the snapshot: delete its file."""

        def job() -> None:
            self._store.files.close(self._handle)
            self._store.files.remove(self._path)

        self._store.queue.submit("a snapshot", job)

    def _put(self, batch: bytes) -> None:
        self._pieces.append(batch)
        self._pending += len(batch)
        if self._pending >= _PIECE_BYTES:
            self._write()

    def _write(self) -> None:
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._pending = 0
        try:
            self._store.files.write(self._handle, self._position, data)
        except OSError as error:
            raise self._store.queue.fail("a snapshot", error) from error
        self._position += len(data)
        if self._position - self._synced >= _SYNC_BYTES:
            # Synced in pieces, so that the flushes of the log do not wait for the whole file at the end.
            self._synced = self._position
            self._store.queue.submit("a snapshot", lambda: self._store.files.sync_data(self._handle))


def control_state(head: SnapshotHead, path: str) -> tuple[int | None, VoterSet | None]:
    """kraft.version and voters in the first batch of a snapshot, None where it has none; raises CorruptSnapshot."""
    kraft_version = voters = None
    try:
        for _, value in control_values(head.data, head.batch):
            if isinstance(value, VoterSet):
                voters = value
            else:
                kraft_version = value
    except CorruptBatch as error:
        raise CorruptSnapshot(path, error.position, error.reason) from None
    return kraft_version, voters
