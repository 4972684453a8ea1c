"""The first partitions of new topics as columns: those of one operation are encoded, and replayed, many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from controller.state.partitions.bulk_batches import messages
from controller.state.partitions.bulk_placing import TopicRuns, place
from controller.state.partitions.columns import POSITIONS_MAX
from controller.state.snapshots import DIRECTORIES_SINCE
from records.bulk.bulk_shapes import Columns
from records.bulk.rows import partitions
from records.metadata.topics import PartitionRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.slices import Slices
    from controller.state.partitions.first_partitions import FirstPartitions
    from controller.state.state import State
    from records.bulk.rows import Rows

    # A topic, and those of its partitions from the first number to the second.
    Share = tuple[FirstPartitions, int, int]

# The rows that are made, encoded or placed between two pauses, in some 1 ms.
ROWS_AT_ONCE = 500
_FIELDS = ("replicas", "isr", "leader", "leader_epoch", "partition_epoch", "directories")


class Part(NamedTuple):
    """Partitions of one topic: the rows of columns from start to end. rows: the encoded records of all."""

    columns: Columns
    rows: Rows
    start: int
    end: int

    def part(self, chosen: slice) -> Part:
        """Some of these rows."""
        return self._replace(start=self.start + chosen.start, end=self.start + chosen.stop)

    def encoded_rows(self) -> Rows:
        """The encoded records of these rows."""
        return self.rows[self.start : self.end]


def in_columns(topics: Sequence[FirstPartitions], rows_min: int, slices: Slices) -> dict[FirstPartitions, list[Part]]:
    """The partitions of the topics of one operation, as columns where they are many. rows_min: how many that is."""
    alike: dict[int, list[FirstPartitions]] = {}
    counts: dict[int, int] = {}
    for topic in slices.spread(topics):
        width = len(topic.assignments[0])
        # With more replicas than the columns have room for, all is replayed one by one.
        if topic.version >= DIRECTORIES_SINCE and width <= POSITIONS_MAX:
            alike.setdefault(width, []).append(topic)
            counts[width] = counts.get(width, 0) + len(topic.assignments)
    found: dict[FirstPartitions, list[Part]] = {}
    for width, some in alike.items():
        if counts[width] < rows_min:
            continue
        shares: list[Share] = []
        room = ROWS_AT_ONCE
        for topic in slices.spread(some):
            start, count = 0, len(topic.assignments)
            while start < count:
                end = min(start + room, count)
                shares.append((topic, start, end))
                room -= end - start
                start = end
                if not room:
                    _add(found, shares, slices)
                    shares, room = [], ROWS_AT_ONCE
        if shares:
            _add(found, shares, slices)
    return found


def _add(found: dict[FirstPartitions, list[Part]], shares: Sequence[Share], slices: Slices) -> None:
    """Add the partitions from start to end of some topics, with equally many replicas, as columns."""
    slices.pause()
    columns = _columns(shares)
    fields: dict[str, Any] = {name: getattr(columns, name) for name in _FIELDS}
    assert columns.partition_ids is not None
    rows = partitions(columns.version, columns.topic_ids, columns.partition_ids, **fields)
    at = 0
    for topic, start, end in shares:
        found.setdefault(topic, []).append(Part(columns, rows, at, at + end - start))
        at += end - start


def _columns(shares: Sequence[Share]) -> Columns:
    """The records of some partitions. Their offsets are not known yet."""
    directories: dict[int, bytes] = {}
    assignments: list[Sequence[int]] = []
    for topic, start, end in shares:
        directories |= topic.directories
        assignments += topic.assignments[start:end]
    brokers = sorted(directories)
    replicas = np.array(assignments, np.int32)
    ids = np.frombuffer(b"".join([directories[broker_id] for broker_id in brokers]), np.uint8).reshape(-1, 16)
    topic_ids = np.frombuffer(b"".join([topic.topic_id for topic, _, _ in shares]), np.uint8).reshape(-1, 16)
    counts = [end - start for _, start, end in shares]
    count = len(replicas)
    zeros, none = np.zeros(count, np.int32), np.empty((count, 0), np.int32)
    # Row -> what is to be added to its number for its partition id.
    from_row = np.repeat([start for _, start, _ in shares] - np.cumsum(counts) + counts, counts)
    return Columns(
        PartitionRecord,
        shares[0][0].version,
        np.zeros(count, np.int64),
        np.repeat(topic_ids, counts, axis=0),
        partition_ids=(np.arange(count) + from_row).astype(np.int32),
        replicas=replicas,
        isr=replicas,
        removing_replicas=none,
        adding_replicas=none,
        leader=replicas[:, 0],
        leader_epoch=zeros,
        partition_epoch=zeros,
        directories=ids[np.searchsorted(brokers, replicas)],
    )


def replay_parts(state: State, parts: Sequence[Part], last_offset: int, slices: Slices) -> None:
    """Replay partitions of one batch, after all else in it. last_offset: of the batch.

    Those of a topic that is in the batch too need no undo entries: the topic's entry removes its partitions. Those of a
    topic that an earlier batch of a transaction has are replayed one by one: this batch may be lost without the other.
    """
    begun: set[bytes] = set()
    runs: dict[Columns, Part] = {}
    for part in slices.spread(parts):
        columns = part.columns
        assert columns.partition_ids is not None
        topic_id = bytes(columns.topic_ids[part.start])
        if columns.partition_ids[part.start] == 0:
            begun.add(topic_id)
        if topic_id in begun:
            run = runs.setdefault(columns, part)
            assert run.start <= part.start, "the parts are in their order"
            runs[columns] = run._replace(end=part.end)
        else:
            for message in slices.spread(messages(columns.part(slice(part.start, part.end)))):
                state.replay(message, last_offset)
    for run in runs.values():
        slices.pause()
        columns = run.columns.part(slice(run.start, run.end))
        columns.offsets = np.full(len(columns), last_offset)
        is_placed = place(state, TopicRuns(state.topics, columns.topic_ids), columns)
        assert is_placed, "there are no such partitions, and room for all replicas"
