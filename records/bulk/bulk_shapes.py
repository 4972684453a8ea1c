"""The layout of partition records of one shape: where the fields are in their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from records.bulk.bulk_layouts import FRAME_BYTES, layout_of
from records.metadata.topics import PartitionChangeRecord, TopicRecord
from records.wire import read_uvarint, uvarint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from records.bulk.bulk_layouts import Place

# A tagged number that is written although it says "no change" is left to the scalar decoder.
_NO_CHANGE = {"leader": -2, "leader_recovery_state": -1}


class Columns:
    """Records of one shape. offsets: int64, ascending. A field that these records do not have is None.

    See DESIGN.md for the arrays. `names` is for TopicRecord only, the fields of partitions for the two others.
    """

    __slots__ = (
        "adding_replicas", "directories", "eligible_leader_replicas", "isr", "last_known_elr", "leader", "leader_epoch",
        "leader_recovery_state", "names", "offsets", "partition_epoch", "partition_ids", "record", "removing_replicas",
        "replicas", "topic_ids", "version",
    )  # fmt: skip

    record: type[Any]
    version: int
    offsets: NDArray[np.int64]
    topic_ids: NDArray[np.uint8]
    names: list[str] | None
    partition_ids: NDArray[np.int32] | None
    replicas: NDArray[np.int32] | None
    isr: NDArray[np.int32] | None
    removing_replicas: NDArray[np.int32] | None
    adding_replicas: NDArray[np.int32] | None
    eligible_leader_replicas: NDArray[np.int32] | None
    last_known_elr: NDArray[np.int32] | None
    leader: NDArray[np.int32] | None
    leader_epoch: NDArray[np.int32] | None
    partition_epoch: NDArray[np.int32] | None
    leader_recovery_state: NDArray[np.int8] | None
    directories: NDArray[np.uint8] | None

    def __init__(
        self, record: type[Any], version: int, offsets: NDArray[np.int64], topic_ids: NDArray[np.uint8], **fields: Any
    ) -> None:
        self.record = record
        self.version = version
        self.offsets = offsets
        self.topic_ids = topic_ids
        for name in self.__slots__:
            if name not in ("record", "version", "offsets", "topic_ids"):
                setattr(self, name, fields.pop(name, None))
        assert not fields, fields

    def __len__(self) -> int:
        return len(self.offsets)

    def parts(self, size: int) -> Iterator[Columns]:
        """The same records in parts of so many at most."""
        return (self.part(slice(start, start + size)) for start in range(0, len(self), size))

    def part(self, chosen: slice) -> Columns:
        """Some of the records."""
        part: Columns = Columns.__new__(Columns)
        part.record, part.version = self.record, self.version
        for name in self.__slots__:
            if name not in ("record", "version"):
                field = getattr(self, name)
                setattr(part, name, None if field is None else field[chosen])
        return part

    def __repr__(self) -> str:
        return f"Columns({self.record.__name__} v{self.version}, {len(self)} records)"


class Shape:
    """A layout of PartitionRecord or PartitionChangeRecord.

    key: equal for equal layouts. structure: the positions in a value, from its frame on, of the bytes that make the
    layout: type, version, counts, tags and sizes.
    """

    __slots__ = ("fields", "key", "record", "structure", "version")

    def __init__(
        self,
        record: type[Any],
        version: int,
        structure: list[int],
        fields: list[Place],
    ) -> None:
        self.record = record
        self.version = version
        self.structure = np.array(structure)
        self.fields = fields
        self.key = (record, version, tuple(fields))

    def matches(self, values: NDArray[np.uint8], template: bytes) -> NDArray[np.bool_]:
        """Which of the values, uint8 of shape (n, size), have the layout of the template."""
        wanted = np.frombuffer(template, np.uint8)[self.structure]
        return np.asarray((values[:, self.structure] == wanted).all(axis=1))

    def says_all(self, values: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which of the matching values change every field that they have; the others are for the scalar decoder."""
        is_said = np.ones(len(values), bool)
        if self.record is PartitionChangeRecord:
            for name, position, code, count in self.fields:
                if count is None and name in _NO_CHANGE:
                    is_said &= _column(values, position, code, None) != _NO_CHANGE[name]
        return is_said

    def columns(self, values: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Columns:
        """The fields of matching values."""
        fields = {name: _column(values, position, code, count) for name, position, code, count in self.fields}
        topic_ids = fields.pop("topic_id")
        fields["partition_ids"] = fields.pop("partition_id")
        return Columns(self.record, self.version, offsets, topic_ids, **fields)


def rows_equal(rows: NDArray[np.uint8], wanted: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which rows, of a few bytes each, are equal to `wanted`: one row for all of them, or one for each."""
    is_equal = np.asarray(rows[:, 0] == wanted[..., 0])
    for place in range(1, rows.shape[1]):  # numpy is slow in reducing short rows
        is_equal &= rows[:, place] == wanted[..., place]
    return is_equal


class TopicShape:
    """A layout of TopicRecord: names of one length, in ASCII, as all names of topics are."""

    __slots__ = ("key", "name_end", "name_start", "record", "version")

    def __init__(self, name_start: int, name_end: int) -> None:
        self.record = TopicRecord
        self.version = 0
        self.name_start = name_start
        self.name_end = name_end
        self.key = (TopicRecord, name_start, name_end)

    def matches(self, values: NDArray[np.uint8], template: bytes) -> NDArray[np.bool_]:
        head = np.frombuffer(template[: self.name_start], np.uint8)
        is_match = np.asarray((values[:, : self.name_start] == head).all(axis=1))
        is_match &= values[:, -1] == 0
        return is_match

    def says_all(self, values: NDArray[np.uint8]) -> NDArray[np.bool_]:
        return np.asarray((values[:, self.name_start : self.name_end] < 128).all(axis=1))

    def columns(self, values: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Columns:
        size = self.name_end - self.name_start
        text = values[:, self.name_start : self.name_end].tobytes().decode("ascii")
        names = [text[start : start + size] for start in range(0, len(text), size)]
        topic_ids = np.ascontiguousarray(values[:, self.name_end : self.name_end + 16])
        return Columns(self.record, self.version, offsets, topic_ids, names=names)


def topic_shape_of(value: bytes) -> TopicShape | None:
    """The shape of a TopicRecord's value; None for other records, an empty name, or unknown tags."""
    if value[:FRAME_BYTES] != bytes((1, 2, 0)):
        return None
    try:
        size, name_start = read_uvarint(value, FRAME_BYTES)
    except (IndexError, ValueError):
        return None
    name_end = name_start + size - 1
    if size < 2 or name_end + 17 != len(value) or value[-1] != 0 or len(uvarint(size)) != name_start - FRAME_BYTES:
        return None
    return TopicShape(name_start, name_end)


def _column(values: NDArray[np.uint8], position: int, code: str, count: int | None) -> NDArray[Any]:
    """The numbers, or the lists, at a position of each value, in the machine's own byte order."""
    size = int(code[-1]) if code != "uuid" else 16
    width = size * (1 if count is None else count)
    raw = np.ascontiguousarray(values[:, position : position + width])
    if code == "uuid":
        return raw if count is None else raw.reshape(len(values), count, 16)
    numbers = raw.view(f">{code}").astype(code) if width else np.empty((len(values), 0), code)
    return numbers.reshape(len(values)) if count is None else numbers


def shape_of(value: bytes) -> Shape | None:
    """The shape of a record's value; None if it is not a partition record, or no layout can describe it."""
    layout = layout_of(value)
    return None if layout is None else Shape(layout.record, layout.version, layout.structure, layout.places)
