"""Many partition records at once, as columns: encoding rows of one shape into the body of a record batch.

With `bulk_scan`, the one place of this package that uses numpy. Byte for byte what `frame.encode_record` and
`batch.build_batch` give, in a fraction of the time; DESIGN.md describes the columns.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from records.batch import zigzags
from records.bulk.bulk_scan import DELTA_BOUNDS, delta_varints, scan
from records.bulk.bulk_segments import Single
from records.bulk.bulk_shapes import Columns
from records.frame import FRAME_VERSION
from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from records.schema import schema_of
from records.wire import EncodeError, uvarint, zigzag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Rows:
    """Records of one shape, encoded: `values` is uint8 of shape (n, value size), frame version first."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[np.uint8]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, wanted: slice) -> Rows:
        return Rows(self.values[wanted])

    @property
    def value_size(self) -> int:
        size: int = self.values.shape[1]
        return size

    def to_list(self) -> list[bytes]:
        """The value of each record."""
        joined, size = self.values.tobytes(), self.value_size
        return [joined[start : start + size] for start in range(0, len(joined), size)]


def partition_changes(
    version: int,
    topic_ids: ArrayLike,
    partition_ids: ArrayLike,
    *,
    isr: ArrayLike | None = None,
    leader: ArrayLike | None = None,
    replicas: ArrayLike | None = None,
    removing_replicas: ArrayLike | None = None,
    adding_replicas: ArrayLike | None = None,
    leader_recovery_state: ArrayLike | None = None,
    eligible_leader_replicas: ArrayLike | None = None,
    last_known_elr: ArrayLike | None = None,
    directories: ArrayLike | None = None,
) -> Rows:
    """PartitionChangeRecords of one shape; None for a field that none of them changes.

    Raises EncodeError where the version cannot carry a field, a value is out of range, or a row of `leader` or
    `leader_recovery_state` says "no change" (-2 and -1): such rows have another shape.
    """
    out = _Columns(PartitionChangeRecord, version, topic_ids, partition_ids)
    changes = {
        "isr": isr,
        "leader": leader,
        "replicas": replicas,
        "removing_replicas": removing_replicas,
        "adding_replicas": adding_replicas,
        "leader_recovery_state": leader_recovery_state,
        "eligible_leader_replicas": eligible_leader_replicas,
        "last_known_elr": last_known_elr,
        "directories": directories,
    }
    out.tags({name: column for name, column in changes.items() if column is not None})
    return out.rows()


def partitions(
    version: int,
    topic_ids: ArrayLike,
    partition_ids: ArrayLike,
    *,
    replicas: ArrayLike,
    isr: ArrayLike,
    leader: ArrayLike,
    leader_epoch: ArrayLike,
    partition_epoch: ArrayLike,
    removing_replicas: ArrayLike | None = None,
    adding_replicas: ArrayLike | None = None,
    directories: ArrayLike | None = None,
    leader_recovery_state: ArrayLike | None = None,
    eligible_leader_replicas: ArrayLike | None = None,
    last_known_elr: ArrayLike | None = None,
) -> Rows:
    """PartitionRecords of one shape; None for no removing or adding replicas, no directories, and tags left out.

    Raises EncodeError where the version cannot carry a field, a value is out of range, or a row of
    `leader_recovery_state` is 0, which is not written: such rows have another shape.
    """
    out = _Columns(PartitionRecord, version, topic_ids, partition_ids)
    none = np.empty((out.count, 0), np.int32)
    out.array("replicas", replicas)
    out.array("isr", isr)
    out.array("removing_replicas", none if removing_replicas is None else removing_replicas)
    out.array("adding_replicas", none if adding_replicas is None else adding_replicas)
    out.number("leader", leader, ">i4")
    out.number("leader_epoch", leader_epoch, ">i4")
    out.number("partition_epoch", partition_epoch, ">i4")
    if version >= 1:
        out.array("directories", np.empty((out.count, 0, 16), np.uint8) if directories is None else directories)
    elif directories is not None and np.asarray(directories).shape[1]:
        raise EncodeError(f"PartitionRecord v{version}: directories come with version 1")
    tags = {
        "leader_recovery_state": leader_recovery_state,
        "eligible_leader_replicas": eligible_leader_replicas,
        "last_known_elr": last_known_elr,
    }
    out.tags({name: column for name, column in tags.items() if column is not None})
    return out.rows()


