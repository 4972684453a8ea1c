"""The trace of a run: all events, as small tuples, packed and hashed as it grows; and the newest of them, to be read.

Two runs of one plan have the same bytes, in any process and with any hash seed.
"""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgpack import packb

if TYPE_CHECKING:
    from collections.abc import Callable

STEP, MESSAGE, NOTE, FAULT, LIFE, DEED, ARRIVAL, CUT = range(8)
"""What an entry is of: it begins with the time in microseconds, then this, then the node."""

DISK, SYNC, ASKED, OPERATION, RECORDS = range(8, 13)
"""What further entries are of, that are in no trace; see `closeup`."""

KEPT = 10_000
_PACKED_TOGETHER = 512

Entry = tuple[Any, ...]


class Trace:
    """last: the newest entries. written: called with each chunk of packed bytes, for a caller that keeps the whole
    trace.
    """

    def __init__(self, written: Callable[[bytes], None] | None = None) -> None:
        self.last: deque[Entry] = deque(maxlen=KEPT)
        self.entries = 0
        self._buffer: list[Entry] = []
        self._hash = blake2b(digest_size=16)
        self._written = written

    def add(self, entry: Entry) -> None:
        self._buffer.append(entry)
        if len(self._buffer) == _PACKED_TOGETHER:
            self._pack()

    def finish(self) -> str:
        """The hash of all of it, in hex."""
        self._pack()
        return self._hash.hexdigest()

    def recent(self) -> list[Entry]:
        """The newest entries, oldest first."""
        return [*self.last, *self._buffer]

    def _pack(self) -> None:
        packed = packb(self._buffer)
        self._hash.update(packed)
        if self._written is not None:
            self._written(packed)
        self.entries += len(self._buffer)
        self.last.extend(self._buffer)
        self._buffer = []
