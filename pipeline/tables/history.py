"""The history of partitions: their state after each record (KIP-631), for many partitions and records at once.

The rules are those of `controller.state.partitions.partition`, on columns: a PartitionRecord has a partition's whole
state, a change record has the changed fields, and the epochs rise with changes and with elections.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.schemas import PARTITION_FIELDS
from pipeline.tables.lists import Lists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

STATE, PARTITION, CHANGE, CLEAR_ELR = 0, 3, 5, 28
LISTS = ("replicas", "isr", "removing", "adding", "elr", "last_known_elr")
_ABSENT = -(1 << 40)  # less than any int32
_END = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Moment:
    """A record's offset, and its time in µs."""

    offset: int
    time_us: int


@dataclass(slots=True)
class Events:
    """Other events in a cluster that affect its partitions.

    names: topic id -> name. removed: topic id -> when. cleared: when ELRs were cleared, and of which topic id, None for
    all. resets: where a checkpoint replaces the log; partitions that it lacks are removed. aborted: offsets, both
    inclusive, that do not count. end_offset: records from here on are left for later.
    """

    names: dict[str, str] = field(default_factory=dict)
    removed: dict[str, Moment] = field(default_factory=dict)
    cleared: list[tuple[Moment, str | None]] = field(default_factory=list)
    resets: list[Moment] = field(default_factory=list)
    aborted: list[tuple[int, int]] = field(default_factory=list)
    end_offset: int = _END


class History:
    """Rows by partition, then by offset. `row` is the index of each in the given table.

    first: which rows begin a partition. is_state: which rows are the state that an earlier run left. leader and the
    others: after the row. sets_leader, sets_recovering: whether the row itself has the field. group: the number of each
    row's partition. end: by partition when it was removed, an offset of -1 if it was not. orphans: how many changes
    were of unknown partitions.
    """

    row: NDArray[np.int64]
    offset: NDArray[np.int64]
    time_us: NDArray[np.int64]
    kind: NDArray[np.int32]
    first: NDArray[np.bool_]
    group: NDArray[np.int64]
    is_state: NDArray[np.bool_]
    leader: NDArray[np.int64]
    leader_epoch: NDArray[np.int64]
    partition_epoch: NDArray[np.int64]
    recovery: NDArray[np.int64]
    sets_recovering: NDArray[np.bool_]
    lists: Mapping[str, Lists]
    directories_row: NDArray[np.int64]
    end_offset: NDArray[np.int64]
    end_time_us: NDArray[np.int64]
    orphans: int

    def __len__(self) -> int:
        return len(self.row)


def history_of(table: Any, events: Events) -> History:
    """The history of a pyarrow.Table of one cluster: rows of the table `records` of PartitionRecords and their changes,
    and (of type 0) the states that an earlier run left.

    Its columns: topic_id, partition, offset, place, time, type, and those of PARTITION_FIELDS.
    """
    given = _sort(table, events)
    return _fill(table, given, events)


@dataclass(slots=True)
class _Sorted:
    """The rows that count, in order. clear: which were inserted for a ClearElrRecord."""

    row: NDArray[np.int64]
    offset: NDArray[np.int64]
    time_us: NDArray[np.int64]
    kind: NDArray[np.int32]
    key: NDArray[np.int64]
    topic_ids: list[str]
    orphans: int

    def some(self, which: NDArray[Any]) -> _Sorted:
        """Some of the rows, by number or by mask."""
        return _Sorted(
            self.row[which], self.offset[which], self.time_us[which], self.kind[which], self.key[which],
            self.topic_ids, self.orphans,
        )  # fmt: skip


def _sort(table: Any, events: Events) -> _Sorted:
    offset = _numbers(table, "offset")
    time_us = _times(table, "time")
    kind = _numbers(table, "type").astype(np.int32)
    encoded = dictionary_of(table, "topic_id")
    topic_ids = encoded.dictionary.to_pylist()
    assert len(set(topic_ids)) == len(topic_ids), "a topic has one number"
    key = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64) << 32
    key |= _numbers(table, "partition") & 0xFFFFFFFF  # a log may hold a number below 0
    place = _numbers(table, "place") if "place" in table.column_names else np.zeros(len(offset), np.int64)
    keep = (offset < events.end_offset) | (kind == STATE)
    for first, last in events.aborted:
        keep &= (offset < first) | (offset > last) | (kind == STATE)
    row = np.flatnonzero(keep)
    columns: list[Any] = [column[row] for column in (offset, time_us, kind, key, place)]
    if events.cleared:
        row, columns = _with_clearings(row, columns, topic_ids, events)
    offset, time_us, kind, key, place = columns
    order = np.lexsort((place, kind != STATE, offset, key))
    given = _Sorted(row, offset, time_us, kind, key, topic_ids, 0).some(order)
    # A change of an unknown partition: its PartitionRecord is in a missing part of the log.
    whole = (given.kind == STATE) | (given.kind == PARTITION)
    index = np.arange(len(row))
    stated = _last(whole, index, -1)
    sound = stated >= _last(_first(given.key), index)
    given.orphans = int((~sound & (given.kind != CLEAR_ELR)).sum())
    return given if sound.all() else given.some(sound)


