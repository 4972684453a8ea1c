"""Topics, and the replay of records about them and their partitions (KIP-516, KIP-631, KIP-966)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from controller.state.partitions.election_counts import count_election
from controller.state.partitions.partition import apply_change, next_epoch, partition_of
from controller.state.tables.configs import TOPIC
from controller.state.tables.table import Table
from records.uuids import uuid_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.state.partitions.partitions import Partitions
    from controller.state.state import State
    from controller.state.tables.undo import Undo
    from records.metadata.topics import (
        ClearElrRecord,
        PartitionChangeRecord,
        PartitionRecord,
        RemoveTopicRecord,
        TopicRecord,
    )

NO_ROW = -1

# Rows are held in an array by partition id as long as the ids leave no greater gaps than these.
_GAP_MAX = 1024


class Topic:
    """A topic, and the rows of its partitions.

    index: its number in the column of topics. rows: by partition id; a range while ids and rows are both contiguous,
    else an array with NO_ROW in the gaps, or a dict if the gaps are wide.
    """

    __slots__ = ("index", "name", "rows", "topic_id")

    def __init__(self, name: str, topic_id: bytes) -> None:
        self.name = name
        self.topic_id = topic_id
        self.index = -1
        self.rows: range | array[int] | dict[int, int] = range(0)

    def __repr__(self) -> str:
        return f"Topic({self.name!r}, {uuid_text(self.topic_id)})"

    def row(self, partition_id: int) -> int:
        """The row of a partition; NO_ROW where there is none."""
        rows = self.rows
        if isinstance(rows, dict):
            return rows.get(partition_id, NO_ROW)
        return rows[partition_id] if 0 <= partition_id < len(rows) else NO_ROW

    def partition_ids(self) -> Iterable[int]:
        """Ascending."""
        rows = self.rows
        if isinstance(rows, range):
            return range(len(rows))
        if isinstance(rows, dict):
            return sorted(rows)
        return [partition_id for partition_id, row in enumerate(rows) if row != NO_ROW]

    def list_rows(self) -> Iterable[int]:
        """The rows of the partitions, in the order of `rows`; NO_ROW in gaps."""
        rows = self.rows
        return rows.values() if isinstance(rows, dict) else rows

    def partition_count(self) -> int:
        rows = self.rows
        return len(rows) - rows.count(NO_ROW) if isinstance(rows, array) else len(rows)

    def add(self, partition_id: int, row: int) -> None:
        """Store the row of a partition that has none yet."""
        rows = self.rows
        if isinstance(rows, range):
            if partition_id == len(rows) and (not rows or row == rows.stop):
                self.rows = range(row - partition_id, row + 1)
                return
            rows = self.rows = array("i", rows)
        if isinstance(rows, array):
            count = len(rows)
            if 0 <= partition_id < 2 * count + _GAP_MAX:
                if partition_id >= count:
                    rows.extend([NO_ROW] * (partition_id + 1 - count))
                rows[partition_id] = row
                return
            rows = self.rows = {id_: row_ for id_, row_ in enumerate(rows) if row_ != NO_ROW}
        rows[partition_id] = row

    def discard(self, partition_id: int) -> None:
        """Remove the row of a partition."""
        rows = self.rows
        if isinstance(rows, range):
            if partition_id == len(rows) - 1:
                self.rows = rows[:-1]
                return
            rows = self.rows = array("i", rows)
        if isinstance(rows, dict):
            del rows[partition_id]
            return
        rows[partition_id] = NO_ROW
        while rows and rows[-1] == NO_ROW:
            rows.pop()


class Topics(Table[bytes, Topic]):
    """Topics by id. Adding or removing a topic adds or removes its partitions."""

    __slots__ = ("partitions",)

    def __init__(self, undo: Undo, partitions: Partitions) -> None:
        super().__init__(undo, "topics")
        self.partitions = partitions

    def put(self, key: bytes, value: Topic) -> None:
        self.partitions.number(value)
        super().put(key, value)

    def remove(self, key: bytes) -> Topic:
        topic = super().remove(key)
        self.partitions.hide(topic)
        return topic

    def swap(self, key: bytes, value: Topic | None) -> Topic | None:
        old = super().swap(key, value)
        if old is not None:
            self.partitions.hide(old)
        if value is not None:
            self.partitions.show(value)
        return old


def similar_name(name: str) -> str:
    """A form of the name that is equal for two names whose metrics would collide: KIP-4 forbids the second of them."""
    return name.replace(".", "_")


def has_similar(name: str) -> bool:
    """Whether the name has a character ('.' or '_') that can make it collide with another."""
    return "." in name or "_" in name


def replay_topic(state: State, record: TopicRecord, _offset: int) -> None:
    name, topic_id = record.name, record.topic_id
    existing = state.topic_ids.get(name)
    if existing is not None:
        raise ValueError(f"topic {name} {uuid_text(topic_id)} is there already, with id {uuid_text(existing)}")
    if topic_id in state.topics:
        raise ValueError(f"topic id {uuid_text(topic_id)} of {name} is that of {state.topics[topic_id].name}")
    state.topic_ids.put(name, topic_id)
    if has_similar(name):
        similar = similar_name(name)
        state.similar_names.put(similar, (*state.similar_names.get(similar, ()), name))
    state.topics.put(topic_id, Topic(name, topic_id))


def replay_partition(state: State, record: PartitionRecord, _offset: int) -> None:
    topic = _topic(state, record.topic_id)
    state.partitions.put(topic, record.partition_id, partition_of(record))


def replay_partition_change(state: State, record: PartitionChangeRecord, _offset: int) -> None:
    topic = _topic(state, record.topic_id)
    state.partitions.sort_loaded_rows()
    row = topic.row(record.partition_id)
    if row == NO_ROW:
        raise ValueError(f"there is no partition {topic.name}-{record.partition_id}")
    partition = state.partitions.get(row)
    count_election(state, partition, record)
    state.partitions.change(row, partition, apply_change(partition, record))


def replay_remove_topic(state: State, record: RemoveTopicRecord, _offset: int) -> None:
    topic = _topic(state, record.topic_id)
    state.partitions.sort_loaded_rows()
    name = topic.name
    state.topic_ids.remove(name)
    if has_similar(name):
        similar = similar_name(name)
        others = tuple(other for other in state.similar_names[similar] if other != name)
        if others:
            state.similar_names.put(similar, others)
        else:
            state.similar_names.remove(similar)
    if (TOPIC, name) in state.configs:
        state.configs.remove((TOPIC, name))
    state.topics.remove(record.topic_id)


def replay_clear_elr(state: State, record: ClearElrRecord, _offset: int) -> None:
    """Empty the ELR of one topic, or of all topics if the name is empty; the partition epoch of each such partition
    rises.
    """
    partitions = state.partitions
    partitions.sort_loaded_rows()
    rows = partitions.with_elr().tolist()
    if record.topic_name:
        topic_id = state.topic_ids.get(record.topic_name)
        if topic_id is None:
            raise ValueError(f"there is no topic {record.topic_name}")
        topic = state.topics[topic_id]
        rows = [row for row in rows if partitions.topic_at(row) is topic]
    for row in rows:
        partition = partitions.get(row)
        cleared = partition._replace(elr=(), last_known_elr=(), partition_epoch=next_epoch(partition.partition_epoch))
        partitions.change(row, partition, cleared)


def _topic(state: State, topic_id: bytes) -> Topic:
    topic = state.topics.get(topic_id)
    if topic is None:
        raise ValueError(f"there is no topic with id {uuid_text(topic_id)}")
    return topic
