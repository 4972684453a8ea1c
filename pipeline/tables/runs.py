"""Intervals in a history: runs of rows of one partition for which a condition holds, and what ended each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pipeline.arrow import TYPES, array_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pipeline.tables.history import History


class Runs:
    """n intervals. start: the row that began each; last: the last row within; ender: the row that ended it, -1 if none
    did. Of those, `removed` ended with their partition; the rest are open.

    carried: those that began before this run, whose start is in the state.
    """

    def __init__(self, history: History, inside: NDArray[np.bool_], split: NDArray[np.bool_] | None = None) -> None:
        """inside: the rows for which the condition holds; split: rows that begin another interval anyway."""
        count = len(history)
        begins = inside & history.first
        begins[1:] |= inside[1:] & ~inside[:-1]
        if split is not None:
            begins |= inside & split
        self.history = history
        self.start = np.flatnonzero(begins)
        stops = np.append(np.flatnonzero(begins | ~inside | history.first), count)
        after = stops[np.searchsorted(stops, self.start, side="right")]
        self.last = after - 1
        ends_within = after < count
        ends_within[ends_within] = ~history.first[after[ends_within]]
        self.ender = np.where(ends_within, after, -1)
        self.group = history.group[self.start]
        self.removed = ~ends_within & (history.end_offset[self.group] >= 0)
        self.closed = ends_within | self.removed
        self.carried = history.is_state[self.start]

    def __len__(self) -> int:
        return len(self.start)

    def at_end(self, column: NDArray[Any], otherwise: Any = -1) -> NDArray[Any]:
        """A column of the history at the row that ended each."""
        values: NDArray[Any] = np.where(self.ender >= 0, column[np.maximum(self.ender, 0)], otherwise)
        return values

    def at_start(self, column: NDArray[Any], carried: NDArray[Any]) -> NDArray[Any]:
        """A column of the history at the row that began each; for a carried interval, the value in the state.

        carried: by row of the history.
        """
        values: NDArray[Any] = np.where(self.carried, carried[self.start], column[self.start])
        return values

    def interval(self, carried_offset: NDArray[np.int64], carried_time_us: NDArray[np.int64]) -> dict[str, Any]:
        """The five columns of an interval, as Arrow arrays."""
        history = self.history
        start_offset = self.at_start(history.offset, carried_offset)
        start_time = self.at_start(history.time_us, carried_time_us)
        end_offset = np.where(self.removed, history.end_offset[self.group], self.at_end(history.offset))
        end_time = np.where(self.removed, history.end_time_us[self.group], self.at_end(history.time_us))
        lasts = ~self.closed
        return {
            "start_offset": array_of(start_offset),
            "start_time": times(start_time),
            "end_offset": array_of(end_offset, lasts),
            "end_time": times(end_time, lasts),
            "duration_ms": array_of((end_time - start_time) // 1000, lasts),
        }

    def reasons(self, ended: str) -> Any:
        """Why each ended: `ended`, deleted, or null."""
        code = np.where(self.removed, 1, 0)
        return pa.DictionaryArray.from_arrays(
            array_of(code.astype(np.int8), ~self.closed), pa.array([ended, "deleted"])
        ).cast(pa.string())


def times(micros: NDArray[np.int64], mask: NDArray[np.bool_] | None = None) -> Any:
    """Times in µs as an Arrow array."""
    return array_of(micros, mask).cast(TYPES["timestamp"])


def numbers(column: NDArray[Any], mask: NDArray[np.bool_] | None = None) -> Any:
    """An int column as an Arrow array."""
    return array_of(column.astype(np.int32), mask)
