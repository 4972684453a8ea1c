"""Records of partitions, many at once: the positions of their fields in a buffer (KIP-631, KIP-858, KIP-966).

`bulk_scan` finds columns within one batch. Most batches of a log are small, so here records of all batches of a range,
of any layout, are parsed together. Uncommon encodings (a varint of two bytes where one is enough, an unknown tag, a
list of more than 126 entries) are left to the scalar decoder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.source.varints import big_endian, byte_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTITION, PARTITION_CHANGE = 3, 5
VERSION_MAX = 2
LISTS = ("replicas", "isr", "removing", "adding", "elr", "last_known_elr", "directories")
NUMBERS = ("leader", "leader_epoch", "partition_epoch", "recovery")
# The value of a number that a record does not have; no int32 is so small.
ABSENT = -(1 << 40)

# tag: (field, bytes of an entry), for lists; `recovery` and `leader` are numbers.
_PARTITION_TAGS = {0: "recovery", 1: "elr", 2: "last_known_elr"}
_CHANGE_TAGS = {
    0: "isr", 1: "leader", 2: "replicas", 3: "removing", 4: "adding", 5: "recovery", 6: "elr", 7: "last_known_elr",
    8: "directories",
}  # fmt: skip
_TAGS = {PARTITION: _PARTITION_TAGS, PARTITION_CHANGE: _CHANGE_TAGS}
_TAG_SINCE = {(PARTITION, 1): 2, (PARTITION, 2): 2, (PARTITION_CHANGE, 6): 2, (PARTITION_CHANGE, 7): 2}
_TAG_SINCE[PARTITION_CHANGE, 8] = 1
_NUMBER_BYTES = {"leader": 4, "recovery": 1}


class PartitionRows:
    """Fields of n records. For each list its first byte and its count, -1 if the record does not have it.

    plain: which rows are valid; the others must be decoded one by one.
    """

    def __init__(self, count: int) -> None:
        self.plain = np.ones(count, bool)
        self.topic_at = np.zeros(count, np.int64)
        self.partition = np.zeros(count, np.int32)
        self.at = {name: np.zeros(count, np.int64) for name in LISTS}
        self.count = {name: np.full(count, -1, np.int64) for name in LISTS}
        self.number = {name: np.full(count, ABSENT, np.int64) for name in NUMBERS}


def take_apart(
    buffer: NDArray[np.uint8],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    record_type: NDArray[Any],
    version: NDArray[Any],
    of_partition: NDArray[np.bool_],
) -> PartitionRows:
    """Parse the records after their frames, from `start` to `end` (exclusive).

    of_partition: those whose record_type is 3 or 5, and version 0 to 2; the others are not plain.
    """
    rows = PartitionRows(len(start))
    rows.plain = of_partition & (end - start >= 21)
    rows.partition[:] = big_endian(buffer, start, 4)
    rows.topic_at[:] = start + 4
    at = start + 20
    whole = np.flatnonzero(rows.plain & (record_type == PARTITION))
    if len(whole):
        at[whole] = _body(buffer, rows, whole, at[whole], version[whole])
    _tags(buffer, rows, at, record_type, version)
    rows.plain &= at == end
    return rows


def _body(
    buffer: NDArray[np.uint8],
    rows: PartitionRows,
    selected: NDArray[np.int64],
    at: NDArray[np.int64],
    version: NDArray[Any],
) -> NDArray[np.int64]:
    """The untagged fields of a PartitionRecord; the positions after them."""
    for name in ("replicas", "isr", "removing", "adding"):
        at = _list(buffer, rows, name, selected, at)
    for name in ("leader", "leader_epoch", "partition_epoch"):
        rows.number[name][selected] = big_endian(buffer, at, 4)
        at = at + 4
    rows.number["recovery"][selected] = 0
    later = np.flatnonzero(version >= 1)
    if len(later):
        at[later] = _list(buffer, rows, "directories", selected[later], at[later])
    return at


def _list(
    buffer: NDArray[np.uint8], rows: PartitionRows, name: str, selected: NDArray[np.int64], at: NDArray[np.int64]
) -> NDArray[np.int64]:
    """A compact array; the positions after it."""
    head = byte_at(buffer, at)
    rows.plain[selected[(head == 0) | (head > 127)]] = False
    count = np.where(head > 127, 0, np.maximum(head - 1, 0))
    rows.at[name][selected] = at + 1
    rows.count[name][selected] = count
    after: NDArray[np.int64] = at + 1 + count * (16 if name == "directories" else 4)
    return after


def _tags(
    buffer: NDArray[np.uint8],
    rows: PartitionRows,
    at: NDArray[np.int64],
    record_type: NDArray[Any],
    version: NDArray[Any],
) -> None:
    """The tagged fields; moves `at` after them."""
    left = byte_at(buffer, at)
    at += 1
    rows.plain &= left <= len(_CHANGE_TAGS)
    left[~rows.plain] = 0
    last = np.full(len(at), -1, np.int64)
    selected = np.flatnonzero(left)
    while len(selected):
        here = at[selected]
        tag = byte_at(buffer, here)
        size = byte_at(buffer, here + 1)
        rows.plain[selected[(tag <= last[selected]) | (size > 127)]] = False
        last[selected] = tag
        after = here + 2 + size
        known = np.zeros(len(selected), bool)
        fields = tag | record_type[selected].astype(np.int64) << 8
        for field in np.flatnonzero(np.bincount(fields)).tolist():
            kind, number = field >> 8, field & 0xFF
            name = _TAGS[kind].get(number)
            if name is None:
                continue
            mine = (fields == field) & (version[selected] >= _TAG_SINCE.get((kind, number), 0))
            known |= mine
            if mine.all():
                _read_tagged(buffer, rows, name, selected, here + 2, after)
            elif mine.any():
                _read_tagged(buffer, rows, name, selected[mine], here[mine] + 2, after[mine])
        rows.plain[selected[~known]] = False
        at[selected] = after
        left[selected] -= 1
        selected = selected[(left[selected] > 0) & rows.plain[selected]]


def _read_tagged(
    buffer: NDArray[np.uint8],
    rows: PartitionRows,
    name: str,
    selected: NDArray[np.int64],
    at: NDArray[np.int64],
    after: NDArray[np.int64],
) -> None:
    if (size := _NUMBER_BYTES.get(name)) is not None:
        value = big_endian(buffer, at, size)
        says_nothing = value == (-2 if name == "leader" else -1)
        rows.plain[selected[says_nothing | (after - at != size)]] = False
        rows.number[name][selected] = value
    else:
        end = _list(buffer, rows, name, selected, at)
        rows.plain[selected[end != after]] = False
