"""Putting many partitions into rows at once: from the log as they come, from a snapshot sorted at its end."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from controller.state.partitions.bulk_uncommon_fields import UNCOMMON, write_uncommon
from controller.state.partitions.columns import MIGRATING, NOBODY, POSITIONS_MAX
from controller.state.partitions.topics import NO_ROW, Topic
from controller.state.partitions.uncommon_fields import COMMON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from controller.state.partitions.columns import Columns, Int32s
    from controller.state.partitions.partitions import Partitions, Rows
    from controller.state.state import State
    from records.bulk.bulk_shapes import Columns as Found


class TopicRuns:
    """The topics of many records, as runs of records of one topic. topics: None where there is none of that id."""

    __slots__ = ("counts", "starts", "topics")

    def __init__(self, topics: Mapping[bytes, Topic], topic_ids: NDArray[np.uint8]) -> None:
        ids = np.ascontiguousarray(topic_ids)
        halves = ids.view(np.uint64)
        differs = (halves[1:] != halves[:-1]).any(axis=1)
        self.starts = np.concatenate(([0], np.flatnonzero(differs) + 1))
        self.counts = np.diff(self.starts, append=len(ids))
        self.topics = [topics.get(id_) for id_ in _each(ids[self.starts])]

    def unknown(self) -> Iterator[int]:
        """The records at which runs of unknown topics start."""
        return (int(start) for topic, start in zip(self.topics, self.starts, strict=True) if topic is None)

    def indexes(self) -> Int32s:
        """For each record its topic's index in the columns."""
        known = np.array([topic.index for topic in self.topics if topic is not None], np.int32)
        return np.repeat(known, self.counts)

    def rows(self, partition_ids: Int32s) -> Rows:
        """For each record the row of its partition; NO_ROW where there is none."""
        ranges = [
            topic.rows if topic is not None and isinstance(topic.rows, range) else range(0) for topic in self.topics
        ]
        first = np.repeat(np.array([rows.start for rows in ranges], np.intp), self.counts)
        count = np.repeat(np.array([len(rows) for rows in ranges], np.intp), self.counts)
        places = np.where((partition_ids >= 0) & (partition_ids < count), first + partition_ids, NO_ROW)
        for topic, start, length in zip(self.topics, self.starts.tolist(), self.counts.tolist(), strict=True):
            if topic is not None and not isinstance(topic.rows, range):
                ids = partition_ids[start : start + length].tolist()
                places[start : start + length] = [topic.row(partition_id) for partition_id in ids]
        return places


def place(state: State, runs: TopicRuns, given: Found) -> bool:
    """Write new partitions, of topics that exist, to rows. Returns False, with nothing done, where they must go one by
    one.
    """
    partitions = state.partitions
    columns = partitions.columns
    replicas, isr, directories, ids = given.replicas, given.isr, given.directories, given.partition_ids
    assert replicas is not None
    assert isr is not None
    assert ids is not None
    width = max(replicas.shape[1], isr.shape[1])
    is_reassigning = any(_width(lists) for lists in (given.removing_replicas, given.adding_replicas))
    recovery_state = given.leader_recovery_state
    if (
        width > (columns.positions if is_reassigning else POSITIONS_MAX)
        or (replicas < 0).any()
        or (isr < 0).any()
        or (recovery_state is not None and bool(((recovery_state < 0) | (recovery_state > 1)).any()))
        or (_width(directories) and _width(directories) != replicas.shape[1])
        or (not partitions.is_unsettled and (runs.rows(ids) != NO_ROW).any())
    ):
        return False
    columns.widen(width)
    rows = partitions.take_rows(len(given))
    if not partitions.is_unsettled:
        rows = _arrange(runs, ids, rows)
    _write(columns, rows, given)
    columns.topic[rows] = runs.indexes()
    columns.partition_id[rows] = ids
    partitions.count += len(given)
    partitions.version += 1
    state.end_offset = int(given.offsets[-1]) + 1
    return True


