"""The columns as of one moment, while they change: rows are copied before they change, and only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.state.partitions.columns import NO_TOPIC, Columns, new_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from controller.state.partitions.columns import Indexer

# Rows that are looked at together.
PIECE_ROWS = 1 << 14


class ColumnsCopy(Columns):
    """The used rows of other columns as they are now. Tables are shared: their numbers stay.

    A snapshot of very many partitions begins without a copy of all of them, which takes a tenth of a second and as much
    memory again. A row is copied before it changes, there or here; until then it is read there.
    """

    __slots__ = ("__weakref__", "_is_kept", "_live", "_passed")

    def __init__(self, live: Columns) -> None:
        self._copies = []
        self._live = live
        self._is_kept = np.zeros(live.end, bool)
        self._passed = 0
        self.end = self.capacity = live.end
        self.directory_ids = live.directory_ids
        self.uncommon_values = live.uncommon_values
        # Memory that was never written is not taken.
        size = max(live.end, 1)
        for name in self.NAMES:
            setattr(self, name, new_column(size))
        for name in self.LIST_NAMES:
            setattr(self, name, [new_column(size) for _ in range(live.positions)])
        self.take_cells()
        live.lend(self)

    def source(self, rows: Indexer) -> Columns:
        """The columns to read these rows from, until the next change."""
        if not self._is_kept[rows].any():
            return self._live
        self.before_change(rows)
        return self

    def living(self) -> Iterator[NDArray[np.intp]]:
        """The rows with a partition, ascending, in pieces of PIECE_ROWS at most."""
        for start in range(0, self.end, PIECE_ROWS):
            piece = slice(start, min(start + PIECE_ROWS, self.end))
            topic = np.where(self._is_kept[piece], self.topic[piece], self._live.topic[piece])
            yield start + np.flatnonzero(topic != NO_TOPIC)

    def pass_to(self, row: int) -> None:
        """The rows below this one are not read again: they are not kept from now on."""
        self._passed = row

    def before_change(self, rows: Indexer) -> None:
        if isinstance(rows, int) and (not self._passed <= rows < self.end or self._is_kept[rows]):
            return
        if isinstance(rows, slice):
            rows = np.arange(rows.start, min(rows.stop, self.end))
        wanted = np.atleast_1d(rows)
        wanted = wanted[(wanted >= self._passed) & (wanted < self.end)]
        wanted = wanted[~self._is_kept[wanted]]
        if not len(wanted):
            return
        self._is_kept[wanted] = True
        live = self._live
        for name in self.NAMES:
            getattr(self, name)[wanted] = getattr(live, name)[wanted]
        for name in self.LIST_NAMES:
            # The others may have got more positions; none of these rows uses them.
            for mine, theirs in zip(getattr(self, name), getattr(live, name), strict=False):
                mine[wanted] = theirs[wanted]