def batch_body(parts: Sequence[Rows | bytes], first_delta: int = 0) -> tuple[bytes, int]:
    """The records of a batch, framed, and their count: rows, and values of other records, in the order given.

    Seal it with `batch.seal`. first_delta: the offset delta of the first record.
    """
    out: list[bytes] = []
    delta = first_delta
    for part in parts:
        if isinstance(part, Rows):
            out.extend(_frame_rows(part, delta))
            delta += len(part)
        else:
            out.append(_frame_value(part, delta))
            delta += 1
    return b"".join(out), delta - first_delta


def body_size(parts: Sequence[Rows | bytes], first_delta: int = 0) -> int:
    """The size of what `batch_body` returns for the same arguments."""
    size, delta = 0, first_delta
    for part in parts:
        count, value_size = (len(part), part.value_size) if isinstance(part, Rows) else (1, len(part))
        for start, end, width in _spans(delta, count):
            length = _record_length(value_size, width)
            size += (end - start) * (length + len(zigzag(length)))
        delta += count
    return size


class _Columns:
    """The bytes of rows under construction: constants and columns, from left to right."""

    def __init__(self, record: type[Any], version: int, topic_ids: ArrayLike, partition_ids: ArrayLike) -> None:
        self.schema = schema_of(record)
        self.version = version
        first, last = self.schema.versions
        if not first <= version <= last:
            raise EncodeError(f"{self.schema.name} has versions {first} to {last}, not {version}")
        self.count = len(np.asarray(partition_ids))
        self.parts: list[bytes | NDArray[Any]] = []
        assert self.schema.api_key is not None
        self.constant(uvarint(FRAME_VERSION) + uvarint(self.schema.api_key) + uvarint(version))
        self.number("partition_id", partition_ids, ">i4")
        ids = np.asarray(topic_ids)
        if ids.shape != (self.count, 16) or ids.dtype != np.uint8:
            raise self.error("topic_id", f"uint8 of shape ({self.count}, 16) is wanted, not {ids.dtype} of {ids.shape}")
        self.parts.append(ids)

    def error(self, field: str, reason: str) -> EncodeError:
        return EncodeError(f"{self.schema.name} v{self.version} {field}: {reason}")

    def constant(self, value: bytes) -> None:
        self.parts.append(value)

    def number(self, field: str, column: ArrayLike, code: str) -> None:
        """A column of one number a row; code: its big-endian numpy type."""
        self.parts.append(self.big_endian(field, np.asarray(column), code, (self.count,)))

    def big_endian(self, field: str, column: NDArray[Any], code: str, shape: tuple[int, ...]) -> NDArray[Any]:
        if column.shape != shape or column.dtype.kind not in "iu":
            raise self.error(field, f"integers of shape {shape} are wanted, not {column.dtype} of {column.shape}")
        dtype = np.dtype(code)
        if column.size and not np.can_cast(column.dtype, dtype):
            limits = np.iinfo(dtype)
            if column.min() < limits.min or column.max() > limits.max:
                raise self.error(field, f"a value is not within {limits.min} to {limits.max}")
        return column.astype(dtype)

    def array(self, field: str, column: ArrayLike) -> int:
        """A column of lists of one length: broker ids, or uuids; returns the bytes of one row."""
        values = np.asarray(column)
        if field == "directories":
            if values.ndim != 3 or values.shape[::2] != (self.count, 16) or values.dtype != np.uint8:
                wanted = f"uint8 of shape ({self.count}, k, 16)"
                raise self.error(field, f"{wanted} is wanted, not {values.dtype} of {values.shape}")
        else:
            if values.ndim != 2:
                raise self.error(field, f"integers of shape ({self.count}, k) are wanted, not of {values.shape}")
            values = self.big_endian(field, values, ">i4", (self.count, values.shape[1]))
        length: int = values.shape[1]
        head = uvarint(length + 1)
        self.constant(head)
        self.parts.append(values)
        return len(head) + length * (16 if field == "directories" else 4)

    def tags(self, columns: dict[str, ArrayLike]) -> None:
        """The tag section with these columns, by their tags."""
        fields = [field for field in self.schema.fields if field.name in columns]
        self.constant(uvarint(len(fields)))
        for field in sorted(fields, key=lambda field: field.tag or 0):
            if not field.at(self.version):
                raise self.error(field.name, f"comes with version {field.since}")
            assert field.tag is not None
            self.constant(uvarint(field.tag))
            if field.is_array:
                at = len(self.parts)
                size = self.array(field.name, columns[field.name])
                self.parts.insert(at, uvarint(size))
                continue
            column = np.asarray(columns[field.name])
            if (column == field.default).any():
                raise self.error(field.name, f"{field.default} is not written; such rows have another shape")
            self.constant(uvarint(field.type.size))
            self.number(field.name, column, f">i{field.type.size}")

    def rows(self) -> Rows:
        widths = [
            len(part) if isinstance(part, bytes) else part.dtype.itemsize * prod(part.shape[1:]) for part in self.parts
        ]
        out = np.empty((self.count, sum(widths)), np.uint8)
        at = 0
        for part, width in zip(self.parts, widths, strict=True):
            if isinstance(part, bytes):
                out[:, at : at + width] = np.frombuffer(part, np.uint8)
            elif width:
                out[:, at : at + width] = np.ascontiguousarray(part).view(np.uint8).reshape(self.count, width)
            at += width
        return Rows(out)


