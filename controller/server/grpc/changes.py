"""Committed changes, read from the log in chunks that all watchers share.

A metadata transaction is delivered whole or not at all (KIP-868): where one begins, the reader looks ahead to its end.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack

from controller.server.grpc.record_trees import TYPE_NAMES, tree_of
from records.batch import batches, some_records, uncompress
from records.frame import decode_record, read_frame

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.node.node import Node
    from controller.server.grpc.time_slices import TimeSlices
    from records.batch import Batch, Record

READ_BYTES = 16 << 10
# The greatest size of a chunk, and so of a message; a larger record is a chunk of its own.
CHUNK_RECORDS_MAX = 128
CHUNK_BYTES_MAX = 256 << 10
# Records per time slice: each takes some 18 µs.
SLICE_RECORDS = 25

# A record takes several times the memory of its message.
CHUNKS_KEPT = 32
CHUNK_BYTES_KEPT = 256 << 10
CURSORS_KEPT = 4
TRANSACTIONS_KEPT = 1000

NO_OP, BEGIN, END, ABORT = (
    next(code for code, name in TYPE_NAMES.items() if name == wanted)
    for wanted in ("NO_OP_RECORD", "BEGIN_TRANSACTION_RECORD", "END_TRANSACTION_RECORD", "ABORT_TRANSACTION_RECORD")
)
_packer = msgpack.Packer(autoreset=True)


class Compacted(Exception):
    """The log starts after the requested offset: a snapshot has replaced the records before."""

    def __init__(self, offset: int, start: int) -> None:
        self.start = start
        super().__init__(f"offset {offset} was asked for, and the log of this node begins at offset {start}")


class InAborted(Exception):
    """The requested offset is inside an aborted transaction; `start` is the offset after it."""

    def __init__(self, offset: int, start: int) -> None:
        self.start = start
        super().__init__(f"offset {offset} was asked for, which is within a transaction that ended in offset {start}")


class Change(NamedTuple):
    """One record. packed: its bytes in a message."""

    type: str
    tree: dict[str, Any]
    packed: bytes


class Chunk(NamedTuple):
    """The changes at offsets from `start` to `end` (exclusive). more: the next chunk belongs to the same batch or
    transaction.
    """

    start: int
    end: int
    changes: tuple[Change, ...]
    more: bool


class Cursor:
    """A position in bytes read from the log. position: the offset of the next record. closes_at: the offset of the
    record that ends the transaction around the position, -1 outside of one. begins_at: where a transaction begins whose
    end must be found first, else -1; aborts_at: where a transaction is aborted whose beginning was not read.
    """

    __slots__ = (
        "_at", "_batch", "_batches", "_body", "_data", "_end", "_left", "aborts_at", "begins_at", "closes_at",
        "is_done", "position",
    )  # fmt: skip

    def __init__(self, data: bytes, position: int, closes_at: int) -> None:
        self.position = position
        self.closes_at = closes_at
        self.begins_at = self.aborts_at = -1
        self.is_done = False
        self._data = data
        self._batches: Iterator[Batch] = batches(data, check=False)
        self._batch: Batch | None = None
        self._body, self._at, self._end, self._left = b"", 0, 0, 0
        self._next_batch()

    @property
    def is_within(self) -> bool:
        """Whether the next record belongs to the same batch or transaction as the one before."""
        is_in_batch = self._batch is not None and 0 < self._left < self._batch.record_count
        return is_in_batch or self.closes_at >= self.position

    def step(self, records_max: int) -> list[Change]:
        """The changes of at most this many records of one batch."""
        batch = self._batch
        assert batch is not None, "the cursor is done"
        count = min(records_max, self._left)
        records, self._at = some_records(self._body, self._at, self._end, batch, count)
        self._left -= count
        changes: list[Change] = []
        for record in records:
            if record.offset < self.position:
                continue
            change = self._take(record, batch)
            if self.begins_at >= 0 or self.aborts_at >= 0:
                return changes
            self.position = record.offset + 1
            if change is not None:
                changes.append(change)
        if not self._left:
            self.position = batch.last_offset + 1
            self._next_batch()
        return changes

    def _next_batch(self) -> None:
        for batch in self._batches:
            if batch.last_offset < self.position:
                continue
            if batch.is_control:
                self.position = batch.last_offset + 1
                continue
            self._batch = batch
            self._body, self._at, self._end = uncompress(self._data, batch)
            self._left = batch.record_count
            return
        self._batch = None
        self.is_done = True

    def _take(self, record: Record, batch: Batch) -> Change | None:
        assert record.value is not None, f"the record at offset {record.offset} has no value"
        code = read_frame(record.value)[0]
        if code == NO_OP:
            return None
        if code == BEGIN:
            self.begins_at = record.offset
            return None
        if code == END:
            self.closes_at = -1
            return None
        if code == ABORT:
            self.aborts_at = record.offset
            return None
        return change_of(record, batch.leader_epoch)


def change_of(record: Record, epoch: int) -> Change:
    """A record of the log as a change for watchers."""
    assert record.value is not None
    message, version = decode_record(record.value)
    type_ = TYPE_NAMES[message.__schema__.api_key]
    tree, hidden = tree_of(message, version)
    fields = {"offset": record.offset, "timestamp": record.timestamp, "epoch": epoch, "type": type_, "version": version}
    return Change(type_, tree, pack_change(fields, tree, hidden))


def pack_change(fields: dict[str, Any], tree: dict[str, Any], hidden: list[str]) -> bytes:
    """The bytes of a change in a message."""
    fields["data"] = tree
    if hidden:
        fields["hidden"] = hidden
    data: bytes = _packer.pack(fields)
    return data


class Changes:
    """Reads the log of a node for all its watchers."""

    def __init__(self, node: Node, slices: TimeSlices) -> None:
        self._node = node
        self._slices = slices
        self._reading = asyncio.Lock()
        self._chunks: OrderedDict[int, Chunk] = OrderedDict()
        self._bytes = 0
        self._cursors: OrderedDict[int, Cursor] = OrderedDict()
        # Offset at which a transaction begins -> offset of the record that ends it, and whether that is an abort.
        self._closes: OrderedDict[int, tuple[int, bool]] = OrderedDict()

    @property
    def end_offset(self) -> int:
        """Records below it are committed, in no open transaction, and applied to the state of this node."""
        return self._node.controller.state.stable_end_offset

    @property
    def start_offset(self) -> int:
        """The log start offset of this node."""
        return self._node.storage.log.first_offset

    async def after(self, position: int) -> Chunk | None:
        """The next chunk from `position` on; None if nothing more is committed.

        Raises Compacted, InAborted; StorageError or OSError if the disk cannot be read.
        """
        async with self._reading:
            chunk = self._chunks.get(position)
            if chunk is not None:
                self._chunks.move_to_end(position)
                return chunk
            if self.start_offset <= position and position >= self.end_offset:
                return None
            chunk = await self._chunk(position)
            if chunk is not None:
                self._keep(chunk)
            return chunk

    async def _chunk(self, position: int) -> Chunk | None:
        cursor = self._cursors.pop(position, None) or self._open(position)
        chunk: list[Change] = []
        size = 0
        while not cursor.is_done and len(chunk) < CHUNK_RECORDS_MAX and size < CHUNK_BYTES_MAX:
            if cursor.position >= self.end_offset:  # the bytes read go beyond it
                break
            async with self._slices.slice():
                changes = cursor.step(min(SLICE_RECORDS, CHUNK_RECORDS_MAX - len(chunk)))
            chunk += changes
            size += sum(len(change.packed) for change in changes)
            if cursor.aborts_at >= 0:
                raise InAborted(position, cursor.aborts_at + 1)
            if cursor.begins_at >= 0:
                if cursor.position > position:
                    break
                return await self._begin(cursor.begins_at)
        if not cursor.is_done and cursor.begins_at < 0:
            self._cursors[cursor.position] = cursor
            while len(self._cursors) > CURSORS_KEPT:
                self._cursors.popitem(last=False)
        if cursor.position == position:
            return None  # the log is being reset
        return Chunk(position, cursor.position, tuple(chunk), cursor.is_within and cursor.begins_at < 0)

    def _open(self, position: int) -> Cursor:
        """Raises InAborted if the position is known to be inside an aborted transaction."""
        within = -1
        for begin, (closes_at, is_aborted) in self._closes.items():
            if begin < position <= closes_at:
                if is_aborted:
                    raise InAborted(position, closes_at + 1)
                within = closes_at
        return Cursor(self._read(position), position, within)

    def _read(self, position: int) -> bytes:
        storage, end_offset = self._node.storage, self._node.controller.state.committed_end_offset
        if position < self.start_offset:
            raise Compacted(position, self.start_offset)
        return storage.read(position, end_offset, READ_BYTES)

    async def _begin(self, offset: int) -> Chunk | None:
        """Enter the transaction that begins at `offset` if it was ended, or skip it if it was aborted."""
        close = await self._close_of(offset)
        if close is None:
            return None
        closes_at, is_aborted = close
        if is_aborted:
            return Chunk(offset, closes_at + 1, (), more=False)
        return Chunk(offset, offset + 1, (), more=True)

    async def _close_of(self, offset: int) -> tuple[int, bool] | None:
        """Where the transaction that begins at `offset` ends, and whether it is aborted; None while it is open."""
        known = self._closes.get(offset)
        if known is not None:
            return known
        position = offset + 1
        end_offset = self._node.controller.state.committed_end_offset
        while position < end_offset:
            data = self._read(position)
            if not data:
                return None
            for batch in batches(data, check=False):
                async with self._slices.slice():
                    close = None if batch.is_control else _close_in(data, batch, offset)
                if close is not None:
                    self._closes[offset] = close
                    while len(self._closes) > TRANSACTIONS_KEPT:
                        self._closes.popitem(last=False)
                    return close
                position = batch.last_offset + 1
        return None

    def _keep(self, chunk: Chunk) -> None:
        self._chunks[chunk.start] = chunk
        self._bytes += _size(chunk)
        while len(self._chunks) > CHUNKS_KEPT or (self._bytes > CHUNK_BYTES_KEPT and len(self._chunks) > 1):
            _, dropped = self._chunks.popitem(last=False)
            self._bytes -= _size(dropped)


def _size(chunk: Chunk) -> int:
    return sum(len(change.packed) for change in chunk.changes)


def _close_in(data: bytes, batch: Batch, offset: int) -> tuple[int, bool] | None:
    body, at, end = uncompress(data, batch)
    records, _ = some_records(body, at, end, batch, batch.record_count)
    for record in records:
        if record.offset > offset and record.value is not None:
            code = read_frame(record.value)[0]
            if code in {END, ABORT}:
                return record.offset, code == ABORT
    return None
