"""Varints and numbers at many positions of a buffer at once.

A buffer is uint8 with `PADDING` bytes after its end, so that a read slightly beyond the end is safe; the caller
compares the returned positions with the expected end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PADDING = 64
_VARINT_BYTES_MAX = 10


def pad(data: bytes) -> NDArray[np.uint8]:
    """A buffer that holds the data."""
    out = np.zeros(len(data) + PADDING, np.uint8)
    out[: len(data)] = np.frombuffer(data, np.uint8)
    return out


def byte_at(buffer: NDArray[np.uint8], at: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bytes at these positions; the first or last one for a position outside."""
    return buffer.take(at, mode="clip").astype(np.int64)


def read_unsigned(buffer: NDArray[np.uint8], at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The unsigned varints at these positions, and the positions after them."""
    byte = byte_at(buffer, at)
    value = byte & 0x7F
    after = at + 1
    more = np.flatnonzero(byte > 0x7F)
    shift = 7
    for _ in range(_VARINT_BYTES_MAX - 1):
        if not len(more):
            break
        byte = byte_at(buffer, after[more])
        value[more] |= (byte & 0x7F) << shift
        after[more] += 1
        more = more[byte > 0x7F]
        shift += 7
    return value, after


def read_signed(buffer: NDArray[np.uint8], at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The zigzag varints at these positions, and the positions after them."""
    raw, after = read_unsigned(buffer, at)
    return (raw >> 1) & 0x7FFFFFFFFFFFFFFF ^ -(raw & 1), after


def big_endian(buffer: NDArray[np.uint8], at: NDArray[np.int64], size: int) -> NDArray[Any]:
    """The signed numbers of 1 or 4 bytes at these positions."""
    numbers: NDArray[Any] = pieces_at(buffer, at, size).view(f">i{size}").astype(f"i{size}")
    return numbers


def pieces_at(buffer: NDArray[np.uint8], at: NDArray[np.int64], size: int) -> NDArray[Any]:
    """The bytes at these positions, `size` of each, as one item; those at the edge for a position outside."""
    limit = len(buffer) - size
    every = np.ndarray((limit + 1,), f"V{size}", buffer, 0, (1,))
    pieces: NDArray[Any] = every[np.clip(at, 0, limit)]
    return pieces


def spread(starts: NDArray[np.int64], counts: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """For each start the positions start, start + step …, as many as its count says, one after the other."""
    begins = np.cumsum(counts) - counts
    positions: NDArray[np.int64] = np.arange(int(counts.sum()), dtype=np.int64)
    if step != 1:
        positions *= step
    positions += np.repeat(starts - begins * step, counts)
    return positions
