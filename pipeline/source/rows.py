"""Batches of a range as rows: all records of a part of a file together, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.source.partition_records import (
    ABSENT,
    LISTS,
    NUMBERS,
    PARTITION,
    PARTITION_CHANGE,
    VERSION_MAX,
    PartitionRows,
    take_apart,
)
from pipeline.source.record_starts import Body, record_starts
from pipeline.source.secrets import without_secrets
from pipeline.source.varints import pad, read_signed
from records.batch import CorruptBatch, is_intact, records_of, uncompress
from records.control_batch import CONTROL_RECORDS, control_type, decode_control
from records.frame import FRAME_VERSION, decode_record, encode_record, read_frame
from records.printing.json_form import to_json
from records.printing.json_text import json_text
from records.registry import METADATA_RECORDS
from records.wire import DecodeError, read_zigzag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from records.batch import Batch

KINDS = ("record", "control", "unknown", "corrupt")
RECORD, CONTROL, UNKNOWN, CORRUPT = range(4)
NO_OP = 20
_NO_TYPE = -1


class Rows:
    """n rows. Offsets are as written; times in ms; a type or version of -1 is none.

    said: by row, values of other columns: name, json, value, problem. buffer: the bytes for `fields`.
    """

    def __init__(self, count: int) -> None:
        self.offset = np.zeros(count, np.int64)
        self.time_ms = np.zeros(count, np.int64)
        self.epoch = np.zeros(count, np.int32)
        self.position = np.zeros(count, np.int64)
        self.kind = np.zeros(count, np.int8)
        self.type = np.full(count, _NO_TYPE, np.int32)
        self.version = np.full(count, _NO_TYPE, np.int32)
        self.of_partition = np.zeros(count, bool)
        self.said: dict[int, dict[str, Any]] = {}
        self.fields: PartitionRows
        self.buffer: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offset)


def rows_of(data: bytes, batches: list[Batch], *, file_position: int) -> Rows:
    """The rows of some batches of `data`; file_position: of the first byte of the data in the file."""
    piece = _Piece(data, batches, file_position)
    return piece.rows()


class _Piece:
    """The bytes of some batches, and the position of each record in them."""

    def __init__(self, data: bytes, batches: list[Batch], file_position: int) -> None:
        self.data = data
        self.batches = batches
        self.file_position = file_position
        self.bodies = [data]  # those of compressed batches come behind
        self.size = len(data)
        self.apart: dict[int, str] = {}  # batches that cannot be read, with what is wrong

    def rows(self) -> Rows:
        return self._decode([self._body(number, batch) for number, batch in enumerate(self.batches)])

    def _body(self, number: int, batch: Batch) -> Body | None:
        """The records of a batch; None if it cannot be read."""
        if not is_intact(self.data, batch):
            self.apart[number] = "the CRC does not fit the bytes"
            return None
        try:
            body, position, end = uncompress(self.data, batch)
        except CorruptBatch as error:
            self.apart[number] = error.reason
            return None
        if body is self.data:
            return Body(body, position, end, 0, batch.record_count)
        body = bytes(body)
        self.bodies.append(body)
        self.size += len(body)
        return Body(body, position, end, self.size - len(body), batch.record_count)

    def _decode(self, bodies: list[Body | None]) -> Rows:
        buffer = pad(b"".join(self.bodies) if len(self.bodies) > 1 else self.data)
        start, every, problems = record_starts(buffer, bodies)
        self.apart |= problems
        rows = Rows(len(start))
        rows.buffer = buffer
        number = np.repeat(np.arange(len(self.batches)), every)
        head = np.array([_head(batch, self.file_position) for batch in self.batches], np.int64).reshape(-1, 7)
        rows.position, rows.epoch = head[number, 1], head[number, 2].astype(np.int32)
        length, at = read_signed(buffer, start)
        end = at + length
        time_delta, at = read_signed(buffer, at + 1)
        delta, at = read_signed(buffer, at)
        key_size, at = read_signed(buffer, at)
        at += np.maximum(key_size, 0)
        value_size, at = read_signed(buffer, at)
        value_end = at + np.maximum(value_size, 0)
        rows.offset = head[number, 0] + delta
        rows.time_ms = head[number, 3] + np.where(head[number, 4] != 0, 0, time_delta)
        apart = np.zeros(len(self.batches), bool)
        apart[list(self.apart)] = True
        bad = (value_end > end) | (delta < 0) | (delta > head[number, 6]) | (value_size < -1) | (key_size < -1)
        bad &= ~apart[number]
        for at_fault in np.unique(number[bad]).tolist():
            self.apart[at_fault] = _reason(self.data, self.batches[at_fault])
            apart[at_fault] = True
        control = head[number, 5] != 0
        rows.kind[control] = CONTROL
        framed = ~control & ~apart[number] & (value_size >= 3)
        where = np.where(framed, at, 0)
        framed &= (buffer[where] == FRAME_VERSION) & (buffer[where + 1] < 128) & (buffer[where + 2] < 128)
        rows.type[framed] = buffer[where + 1][framed]
        rows.version[framed] = buffer[where + 2][framed]
        partition = (
            framed & ((rows.type == PARTITION) | (rows.type == PARTITION_CHANGE)) & (rows.version <= VERSION_MAX)
        )
        self._partitions(rows, partition, at, value_end)
        self._others(rows, np.flatnonzero(~rows.of_partition & ~apart[number]).tolist(), at, value_size, start, number)
        return self._fill(rows, number, apart)

    def _partitions(
        self, rows: Rows, partition: NDArray[np.bool_], at: NDArray[np.int64], value_end: NDArray[np.int64]
    ) -> None:
        """Parse the plain partition records; the rest of `partition` is left to the scalar decoder."""
        rows.fields = take_apart(rows.buffer, at + 3, value_end, rows.type, rows.version, partition)
        rows.of_partition[:] = rows.fields.plain
        self._silence(rows, np.flatnonzero(~rows.of_partition))

    @staticmethod
    def _silence(rows: Rows, selected: NDArray[np.int64]) -> None:
        # What is under a null reaches Spark, and may be of a secret.
        rows.fields.partition[selected] = 0
        for name in LISTS:
            rows.fields.count[name][selected] = -1
        for name in NUMBERS:
            rows.fields.number[name][selected] = ABSENT

    def _others(
        self,
        rows: Rows,
        selected: list[int],
        at: NDArray[np.int64],
        value_size: NDArray[np.int64],
        start: NDArray[np.int64],
        number: NDArray[np.int64],
    ) -> None:
        """All records but the plain partition records, one by one."""
        whole = self.data if len(self.bodies) == 1 else b"".join(self.bodies)
        extra: list[bytes] = []
        extra_at = len(rows.buffer)
        for row in selected:
            size = int(value_size[row])
            value = None if size < 0 else whole[int(at[row]) : int(at[row]) + size]
            if rows.kind[row] == CONTROL:
                batch = self.batches[int(number[row])]
                _control(rows, row, _key(whole, int(start[row])), value, batch)
                continue
            if value is None:
                _unknown(rows, row, None, "the record has no value")
                continue
            try:
                record, version = decode_record(value)
            except DecodeError as error:
                _unknown(rows, row, value, str(error))
                continue
            rows.version[row] = version
            rows.type[row] = kind = record.__schema__.api_key
            if kind in (PARTITION, PARTITION_CHANGE):
                piece = _spell(rows, row, record, extra_at)
                extra.append(piece)
                extra_at += len(piece)
                continue
            plain = without_secrets(record)
            if plain is not record:
                value = encode_record(plain, version)
            rows.said[row] = {"json": json_text(to_json(plain, version)), "value": value}
        if extra:
            rows.buffer = np.concatenate((rows.buffer, pad(b"".join(extra))))

    def _fill(self, rows: Rows, number: NDArray[np.int64], apart: NDArray[np.bool_]) -> Rows:
        """Rows of batches that cannot be read: one for each, in its place."""
        if not self.apart:
            return rows
        keep = np.ones(len(rows), bool)
        for which, problem in self.apart.items():
            mine = np.flatnonzero(number == which)
            keep[mine[1:]] = False
            row = int(mine[0])
            batch = self.batches[which]
            rows.kind[row] = CORRUPT
            rows.type[row] = rows.version[row] = _NO_TYPE
            rows.of_partition[row] = False
            self._silence(rows, mine[:1])
            rows.offset[row], rows.time_ms[row] = batch.base_offset, batch.max_timestamp
            lost = f"batch of offsets {batch.base_offset} to {batch.last_offset}: {problem}"
            rows.said[row] = {"problem": lost}
        assert apart.any()
        return rows if keep.all() else _only(rows, keep)


def _only(rows: Rows, keep: NDArray[np.bool_]) -> Rows:
    """Some of the rows."""
    selected = np.flatnonzero(keep)
    out = Rows(0)
    for name in ("offset", "time_ms", "epoch", "position", "kind", "type", "version", "of_partition"):
        setattr(out, name, getattr(rows, name)[selected])
    fields = out.fields = rows.fields
    fields.topic_at, fields.partition = fields.topic_at[selected], fields.partition[selected]
    fields.at = {name: column[selected] for name, column in fields.at.items()}
    fields.count = {name: column[selected] for name, column in fields.count.items()}
    fields.number = {name: column[selected] for name, column in fields.number.items()}
    out.buffer = rows.buffer
    places = {int(old): new for new, old in enumerate(selected.tolist())}
    out.said = {places[row]: said for row, said in rows.said.items() if row in places}
    return out


def _head(batch: Batch, file_position: int) -> tuple[int, ...]:
    """The values that rows take from their batch."""
    appended = batch.attributes & 0x08
    return (
        batch.base_offset, file_position + batch.position, batch.leader_epoch,
        batch.max_timestamp if appended else batch.base_timestamp, appended, int(batch.is_control),
        batch.last_offset - batch.base_offset,
    )  # fmt: skip


def _reason(data: bytes, batch: Batch) -> str:
    try:
        records_of(data, batch)
    except CorruptBatch as error:
        return error.reason
    return "its records are not laid out as records are"


def _key(body: bytes, start: int) -> bytes | None:
    """The key of a record; it was checked that it is within the record."""
    _, at = read_zigzag(body, start)
    _, at = read_zigzag(body, at + 1, 10)
    _, at = read_zigzag(body, at)
    size, at = read_zigzag(body, at)
    return None if size < 0 else body[at : at + size]


def _control(rows: Rows, row: int, key: bytes | None, value: bytes | None, batch: Batch) -> None:
    try:
        rows.type[row] = kind = control_type(key)
        name = CONTROL_RECORDS[kind][0] if kind in CONTROL_RECORDS else None
        _, record = decode_control(key, value)
    except DecodeError as error:
        _unknown(rows, row, value, f"control record in the batch of offset {batch.base_offset}: {error}")
        return
    version = int.from_bytes((value or b"")[:2], "big")
    rows.version[row] = version
    rows.said[row] = {"name": name, "json": json_text(to_json(record, version)), "value": value}


def _unknown(rows: Rows, row: int, value: bytes | None, problem: str) -> None:
    """A record that cannot be decoded. Its contents are not shown: they may be secret."""
    if rows.kind[row] != CONTROL and value is not None:
        try:
            rows.type[row], rows.version[row], _ = read_frame(value)
        except DecodeError:
            rows.type[row] = rows.version[row] = _NO_TYPE
    rows.kind[row] = UNKNOWN
    rows.said[row] = {"problem": problem}


def _spell(rows: Rows, row: int, record: Any, at: int) -> bytes:
    """Write a partition record that the scalar decoder read to the columns; its lists go after the buffer."""
    rows.of_partition[row] = True
    fields = rows.fields
    names = {
        "replicas": record.replicas, "isr": record.isr, "removing": record.removing_replicas,
        "adding": record.adding_replicas, "elr": record.eligible_leader_replicas,
        "last_known_elr": record.last_known_elr,
    }  # fmt: skip
    out = bytearray(record.topic_id)
    fields.topic_at[row] = at
    fields.partition[row] = record.partition_id
    for name, values in names.items():
        if values is not None:
            fields.at[name][row], fields.count[name][row] = at + len(out), len(values)
            out += b"".join(value.to_bytes(4, "big", signed=True) for value in values)
    if record.directories is not None and (rows.type[row] != PARTITION or rows.version[row] >= 1):
        fields.at["directories"][row], fields.count["directories"][row] = at + len(out), len(record.directories)
        out += b"".join(record.directories)
    whole = rows.type[row] == PARTITION
    number = fields.number
    if whole or record.leader != -2:
        number["leader"][row] = record.leader
    if whole or record.leader_recovery_state != -1:
        number["recovery"][row] = record.leader_recovery_state
    number["leader_epoch"][row] = record.leader_epoch if whole else ABSENT
    number["partition_epoch"][row] = record.partition_epoch if whole else ABSENT
    return bytes(out)


NAMES = {number: name for number, (name, _) in METADATA_RECORDS.items()}
