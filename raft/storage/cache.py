"""The recent end of the log in memory, for Fetches of voters and brokers and for replay."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

CACHE_BYTES_MAX = 4 << 20

# The memory of a chunk beside its bytes: the object, and its place in three lists.
_CHUNK_OVERHEAD = 120


class Chunk(NamedTuple):
    """Whole batches that were appended together. end_offset: exclusive."""

    base_offset: int
    end_offset: int
    data: bytes


class TailCache:
    """The last appended chunks, contiguous, each of one or more whole batches; limited in memory.

    bytes_held: their memory. first_offset, end_offset: of the chunks held; equal if there are none.
    """

    __slots__ = ("_bases", "_chunks", "_first", "bytes_held", "bytes_max", "end_offset")

    def __init__(self, end_offset: int, bytes_max: int = CACHE_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.clear(end_offset)

    def clear(self, end_offset: int) -> None:
        """Drop all chunks; the next one begins at `end_offset`."""
        self._bases: list[int] = []
        self._chunks: list[bytes] = []
        self._first = 0  # chunks before it are dropped; the lists are shortened now and then
        self.bytes_held = 0
        self.end_offset = end_offset

    @property
    def first_offset(self) -> int:
        return self._bases[self._first] if self._first < len(self._bases) else self.end_offset

    def append(self, base_offset: int, end_offset: int, data: bytes) -> None:
        assert base_offset == self.end_offset, f"chunk at {base_offset} after {self.end_offset}"
        self.end_offset = end_offset
        self._bases.append(base_offset)
        self._chunks.append(data)
        self.bytes_held += len(data) + _CHUNK_OVERHEAD
        while self.bytes_held > self.bytes_max and self._first < len(self._bases):
            self._drop_first()
        if self._first > 512 and self._first * 2 > len(self._bases):
            del self._bases[: self._first]
            del self._chunks[: self._first]
            self._first = 0

    def truncate(self, end_offset: int) -> None:
        """Drop each chunk that reaches above `end_offset`; batches of it that stay in the log are read from disk."""
        if end_offset >= self.end_offset:
            return
        if end_offset <= self.first_offset:
            self.clear(end_offset)
            return
        while self.end_offset > end_offset:
            self.end_offset = self._bases.pop()
            self.bytes_held -= len(self._chunks.pop()) + _CHUNK_OVERHEAD
        if self.end_offset < end_offset:
            # A part of the last chunk stays in the log: so that chunks stay contiguous, nothing before it is held.
            self.clear(end_offset)

    def chunks_from(self, offset: int, end_offset: int, bytes_max: int) -> list[Chunk] | None:
        """The chunks from the one with `offset` on, until they have `bytes_max` bytes or reach `end_offset`; None if
        `offset` is not in the cache.
        """
        if not self.first_offset <= offset < self.end_offset:
            return None
        at = bisect_right(self._bases, offset, self._first) - 1
        chunks: list[Chunk] = []
        have = 0
        while at < len(self._bases) and self._bases[at] < end_offset and (have < bytes_max or not chunks):
            base = self._bases[at]
            data = self._chunks[at]
            at += 1
            chunks.append(Chunk(base, self._bases[at] if at < len(self._bases) else self.end_offset, data))
            have += len(data)
        return chunks

    def _drop_first(self) -> None:
        self.bytes_held -= len(self._chunks[self._first]) + _CHUNK_OVERHEAD
        self._chunks[self._first] = b""
        self._first += 1