def _with_clearings(
    row: NDArray[np.int64], columns: list[Any], topic_ids: list[str], events: Events
) -> tuple[NDArray[np.int64], list[Any]]:
    """Insert a row for each partition whose topic's ELRs are cleared."""
    offset, time_us, kind, key, place = columns
    known = np.unique(key)
    topics = known >> 32
    for moment, topic_id in events.cleared:
        if not _counts(moment.offset, events):
            continue
        mine = known
        if topic_id is not None:
            mine = known[topics == topic_ids.index(topic_id)] if topic_id in topic_ids else known[:0]
        count = len(mine)
        row = np.concatenate((row, np.full(count, -1)))
        offset = np.concatenate((offset, np.full(count, moment.offset)))
        time_us = np.concatenate((time_us, np.full(count, moment.time_us)))
        kind = np.concatenate((kind, np.full(count, CLEAR_ELR, np.int32)))
        key = np.concatenate((key, mine))
        place = np.concatenate((place, np.zeros(count, np.int64)))
    return row, [offset, time_us, kind, key, place]


def _counts(offset: int, events: Events) -> bool:
    return offset < events.end_offset and not any(first <= offset <= last for first, last in events.aborted)


def _first(key: NDArray[np.int64]) -> NDArray[np.bool_]:
    firsts = np.ones(len(key), bool)
    firsts[1:] = key[1:] != key[:-1]
    return firsts


def _fill(table: Any, given: _Sorted, events: Events) -> History:
    """The state after each row: of each field the last value."""
    out = History()
    out.row, out.offset, out.time_us, out.kind = given.row, given.offset, given.time_us, given.kind
    out.orphans = given.orphans
    out.first = _first(given.key)
    out.group = np.cumsum(out.first) - 1
    out.is_state = given.kind == STATE
    whole = out.is_state | (given.kind == PARTITION)
    index = np.arange(len(out.row))
    at_whole = _last(whole, index)
    cleared = given.kind == CLEAR_ELR
    source = np.where(cleared, 0, given.row)  # a row that was put in says nothing by itself

    def number(name: str) -> NDArray[np.int64]:
        column = table[name].combine_chunks().cast(pa.int64())
        values: NDArray[np.int64] = pc.fill_null(column, _ABSENT).to_numpy(zero_copy_only=False)[source]
        values[cleared] = _ABSENT
        return values

    said = number("leader")
    sets_leader = (given.kind == CHANGE) & (said != _ABSENT)
    out.leader = said[_last(whole | sets_leader, index)]
    recovery = number("recovery")
    out.recovery = recovery[_last(whole | (recovery != _ABSENT), index)]
    out.sets_recovering = ~out.is_state & (recovery == 1)
    elections = np.cumsum(sets_leader)
    out.leader_epoch = _wrap_epoch(number("leader_epoch")[at_whole] + elections - elections[at_whole])
    lists: dict[str, Lists] = {}
    for name in LISTS:
        column = Lists.of(table[name]).take(source)
        column.count[cleared] = 0 if name in ("elr", "last_known_elr") else -1
        lists[name] = column.take(_last(whole | (column.count >= 0), index)).or_empty()
    out.lists = lists
    changes = given.kind == CHANGE
    if cleared.any():
        held = np.zeros(len(index), bool)
        for name in ("elr", "last_known_elr"):
            held[1:] |= lists[name].sizes[:-1] > 0
        changes |= cleared & held
    rises = np.cumsum(changes)
    out.partition_epoch = _wrap_epoch(number("partition_epoch")[at_whole] + rises - rises[at_whole])
    has_directories = ~pc.is_null(table["directories"].combine_chunks()).to_numpy(zero_copy_only=False)[source]
    out.directories_row = source[_last(whole | (has_directories & ~cleared), index)]
    _ends(out, given, events)
    return out


def _ends(out: History, given: _Sorted, events: Events) -> None:
    """When each partition was removed: with its topic, or because a checkpoint no longer has it."""
    groups = given.key[out.first]
    out.end_offset = np.full(len(groups), -1, np.int64)
    out.end_time_us = np.zeros(len(groups), np.int64)
    for reset in sorted(events.resets, key=lambda moment: -moment.offset):
        before = np.zeros(len(groups), bool)
        before[out.group[given.offset < reset.offset]] = True
        restated = np.zeros(len(groups), bool)
        restated[out.group[(given.offset == reset.offset) & (given.kind == PARTITION)]] = True
        gone = before & ~restated
        out.end_offset[gone], out.end_time_us[gone] = reset.offset, reset.time_us
    codes = groups >> 32
    for code, topic_id in enumerate(given.topic_ids):
        moment = events.removed.get(topic_id)
        if moment is not None and _counts(moment.offset, events):
            gone = codes == code
            out.end_offset[gone], out.end_time_us[gone] = moment.offset, moment.time_us


def _last(marked: NDArray[np.bool_], index: NDArray[np.int64], otherwise: int = 0) -> NDArray[np.int64]:
    """For each row the last marked one up to it; otherwise: if there is none."""
    if not len(index):
        return index
    lasts: NDArray[np.int64] = np.maximum.accumulate(np.where(marked, index, otherwise))
    return lasts


def _wrap_epoch(epoch: NDArray[np.int64]) -> NDArray[np.int64]:
    """An int32 that wraps, as in Java."""
    return epoch.astype(np.int32).astype(np.int64)


def _numbers(table: Any, name: str) -> NDArray[np.int64]:
    numbers: NDArray[np.int64] = pc.fill_null(table[name], 0).to_numpy().astype(np.int64)
    return numbers


def _times(table: Any, name: str) -> NDArray[np.int64]:
    times: NDArray[np.int64] = pc.fill_null(table[name].cast(pa.int64()), 0).to_numpy().astype(np.int64)
    return times


def dictionary_of(table: Any, name: str) -> Any:
    """A column of texts as one dictionary array."""
    column = table[name].combine_chunks()
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


FIELD_NAMES = tuple(column.name for column in PARTITION_FIELDS)
