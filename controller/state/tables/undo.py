"""The undo log: the uncommitted changes of the state, and how to undo them.

The active controller replays records when it appends them, so they may be lost with its leadership; the records of an
open metadata transaction (KIP-868) may be aborted on every node. Each change therefore leaves an entry with the offset
of its record and the former value. Entries are dropped from the oldest on when their change is stable, and undone from
the newest on when it is lost.
"""

from __future__ import annotations

from collections import deque
from typing import Any


class Undoable:
    """A part of the state whose changes are logged.

    uncommitted: key -> offset of the last change that is not stable yet. latest: the greatest offset that a change here
    ever had.
    """

    __slots__ = ("latest", "uncommitted", "undo")

    def __init__(self, undo: Undo) -> None:
        self.undo = undo
        self.uncommitted: dict[Any, int] = {}
        self.latest = -1

    def swap(self, key: Any, value: Any) -> Any:
        """Set `value`, which may come from an earlier swap, and return the value that undoes that."""
        raise NotImplementedError

    def change_offset(self, key: Any) -> int:
        """The offset of the last uncommitted change of this key; -1 where there is none."""
        return self.uncommitted.get(key, -1)

    def last_change(self) -> int:
        """An offset at or above the last uncommitted change of any key; -1 where there is none."""
        return self.latest if self.uncommitted else -1


class Entry:
    """One change. before: the offset of the change of this key before it, -1 where there was none."""

    __slots__ = ("before", "key", "offset", "old", "part")

    def __init__(self, offset: int, part: Undoable, key: Any, old: Any, before: int) -> None:
        self.offset = offset
        self.part = part
        self.key = key
        self.old = old
        self.before = before


class Undo:
    """The log. offset: of the record that makes the present changes; recording: whether they may yet be undone; stable:
    the changes of all offsets below it are stable; noted: the part and the key of each change since somebody set it to
    an empty list, None while nobody asks for them.
    """

    __slots__ = ("_entries", "noted", "offset", "recording", "stable")

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()
        self.stable = 0
        self.offset = -1
        self.recording = False
        self.noted: list[tuple[Undoable, Any]] | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def note(self, part: Undoable, key: Any, old: Any) -> None:
        """Log a change made by the current record; `part.swap(key, old)` undoes it. Called only while recording."""
        offset = self.offset
        before = part.uncommitted.get(key, -1)
        part.uncommitted[key] = offset
        part.latest = offset
        self._entries.append(Entry(offset, part, key, old, before))
        if self.noted is not None:
            self.noted.append((part, key))

    def forget(self, below: int) -> None:
        """Drop the entries of offsets below `below`: their changes are stable."""
        entries = self._entries
        self.stable = max(self.stable, below)
        while entries and entries[0].offset < below:
            entry = entries.popleft()
            uncommitted = entry.part.uncommitted
            if uncommitted.get(entry.key) == entry.offset:
                del uncommitted[entry.key]

    def revert(self, start: int) -> None:
        """Undo all changes of offsets from `start` on."""
        entries = self._entries
        while entries and entries[-1].offset >= start:
            entry = entries.pop()
            part = entry.part
            # The restored value was set by the change before, which may have to be undone too.
            self.offset = entry.before
            self.recording = entry.before >= self.stable
            part.swap(entry.key, entry.old)
            if self.recording:
                part.uncommitted[entry.key] = entry.before
            else:
                part.uncommitted.pop(entry.key, None)
            part.latest = min(part.latest, start - 1)
        self.recording = False

    def abort(self, start: int) -> None:
        """Undo all changes of offsets from `start` on, as changes that the current record makes.

        While recording, they can be undone themselves: the record that aborts a transaction may be lost too.
        """
        if not self.recording:
            self.revert(start)
            return
        for entry in reversed([entry for entry in self._entries if entry.offset >= start]):
            self.note(entry.part, entry.key, entry.part.swap(entry.key, entry.old))

    def since(self, start: int) -> list[Entry]:
        """The entries of offsets from `start` on, the newest first; they lead a copy of the state back to `start`."""
        entries = []
        for entry in reversed(self._entries):
            if entry.offset < start:
                break
            entries.append(entry)
        return entries

    def first_old(self, part: Undoable, key: Any) -> Any:
        """What an uncommitted key was before its first uncommitted change; None where it was not there."""
        return next((entry.old for entry in self._entries if entry.part is part and entry.key == key), None)

    def first_olds(self, part: Undoable) -> dict[Any, Any]:
        """What each uncommitted key of a part was before its first uncommitted change; None where it was not there."""
        olds: dict[Any, Any] = {}
        for entry in self._entries:
            if entry.part is part and entry.key not in olds:
                olds[entry.key] = entry.old
        return olds

    def clear(self) -> None:
        """Drop all entries without undoing anything: the whole state is replaced."""
        self._entries.clear()
        self.stable = 0
        self.recording = False
