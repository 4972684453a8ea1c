"""A column of lists of broker ids: equal lists are stored once, and taking some of them copies no list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pipeline.arrow import TYPES, array_of
from pipeline.source.varints import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Up to this length an entry is compared with each of a list. Longer lists are sorted, so that the time does not grow
# with the product of two lengths.
_SHORT = 8


class Lists:
    """n lists. values: int32, in which each list begins at `start` and has `count` entries; a count
    of -1 is no list.
    """

    __slots__ = ("count", "start", "values")

    def __init__(self, values: NDArray[np.int32], start: NDArray[np.int64], count: NDArray[np.int64]) -> None:
        self.values = values
        self.start = start
        self.count = count

    @classmethod
    def of(cls, array: Any) -> Lists:
        """The lists of an Arrow array of list<int32>."""
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        count = np.diff(offsets)
        if array.null_count:
            count = np.where(array.is_null().to_numpy(zero_copy_only=False), -1, count)
        return cls(array.values.to_numpy(zero_copy_only=False).astype(np.int32, copy=False), offsets[:-1], count)

    def __len__(self) -> int:
        return len(self.start)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The lengths; that of no list is 0."""
        return np.maximum(self.count, 0)

    def take(self, rows: NDArray[np.int64]) -> Lists:
        return Lists(self.values, self.start[rows], self.count[rows])

    def or_empty(self) -> Lists:
        """These lists, with an empty one in place of each that is missing."""
        return Lists(self.values, self.start, self.sizes)

    def first(self) -> NDArray[np.int64]:
        """The first entry of each; -1 of an empty one."""
        has = self.count > 0
        firsts = np.full(len(self), -1, np.int64)
        firsts[has] = self.values[self.start[has]]
        return firsts

    def flat(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The row of each entry, and the entry, in order."""
        sizes = self.sizes
        return np.repeat(np.arange(len(self)), sizes), self.values[spread(self.start, sizes, 1)]

    def equals(self, other: Lists) -> NDArray[np.bool_]:
        """Which lists are equal, entry by entry."""
        same = self.sizes == other.sizes
        # Rows that follow each other often have one list, which is stored once.
        is_one = (self.start == other.start) if self.values is other.values else np.zeros(len(self), bool)
        rows = np.flatnonzero(same & ~is_one)
        mine, theirs = self.take(rows), other.take(rows)
        which, values = mine.flat()
        differs = values != theirs.flat()[1]
        same[rows[which[differs]]] = False
        return np.asarray(same)

    def same_members(self, other: Lists) -> NDArray[np.bool_]:
        """Which lists have the same entries, in any order."""
        return np.asarray((self.without(other).count == 0) & (other.without(self).count == 0))

    def without(self, other: Lists, *, ascending: bool = False) -> Lists:
        """The entries of each list that are not in the other, in their order."""
        rows, values = self.flat()
        stays = ~_are_in(rows, values, other)
        rows, values = rows[stays], values[stays]
        count = np.bincount(rows, minlength=len(self)).astype(np.int64)
        if ascending and len(count) and count.max() > 1:
            order = np.lexsort((values, rows))
            values = values[order]
        return Lists(values, np.cumsum(count) - count, count)

    def arrow(self) -> Any:
        """The lists as an Arrow array."""
        sizes = self.sizes
        offsets = np.zeros(len(self) + 1, np.int32)
        np.cumsum(sizes, out=offsets[1:])
        values = self.values[spread(self.start, sizes, 1)]
        absent = self.count < 0
        mask = array_of(absent) if absent.any() else None
        return pa.ListArray.from_arrays(array_of(offsets), array_of(values), type=TYPES["array<int>"], mask=mask)


def _are_in(rows: NDArray[np.int64], values: NDArray[np.int32], lists: Lists) -> NDArray[np.bool_]:
    """Which values are in the list of their row."""
    found = np.zeros(len(values), bool)
    sizes = lists.sizes[rows]
    start = lists.start[rows]
    for place in range(min(int(sizes.max(initial=0)), _SHORT)):
        entries = lists.values.take(start + place, mode="clip")
        found |= (entries == values) & (sizes > place)
    longer = np.flatnonzero(sizes > _SHORT)
    if len(longer):
        numbers = np.unique(rows[longer])
        of, entry = lists.take(numbers).flat()
        found[longer] = np.isin(_keys(rows[longer], values[longer]), _keys(numbers[of], entry))
    return found


def _keys(rows: NDArray[np.int64], values: NDArray[np.int32]) -> NDArray[np.int64]:
    """A number for each entry of each row."""
    return rows << 32 | (values.astype(np.int64) & 0xFFFFFFFF)


def concat(parts: list[Lists]) -> Lists:
    """The columns, one after the other."""
    shifts = np.cumsum([0, *(len(part.values) for part in parts[:-1])])
    return Lists(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.start + shift for part, shift in zip(parts, shifts, strict=True)]),
        np.concatenate([part.count for part in parts]),
    )
