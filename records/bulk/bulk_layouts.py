"""Where the fields of a partition record are in its bytes, by the bytes of one; without numpy."""

from __future__ import annotations

from typing import Any, NamedTuple

from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from records.schema import Field, schema_of

FRAME_BYTES = 3
# In every version of both records the partition id and the topic id directly follow the frame.
KEY_END = FRAME_BYTES + 20
RECORDS: dict[int, type[Any]] = {3: PartitionRecord, 5: PartitionChangeRecord}


class Place(NamedTuple):
    """A field in the bytes of a value. code: `uuid`, or the letter of numpy's type; length: None for a number."""

    name: str
    position: int
    code: str
    length: int | None


class Layout(NamedTuple):
    """The layout of a value. structure: the positions, from its frame on, of the bytes that make the layout: type,
    version, counts, tags and sizes. tagged: the fields that stand behind tags.
    """

    record: type[Any]
    version: int
    structure: list[int]
    places: list[Place]
    tagged: frozenset[str]


def layout_of(value: bytes) -> Layout | None:
    """The layout of a record's value; None if it is not a partition record, or no layout can describe it.

    Not described: unknown tags, a tagged null, lists of 127 elements and more, and malformed values.
    """
    if len(value) < KEY_END or value[0] != 1 or value[1] not in RECORDS:
        return None
    record, version = RECORDS[value[1]], value[2]
    schema = schema_of(record)
    if not schema.versions[0] <= version <= schema.versions[1]:
        return None
    structure = list(range(FRAME_BYTES))
    places: list[Place] = []
    position = FRAME_BYTES
    tags = {field.tag: field for field in schema.at(version) if field.tag is not None}
    tagged = []
    last = -1
    try:
        for field in schema.at(version):
            if field.tag is None:
                position = _place(field, value, position, structure, places)
        structure.append(position)
        count, position = value[position], position + 1
        for _ in range(count):
            tag, size = value[position], value[position + 1]
            if tag not in tags or tag <= last or size > 127:
                return None
            last = tag
            tagged.append(tags[tag].name)
            structure += [position, position + 1]
            end = position + 2 + size
            position = _place(tags[tag], value, position + 2, structure, places)
            if position != end:
                return None
    except (IndexError, ValueError):
        return None
    if position != len(value):
        return None
    return Layout(record, version, structure, places, frozenset(tagged))


def _place(field: Field, value: bytes, position: int, structure: list[int], places: list[Place]) -> int:
    """Note the position of a field; returns the position after it. Raises ValueError if no layout can describe it."""
    size: int = field.element.size
    code = "uuid" if size == 16 else f"i{size}"
    if not field.is_array:
        places.append(Place(field.name, position, code, None))
        return position + size
    count = value[position]
    if not 0 < count < 128:
        raise ValueError(f"{field.name} is null or has many elements")
    structure.append(position)
    places.append(Place(field.name, position + 1, code, count - 1))
    return position + 1 + size * (count - 1)
