"""The partitions of an image as columns: a large batch is taken in without an object for each of its partitions.

It imports numpy, so it is imported only for a file that may hold many partitions. A partition becomes an object when it
is asked for; the partitions of a topic that a later record changes become objects together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tools.offline.scanned import Decoded, run_starts, scan_batch

# isort: split
import numpy as np

from controller.state.partitions.bulk_batches import messages
from controller.state.partitions.bulk_placing import TopicRuns, place
from controller.state.partitions.columns import NOBODY
from controller.state.partitions.partition import RECOVERED, RECOVERING, Partition, partition_of
from controller.state.partitions.partitions import Partitions
from controller.state.partitions.topics import NO_ROW, Topic
from controller.state.tables.undo import Undo
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from records.bulk.bulk_shapes import Columns
    from tools.offline.image import Image
    from tools.offline.log_file import StoredBatch

# What the records of a topic or partition before or behind them may depend on.
_IN_ORDER = (
    AbortTransactionRecord, BeginTransactionRecord, ClearElrRecord, EndTransactionRecord, PartitionChangeRecord,
    RemoveTopicRecord,
)  # fmt: skip
# No number of a directory or of uncommon values.
_UNKNOWN = -2


class PartitionColumns:
    """The partitions of the topics of one image, unless they became objects."""

    def __init__(self) -> None:
        self.partitions = Partitions(Undo())
        self.partitions.reset(unsettled=True)
        self._topics: dict[bytes, Topic] = {}
        # Written by `place`, which replays into a state.
        self.end_offset = 0
        self._compared: tuple[PartitionColumns, tuple[int, int], NDArray[np.bool_]] | None = None
        self._numbers: tuple[PartitionColumns, tuple[int, int], NDArray[np.int32], NDArray[np.int32]] | None = None

    def take_batch(self, image: Image, batch: StoredBatch) -> bool:
        """Take in a data batch; False, with nothing done, where its records must be taken in one by one."""
        found = scan_batch(batch)
        if found is None or not self._can_take(image, found):
            return False
        for each in found:
            if isinstance(each, Decoded):
                if isinstance(each.record, PartitionRecord):
                    self._take_one(image, each.record, each.offset)
                else:
                    image.take(each.record, each.offset)
            elif each.names is not None:
                for record, offset in zip(messages(each), each.offsets.tolist(), strict=True):
                    image.take(record, offset)
            else:
                self._take_partitions(image, each)
        image.take_batch([], batch.last_offset, batch.leader_epoch, batch.max_timestamp)
        return True

    def _can_take(self, image: Image, found: list[Columns | Decoded]) -> bool:
        """Whether no record contradicts the image or another."""
        new: set[bytes] = set()
        topic_ids: set[bytes] = set()
        for each in found:
            if isinstance(each, Decoded):
                record = each.record
                if isinstance(record, _IN_ORDER):
                    return False
                if isinstance(record, TopicRecord):
                    if record.topic_id in new:
                        return False
                    new.add(record.topic_id)
                elif isinstance(record, PartitionRecord):
                    try:
                        partition_of(record)
                    except ValueError:
                        return False
                    topic_ids.add(record.topic_id)
            elif each.names is not None:
                listed = [topic_id.tobytes() for topic_id in each.topic_ids]
                if len(set(listed)) < len(listed) or not new.isdisjoint(listed):
                    return False
                new.update(listed)
            elif each.record is not PartitionRecord or not _is_consistent(each):
                return False
            else:
                topic_ids.update(topic_id.tobytes() for topic_id in each.topic_ids[run_starts(each.topic_ids)])
        return not any(topic_id in image.topics for topic_id in new) and all(
            topic_id in image.topics for topic_id in topic_ids - new
        )

    def _take_partitions(self, image: Image, columns: Columns) -> None:
        """Take in records of one shape, by columns where none of their topics has objects."""
        runs = TopicRuns(_Topics(self, image), columns.topic_ids)
        if None not in runs.topics and place(self, runs, columns):  # type: ignore[arg-type]
            return
        for record, offset in zip(messages(columns), columns.offsets.tolist(), strict=True):
            self._take_one(image, record, offset)

    def _take_one(self, image: Image, record: PartitionRecord, offset: int) -> None:
        topic = self.topic(image, record.topic_id)
        if topic is None:
            image.take(record, offset)
        else:
            self.partitions.put(topic, record.partition_id, partition_of(record))

    def topic(self, image: Image, topic_id: bytes) -> Topic | None:
        """A topic of the image, if its partitions are here; those of a topic without any will be."""
        of_image = image.topics[topic_id]
        if of_image.stored is None and of_image.can_be_stored:
            topic = self._topics[topic_id] = Topic(of_image.name, topic_id)
            self.partitions.number(topic)
            of_image.stored = StoredPartitions(self, topic)
        return None if of_image.stored is None else self._topics[topic_id]

    def equal_rows(self, other: PartitionColumns) -> NDArray[np.bool_]:
        """Which rows have the same cells in both, topics aside. Kept until one of them changes."""
        versions = self.partitions.version, other.partitions.version
        if self._compared is None or self._compared[:2] != (other, versions):
            rows = slice(0, min(self.partitions.columns.end, other.partitions.columns.end))
            self._compared = other, versions, self.equal_cells(other, rows, rows)
        return self._compared[2]

    def equal_cells(self, other: PartitionColumns, rows: Any, others: Any) -> NDArray[np.bool_]:
        """Which of these rows have the cells of those of other columns. Equal partitions may have other cells."""
        mine, theirs = self.partitions.columns, other.partitions.columns
        is_equal: NDArray[np.bool_] = mine.partition_id[rows] == theirs.partition_id[others]
        if mine.positions != theirs.positions:
            return np.zeros_like(is_equal)
        for name in ("leader", "leader_epoch", "partition_epoch"):
            is_equal &= getattr(mine, name)[rows] == getattr(theirs, name)[others]
        for one, two in zip((*mine.replicas, *mine.isr), (*theirs.replicas, *theirs.isr), strict=True):
            is_equal &= one[rows] == two[others]
        directories, uncommon = self._numbers_in(other)
        for one, two in zip(mine.directories, theirs.directories, strict=True):
            is_equal &= directories[one[rows]] == two[others]
        is_equal &= uncommon[mine.uncommon[rows]] == theirs.uncommon[others]
        return is_equal

    def _numbers_in(self, other: PartitionColumns) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """By the numbers of directories and of uncommon values here, those of the same values in other columns."""
        mine, theirs = self.partitions.columns, other.partitions.columns
        sizes = len(mine.directory_ids.ids), len(mine.uncommon_values)
        if self._numbers is None or self._numbers[:2] != (other, sizes):
            known = theirs.directory_ids.numbers
            # The last one is for NOBODY, which is -1.
            directories = [*(known.get(id_, _UNKNOWN) for id_ in mine.directory_ids.ids), NOBODY]
            uncommon = [theirs.uncommon_values.numbers.get(value, _UNKNOWN) for value in mine.uncommon_values.values]
            self._numbers = other, sizes, np.array(directories, np.int32), np.array(uncommon, np.int32)
        return self._numbers[2:]


class _Topics(dict[bytes, Topic]):
    """The topics of the columns for those of an image, as `TopicRuns` asks for them."""

    def __init__(self, columns: PartitionColumns, image: Image) -> None:
        self._columns = columns
        self._image = image

    def get(self, topic_id: bytes) -> Topic | None:  # type: ignore[override]
        return self._columns.topic(self._image, topic_id)


class StoredPartitions(Mapping[int, Partition]):
    """The partitions of a topic by id, ascending; each is made when it is asked for."""

    __slots__ = ("_columns", "_topic")

    def __init__(self, columns: PartitionColumns, topic: Topic) -> None:
        self._columns = columns
        self._topic = topic

    @property
    def partitions(self) -> Partitions:
        """The columns, in order."""
        self._columns.partitions.sort_loaded_rows()
        return self._columns.partitions

    def _sorted_topic(self) -> Topic:
        """The topic, whose rows are right once the columns are in order."""
        self._columns.partitions.sort_loaded_rows()
        return self._topic

    def __getitem__(self, key: int) -> Partition:
        row = self._sorted_topic().row(key)
        if row == NO_ROW:
            raise KeyError(key)
        return self._columns.partitions.get(row)

    def __iter__(self) -> Iterator[int]:
        return iter(self._sorted_topic().partition_ids())

    def __len__(self) -> int:
        return self._sorted_topic().partition_count()

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int) and self._sorted_topic().row(key) != NO_ROW

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredPartitions) and self._has_cells_of(other):
            return True
        return isinstance(other, Mapping) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def _has_cells_of(self, other: StoredPartitions) -> bool:
        """Whether the columns are equal. Equal partitions may have other columns."""
        if len(self) != len(other):
            return False
        mine, theirs = self._columns, other._columns
        rows = self._topic.rows
        if isinstance(rows, range) and rows == other._topic.rows:
            return bool(mine.equal_rows(theirs)[rows.start : rows.stop].all())
        return bool(mine.equal_cells(theirs, _rows(self._topic), _rows(other._topic)).all())


def _rows(topic: Topic) -> Any:
    """What selects the rows of a topic's partitions in a column, in the order of their ids."""
    rows = topic.rows
    if isinstance(rows, range):
        return slice(rows.start, rows.stop)
    return np.array([topic.row(number) for number in topic.partition_ids()], np.intp)


def _is_consistent(columns: Columns) -> bool:
    """Whether no record has as many directories as no replica list has, or another recovery state."""
    directories, replicas, state = columns.directories, columns.replicas, columns.leader_recovery_state
    assert replicas is not None
    if directories is not None and directories.shape[1] not in (0, replicas.shape[1]):
        return False
    return state is None or bool(((state == RECOVERED) | (state == RECOVERING)).all())
