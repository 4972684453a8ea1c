"""A snapshot's file: a control batch with the header, data batches, a control batch with the footer (KIP-630, KIP-853).

Offsets begin at 0 and leave no gap; every batch has the epoch of the snapshot. `bootstrap.checkpoint` has this form
too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.storage.errors import CorruptSnapshot
from raft.storage.files import WINDOW_BYTES
from raft.storage.scan import BATCH_BYTES_MAX
from records.batch import (
    HEADER_BYTES,
    Batch,
    CorruptBatch,
    build_batch,
    build_control_batch,
    is_intact,
    read_header,
    records_of,
    seal,
)
from records.control import KRaftVersionRecord, SnapshotFooterRecord, SnapshotHeaderRecord
from records.control_batch import SNAPSHOT_FOOTER, SNAPSHOT_HEADER, control_type, decode_control, encode_control
from records.wire import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from raft.storage.files import Files
    from records.batch import Record
    from records.control import VotersRecord


class SnapshotBytes:
    """Makes the bytes of a snapshot, batch by batch; each method returns the bytes to write next.

    epoch: of the snapshot; time_ms: wall clock, the timestamp of the batches.
    """

    def __init__(self, epoch: int, time_ms: int) -> None:
        self._epoch = epoch
        self._time_ms = time_ms
        self._offset = 0

    def header(self, last_timestamp_ms: int, kraft_version: int = 0, voters: VotersRecord | None = None) -> bytes:
        """The first batch. last_timestamp_ms: of the last record that the snapshot covers.

        kraft.version is written from 1 on; voters are allowed only then.
        """
        assert self._offset == 0, "the header comes first"
        assert voters is None or kraft_version > 0, "kraft.version 0 has no voters in the log"
        records: list[object] = [SnapshotHeaderRecord(version=0, last_contained_log_timestamp=last_timestamp_ms)]
        if kraft_version > 0:
            records.append(KRaftVersionRecord(version=0, kraft_version=kraft_version))
        if voters is not None:
            records.append(voters)
        return self._control(records)

    def data(self, values: Sequence[bytes]) -> bytes:
        """A batch of metadata records, in their frames; at least one."""
        batch = build_batch(
            values, base_offset=self._offset, leader_epoch=self._epoch, timestamp_ms=self._time_ms
        )  # fmt: skip
        self._offset += len(values)
        return batch

    def body(self, body: bytes, count: int) -> bytes:
        """A batch of `count` records that are encoded already."""
        batch = seal(body, count, self._offset, self._epoch, self._time_ms)
        self._offset += count
        return batch

    def footer(self) -> bytes:
        """The last batch."""
        return self._control([SnapshotFooterRecord(version=0)])

    def _control(self, records: Sequence[object]) -> bytes:
        batch = build_control_batch(
            [encode_control(record) for record in records],
            base_offset=self._offset,
            leader_epoch=self._epoch,
            timestamp_ms=self._time_ms,
        )
        self._offset += len(records)
        return batch


class SnapshotHead(NamedTuple):
    """The first batch of a snapshot, in `data`, and from its header the time of the last record that it covers."""

    timestamp_ms: int
    data: bytes
    batch: Batch


def snapshot_batches(files: Files, path: str) -> Iterator[tuple[bytes, Batch]]:
    """The batches of a snapshot, each with the bytes that contain it.

    Raises CorruptSnapshot if the file does not consist of whole batches with the offsets from 0 on, the first with a
    snapshot's header; OSError if it cannot be read. The footer is not checked: see `check_snapshot`.
    """
    handle = files.open_to_read(path)
    try:
        size = files.size(handle)
        position = offset = epoch = 0
        while position < size:
            window = files.read(handle, position, WINDOW_BYTES)
            at = 0
            while at < len(window):
                batch = _batch_at(window, at, path, position)
                if batch is None:
                    if at:
                        break
                    window, batch = _large_batch(files, handle, path, position, size)
                if batch.base_offset != offset:
                    reason = f"the batch there has offset {batch.base_offset}, not {offset}"
                    raise CorruptSnapshot(path, position + at, reason)
                if not is_intact(window, batch):
                    raise CorruptSnapshot(path, position + at, "the CRC does not fit the bytes")
                if offset == 0:
                    _header_of(window, batch, path)
                    epoch = batch.leader_epoch
                if batch.leader_epoch != epoch:
                    # The epoch is not under the CRC.
                    reason = f"the batch there has epoch {batch.leader_epoch}, the first one {epoch}"
                    raise CorruptSnapshot(path, position + at, reason)
                yield window, batch
                offset = batch.last_offset + 1
                at += batch.size
            position += at
        if size == 0:
            raise CorruptSnapshot(path, 0, "the file is empty")
    finally:
        files.close(handle)


def read_head(files: Files, path: str) -> SnapshotHead:
    """The first batch of a snapshot; raises CorruptSnapshot if the file does not begin with one."""
    for data, batch in snapshot_batches(files, path):
        return SnapshotHead(_header_of(data, batch, path), data, batch)
    raise AssertionError(f"{path} has no batch, and no error")


def check_snapshot(files: Files, path: str) -> SnapshotHead:
    """Read a whole snapshot, up to its footer; raises CorruptSnapshot if it is incomplete."""
    head = last = None
    for data, batch in snapshot_batches(files, path):
        if head is None:
            head = SnapshotHead(_header_of(data, batch, path), data, batch)
        last = _first_record(data, batch, path)
    assert head is not None, "a snapshot without batches is refused"
    if last is None or control_type(last.key) != SNAPSHOT_FOOTER:
        raise CorruptSnapshot(path, 0, "the last batch is no footer, so the end is missing")
    return head


def _batch_at(window: bytes, at: int, path: str, position: int) -> Batch | None:
    try:
        return read_header(window, at)
    except CorruptBatch as error:
        raise CorruptSnapshot(path, position + at, error.reason) from None


def _large_batch(files: Files, handle: int, path: str, position: int, size: int) -> tuple[bytes, Batch]:
    """A batch that is larger than a window; raises CorruptSnapshot where the file ends within it."""
    head = files.read(handle, position, HEADER_BYTES)
    batch_size = int.from_bytes(head[8:12], "big", signed=True) + 12 if len(head) == HEADER_BYTES else 0
    if not HEADER_BYTES <= batch_size <= BATCH_BYTES_MAX or position + batch_size > size:
        raise CorruptSnapshot(path, position, f"a batch of {batch_size} bytes, {size - position} are left")
    window = files.read(handle, position, batch_size)
    batch = _batch_at(window, 0, path, position)
    if batch is None:
        raise CorruptSnapshot(path, position, "the file became shorter while it was read")
    return window, batch


def _header_of(data: bytes, batch: Batch, path: str) -> int:
    """The time of the last record, from the header of a snapshot."""
    record = _first_record(data, batch, path)
    if record is None or control_type(record.key) != SNAPSHOT_HEADER:
        raise CorruptSnapshot(path, batch.position, "the first record is no snapshot header")
    try:
        _, header = decode_control(record.key, record.value)
    except DecodeError as error:
        raise CorruptSnapshot(path, batch.position, str(error)) from None
    return header.last_contained_log_timestamp  # type: ignore[no-any-return]


def _first_record(data: bytes, batch: Batch, path: str) -> Record | None:
    """The first record of a control batch, which has a type; None where the batch is of another kind, or empty."""
    if not batch.is_control:
        return None
    try:
        records = records_of(data, batch)
        if records:
            control_type(records[0].key)
    except CorruptBatch as error:
        raise CorruptSnapshot(path, error.position, error.reason) from None
    except DecodeError as error:
        raise CorruptSnapshot(path, batch.position, str(error)) from None
    return records[0] if records else None
