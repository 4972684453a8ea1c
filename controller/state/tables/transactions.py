"""Metadata transactions (KIP-868): records that take effect together, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from controller.state.state import State
    from records.metadata.transactions import (
        AbortTransactionRecord,
        BeginTransactionRecord,
        EndTransactionRecord,
        NoOpRecord,
        ZkMigrationStateRecord,
    )

# The one key of the table: the offset at which the open transaction began.
OPEN = "open"


class Span:
    """A transaction: the offset of its BeginTransactionRecord, and of the record that closed it, -1 while open."""

    __slots__ = ("begin", "close")

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self.close = -1


def replay_begin_transaction(state: State, _record: BeginTransactionRecord, offset: int) -> None:
    _outside_snapshots(state)
    if state.transaction_start != -1:
        raise ValueError(f"the transaction that began at offset {state.transaction_start} is still open")
    state.undo.recording = True
    state.transaction.put(OPEN, offset)
    state.spans.append(Span(offset))


def replay_end_transaction(state: State, _record: EndTransactionRecord, offset: int) -> None:
    _close(state, offset)
    state.transaction.remove(OPEN)


def replay_abort_transaction(state: State, _record: AbortTransactionRecord, offset: int) -> None:
    """Undo all changes since the transaction began, its beginning included."""
    start = state.transaction_start
    _close(state, offset)
    # If this record is committed it cannot be lost, so the changes that it undoes need not be kept.
    state.undo.recording = offset >= state.committed_end_offset
    state.undo.abort(start)


def replay_nothing(_state: State, _record: NoOpRecord | ZkMigrationStateRecord, _offset: int) -> None:
    """These records have no effect in 4.x."""


def _close(state: State, offset: int) -> None:
    _outside_snapshots(state)
    if state.transaction_start == -1:
        raise ValueError("no transaction is open")
    state.spans[-1].close = offset


def _outside_snapshots(state: State) -> None:
    if state.loading:
        raise ValueError("a snapshot holds no transactions")
