"""Rows as Arrow columns; only the requested columns are built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pipeline.arrow import TYPES, arrow_schema
from pipeline.schemas import RECORDS
from pipeline.source.partition_records import ABSENT, LISTS, NUMBERS
from pipeline.source.rows import CONTROL, KINDS, NAMES
from pipeline.source.varints import big_endian, spread

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
    """A pyarrow.RecordBatch of the rows; keep: which of them, None for all."""
    selected = np.arange(len(rows)) if keep is None else np.flatnonzero(keep)
    return pa.RecordBatch.from_arrays([_array(name, rows, selected, source) for name in schema.names], schema=schema)


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
    count = len(selected)
    is_checkpoint = source.checkpoint_end_offset >= 0
    if name in LISTS:
        return _strings_of(rows, selected) if name == "directories" else _list_of(rows, name, selected)
    if name in NUMBERS:
        value = rows.fields.number[name][selected]
        return pa.array(value.astype(np.int32), mask=value == ABSENT)
    if name == "cluster":
        return pa.repeat(pa.scalar(source.cluster_id, pa.string()), count)
    if name == "node":
        return pa.repeat(pa.scalar(source.node_id, pa.int32()), count)
    if name == "file":
        return pa.repeat(pa.scalar(source.path or None, pa.string()), count)
    if name == "origin":
        return pa.repeat(pa.scalar("checkpoint" if is_checkpoint else "log"), count)
    if name == "offset":
        return pa.array(np.full(count, source.checkpoint_end_offset - 1) if is_checkpoint else rows.offset[selected])
    if name == "place":
        return pa.array(rows.offset[selected] if is_checkpoint else np.zeros(count, np.int64))
    if name == "position":
        return pa.array(rows.position[selected], mask=None if source.path else np.ones(count, bool))
    if name == "epoch":
        return pa.array(rows.epoch[selected])
    if name == "time":
        return pa.array(rows.time_ms[selected] * 1000).cast(TYPES["timestamp"])
    if name == "kind":
        return pa.DictionaryArray.from_arrays(pa.array(rows.kind[selected]), pa.array(KINDS)).cast(pa.string())
    if name in ("type", "version"):
        value = getattr(rows, name)[selected]
        return pa.array(value, mask=value < 0)
    if name == "name":
        return _names(rows, selected)
    if name == "topic_id":
        of_partition = rows.of_partition[selected]
        return _uuid_texts(rows.buffer, rows.fields.topic_at[selected], of_partition)
    if name == "partition":
        return pa.array(rows.fields.partition[selected], mask=~rows.of_partition[selected])
    return _row_values(name, rows, selected)


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
    kinds = rows.type[selected]
    size = max(NAMES) + 1
    table = pa.array([NAMES.get(number) for number in range(size)] + [None])
    index = np.where((kinds < 0) | (kinds >= size) | (rows.kind[selected] == CONTROL), size, kinds)
    names = pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), table).cast(pa.string())
    given = _row_values("name", rows, selected)
    return names if given.null_count == len(given) else pa.compute.coalesce(given, names)


def _count_offsets(count: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], Any]:
    """Counts without the -1 of missing lists, the offsets of an Arrow list, and which are null."""
    present = np.maximum(count, 0)
    offsets = np.zeros(len(count) + 1, np.int32)
    np.cumsum(present, out=offsets[1:])
    absent = count < 0
    return present, offsets, pa.array(absent) if absent.any() else None


def _list_of(rows: Rows, name: str, selected: NDArray[np.int64]) -> Any:
    present, offsets, absent = _count_offsets(rows.fields.count[name][selected])
    values = big_endian(rows.buffer, spread(rows.fields.at[name][selected], present, 4), 4)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), type=TYPES["array<int>"], mask=absent)


def _strings_of(rows: Rows, selected: NDArray[np.int64]) -> Any:
    present, offsets, absent = _count_offsets(rows.fields.count["directories"][selected])
    at = spread(rows.fields.at["directories"][selected], present, 16)
    values = _uuid_texts(rows.buffer, at, np.ones(len(at), bool))
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=TYPES["array<string>"], mask=absent)


def _uuid_texts(buffer: NDArray[np.uint8], at: NDArray[np.int64], valid: NDArray[np.bool_]) -> Any:
    """The uuids of 16 bytes at these positions, as Kafka writes them; null if not valid."""
    raw = np.zeros((len(at), 18), np.uint8)
    raw[:, :16] = buffer[np.clip(at, 0, len(buffer) - 16)[:, None] + np.arange(16)]
    triple = raw.reshape(-1, 6, 3).astype(np.uint32)
    word = triple[:, :, 0] << 16 | triple[:, :, 1] << 8 | triple[:, :, 2]
    digits = np.stack([(word >> shift) & 63 for shift in (18, 12, 6, 0)], axis=2).reshape(len(at), 24)
    text = _LETTERS[digits[:, :_UUID_TEXT_BYTES]]
    offsets = np.arange(0, (len(at) + 1) * _UUID_TEXT_BYTES, _UUID_TEXT_BYTES, dtype=np.int32)
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    return pa.Array.from_buffers(
        pa.string(), len(at), [bits, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text))]
    )
