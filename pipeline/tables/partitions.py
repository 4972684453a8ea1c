"""The tables of partitions, from their history; and the state for the next run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.arrow import array_of, arrow_schema
from pipeline.schemas import (
    ISR_CHANGES,
    LEADERSHIP,
    PARTITION_FIELDS,
    PARTITION_KEY,
    REASSIGNMENTS,
    UNAVAILABILITY,
    UNDER_REPLICATION,
    Column,
)
from pipeline.tables.history import LISTS, History, dictionary_of, history_of
from pipeline.tables.lists import Lists
from pipeline.tables.runs import Runs, numbers, times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from pipeline.tables.history import Events

# What a run stores of each partition: its state, and the starts of its open intervals.
CARRIED = (
    Column("tenure_offset", "bigint", "when the leader epoch began"),
    Column("tenure_time", "timestamp", "the same"),
    Column("tenure_previous", "int", "the leader before it"),
    Column("tenure_preferred", "boolean", "as in leadership"),
    Column("tenure_unclean", "boolean", "as in leadership"),
    Column("some_leader", "int", "the last leader that was one, -1 where there was none"),
    Column("offline_offset", "bigint", "when it lost its leader"),
    Column("offline_time", "timestamp", "the same"),
    Column("short_offset", "bigint", "when it became under-replicated"),
    Column("short_time", "timestamp", "the same"),
    Column("short_due", "int", "replicas due then"),
    Column("short_min", "int", "the smallest ISR since"),
    Column("moving_offset", "bigint", "when its reassignment began"),
    Column("moving_time", "timestamp", "the same"),
    Column("moving_before", "array<int>", "the replicas before"),
)
STATE_COLUMNS = (
    *PARTITION_KEY,
    Column("offset", "bigint", "of its last record"),
    Column("time", "timestamp", "the same"),
    *PARTITION_FIELDS,
    *CARRIED,
)
PARTITION_TABLES = (LEADERSHIP, ISR_CHANGES, UNAVAILABILITY, UNDER_REPLICATION, REASSIGNMENTS)
STATE = "state"
OPEN = "open_"  # before the name of a table: its open intervals

# By part (a table, `open_` and the table, or state) the columns of its rows.
PARTS = {
    **{table.name: arrow_schema(table.columns) for table in PARTITION_TABLES},
    **{OPEN + table.name: arrow_schema(table.columns) for table in PARTITION_TABLES if table is not ISR_CHANGES},
    STATE: arrow_schema(STATE_COLUMNS),
}


def fold(table: Any, events: Events, names: frozenset[str] | None = None) -> dict[str, Any]:
    """The result of a run for the partition records of one cluster, and the states before: by part a pyarrow.Table.

    table: as `history_of` takes it, with the columns of STATE_COLUMNS in the rows of states. Columns that are
    dictionaries in it are dictionaries in the result. names: the parts that are wanted, None for all.
    """
    history = history_of(table, events)
    folded = _Fold(table, history, events)
    parts: dict[str, Any] = {}
    for name, (columns_of, closed) in folded.tables().items():
        rows = {name: closed} if closed is None else {name: closed, OPEN + name: ~closed}
        if wanted := [part for part in rows if names is None or part in names]:
            columns = columns_of()
            parts |= {part: _part(part, columns, rows[part]) for part in wanted}
    if names is None or STATE in names:
        parts[STATE] = _part(STATE, folded.state(), None)
    return parts


def _part(part: str, columns: Mapping[str, Any], rows: NDArray[np.bool_] | None) -> Any:
    """Some of the rows of a part; rows: which, None for all."""
    schema = PARTS[part]
    arrays = []
    selected = None if rows is None or rows.all() else array_of(np.flatnonzero(rows))
    for field in schema:
        column = columns[field.name]
        if selected is not None:
            column = column.take(selected)
        is_same = column.type == field.type or pa.types.is_dictionary(column.type)
        arrays.append(column if is_same else column.cast(field.type))
    return pa.Table.from_arrays(arrays, names=schema.names)


class _Fold:
    """A history with the intervals that began before it."""

    def __init__(self, table: Any, history: History, events: Events) -> None:
        self.table = table
        self.history = history
        self.events = events
        self.replicas = history.lists["replicas"]
        self.isr = history.lists["isr"]
        self.due = self.replicas.sizes - history.lists["adding"].sizes
        self.key_row = history.row[history.first] if len(history) else np.zeros(0, np.int64)
        self.names = self._names()
        self.some_leader = self._some_leader()
        self.leadership = Runs(history, np.ones(len(history), bool), self._new_epochs())
        self.offline = Runs(history, history.leader == -1)
        self.short = Runs(history, self.isr.sizes < self.due)
        moves = history.lists["adding"].sizes + history.lists["removing"].sizes
        self.moving = Runs(history, moves > 0)

    def tables(self) -> dict[str, tuple[Callable[[], dict[str, Any]], NDArray[np.bool_] | None]]:
        """By name what computes the columns, and which rows are of intervals that have ended; None: there are none."""
        return {
            LEADERSHIP.name: (self._leadership, self.leadership.closed),
            ISR_CHANGES.name: (self._isr_changes, None),
            UNAVAILABILITY.name: (self._unavailability, self.offline.closed),
            UNDER_REPLICATION.name: (self._under_replication, self.short.closed),
            REASSIGNMENTS.name: (self._reassignments, self.moving.closed),
        }

    # The values in the rows of states, by row of the history.

    def _carry(self, name: str, otherwise: int = -1) -> NDArray[np.int64]:
        history = self.history
        carried = np.full(len(history), otherwise, np.int64)
        if name in self.table.column_names and history.is_state.any():
            column = self.table[name].combine_chunks()
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.int64())
            states = history.is_state
            taken = column.take(array_of(history.row[states]))
            carried[states] = pc.fill_null(taken.cast(pa.int64()), otherwise).to_numpy(zero_copy_only=False)
        return carried

    def _names(self) -> Any:
        """The topic's name of each partition: from the state, else from its records."""
        ids = dictionary_of(self.table, "topic_id").take(array_of(self.key_row))
        names = pa.array([self.events.names.get(topic_id) for topic_id in ids.dictionary.to_pylist()], pa.string())
        encoded = names.dictionary_encode()
        named = encoded.indices.take(ids.indices)
        if "topic" not in self.table.column_names or self.table["topic"].null_count == len(self.table):
            return pa.DictionaryArray.from_arrays(named, encoded.dictionary)
        named_topics = pa.DictionaryArray.from_arrays(named, encoded.dictionary).cast(pa.string())
        given = self.table["topic"].combine_chunks().take(array_of(self.key_row)).cast(pa.string())
        return pc.coalesce(given, named_topics).dictionary_encode()

    def _some_leader(self) -> NDArray[np.int64]:
        """After each row the last leader other than none; -1 if there was none."""
        history = self.history
        carried = self._carry("some_leader")
        value = np.where(history.leader >= 0, history.leader, carried)
        known = history.first | (history.leader >= 0)
        index = np.arange(len(history))
        leaders: NDArray[np.int64] = (
            value[np.maximum.accumulate(np.where(known, index, 0))] if len(index) else index.astype(np.int64)
        )
        return leaders

    def _new_epochs(self) -> NDArray[np.bool_]:
        """Which rows begin another leadership: a new epoch, or (if a record restates the partition) another leader."""
        begins = np.zeros(len(self.history), bool)
        for column in (self.history.leader_epoch, self.history.leader):
            begins[1:] |= column[1:] != column[:-1]
        return begins

    def _key(self, group: NDArray[np.int64]) -> dict[str, Any]:
        """The columns that name the partitions."""
        rows = array_of(self.key_row[group])
        columns = {name: self.table[name].combine_chunks().take(rows) for name in ("cluster", "topic_id", "partition")}
        return {**columns, "topic": self.names.take(array_of(group))}

    # The tables.

    def _tenure(self) -> dict[str, NDArray[np.int64]]:
        """The columns of a tenure, for each change; -1 for unknown."""
        history, runs = self.history, self.leadership
        before = np.full(len(history), -2, np.int64)
        before[1:] = np.where(history.first[1:], -2, history.leader[:-1])
        preferred = (self.replicas.first() == history.leader) & (history.leader >= 0)
        return {
            "previous": runs.at_start(before, self._carry("tenure_previous", -2)),
            "preferred": runs.at_start(preferred.astype(np.int64), self._carry("tenure_preferred")),
            "unclean": runs.at_start(
                (history.sets_recovering & (history.leader >= 0)).astype(np.int64), self._carry("tenure_unclean")
            ),
        }

    def _leadership(self) -> dict[str, Any]:
        history, runs = self.history, self.leadership
        tenure = self._tenure()
        return {
            **self._key(runs.group),
            "leader": numbers(history.leader[runs.start]),
            "leader_epoch": numbers(history.leader_epoch[runs.start]),
            "previous_leader": numbers(tenure["previous"], tenure["previous"] == -2),
            "preferred": array_of(tenure["preferred"] == 1),
            "unclean": array_of(tenure["unclean"] == 1),
            **runs.interval(self._carry("tenure_offset"), self._carry("tenure_time", 0)),
            "end_reason": runs.reasons("elected"),
        }

    def _isr_changes(self) -> dict[str, Any]:
        history = self.history
        rows = np.flatnonzero(~history.first)
        before, after = self.isr.take(rows - 1), self.isr.take(rows)
        changed = ~before.equals(after)
        rows, before, after = rows[changed], before.take(np.flatnonzero(changed)), after.take(np.flatnonzero(changed))
        return {
            **self._key(history.group[rows]),
            "offset": array_of(history.offset[rows]),
            "time": times(history.time_us[rows]),
            "leader": numbers(history.leader[rows]),
            "leader_epoch": numbers(history.leader_epoch[rows]),
            "partition_epoch": numbers(history.partition_epoch[rows]),
            "replica_count": numbers(self.replicas.sizes[rows]),
            "isr_before": before.arrow(),
            "isr": after.arrow(),
            "shrunk": before.without(after, ascending=True).arrow(),
            "grown": after.without(before, ascending=True).arrow(),
        }

    def _unavailability(self) -> dict[str, Any]:
        history, runs = self.history, self.offline
        last = self.some_leader[runs.start]
        following = runs.at_end(history.leader)
        return {
            **self._key(runs.group),
            **runs.interval(self._carry("offline_offset"), self._carry("offline_time", 0)),
            "last_leader": numbers(last, last < 0),
            "next_leader": numbers(following, following < 0),
            "unclean": array_of(runs.at_end(history.sets_recovering, False), ~runs.closed),
            "end_reason": runs.reasons("elected"),
        }

    def _isr_min(self) -> NDArray[np.int64]:
        runs = self.short
        if not len(runs):
            return np.zeros(0, np.int64)
        sizes = np.append(self.isr.sizes, 1 << 30)
        edges = np.stack((runs.start, runs.last + 1), axis=1).ravel()
        smallest = np.minimum.reduceat(sizes, edges)[::2]
        carried = self._carry("short_min", 1 << 30)[runs.start]
        return np.where(runs.carried, np.minimum(smallest, carried), smallest)

    def _under_replication(self) -> dict[str, Any]:
        runs = self.short
        return {
            **self._key(runs.group),
            **runs.interval(self._carry("short_offset"), self._carry("short_time", 0)),
            "replica_count": numbers(runs.at_start(self.due, self._carry("short_due", 0))),
            "isr_min": numbers(self._isr_min()),
            "end_reason": runs.reasons("replicated"),
        }

    def _moving_before(self) -> Lists:
        """The replicas before each reassignment: those of the row before, or what the state carries."""
        history, runs = self.history, self.moving
        plain = np.where(history.first[runs.start], runs.start, runs.start - 1)
        replicas = self.replicas.take(plain)
        fresh = history.first[runs.start]
        if fresh.any():
            without = replicas.without(history.lists["adding"].take(runs.start))
            replicas = _choose(fresh, without, replicas)
        if "moving_before" in self.table.column_names and runs.carried.any():
            carried = Lists.of(self.table["moving_before"]).take(np.maximum(history.row[runs.start], 0))
            replicas = _choose(runs.carried, carried, replicas)
        return replicas

    def _reassignments(self) -> dict[str, Any]:
        history, runs = self.history, self.moving
        target = self.replicas.take(runs.last).without(history.lists["removing"].take(runs.last))
        after = self.replicas.take(np.maximum(runs.ender, 0))
        after = Lists(after.values, after.start, np.where(runs.ender >= 0, after.count, -1))
        outcome = np.where(runs.removed, 2, np.where(after.same_members(target), 0, 1)).astype(np.int8)
        words = pa.array(["completed", "cancelled", "deleted"])
        return {
            **self._key(runs.group),
            **runs.interval(self._carry("moving_offset"), self._carry("moving_time", 0)),
            "replicas_before": self._moving_before().arrow(),
            "target": target.arrow(),
            "replicas_after": after.arrow(),
            "outcome": pa.DictionaryArray.from_arrays(array_of(outcome, ~runs.closed), words).cast(pa.string()),
        }

    # The state for the next run.

    def state(self) -> dict[str, Any]:
        """The partitions at the end."""
        history = self.history
        last = np.append(history.first[1:], True) if len(history) else np.zeros(0, bool)
        rows = np.flatnonzero(last)
        rows = rows[history.end_offset[history.group[rows]] < 0]
        group = history.group[rows]
        directories = self.table["directories"].combine_chunks().take(array_of(history.directories_row[rows]))
        tenure = self._tenure()
        begun = self.leadership.interval(self._carry("tenure_offset"), self._carry("tenure_time", 0))
        place = _place(self.leadership, group, len(history.end_offset))
        previous = tenure["previous"][place]
        return {
            **self._key(group),
            "offset": array_of(history.offset[rows]),
            "time": times(history.time_us[rows]),
            **{name: history.lists[name].take(rows).arrow() for name in LISTS},
            **{
                name: numbers(getattr(history, name)[rows])
                for name in ("leader", "leader_epoch", "partition_epoch", "recovery")
            },
            "directories": directories,
            "tenure_offset": begun["start_offset"].take(array_of(place)),
            "tenure_time": begun["start_time"].take(array_of(place)),
            "tenure_previous": numbers(previous, previous == -2),
            "tenure_preferred": array_of(tenure["preferred"][place] == 1),
            "tenure_unclean": array_of(tenure["unclean"][place] == 1),
            "some_leader": numbers(self.some_leader[rows]),
            **self._interval_begins(self.offline, group, "offline"),
            **self._interval_begins(self.short, group, "short"),
            **self._of_open(
                self.short,
                group,
                {
                    "short_due": numbers(self.short.at_start(self.due, self._carry("short_due", 0))),
                    "short_min": numbers(self._isr_min()),
                },
            ),
            **self._interval_begins(self.moving, group, "moving"),
            **self._of_open(self.moving, group, {"moving_before": self._moving_before().arrow()}),
        }

    def _interval_begins(self, runs: Runs, group: NDArray[np.int64], name: str) -> dict[str, Any]:
        """When open intervals began, by partition."""
        begins = runs.interval(self._carry(f"{name}_offset"), self._carry(f"{name}_time", 0))
        columns = {f"{name}_offset": begins["start_offset"], f"{name}_time": begins["start_time"]}
        return self._of_open(runs, group, columns)

    def _of_open(self, runs: Runs, group: NDArray[np.int64], columns: dict[str, Any]) -> dict[str, Any]:
        """Columns of the open interval of each of these partitions; null if there is none."""
        place = _place(runs, group, len(self.history.end_offset))
        none = place < 0
        taken = array_of(np.maximum(place, 0), none)
        return {
            name: column.take(taken) if len(column) else pa.nulls(len(group), column.type)
            for name, column in columns.items()
        }


def _place(runs: Runs, group: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The number of the open interval of each of these partitions; -1 if there is none."""
    places = np.full(count, -1, np.int64)
    lasts = np.flatnonzero(~runs.closed)
    places[runs.group[lasts]] = lasts
    return places[group]


def _choose(which: NDArray[np.bool_], these: Lists, those: Lists) -> Lists:
    """The list of each row: one of two."""
    shift = len(those.values)
    return Lists(
        np.concatenate((those.values, these.values)),
        np.where(which, these.start + shift, those.start),
        np.where(which, these.count, those.count),
    )
