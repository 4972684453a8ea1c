"""Replay of record batches: runs of partition records by columns, all else one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.state.partitions.bulk_changes import FIELDS, Group, plain
from controller.state.partitions.bulk_placing import TopicRuns, place
from controller.state.partitions.bulk_replay import replay_group
from records.bulk.bulk_scan import ROWS_MIN
from records.bulk.bulk_shapes import Columns
from records.bulk.rows import scan
from records.frame import decode_record
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, TopicRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.state.state import State
    from records.batch import Batch

# So many records by columns take the time of one that is replayed by itself.
ROWS_OF_RECORD = 5
# The rows that are replayed at a time: new ones in some 4 ms at most, changes in 1 ms.
ROWS_MAX = 1000
CHANGES_MAX = 5000

_PARTITION_FIELDS = (*FIELDS, "leader_epoch", "partition_epoch")


def replay_batch(state: State, data: bytes, batch: Batch) -> None:
    """Replay a committed batch, the next one in the log.

    Raises ReplayError, DecodeError or CorruptBatch; the state must not be used after that.
    """
    replay = BatchReplay(state, data, batch)
    replay.go_on(None)
    replay.end()


class BatchReplay:
    """The replay of a committed batch, the next one in the log, in parts.

    Between two parts the state has some of the batch's records, not even the first of them, and must not be shown; its
    end offset is that of before. is_at_end: whether nothing but `end` is left. Each method raises ReplayError,
    DecodeError or CorruptBatch; the state must not be used after that.
    """

    __slots__ = ("_records", "_state", "batch", "is_at_end")

    def __init__(self, state: State, data: bytes, batch: Batch) -> None:
        self.batch = batch
        self.is_at_end = False
        self._state = state
        # A committed batch cannot be undone, so no undo entries are needed, unless a transaction is open. That is
        # undone as a whole: its entries may stand in the order in which columns are replayed, not in that of the log.
        state.commit(batch.last_offset + 1)
        self._records = _replay_records(state, data, batch, rows_min=state.rows_min)

    def go_on(self, count: int | None) -> None:
        """Replay so many records, or about as many by columns in the time of these; None for all that are left."""
        left = self.batch.record_count if count is None else count
        for cost in self._records:
            left -= cost
            if left <= 0 and count is not None:
                break
        else:
            self.is_at_end = True
        self._state.end_offset = self.batch.base_offset

    def end(self) -> None:
        """Show the batch, of which all records are replayed."""
        assert self.is_at_end, "records are left"
        self._state.end_offset = self.batch.last_offset + 1
        self._state.commit(self._state.end_offset)


def _replay_records(
    state: State, data: bytes, batch: Batch, *, rows_min: int, offset: int | None = None
) -> Iterator[int]:
    """Replay the records of a batch; yields how many that were, by the time they took, after each or several.

    rows_min: as for `scan`. offset: at which all are replayed; each at its own without it.
    """
    if batch.is_control:
        return  # it only moves the end offset
    for records in scan(data, batch, rows_min=rows_min, is_lazy=True):
        if isinstance(records, Columns):
            if offset is not None:
                records.offsets = np.full(len(records), offset, np.int64)
            rows_max = CHANGES_MAX if records.record is PartitionChangeRecord else ROWS_MAX
            for part in records.parts(rows_max):
                yield from replay_columns(state, part)
        else:
            state.replay(decode_record(records.value)[0], records.offset if offset is None else offset)
            yield 1


def load_batch(state: State, data: bytes, batch: Batch) -> None:
    """Replay a data batch of the snapshot that is being loaded; raises as `load_records`."""
    for _ in load_records(state, data, batch):
        pass


def load_records(state: State, data: bytes, batch: Batch) -> Iterator[int]:
    """Replay a data batch of the snapshot that is being loaded, as if at the last offset that it contains; yields how
    many records that were, by the time they took, after each or several.

    Raises ReplayError, DecodeError or CorruptBatch; the state must not be used after that.
    """
    return _replay_records(state, data, batch, rows_min=ROWS_MIN, offset=state.committed_end_offset - 1)


def replay_columns(state: State, columns: Columns) -> Iterator[int]:
    """Replay committed records of one shape, by columns or one by one; yields as `_replay_records`.

    Raises ReplayError.
    """
    # New rows and topics get no undo entries by columns, and what a transaction made may be undone; changes have them.
    one_by_one = columns.record is TopicRecord or (state.transaction and columns.record is PartitionRecord)
    if one_by_one or not _by_columns(state, columns):
        for message, offset in zip(messages(columns), columns.offsets.tolist(), strict=True):
            state.replay(message, offset)
            yield 1
    else:
        yield 1 + len(columns) // ROWS_OF_RECORD


def _by_columns(state: State, columns: Columns) -> bool:
    """Replay the records by columns if their type has a function for that; else one by one."""
    assert columns.partition_ids is not None
    runs = TopicRuns(state.topics, columns.topic_ids)
    for number in runs.unknown():
        # The first of them is replayed by itself, to be refused as any record is.
        state.replay(next(messages(columns, number)), int(columns.offsets[number]))
    if columns.record is PartitionRecord:
        return place(state, runs, columns)
    state.partitions.sort_loaded_rows()
    rows = runs.rows(columns.partition_ids)
    if (rows < 0).any():
        return False
    fields = {name: getattr(columns, name) for name in FIELDS if getattr(columns, name) is not None}
    replay_group(state, Group(rows, fields), int(columns.offsets[-1]) - len(columns) + 1)
    return True


def messages(columns: Columns, start: int = 0) -> Iterator[Any]:
    """The records one by one, as messages, from a place on."""
    topic_ids = [bytes(topic_id) for topic_id in columns.topic_ids[start:]]
    if columns.names is not None:
        for name, topic_id in zip(columns.names[start:], topic_ids, strict=True):
            yield TopicRecord(name=name, topic_id=topic_id)
        return
    assert columns.partition_ids is not None
    lists = {
        name: plain(name, getattr(columns, name)[start:])
        for name in _PARTITION_FIELDS
        if getattr(columns, name) is not None
    }
    kind: Any = columns.record
    for number, partition_id in enumerate(columns.partition_ids[start:].tolist()):
        values = {name: values[number] for name, values in lists.items()}
        yield kind(partition_id=partition_id, topic_id=topic_ids[number], **values)
