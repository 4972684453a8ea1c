"""A view: the state as of one offset, which does not change while the state advances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.state.partitions.bulk_undo import put_back
from controller.state.partitions.columns import NO_TOPIC
from controller.state.partitions.columns_copy import ColumnsCopy
from controller.state.partitions.partitions import Partitions, Placed, rows_of
from controller.state.tables.features import METADATA_VERSION
from controller.state.tables.table import TableLog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from controller.state.partitions.partition import Partition
    from controller.state.partitions.topics import Topic
    from controller.state.state import State
    from controller.state.tables.undo import Entry

TOPICS = "topics"


class View:
    """All stable metadata as of `end_offset`, read-only.

    tables: by the names they have in `State`. topics, topic_ids: by their index in the column of topics.
    """

    __slots__ = ("_absent", "columns", "end_offset", "tables", "topic_ids", "topics")

    def __init__(
        self, end_offset: int, tables: dict[str, dict[Any, Any]], columns: ColumnsCopy, topic_ids: NDArray[np.uint8]
    ) -> None:
        self.end_offset = end_offset
        self.tables = tables
        self.columns = columns
        self.topic_ids = topic_ids
        self.topics: dict[int, Topic] = {}
        self._absent: set[int] = set()

    @property
    def metadata_version(self) -> int:
        """The level of metadata.version; 0 where there is none."""
        level: int = self.tables["features"].get(METADATA_VERSION, 0)
        return level

    def take_back(self, entry: Entry) -> None:
        """Undo one change, in this view only."""
        part = entry.part
        if isinstance(part, TableLog):
            table = self.tables[part.name]
            former = table.pop(entry.key, None)
            if entry.old is not None:
                table[entry.key] = entry.old
            if part.name == TOPICS:
                self._show(former, False)
                self._show(entry.old, True)
        elif isinstance(part, Partitions):
            self._put(entry.key, entry.old)
        else:
            put_back(self.columns, entry.key.rows, entry.old)

    def _show(self, topic: Topic | None, there: bool) -> None:
        if topic is not None:
            rows = rows_of(topic)
            if there:
                # A topic has its present rows: some of them may be newer than the view.
                rows = rows[[row not in self._absent for row in rows.tolist()]]
            self.columns.before_change(rows)
            self.columns.topic[rows] = topic.index if there else NO_TOPIC

    def _put(self, row: int, old: Partition | Placed | None) -> None:
        columns = self.columns
        columns.before_change(row)
        if old is None:
            columns.topic[row] = NO_TOPIC
            self._absent.add(row)
        elif isinstance(old, Placed):
            columns.set(row, old.partition)
            columns.topic[row] = old.topic.index
            columns.partition_id[row] = old.partition_id
            self._absent.discard(row)
        else:
            columns.set(row, old)


def stable_view(state: State) -> View:
    """The state as of its `stable_end_offset`: without what is not committed, or in an open transaction."""
    tables: dict[str, dict[Any, Any]] = {name: dict(table) for name, table in state.tables().items()}
    topic_ids = state.partitions.topic_id_table.copy()
    view = View(state.stable_end_offset, tables, ColumnsCopy(state.partitions.columns), topic_ids)
    for entry in state.undo.since(state.stable_end_offset):
        view.take_back(entry)
    view.topics = {topic.index: topic for topic in tables[TOPICS].values()}
    return view
