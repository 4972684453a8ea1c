"""The state of the raft level: a map of registers, and the form of a write and of a snapshot in a log.

The state is a function of the log, so two replicas that have applied the same records are equal.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct as Layout
from typing import TYPE_CHECKING, NamedTuple

from records.batch import Batch, read_header, records_of
from records.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterable

_WRITE = Layout(">iq")  # register, number of the write; what follows is there for its size
_TOTAL = Layout(">qI")  # writes applied, digest of all of them in order


class State(NamedTuple):
    """The state after the log up to some offset. digest: of all writes in their order; registers: the last write of
    each, by register.
    """

    writes: int = 0
    digest: int = 0
    registers: tuple[tuple[int, int], ...] = ()


def write_value(register: int, number: int, size: int) -> bytes:
    """The record of one write. It is padded with bytes other than zero: a torn write leaves a sector of zeros, and a
    start could not tell it from written zeros.
    """
    return _WRITE.pack(register, number) + b"." * size


@lru_cache(maxsize=1024)
def writes_of(batch: bytes) -> tuple[tuple[bytes, int, int], ...]:
    """The writes of one batch, in order: (the record, register, number). All nodes of a world apply the same ones."""
    header = read_header(batch)
    assert header is not None, "a whole batch"
    if header.is_control:
        return ()
    values = [record.value or b"" for record in records_of(batch, header)]
    return tuple((value, *_WRITE.unpack_from(value)) for value in values)


class Replay:
    """A state that advances with each batch."""

    __slots__ = ("count", "digest", "registers")

    def __init__(self) -> None:
        self.count = 0
        self.digest = 0
        self.registers: dict[int, int] = {}

    def take(self, batch: bytes) -> None:
        """Apply the bytes of one batch."""
        for value, register, number in writes_of(batch):
            self.registers[register] = number
            self.count += 1
            self.digest = crc32c(value, self.digest)

    def state(self) -> State:
        return State(self.count, self.digest, tuple(sorted(self.registers.items())))


def snapshot_values(state: State, size: int) -> list[bytes]:
    """The records of a snapshot of a state; size: bytes of padding for each register."""
    padding = b"." * size
    return [_TOTAL.pack(state.writes, state.digest)] + [
        _WRITE.pack(*register) + padding for register in state.registers
    ]


def read_snapshot(batches: Iterable[tuple[bytes, Batch]]) -> State:
    """The state in a snapshot's batches."""
    values = [
        record.value or b"" for data, batch in batches if not batch.is_control for record in records_of(data, batch)
    ]
    if not values:
        return State()
    count, digest = _TOTAL.unpack(values[0])
    return State(count, digest, tuple(_WRITE.unpack_from(value) for value in values[1:]))
