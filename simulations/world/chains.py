"""Logs by their contents: each prefix of a log has a number, which is equal for equal bytes.

So one comparison of two numbers shows whether two logs agree up to an offset, and a log is followed batch by batch.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from struct import Struct as Layout
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

EMPTY = 0
"""The number of the log without a batch, at offset 0."""

UNKNOWN = -1
"""The number of a prefix of which nothing is known."""

_HEAD = Layout(">qii")  # base offset, length, epoch
_DELTA_AT = 23
_DELTA = Layout(">i")
_HEADER_BYTES = 61


class Part(NamedTuple):
    """A batch in bytes: at [start, stop), with fields of its header. end_offset: exclusive."""

    start: int
    stop: int
    base_offset: int
    end_offset: int
    epoch: int


def parts(data: bytes | bytearray, position: int = 0) -> Iterator[Part]:
    """The whole batches from `position` on, by their headers alone."""
    size = len(data)
    while size - position >= _HEADER_BYTES:
        base, length, epoch = _HEAD.unpack_from(data, position)
        stop = position + length + 12
        if length < _HEADER_BYTES - 12 or stop > size:
            return
        delta = _DELTA.unpack_from(data, position + _DELTA_AT)[0]
        yield Part(position, stop, base, base + delta + 1, epoch)
        position = stop


class Chains:
    """The numbers of all prefixes that any log of a world ever had."""

    __slots__ = ("_numbers", "batches")

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, bytes], int] = {}
        self.batches: list[tuple[int, bytes]] = [(UNKNOWN, b"")]  # by number: that of the prefix before, and the batch

    def follow(self, chain: int, batch: bytes) -> int:
        """The number of a prefix and one more batch."""
        key = (chain, batch)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.batches)
            self.batches.append(key)
        return number

    def epoch_of(self, number: int) -> int:
        """The epoch of the leader that appended the last batch of a prefix; UNKNOWN if there is
        none or it is unknown.
        """
        batch = self.batches[number][1] if number >= 0 else b""
        return int(_HEAD.unpack_from(batch)[2]) if batch else UNKNOWN


class ChainedLog:
    """A log as a run of prefixes. start: its first offset, and base: the number of the prefix before it; ends, numbers,
    epochs: of each batch, ascending. end, last: its end offset, and the number of the whole. epoch_starts: (epoch,
    first offset), of the batches alone.
    """

    __slots__ = ("base", "chains", "end", "ends", "epoch_starts", "epochs", "last", "numbers", "start")

    def __init__(self, chains: Chains, start: int = 0, base: int = EMPTY) -> None:
        self.chains = chains
        self.reset(start, base)

    def reset(self, start: int, base: int) -> None:
        """Empty the log, which continues from `start`."""
        self.start = start
        self.base = base
        self.ends: list[int] = []
        self.numbers: list[int] = []
        self.epochs: list[int] = []
        self.epoch_starts: list[tuple[int, int]] = []
        self.end = start
        self.last = base

    @property
    def last_epoch(self) -> int:
        return self.epochs[-1] if self.epochs else UNKNOWN

    def add(self, base_offset: int, end_offset: int, epoch: int, batch: bytes) -> int:
        """One more batch; returns the number of the whole."""
        number = self.last = self.chains.follow(self.last, batch)
        self.end = end_offset
        starts = self.epoch_starts
        if not starts or starts[-1][0] != epoch:
            while starts and starts[-1][1] >= base_offset:
                starts.pop()  # its records are deleted, perhaps covered by a snapshot
            starts.append((epoch, base_offset))
        self.ends.append(end_offset)
        self.numbers.append(number)
        self.epochs.append(epoch)
        return number

    def at(self, offset: int) -> int | None:
        """The number of the prefix that ends at `offset`; None where no batch ends there."""
        if offset == self.end:
            return self.last
        ends = self.ends
        if offset == self.start:
            return self.base
        place = bisect_left(ends, offset)
        return self.numbers[place] if place < len(ends) and ends[place] == offset else None

    def epoch_at(self, end_offset: int) -> int | None:
        """The epoch of the batch that ends at an offset."""
        place = bisect_left(self.ends, end_offset)
        return self.epochs[place] if place < len(self.ends) and self.ends[place] == end_offset else None

    def after(self, offset: int) -> int | None:
        """The place of the first batch that ends behind `offset`; None where there is none."""
        place = bisect_right(self.ends, offset)
        return place if place < len(self.ends) else None

    def truncate(self, end_offset: int) -> None:
        """Drop all batches that reach behind `end_offset`."""
        while self.ends and self.ends[-1] > end_offset:
            self.ends.pop()
            self.numbers.pop()
            self.epochs.pop()
        self.end = self.ends[-1] if self.ends else self.start
        self.last = self.numbers[-1] if self.numbers else self.base
        while self.epoch_starts and self.epoch_starts[-1][1] >= self.end:
            self.epoch_starts.pop()

    def advance(self, start: int) -> None:
        """Move the start to `start`, where a batch ends."""
        place = bisect_right(self.ends, start)
        if place:
            assert self.ends[place - 1] == start, f"no batch ends at {start}"
            self.base = self.numbers[place - 1]
            del self.ends[:place], self.numbers[:place], self.epochs[:place]
        self.start = start
        if not self.ends:
            self.end, self.last = start, self.base
        kept = [entry for entry in self.epoch_starts if entry[1] > start]
        before = self.epoch_starts[: len(self.epoch_starts) - len(kept)]
        if before:
            kept.insert(0, (before[-1][0], start))
        self.epoch_starts = kept