def _spans(delta: int, count: int) -> list[tuple[int, int, int]]:
    """The deltas from `delta` to `delta + count` (exclusive) by the width of their varints: start, end, width."""
    spans = []
    end = delta + count
    for width, bound in enumerate((*DELTA_BOUNDS, 1 << 31), start=1):
        if delta < min(bound, end):
            spans.append((delta, min(bound, end), width))
            delta = min(bound, end)
    return spans


def _record_length(value_size: int, delta_width: int) -> int:
    """The length that a record states: all but that length itself."""
    return 4 + delta_width + len(zigzag(value_size)) + value_size


def _frame_rows(rows: Rows, delta: int) -> list[bytes]:
    """The records of some rows; one piece for each width of the offset delta."""
    pieces = []
    value_size = rows.value_size
    first = delta
    for start, end, width in _spans(delta, len(rows)):
        length = zigzag(_record_length(value_size, width))
        head = length + b"\0\0"
        middle = b"\1" + zigzag(value_size)
        at = len(head) + width + len(middle)
        out = np.empty((end - start, at + value_size + 1), np.uint8)
        out[:, : len(head)] = np.frombuffer(head, np.uint8)
        out[:, len(head) : len(head) + width] = delta_varints(np.arange(start, end), width)
        out[:, len(head) + width : at] = np.frombuffer(middle, np.uint8)
        out[:, at : at + value_size] = rows.values[start - first : end - first]
        out[:, -1] = 0
        pieces.append(out.tobytes())
    return pieces


def _frame_value(value: bytes, delta: int) -> bytes:
    # One record behind many rows is not worth a table of all the deltas before it.
    known = zigzags(1)
    offset = known[delta] if delta < len(known) else zigzag(delta)
    body = b"".join((b"\0\0", offset, b"\1", zigzag(len(value)), value, b"\0"))
    return zigzag(len(body)) + body


__all__ = ["Columns", "Rows", "Single", "batch_body", "body_size", "partition_changes", "partitions", "scan"]
