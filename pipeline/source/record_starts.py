"""Where the records of batches start: for most batches by columns, since their records are of one size.

A record's size is that of the first, or, where a topic comes before its partitions, that of the second, but for the
offset delta, whose varint grows. That is a guess, and the length of each record must confirm it; the records of all
other batches are found one after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.source.varints import read_signed, spread
from records.batch import RECORD_BYTES_MIN
from records.wire import read_uvarint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# The varint of an offset delta takes one byte more from each of these on; that of a length does so, too.
_DELTA_BOUNDS = (0, 1 << 6, 1 << 13, 1 << 20, 1 << 27)
_LENGTH_BYTES_MAX = 5  # as `read_uvarint` takes it
_HEADS = (0, 1)  # how many records of another size come first


class Body(NamedTuple):
    """The records of a batch, from `begin` to `end` in `data`, which is at `shift` of the buffer; total: how many."""

    data: bytes
    begin: int
    end: int
    shift: int
    total: int


def record_starts(
    buffer: NDArray[np.uint8], bodies: Sequence[Body | None]
) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[int, str]]:
    """The position of each record in the buffer; how many there are of each body; and by number, the bodies that are
    not laid out as records, with the problem. Such a body, and one that is None, has one position, 0.
    """
    places = [(0, 0, -1) if one is None else (one.begin + one.shift, one.end + one.shift, one.total) for one in bodies]
    table = np.array(places, np.int64).reshape(-1, 3)
    begin, end, count = table.T
    guessed: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
    left = np.flatnonzero((count > 0) & (count * RECORD_BYTES_MIN <= end - begin))
    for head in _HEADS:
        numbers, starts = _of_one_size(buffer, begin[left], end[left], count[left], head)
        guessed[head] = left[numbers], starts
        left = np.delete(left, numbers)
    known = np.zeros(len(bodies), bool)
    for numbers, _ in guessed.values():
        known[numbers] = True
    counts = count.copy()
    problems: dict[int, str] = {}
    walked: dict[int, list[int]] = {}
    for number in np.flatnonzero(~known).tolist():
        body = bodies[number]
        walked[number] = [0]
        if body is not None:
            try:
                walked[number] = _walk(body)
            except (ValueError, IndexError) as error:
                problems[number] = str(error)
        counts[number] = len(walked[number])
    first = np.cumsum(counts) - counts
    out = np.empty(int(counts.sum()), np.int64)
    for numbers, starts in guessed.values():
        out[spread(first[numbers], counts[numbers], 1)] = starts
    for number, some in walked.items():
        out[first[number] : first[number] + len(some)] = some
    return out, counts, problems


def _of_one_size(
    buffer: NDArray[np.uint8],
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    count: NDArray[np.int64],
    head: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The batches whose records are of one size but for the first `head`; and the positions of their records."""
    numbers = np.flatnonzero(count > head)
    first = begin[numbers]
    for _ in range(head):
        length, after = _read_length(buffer, first)
        sound = (length >= RECORD_BYTES_MIN - 1) & (after + length < end[numbers])
        numbers, first = numbers[sound], (after + length)[sound]
    length, _ = _read_length(buffer, first)
    sound = (length >= RECORD_BYTES_MIN - 1) & (length <= end[numbers] - first)
    numbers, first, length = numbers[sound], first[sound], length[sound]
    sizes = _sizes(length)
    skipped = sizes[0] * head
    sound = first + _bytes_before(count[numbers], sizes) - skipped == end[numbers]
    numbers, first, sizes, skipped = numbers[sound], first[sound], sizes[:, sound], skipped[sound]
    each = np.repeat(np.arange(len(numbers)), count[numbers])
    index = spread(np.zeros(len(numbers), np.int64), count[numbers], 1)
    starts = (first - skipped)[each] + _bytes_before(index, sizes, each)
    if head:
        starts[index == 0] = begin[numbers]
    stated, after = _read_length(buffer, starts)
    ends = np.append(starts[1:], 0)
    ends[np.cumsum(count[numbers]) - 1] = end[numbers]
    fits = (stated >= RECORD_BYTES_MIN - 1) & (after + stated == ends)
    confirmed = np.ones(len(numbers), bool)
    confirmed[each[~fits]] = False
    return numbers[confirmed], starts[confirmed[each]]


def _read_length(buffer: NDArray[np.uint8], at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lengths that records state, and the positions after them; -1 for a varint that is too long for a length."""
    length, after = read_signed(buffer, at)
    length[after - at > _LENGTH_BYTES_MAX] = -1
    return length, after


def _sizes(length: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bytes of a record by the bytes of its offset delta, less one. length: of a record whose delta takes one."""
    lengths = length + np.arange(len(_DELTA_BOUNDS))[:, None]
    sizes: NDArray[np.int64] = lengths + 1
    for bound in _DELTA_BOUNDS[1:]:
        sizes += lengths >= bound
    return sizes


def _bytes_before(
    index: NDArray[np.int64], sizes: NDArray[np.int64], each: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The bytes of the records before each index. each: by index the column of `sizes`, None for the same."""
    total = np.zeros(len(index), np.int64)
    last = int(index.max(initial=0))
    for width, bound in enumerate(_DELTA_BOUNDS):
        if last < bound:
            break
        within = index - bound
        if width + 1 < len(_DELTA_BOUNDS):
            within = np.clip(within, 0, _DELTA_BOUNDS[width + 1] - bound)
        total += within * (sizes[width] if each is None else sizes[width][each])
    return total


def _walk(body: Body) -> list[int]:
    """The position of each record, by their lengths; raises ValueError, IndexError."""
    data, position, end, shift, total = body
    starts: list[int] = []
    add = starts.append
    for _ in range(total):
        add(position + shift)
        raw = data[position]
        if raw < 128:
            position += 1
        elif (high := data[position + 1]) < 128:
            raw += (high << 7) - 128
            position += 2
        else:
            raw, position = read_uvarint(data, position)
        if raw & 1 or (raw >> 1) < RECORD_BYTES_MIN - 1:
            raise ValueError("a record states a length that none can have")
        position += raw >> 1
        if position > end:
            raise ValueError("a record reaches beyond its batch")
    if position != end:
        raise ValueError(f"{end - position} bytes are left after the records")
    return starts
