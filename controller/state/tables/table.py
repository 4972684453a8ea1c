"""A table of the state: a dict of immutable values whose every change can be undone."""

from __future__ import annotations

from typing import Any, Generic, NoReturn, TypeVar

from controller.state.tables.undo import Undo, Undoable

K = TypeVar("K")
V = TypeVar("V")


class Table(dict[K, V], Generic[K, V]):
    """Read like a dict; written by `put` and `remove` alone, which only replay functions call.

    Values are not None, and are taken as immutable.
    """

    __slots__ = ("log",)

    def __init__(self, undo: Undo, name: str) -> None:
        super().__init__()
        self.log = TableLog(self, undo, name)

    def put(self, key: K, value: V) -> None:
        """Add or replace a value."""
        log = self.log
        if log.undo.recording:
            log.undo.note(log, key, self.get(key))
        super().__setitem__(key, value)

    def remove(self, key: K) -> V:
        """Remove a value and return it; raises KeyError where there is none."""
        value = super().__getitem__(key)
        log = self.log
        if log.undo.recording:
            log.undo.note(log, key, value)
        super().__delitem__(key)
        return value

    def swap(self, key: K, value: V | None) -> V | None:
        """Set `value`, or remove the key where it is None, and return the former value. Leaves no undo entry."""
        old = self.get(key)
        if value is not None:
            super().__setitem__(key, value)
        elif old is not None:
            super().__delitem__(key)
        return old

    def reset(self) -> None:
        """Remove all values, and the list of uncommitted ones."""
        self.clear()
        self.log.uncommitted.clear()
        self.log.latest = -1

    def change_offset(self, key: K) -> int:
        """The offset of the last uncommitted change of this key, its removal included; -1 where there is none."""
        return self.log.uncommitted.get(key, -1)

    def last_change(self) -> int:
        """An offset at or above the last uncommitted change of any key; -1 where there is none."""
        log = self.log
        return log.latest if log.uncommitted else -1

    def stable(self, key: K) -> V | None:
        """The value of a key without what is not committed, or in an open transaction; None where there is none."""
        if key not in self.log.uncommitted:
            return self.get(key)
        old: V | None = self.log.undo.first_old(self.log, key)
        return old

    def __setitem__(self, key: K, value: V) -> NoReturn:
        raise TypeError("a table is written by put")

    def __delitem__(self, key: K) -> NoReturn:
        raise TypeError("a table is written by remove")


class TableLog(Undoable):
    """The part of the undo log for one table. name: of the table in the state."""

    __slots__ = ("name", "table")

    def __init__(self, table: Table[Any, Any], undo: Undo, name: str) -> None:
        super().__init__(undo)
        self.name = name
        self.table = table

    def swap(self, key: Any, value: Any) -> Any:
        return self.table.swap(key, value)
