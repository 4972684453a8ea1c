"""Rows as Arrow columns; only the requested columns are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pipeline.arrow import TYPES, array_of, arrow_schema
from pipeline.schemas import RECORDS
from pipeline.source.partition_records import ABSENT, LISTS, NUMBERS
from pipeline.source.rows import CONTROL, KINDS, NAMES
from pipeline.source.varints import big_endian, pieces_at, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pipeline.source.ranges import Finding, Range
    from pipeline.source.rows import Rows

_COLUMNS = {column.name: column for column in RECORDS.columns}
_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
_UUID_TEXT_BYTES = 22


def schema_of(names: Sequence[str]) -> Any:
    """The pyarrow.Schema of these columns; raises ValueError for an unknown one."""
    unknown = [name for name in names if name not in _COLUMNS]
    if unknown:
        raise ValueError(f"unknown column {', '.join(unknown)}; the columns are {', '.join(_COLUMNS)}")
    return arrow_schema(_COLUMNS[name] for name in names)


def batch_of(rows: Rows, keep: NDArray[np.bool_] | None, source: Range, schema: Any) -> Any:
    """A pyarrow.RecordBatch of the rows; keep: which of them, None for all. schema: columns of `arrow_schema`, or of
    `encoded_schema`.
    """
    selected = np.arange(len(rows)) if keep is None else np.flatnonzero(keep)
    arrays = [_array(field.name, rows, selected, source) for field in schema]
    arrays = [
        array if array.type == field.type else array.cast(field.type)
        for array, field in zip(arrays, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def batch_of_findings(findings: Sequence[Finding], schema: Any) -> Any:
    """A pyarrow.RecordBatch that has a row for each."""
    rows = [
        {
            "cluster": finding.cluster_id, "node": finding.node_id, "file": finding.path,
            "position": finding.position, "origin": "log" if finding.checkpoint_end_offset < 0 else "checkpoint",
            "offset": finding.offset, "place": 0, "kind": finding.kind, "problem": finding.problem,
        }
        for finding in findings
    ]  # fmt: skip
    arrays = [pa.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(name: str, rows: Rows, selected: NDArray[np.int64], source: Range) -> Any:
    """A column; texts of which there are few are a dictionary."""
    count = len(selected)
    is_checkpoint = source.checkpoint_end_offset >= 0
    if name in LISTS:
        return _strings_of(rows, selected) if name == "directories" else _list_of(rows, name, selected)
    if name in NUMBERS:
        value = rows.fields.number[name][selected]
        return array_of(value.astype(np.int32), value == ABSENT)
    if name == "cluster":
        return _one(source.cluster_id, count)
    if name == "node":
        node = source.node_id
        return array_of(np.full(count, node or 0, np.int32), None if node is not None else np.ones(count, bool))
    if name == "file":
        return _one(source.path or None, count)
    if name == "origin":
        return _one("checkpoint" if is_checkpoint else "log", count)
    if name == "offset":
        return array_of(np.full(count, source.checkpoint_end_offset - 1) if is_checkpoint else rows.offset[selected])
    if name == "place":
        return array_of(rows.offset[selected] if is_checkpoint else np.zeros(count, np.int64))
    if name == "position":
        return array_of(rows.position[selected], None if source.path else np.ones(count, bool))
    if name == "epoch":
        return array_of(rows.epoch[selected])
    if name == "time":
        return array_of(rows.time_ms[selected] * 1000).view(TYPES["timestamp"])
    if name == "kind":
        return pa.DictionaryArray.from_arrays(array_of(rows.kind[selected].astype(np.int32)), pa.array(KINDS))
    if name in ("type", "version"):
        value = getattr(rows, name)[selected]
        return array_of(value, value < 0)
    if name == "name":
        return _names(rows, selected)
    if name == "topic_id":
        return _uuid_texts(rows.buffer, rows.fields.topic_at[selected], ~rows.of_partition[selected])
    if name == "partition":
        return array_of(rows.fields.partition[selected], ~rows.of_partition[selected])
    return _row_values(name, rows, selected)


def _one(value: str | None, count: int) -> Any:
    """A column with one value."""
    index = np.zeros(count, np.int32)
    null = np.ones(count, bool) if value is None else None
    return pa.DictionaryArray.from_arrays(array_of(index, null), pa.array([value or ""]))


def _row_values(name: str, rows: Rows, selected: NDArray[np.int64]) -> Any:
    """The columns of single rows: json, value, problem, name."""
    values: list[Any] = [None] * len(rows)
    for row, said in rows.said.items():
        values[row] = said.get(name)
    type_ = TYPES[_COLUMNS[name].type]
    if not rows.said:
        return pa.nulls(len(selected), type_)
    return pa.array([values[row] for row in selected.tolist()] if len(selected) < len(rows) else values, type_)


def _names(rows: Rows, selected: NDArray[np.int64]) -> Any:
    """The record types by name. That of a control record is given row by row."""
    kinds = rows.type[selected]
    size = max(NAMES) + 1
    index = np.where((kinds < 0) | (kinds >= size) | (rows.kind[selected] == CONTROL), size, kinds)
    table = [NAMES.get(number) for number in range(size)]
    if (index == size).any():
        given = _row_values("name", rows, selected).dictionary_encode()
        codes = pa.compute.fill_null(given.indices, -1).to_numpy(zero_copy_only=False)
        index = np.where(codes >= 0, codes + size, index)
        index[(codes < 0) & (index == size)] = -1
        table += given.dictionary.to_pylist()
    null = index < 0
    null |= np.array([name is None for name in table])[index]
    texts = pa.array([name or "" for name in table])  # a dictionary must not hold a null
    return pa.DictionaryArray.from_arrays(array_of(index.astype(np.int32), null), texts)


def _count_offsets(count: NDArray[np.int64]) -> tuple[NDArray[np.int64], Any, Any]:
    """Counts without the -1 of missing lists, the offsets of an Arrow list, and which are null."""
    present = np.maximum(count, 0)
    offsets = np.zeros(len(count) + 1, np.int32)
    np.cumsum(present, out=offsets[1:])
    absent = count < 0
    return present, array_of(offsets), array_of(absent) if absent.any() else None


def _list_of(rows: Rows, name: str, selected: NDArray[np.int64]) -> Any:
    count = rows.fields.count[name][selected]
    if (count < 0).all():
        return pa.nulls(len(count), TYPES["array<int>"])
    present, offsets, absent = _count_offsets(count)
    values = big_endian(rows.buffer, spread(rows.fields.at[name][selected], present, 4), 4)
    return pa.ListArray.from_arrays(offsets, array_of(values), type=TYPES["array<int>"], mask=absent)


def _strings_of(rows: Rows, selected: NDArray[np.int64]) -> Any:
    present, offsets, absent = _count_offsets(rows.fields.count["directories"][selected])
    at = spread(rows.fields.at["directories"][selected], present, 16)
    values = _uuid_texts(rows.buffer, at, None)
    return pa.ListArray.from_arrays(offsets, values, mask=absent)


def _uuid_texts(buffer: NDArray[np.uint8], at: NDArray[np.int64], null: NDArray[np.bool_] | None) -> Any:
    """The uuids of 16 bytes at these positions, as Kafka writes them; a dictionary, since many are the same."""
    pieces = pieces_at(buffer, at, 16)
    # Where a row is null, the bytes are of another record, and may be secret.
    bits = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))
    encoded = pa.Array.from_buffers(pa.binary(16), len(at), [bits, pa.py_buffer(pieces)]).dictionary_encode()
    held = encoded.dictionary
    texts = _texts(np.frombuffer(held.buffers()[1] or b"", np.uint8)[: 16 * len(held)])
    return pa.DictionaryArray.from_arrays(encoded.indices, texts)


def _texts(uuids: NDArray[np.uint8]) -> Any:
    """The texts of uuids, which are one behind the other."""
    count = len(uuids) // 16
    raw = np.zeros((count, 18), np.uint8)
    raw[:, :16] = uuids.reshape(count, 16)
    triple = raw.reshape(-1, 6, 3).astype(np.uint32)
    word = triple[:, :, 0] << 16 | triple[:, :, 1] << 8 | triple[:, :, 2]
    digits = np.stack([(word >> shift) & 63 for shift in (18, 12, 6, 0)], axis=2).reshape(count, 24)
    text = np.ascontiguousarray(_LETTERS[digits[:, :_UUID_TEXT_BYTES]])
    offsets = np.arange(0, (count + 1) * _UUID_TEXT_BYTES, _UUID_TEXT_BYTES, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(text)])
