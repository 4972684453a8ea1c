"""Undoing changes of many partitions: one undo entry keeps the former values of the columns that were written."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from controller.state.partitions.columns import NOBODY
from controller.state.tables.undo import Undo, Undoable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.state.partitions.columns import Columns, Int32s
    from controller.state.partitions.partitions import Partitions, Rows


class RowSet:
    """The rows that were written, each once. It is equal to itself alone: a key of the undo log."""

    __slots__ = ("_sorted", "rows")

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._sorted: Rows | None = None

    def __contains__(self, row: int) -> bool:
        if self._sorted is None:
            self._sorted = np.sort(self.rows)
        at = int(np.searchsorted(self._sorted, row))
        return at < len(self._sorted) and int(self._sorted[at]) == row


class Former(NamedTuple):
    """The former values of the rows: columns by name, and the ISR by position where it was written."""

    columns: dict[str, Int32s]
    isr: list[Int32s] | None


def former_of(columns: Columns, rows: Rows, names: Iterable[str], *, isr: bool) -> Former:
    """The present values of the rows."""
    return Former(
        {name: getattr(columns, name)[rows] for name in names},
        [column[rows] for column in columns.isr] if isr else None,
    )


def put_back(columns: Columns, rows: Rows, value: Former) -> None:
    """Write the former values to the rows."""
    columns.before_change(rows)
    for name, values in value.columns.items():
        getattr(columns, name)[rows] = values
    if value.isr is not None:
        for position, column in enumerate(columns.isr):
            # There may be more positions by now than there were.
            column[rows] = value.isr[position] if position < len(value.isr) else NOBODY


class BulkLog(Undoable):
    """The part of the undo log for such changes; its keys are RowSets."""

    __slots__ = ("partitions",)

    def __init__(self, undo: Undo, partitions: Partitions) -> None:
        super().__init__(undo)
        self.partitions = partitions

    def swap(self, key: RowSet, value: Former) -> Former:
        columns = self.partitions.columns
        now = former_of(columns, key.rows, value.columns, isr=value.isr is not None)
        put_back(columns, key.rows, value)
        self.partitions.version += 1
        return now

    def row_change_offset(self, row: int) -> int:
        """The offset of the last uncommitted change of a row; -1 where there is none."""
        return max((offset for rows, offset in self.uncommitted.items() if row in rows), default=-1)
