"""The order in which the groups of a scanned batch may be applied."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from records.bulk.bulk_layouts import FRAME_BYTES, KEY_END, RECORDS
from records.bulk.bulk_shapes import TopicShape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from records.batch import Batch
    from records.bulk.bulk_shapes import Columns, Shape

_TOPIC_TYPE = 2
# Odd constants that mix the three words of a partition's key; a collision of two keys costs only one more segment.
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)


class Single:
    """A record that is read by itself. value: with its frame, for `frame.decode_record`."""

    __slots__ = ("offset", "value")

    def __init__(self, offset: int, value: bytes) -> None:
        self.offset = offset
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Single) and (self.offset, self.value) == (other.offset, other.value)

    def __hash__(self) -> int:
        return hash((self.offset, self.value))

    def __repr__(self) -> str:
        return f"Single({self.offset}, {self.value!r})"


class Group:
    """Values of one shape: `indices` of their records in the batch, ascending, and uint8 of shape (n, size)."""

    __slots__ = ("indices", "shape", "values")

    def __init__(self, shape: Shape | TopicShape, indices: NDArray[np.int64], values: NDArray[np.uint8]) -> None:
        self.shape = shape
        self.indices = indices
        self.values = values

    @property
    def is_of_topics(self) -> bool:
        return isinstance(self.shape, TopicShape)


def segments(batch: Batch, groups: list[Group], loose: dict[int, Single], rows_min: int) -> Iterator[Columns | Single]:
    """All records, in segments: within one, records of topics come first, then groups, then single partitions.

    A record that is neither of a topic nor of a partition ends a segment, and so does a partition's second record.
    loose: records in no group, by their index. Where segments are so short that columns do not pay, all are single.
    """
    others = [index for index, single in loose.items() if _kind(single.value) == "other"]
    edges = sorted({0, batch.record_count, *others, *(index + 1 for index in others), *_repeats(groups, loose)})
    if len(edges) * rows_min > batch.record_count + rows_min * 8:
        yield from _all_single(batch, groups, loose)
        return
    bounds = [np.searchsorted(group.indices, edges).tolist() for group in groups]
    rank = sorted(loose)
    at = 0
    for number, (start, end) in enumerate(pairwise(edges)):
        singles: list[Single] = []
        while at < len(rank) and rank[at] < end:
            singles.append(loose[rank[at]])
            at += 1
        columns: list[tuple[bool, Columns]] = []
        for group, bound in zip(groups, bounds, strict=True):
            first, after = bound[number], bound[number + 1]
            if after - first >= rows_min:
                offsets = batch.base_offset + group.indices[first:after]
                columns.append((group.is_of_topics, group.shape.columns(group.values[first:after], offsets)))
            elif after > first:
                singles += _singles(batch, group, first, after)
        singles.sort(key=lambda single: single.offset)
        assert len(singles) + sum(len(part) for _, part in columns) == end - start
        yield from (part for of_topics, part in columns if of_topics)
        yield from (single for single in singles if _kind(single.value) == "topic")
        yield from (part for of_topics, part in columns if not of_topics)
        yield from (single for single in singles if _kind(single.value) != "topic")


def _kind(value: bytes) -> str:
    if len(value) > FRAME_BYTES and value[0] == 1:
        if value[1] in RECORDS and value[2] < 128 and len(value) >= KEY_END:
            return "partition"
        if value[1] == _TOPIC_TYPE:
            return "topic"
    return "other"


def _singles(batch: Batch, group: Group, first: int, after: int) -> list[Single]:
    indices = group.indices[first:after].tolist()
    return [
        Single(batch.base_offset + index, values.tobytes())
        for index, values in zip(indices, group.values[first:after], strict=True)
    ]


def _all_single(batch: Batch, groups: list[Group], loose: dict[int, Single]) -> list[Single]:
    singles = list(loose.values())
    for group in groups:
        singles += _singles(batch, group, 0, len(group.indices))
    return sorted(singles, key=lambda single: single.offset)


def _repeats(groups: list[Group], loose: dict[int, Single]) -> list[int]:
    """The indices at which to cut, so that no partition occurs twice between two cuts."""
    of_partitions = [group for group in groups if not group.is_of_topics]
    alone = [(index, single.value) for index, single in loose.items() if _kind(single.value) == "partition"]
    indices = np.concatenate([*(group.indices for group in of_partitions), np.array([i for i, _ in alone], np.int64)])
    keys = np.zeros((len(indices), 24), np.uint8)
    at = 0
    for group in of_partitions:
        keys[at : at + len(group.indices), :20] = group.values[:, FRAME_BYTES:KEY_END]
        at += len(group.indices)
    for _, value in alone:
        keys[at, :20] = np.frombuffer(value[FRAME_BYTES:KEY_END], np.uint8)
        at += 1
    mixed = (keys.view(np.uint64) * _MIX).sum(axis=1, dtype=np.uint64)
    in_order = np.sort(mixed)
    if not (in_order[1:] == in_order[:-1]).any():
        return []
    by_index = np.argsort(indices)
    indices, mixed = indices[by_index], mixed[by_index]
    order = np.argsort(mixed, kind="stable")
    again = np.flatnonzero(mixed[order[1:]] == mixed[order[:-1]])
    repeats = sorted(zip(indices[order[again + 1]].tolist(), indices[order[again]].tolist(), strict=True))
    cuts: list[int] = []
    for index, before in repeats:
        if not cuts or before >= cuts[-1]:
            cuts.append(index)
    return cuts
