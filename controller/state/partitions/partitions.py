"""All partitions: their rows, and questions about many of them at once."""

from __future__ import annotations

from array import array
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from controller.state.partitions.bulk_placing import sort_loaded_rows
from controller.state.partitions.bulk_undo import BulkLog
from controller.state.partitions.columns import NO_TOPIC, Columns
from controller.state.partitions.partition import NO_LEADER, Partition
from controller.state.partitions.topics import NO_ROW, Topic
from controller.state.partitions.uncommon_fields import COMMON, HAS_ELR, IS_WIDE, REASSIGNING
from controller.state.tables.undo import Undo, Undoable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from controller.state.partitions.columns import Int32s

    Rows = NDArray[np.intp]


class Placed(NamedTuple):
    """A partition with its row, as the undo log keeps one that was removed."""

    topic: Topic
    partition_id: int
    partition: Partition


class Counts(NamedTuple):
    """Figures for metrics. offline: without a leader; imbalanced: not led by their preferred leader."""

    partitions: int
    offline: int
    imbalanced: int


class Partitions(Undoable):
    """The partitions of all topics. Only replay functions write them.

    A partition keeps its row. The rows of a deleted topic are used again when the deletion can no longer be undone.
    """

    __slots__ = (
        "_counted", "_counts", "_free_rows", "_free_topics", "_graves", "bulk", "columns", "count", "is_unsettled",
        "topic_id_table", "topics", "version",
    )  # fmt: skip

    def __init__(self, undo: Undo) -> None:
        super().__init__(undo)
        self.bulk = BulkLog(undo, self)
        self.columns = Columns()
        self.reset()

    def reset(self, *, unsettled: bool = False) -> None:
        """Remove all partitions, and the list of uncommitted ones.

        unsettled: only new partitions follow, and they are not read until `sort_loaded_rows`.
        """
        self.is_unsettled = unsettled
        for log in (self, self.bulk):
            log.uncommitted.clear()
            log.latest = -1
        self.columns = Columns()
        self.topics: list[Topic | None] = []
        # By index, of shape (n, 16); there may be room at the end.
        self.topic_id_table: NDArray[np.uint8] = np.zeros((64, 16), np.uint8)
        self.count = 0
        self.version = 0
        self._free_rows = array("i")
        self._free_topics: list[int] = []
        # What was removed, by the offset of the removal: once that offset is stable, no undo entry can restore it.
        self._graves: dict[Topic | int, int] = {}
        self._counts = Counts(0, 0, 0)
        self._counted = 0

    # Reading one.

    def get(self, row: int) -> Partition:
        """The partition in a row."""
        return self.columns.get(row)

    def find(self, topic: Topic | None, partition_id: int) -> Partition | None:
        """A partition of a topic; None where there is none."""
        row = NO_ROW if topic is None else topic.row(partition_id)
        return None if row == NO_ROW else self.columns.get(row)

    def topic_at(self, row: int) -> Topic:
        """The topic of a partition."""
        topic: Topic | None = self.topics[int(self.columns.topic[row])]
        assert topic is not None, row
        return topic

    def partition_id_at(self, row: int) -> int:
        return int(self.columns.partition_id[row])

    def partition_ids_at(self, rows: Rows) -> Int32s:
        return self.columns.partition_id[rows]

    def topic_ids_at(self, rows: Rows) -> NDArray[np.uint8]:
        """The ids of the topics of these rows, of shape (n, 16)."""
        return self.topic_id_table[self.columns.topic[rows]]

    def of_topic(self, topic: Topic) -> Iterator[tuple[int, Partition]]:
        """Partition id and partition, ascending."""
        for partition_id in topic.partition_ids():
            yield partition_id, self.columns.get(topic.row(partition_id))

    def __iter__(self) -> Iterator[tuple[Topic, int, Partition]]:
        for row in self._living(np.arange(self.columns.end)):
            row = int(row)
            yield self.topic_at(row), self.partition_id_at(row), self.columns.get(row)

    def change_offset(self, key: int) -> int:
        """The offset of the last uncommitted change of a row; -1 where there is none.

        The first partitions of a topic may have none: what tells of them rests on the change of the topic, too.
        """
        changed_at = super().change_offset(key)
        return max(changed_at, self.bulk.row_change_offset(key)) if self.bulk.uncommitted else changed_at

    def last_change(self) -> int:
        """An offset at or above the last uncommitted change of any partition; -1 where there is none."""
        return max(super().last_change(), self.bulk.last_change())

    # Reading many: rows, ascending.

    def in_isr(self, broker_id: int, start: int = 0, end: int | None = None) -> Rows:
        """The partitions that have the broker in their ISR; start, end: in these rows alone."""
        return self._listing(self.columns.isr, broker_id, lambda partition: broker_id in partition.isr, start, end)

    def next_in_isr(self, broker_id: int, start: int, count: int) -> Rows:
        """The next `count` partitions from a row on that have the broker in their ISR, fewer at the end."""
        parts, left = [_NO_ROWS], count
        while start < self.columns.end and left > 0:
            parts.append(self.in_isr(broker_id, start, start + _SEARCHED)[:left])
            left -= len(parts[-1])
            start += _SEARCHED
        return np.concatenate(parts)

    def with_replica(self, broker_id: int) -> Rows:
        """The partitions that have the broker among their replicas."""
        return self._listing(self.columns.replicas, broker_id, lambda partition: broker_id in partition.replicas)

    def in_directory(self, directory: bytes) -> Rows:
        """The partitions with a replica in the directory."""
        number = self.columns.directory_ids.numbers.get(directory)
        if number is None:
            return _NO_ROWS
        return self._listing(self.columns.directories, number, lambda partition: directory in partition.directories)

    def in_elr(self, broker_id: int) -> Rows:
        """The partitions that have the broker among their eligible leader replicas."""
        return self._rare(self.columns.uncommon_values.where(lambda uncommon: broker_id in uncommon.elr))

    def with_elr(self) -> Rows:
        """The partitions that have eligible leader replicas or a last known leader."""
        return self._of_kind(HAS_ELR)

    def rows_led_by(self, broker_id: int) -> Rows:
        """The partitions that the broker leads."""
        return self._living(np.flatnonzero(self.columns.leader[: self.columns.end] == broker_id))

    def leaderless(self) -> Rows:
        return self.rows_led_by(NO_LEADER)

    def imbalanced_rows(self) -> Rows:
        """The partitions not led by their preferred leader; those without a leader are among them."""
        columns, end = self.columns, self.columns.end
        return self._living(np.flatnonzero(columns.leader[:end] != columns.replicas[0][:end]))

    def reassigning(self) -> Rows:
        return self._of_kind(REASSIGNING)

    def counts(self) -> Counts:
        """Figures for metrics, counted again when partitions changed."""
        if self._counted != self.version:
            self._counted = self.version
            self._counts = Counts(self.count, len(self.leaderless()), len(self.imbalanced_rows()))
        return self._counts

    def _living(self, rows: Rows) -> Rows:
        living: Rows = rows[self.columns.topic[rows] != NO_TOPIC]
        return living

    def _of_kind(self, kind: int) -> Rows:
        return self._rare(self.columns.uncommon_values.of_kind(kind))

    def _rare(self, is_wanted: NDArray[np.bool_]) -> Rows:
        """The partitions whose uncommon values have one of these numbers."""
        if not is_wanted.any():
            return _NO_ROWS
        return self._living(np.flatnonzero(is_wanted[self.columns.uncommon[: self.columns.end]]))

    def _listing(
        self,
        lists: list[Any],
        member: int,
        contains: Callable[[Partition], bool],
        start: int = 0,
        end: int | None = None,
    ) -> Rows:
        end = self.columns.end if end is None else min(end, self.columns.end)
        is_listed = lists[0][start:end] == member
        for column in lists[1:]:
            is_listed |= column[start:end] == member
        for row in self._of_kind(IS_WIDE).tolist():
            if start <= row < end:
                is_listed[row - start] = contains(self.columns.get(row))
        return self._living(np.flatnonzero(is_listed) + start)

    # Writing.

    def sort_loaded_rows(self) -> None:
        """Sort the rows of a snapshot that was loaded; from now on its partitions can be read."""
        if self.is_unsettled:
            self.is_unsettled = False
            sort_loaded_rows(self)

    def take_rows(self, count: int) -> Rows:
        """Rows to write new partitions to, ascending."""
        if len(self._free_rows) < count:
            first = self.columns.append(count)
            return np.arange(first, first + count)
        rows = np.sort(np.array(self._free_rows[-count:], np.intp))
        del self._free_rows[-count:]
        return rows

    def put(self, topic: Topic, partition_id: int, partition: Partition) -> None:
        """Add or replace a partition of a topic that exists."""
        if self.is_unsettled:
            row = self.columns.append(1)
            self._write(row, Placed(topic, partition_id, partition))
            return
        row = topic.row(partition_id)
        if row == NO_ROW:
            row = self._free_rows.pop() if self._free_rows else self.columns.append(1)
            if self.undo.recording:
                self.undo.note(self, row, None)
            self._place(row, Placed(topic, partition_id, partition))
        else:
            self.change(row, self.columns.get(row), partition)

    def change(self, row: int, old: Partition, new: Partition) -> None:
        """Replace the partition in a row; `old` is what is there."""
        if self.undo.recording:
            self.undo.note(self, row, old)
        self.columns.change(row, old, new)
        self.version += 1

    def swap(self, key: int, value: Any) -> Any:
        row = key
        columns = self.columns
        if isinstance(value, Placed):
            self._graves.pop(row, None)
            self._place(row, value)
            return None
        old = columns.get(row)
        if value is None:
            topic = self.topic_at(row)
            partition_id = self.partition_id_at(row)
            topic.discard(partition_id)
            columns.before_change(row)
            columns.topic[row] = NO_TOPIC
            self.count -= 1
            self.version += 1
            self._bury(row)
            return Placed(topic, partition_id, old)
        columns.set(row, value)
        self.version += 1
        return old

    def _place(self, row: int, placed: Placed) -> None:
        self._write(row, placed)
        placed.topic.add(placed.partition_id, row)

    def _write(self, row: int, placed: Placed) -> None:
        columns = self.columns
        columns.set(row, placed.partition)
        columns.topic[row] = placed.topic.index
        columns.partition_id[row] = placed.partition_id
        self.count += 1
        self.version += 1

    # Topics and their rows, which follow the table of topics.

    def number(self, topic: Topic) -> None:
        """Give a new topic its index in the column of topics."""
        if self._free_topics:
            topic.index = self._free_topics.pop()
            self.topics[topic.index] = topic
        else:
            topic.index = len(self.topics)
            self.topics.append(topic)
            if topic.index == len(self.topic_id_table):
                self.topic_id_table = np.concatenate((self.topic_id_table, np.zeros_like(self.topic_id_table)))
        self.topic_id_table[topic.index] = np.frombuffer(topic.topic_id, np.uint8)

    def hide(self, topic: Topic) -> None:
        """Remove a topic's partitions."""
        rows = _indexer(topic)
        self.columns.before_change(rows)
        self.columns.topic[rows] = NO_TOPIC
        self.count -= topic.partition_count()
        self.version += 1
        self._bury(topic)

    def show(self, topic: Topic) -> None:
        """Restore the partitions of a topic that was hidden."""
        del self._graves[topic]
        rows = rows_of(topic)
        self.columns.before_change(rows)
        self.columns.topic[rows] = topic.index
        self.count += len(rows)
        self.version += 1

    def sweep(self, below: int) -> None:
        """Free the rows and topics that records at offsets below `below`, which are stable, removed: where they are
        very many, the rest at the next calls.
        """
        # Many at once from the map: each look at its first entry would pass those that were removed before.
        stable = list(takewhile(lambda grave: grave[1] < below, islice(self._graves.items(), _FREED_MAX)))
        for gone, _ in stable:
            del self._graves[gone]
        self._release([gone for gone, _ in stable])
        if not self.bulk.uncommitted:
            self.columns.clear_out()

    def _bury(self, gone: Topic | int) -> None:
        if self.undo.recording:
            self._graves[gone] = self.undo.offset
        else:
            self._release([gone])

    def _release(self, removed: list[Topic | int]) -> None:
        free = array("i")
        for gone in removed:
            if isinstance(gone, int):
                free.append(gone)
                continue
            # The last row first, so that they are taken again in ascending order.
            rows = gone.rows
            if isinstance(rows, range):
                free.extend(rows[::-1])
            elif len(rows) < _FEW:
                free.extend([row for row in gone.list_rows() if row != NO_ROW][::-1])
            else:
                free.extend(rows_of(gone)[::-1].tolist())
            self.topics[gone.index] = None
            self._free_topics.append(gone.index)
        uncommon = self.columns.uncommon
        if len(free) < _FEW:
            for row in free:
                uncommon[row] = COMMON
        else:
            uncommon[np.frombuffer(free, np.int32)] = COMMON
        self._free_rows.extend(free)


def _indexer(topic: Topic) -> slice | Rows:
    """What selects the rows of a topic's partitions in a column."""
    rows = topic.rows
    return slice(rows.start, rows.stop) if isinstance(rows, range) else rows_of(topic)


def rows_of(topic: Topic) -> Rows:
    """The rows of a topic's partitions."""
    rows = topic.rows
    if isinstance(rows, range):
        return np.arange(rows.start, rows.stop)
    listed: Rows = np.fromiter(topic.list_rows(), np.intp, len(rows))
    there: Rows = listed[listed != NO_ROW]
    return there


_NO_ROWS: Rows = np.empty(0, np.intp)
# For so few rows a loop takes less time than the calls of numpy.
_FEW = 10
# The rows that are searched at a time.
_SEARCHED = 1 << 16
# The rows and topics that are freed in one step, in 1 to 2 ms.
_FREED_MAX = 1000
