"""Replay of many changes of partitions at once, by whole columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.bulk_changes import PartitionChanges
from controller.bulk_undo import RowSet, former_of
from controller.columns import IS_WIDE, NOBODY, Rare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from controller.bulk_changes import Group
    from controller.columns import Columns
    from controller.partitions import Rows
    from controller.state import State

# What changes of the common sort say. Others are replayed one by one.
_RARE = ("eligible_leader_replicas", "last_known_elr", "leader_recovery_state")
_BY_COLUMN = {"leader", "isr", *_RARE}


def replay_changes(state: State, changes: PartitionChanges, base_offset: int) -> None:
    """Replay the records of all groups, in their order; the first has `base_offset`."""
    for group in changes.groups:
        replay_group(state, group, base_offset)
        base_offset += len(group)


def replay_group(state: State, group: Group, base_offset: int) -> None:
    """Replay the records of one group, whose partitions are there.

    A group is one entry in the undo log, with the offset of its last record: it is committed, and lost, as a whole.
    """
    columns = state.partitions.columns
    rows, fields = group.rows, group.fields
    if not _is_common(columns, rows, fields):
        for number, record in enumerate(PartitionChanges([group]).records(state.partitions)):
            state.replay(record, base_offset + number)
        return
    writes_rare = any(name in fields for name in _RARE)
    state.begin_record(base_offset + len(group) - 1)
    if state.undo.recording:
        names = ["partition_epoch"]
        names += ["leader", "leader_epoch"] if "leader" in fields else []
        names += ["flags"] if writes_rare else []
        former = former_of(columns, rows, names, isr="isr" in fields, rare=writes_rare)
        state.undo.note(state.partitions.bulk, RowSet(rows), former)
    # Epochs wrap, as they do in Java; so do numpy's.
    columns.partition_epoch[rows] += 1
    if "leader" in fields:
        columns.leader[rows] = fields["leader"]
        columns.leader_epoch[rows] += 1
    if "isr" in fields:
        isr = fields["isr"]
        for position, column in enumerate(columns.isr):
            column[rows] = isr[:, position] if position < isr.shape[1] else NOBODY
    if writes_rare:
        _write_rare(columns, rows, fields)
    state.partitions.version += 1
    state.end_offset = base_offset + len(group)


def _is_common(columns: Columns, rows: Rows, fields: dict[str, NDArray[Any]]) -> bool:
    """Whether the group can be written by columns."""
    if not fields.keys() <= _BY_COLUMN or (columns.flags[rows] & IS_WIDE).any():
        return False
    isr = fields.get("isr")
    recovery_state = fields.get("leader_recovery_state")
    return not (
        (isr is not None and (isr.shape[1] > columns.positions or bool((isr < 0).any())))
        or (recovery_state is not None and bool(((recovery_state < 0) | (recovery_state > 1)).any()))
    )


def _write_rare(columns: Columns, rows: Rows, fields: dict[str, NDArray[Any]]) -> None:
    """Write ELR, last known leader and recovery state. Partitions that come to the same share it in memory."""
    rare = columns.rare
    numbers = rows.tolist()
    # What a record says as one flat tuple of ints: quick to make, and to look up.
    widths = {name: 1 if fields[name].ndim == 1 else fields[name].shape[1] for name in _RARE if name in fields}
    words = _words([fields[name] for name in widths], len(rows))
    if columns.flags[rows].any():
        formers = [rare.get(row, _NOTHING) for row in numbers]
        # Formers are shared too, so each is known by its identity.
        sorts = {(id(former), said): (former, said) for former, said in zip(formers, words, strict=True)}
        results = {sort: _changed(former, widths, said) for sort, (former, said) in sorts.items()}
        now = [results[id(former), said] for former, said in zip(formers, words, strict=True)]
    else:
        fresh = {said: _changed(_NOTHING, widths, said) for said in set(words)}
        now = [fresh[said] for said in words]
    flags = np.fromiter([flags for _, flags in now], np.uint8, len(rows))
    columns.flags[rows] = flags
    rare.update(zip(numbers, [value for value, _ in now], strict=True))
    for row in rows[flags == 0].tolist():
        del rare[row]


def _words(columns: list[NDArray[Any]], count: int) -> list[tuple[int, ...]]:
    """Row by row what the columns say, matrices position by position."""
    positions: list[list[int]] = []
    for column in columns:
        positions += [column.tolist()] if column.ndim == 1 else column.T.tolist()
    return list(zip(*positions, strict=True)) if positions else [()] * count


def _changed(former: Rare, widths: dict[str, int], said: tuple[int, ...]) -> tuple[Rare, int]:
    """What a row has after a record that says `said`, and its flags. widths: how many of those ints each field has."""
    elr, last_known_elr, recovery_state = former.elr, former.last_known_elr, former.recovery_state
    start = 0
    for name, width in widths.items():
        if name == "eligible_leader_replicas":
            elr = said[start : start + width]
        elif name == "last_known_elr":
            last_known_elr = said[start : start + width]
        else:
            recovery_state = said[start]
        start += width
    now = Rare(former.removing, former.adding, elr, last_known_elr, recovery_state)
    return now, now.flags()


_NOTHING = Rare()