def _arrange(runs: TopicRuns, ids: Int32s, rows: Rows) -> Rows:
    """Give each record one of these rows, ascending by partition id within its run, and note them in the topics."""
    least = np.minimum.reduceat(ids, runs.starts)
    greatest = np.maximum.reduceat(ids, runs.starts)
    # Ids without gaps, each once, may come in any order: id minus least id is the position within the run.
    is_dense = greatest - least + 1 == runs.counts
    place_in_run = np.where(
        np.repeat(is_dense, runs.counts),
        ids - np.repeat(least, runs.counts),
        np.arange(len(ids)) - np.repeat(runs.starts, runs.counts),
    )
    arranged: Rows = rows[np.repeat(runs.starts, runs.counts) + place_in_run]
    for topic, start, count, dense, low in zip(
        runs.topics, runs.starts.tolist(), runs.counts.tolist(), is_dense.tolist(), least.tolist(), strict=True
    ):
        assert topic is not None
        first, last = int(rows[start]), int(rows[start + count - 1])
        known = topic.rows
        runs_on = dense and last - first + 1 == count and isinstance(known, range) and low == len(known)
        if runs_on and (not known or known[-1] + 1 == first):
            topic.rows = range(first - low, last + 1)
            continue
        for number in range(start, start + count):
            topic.add(int(ids[number]), int(arranged[number]))
    return arranged


def _write(columns: Columns, rows: Rows, given: Found) -> None:
    """Write all fields except topic and partition id, to rows that hold nothing yet."""
    columns.before_change(rows)
    replicas, isr, directories = given.replicas, given.isr, given.directories
    assert replicas is not None
    assert isr is not None
    for name in ("leader", "leader_epoch", "partition_epoch"):
        getattr(columns, name)[rows] = getattr(given, name)
    columns.uncommon[rows] = COMMON
    if directories is not None and directories.shape[1]:
        numbers = columns.directory_ids.numbers_of(directories)
    else:
        numbers = np.full(replicas.shape, MIGRATING, np.int32)
    for matrix, positions in ((replicas, columns.replicas), (isr, columns.isr), (numbers, columns.directories)):
        for position, column in enumerate(positions):
            column[rows] = matrix[:, position] if position < matrix.shape[1] else NOBODY
    uncommon = {name: getattr(given, name) for name in UNCOMMON}
    uncommon = {
        name: column for name, column in uncommon.items() if column is not None and (column.ndim == 1 or column.size)
    }
    if uncommon:
        write_uncommon(columns, rows, uncommon)


def sort_loaded_rows(partitions: Partitions) -> None:
    """Sort the rows of a loaded snapshot by topic and partition, and store them in the topics.

    Of several records of one partition the last counts.
    """
    columns = partitions.columns
    keys = (columns.topic[: columns.end].astype(np.int64) << 32) + columns.partition_id[: columns.end]
    if (keys[1:] <= keys[:-1]).any():
        order = np.argsort(keys, kind="stable")
        columns.arrange(order[np.append(keys[order[1:]] != keys[order[:-1]], True)])
    end = partitions.count = columns.end
    topic, ids = columns.topic[:end], columns.partition_id[:end]
    bounds = [*np.flatnonzero(np.diff(topic, prepend=-1)).tolist(), end]
    for start, after in pairwise(bounds):
        of = partitions.topics[int(topic[start])]
        assert of is not None
        if ids[start] == 0 and ids[after - 1] == after - start - 1:
            of.rows = range(start, after)
        else:
            for row in range(start, after):
                of.add(int(ids[row]), row)
    partitions.version += 1


def _width(lists: NDArray[np.generic] | None) -> int:
    return 0 if lists is None else lists.shape[1]


def _each(ids: NDArray[np.uint8]) -> Iterator[bytes]:
    joined = ids.tobytes()
    return (joined[start : start + 16] for start in range(0, len(joined), 16))
