"""Replay of many changes of partitions at once, by whole columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.state.partitions.bulk_changes import PartitionChanges
from controller.state.partitions.bulk_uncommon_fields import UNCOMMON, write_uncommon
from controller.state.partitions.bulk_undo import RowSet, former_of
from controller.state.partitions.columns import NOBODY
from controller.state.partitions.election_counts import count_elections
from controller.state.partitions.partition import RECOVERED, RECOVERING
from controller.state.partitions.uncommon_fields import IS_WIDE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from controller.state.partitions.bulk_changes import Group
    from controller.state.partitions.columns import Columns
    from controller.state.state import State

# The fields of changes that are replayed by columns. Changes with other fields are replayed one by one.
_BY_COLUMN = {"leader", "isr", *UNCOMMON}


def replay_changes(state: State, changes: PartitionChanges, base_offset: int) -> None:
    """Replay the records of all groups, in their order; the first has `base_offset`."""
    for group in changes.groups:
        replay_group(state, group, base_offset)
        base_offset += len(group)


def replay_group(state: State, group: Group, base_offset: int) -> None:
    """Replay the records of one group, whose partitions are there.

    A group is committed, and lost, as a whole: its changes have the offset of its last record.
    """
    columns = state.partitions.columns
    last_offset = base_offset + len(group) - 1
    by_column = _by_column(columns, group)
    if not by_column.all():
        for record in PartitionChanges([group.part(np.flatnonzero(~by_column))]).records(state.partitions):
            state.replay(record, last_offset)
        group = group.part(np.flatnonzero(by_column))
        if not len(group):
            return
    rows, fields = group.rows, group.fields
    writes_uncommon = any(name in fields for name in UNCOMMON)
    state.begin_record(last_offset)
    count_elections(state, group)
    if state.undo.recording:
        names = ["partition_epoch"]
        names += ["leader", "leader_epoch"] if "leader" in fields else []
        names += ["uncommon"] if writes_uncommon else []
        former = former_of(columns, rows, names, isr="isr" in fields)
        state.undo.note(state.partitions.bulk, RowSet(rows), former)
    columns.before_change(rows)
    # Epochs wrap, as they do in Java; so do numpy's.
    columns.partition_epoch[rows] += 1
    if "leader" in fields:
        columns.leader[rows] = fields["leader"]
        columns.leader_epoch[rows] += 1
    if "isr" in fields:
        isr = fields["isr"]
        for position, column in enumerate(columns.isr):
            column[rows] = isr[:, position] if position < isr.shape[1] else NOBODY
    if writes_uncommon:
        write_uncommon(columns, rows, fields)
    state.partitions.version += 1
    state.end_offset = last_offset + 1


def _by_column(columns: Columns, group: Group) -> NDArray[np.bool_]:
    """Which of the changes can be written by columns."""
    fields = group.fields
    is_regular: NDArray[np.bool_] = ~columns.uncommon_values.of_kind(IS_WIDE)[columns.uncommon[group.rows]]
    isr = fields.get("isr")
    recovery_state = fields.get("leader_recovery_state")
    if not fields.keys() <= _BY_COLUMN or (isr is not None and isr.shape[1] > columns.positions):
        is_regular[:] = False
    if isr is not None:
        is_regular &= (isr >= 0).all(axis=1)
    if recovery_state is not None:
        is_regular &= (recovery_state == RECOVERED) | (recovery_state == RECOVERING)
    return is_regular
