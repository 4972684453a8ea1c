"""Reading a record batch into columns: runs of partition records of one shape, and all other records one by one.

Three steps, each over the whole batch: find where the records start, group those of one shape, and divide the log into
segments in which no partition occurs twice. Within a segment records of topics and partitions may be applied in another
order: a topic before its partitions, then one shape after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from records.batch import RECORD_BYTES_MIN, CorruptBatch, read_records, some_records, uncompress
from records.bulk.bulk_layouts import FRAME_BYTES
from records.bulk.bulk_segments import Group, Single, segments
from records.bulk.bulk_shapes import Columns, Shape, TopicShape, rows_equal, shape_of, topic_shape_of
from records.wire import read_uvarint, zigzag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from records.batch import Batch

# Fewer records of a shape than this cost less one by one.
ROWS_MIN = 16
# The limit on shapes of a batch, more than any log has; records of further shapes are read one by one.
SHAPES_MAX = 256
# The records that are read at a time where they are asked for one by one.
LAZY_RECORDS = 100
# An offset delta is a signed varint: of one byte below the first bound, of two below the second, and so on.
DELTA_BOUNDS = (1 << 6, 1 << 13, 1 << 20, 1 << 27)


def scan(data: bytes, batch: Batch, *, rows_min: int = ROWS_MIN, is_lazy: bool = False) -> Iterator[Columns | Single]:
    """The records of a data batch as columns if at least `rows_min` have one shape, else one by one.

    Applying them in this order has the same result as applying them in the order of the log. is_lazy: read a batch
    without shapes as it is asked for, so that the first record does not wait for the last. Raises CorruptBatch as
    `batch.records_of` does, before anything is yielded unless it is lazy, and for a record without a value.
    """
    body, position, end = uncompress(data, batch)
    if batch.record_count < rows_min or (heads := _heads(body, position, end, batch.record_count)) is None:
        yield from _one_by_one(body, position, end, batch)
        return
    groups = _group_by_layout(body, heads, batch, rows_min)
    if is_lazy and not groups:
        yield from _in_turn(body, position, end, batch)
        return
    taken = np.zeros(batch.record_count, bool)
    for group in groups:
        taken[group.indices] = True
    loose = _loose(body, heads, taken, batch)
    if any(single.offset != batch.base_offset + index for index, single in loose.items()):
        yield from _one_by_one(body, position, end, batch)  # a batch with gaps, as compaction leaves
        return
    yield from segments(batch, groups, loose, rows_min)


def _one_by_one(body: bytes, position: int, end: int, batch: Batch) -> list[Single]:
    records = read_records(body, position, end, batch, batch.record_count)
    return [Single(record.offset, _value(batch, record.offset, record.value)) for record in records]


def _in_turn(body: bytes, position: int, end: int, batch: Batch) -> Iterator[Single]:
    """The records of a batch one after the other, read as they are asked for."""
    left = batch.record_count
    while left:
        some = min(left, LAZY_RECORDS)
        records, position = some_records(body, position, end, batch, some)
        left -= some
        for record in records:
            yield Single(record.offset, _value(batch, record.offset, record.value))
    if position != end:
        raise CorruptBatch(batch.base_offset, batch.position, f"{end - position} bytes are left after the records")


def _value(batch: Batch, offset: int, value: bytes | None) -> bytes:
    if value is None:
        raise CorruptBatch(batch.base_offset, batch.position, f"metadata record {offset} has no value")
    return value


def _heads(body: bytes, position: int, end: int, count: int) -> NDArray[np.int64] | None:
    """The start of each record, with its length, and the end; None if the lengths do not lead from start to end.

    Lengths are read one after the other; after several equal ones, more and more of the following are read at once.
    """
    if count * RECORD_BYTES_MIN > end - position:
        return None
    out = np.empty(count + 1, np.int64)
    view = np.frombuffer(body, np.uint8)
    index = alike = step = 0
    try:
        while index < count:
            raw, width = body[position], 1
            if raw > 127:
                raw, after = read_uvarint(body, position)
                width = after - position
            if raw & 1:
                return None
            alike = alike + 1 if step == width + (raw >> 1) else 0
            step = width + (raw >> 1)
            out[index] = position
            position += step
            index += 1
            ahead = 32
            while alike >= 8 and (room := min(ahead, count - index, (end - position) // step)) > 0:
                head = view[position - step : position - step + width]
                heads = view[position : position + room * step].reshape(room, step)[:, :width]
                same = rows_equal(heads, head)
                run = room if same.all() else int(same.argmin())
                out[index : index + run] = position + step * np.arange(run)
                position += run * step
                index += run
                ahead *= 2
                if run < room:
                    alike = 0
    except (IndexError, ValueError):
        return None
    out[count] = position
    return out if position == end else None


def _group_by_layout(body: bytes, heads: NDArray[np.int64], batch: Batch, rows_min: int) -> list[Group]:
    """The records with the same layout, each once, in groups of at least `rows_min`."""
    view = np.frombuffer(body, np.uint8)
    count = batch.record_count
    sizes = np.diff(heads)
    widths = np.ones(count, np.int64)
    for bound in DELTA_BOUNDS:
        widths[bound:] += 1
    layouts = sizes * 8 + widths
    order = np.argsort(layouts, kind="stable")
    cuts = np.flatnonzero(np.diff(layouts[order])) + 1
    by_layout: dict[object, tuple[Shape | TopicShape, list[NDArray[np.int64]], list[NDArray[np.uint8]]]] = {}
    for members in np.split(order, cuts):
        if len(members) < min(rows_min, 4):
            continue
        size, width = int(sizes[members[0]]), int(widths[members[0]])
        if members[-1] - members[0] == len(members) - 1:  # one behind the other, so nothing need be gathered
            rows = view[heads[members[0]] : heads[members[-1] + 1]].reshape(len(members), size)
        else:
            rows = as_strided(view, (len(view) - size + 1, size), (1, 1))[heads[members]]
        start, framed = _framing(rows, members, width)
        values, members = _only(framed, rows[:, start:-1], members)
        while len(members) and len(by_layout) < SHAPES_MAX:
            template = values[0].tobytes()
            shape = shape_of(template) or topic_shape_of(template)
            if shape is None:
                other_type = (values[:, :FRAME_BYTES] != values[0, :FRAME_BYTES]).any(axis=1)
                values, members = _only(other_type, values, members)
                continue
            alike = shape.matches(values, template)
            mine, indices = _only(alike, values, members)
            mine, indices = _only(shape.says_all(mine), mine, indices)
            entry = by_layout.setdefault(shape.key, (shape, [], []))
            entry[1].append(indices)
            entry[2].append(mine)
            values, members = _only(~alike, values, members)
    groups = [Group(shape, _join(indices), _join(values)) for shape, indices, values in by_layout.values()]
    return [group for group in groups if len(group.indices) >= rows_min]


def _join(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _only(
    wanted: NDArray[np.bool_], values: NDArray[np.uint8], members: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The wanted rows; nothing is copied if these are all rows."""
    return (values, members) if wanted.all() else (values[wanted], members[wanted])


def _framing(rows: NDArray[np.uint8], members: NDArray[np.int64], width: int) -> tuple[int, NDArray[np.bool_]]:
    """The position of the value in each of these records, and which have the frame that the controller writes.

    In that frame the offset delta is the index, the timestamp is the batch's, and there is neither a key nor a header.
    """
    length_end = read_uvarint(rows[0].tobytes(), 0)[1]
    at = length_end + 2  # behind attributes and timestamp delta
    left = rows.shape[1] - at - width - 2  # for the value's length and the value: a key and a header count stand around
    value_size = next((left - wide for wide in range(1, 6) if len(zigzag(max(left - wide, 0))) == wide), -1)
    if value_size < FRAME_BYTES:
        return at, np.zeros(len(rows), bool)
    middle = np.frombuffer(b"\1" + zigzag(value_size), np.uint8)
    start = at + width + len(middle)
    framed: NDArray[np.bool_] = (rows[:, at - 1] == 0) & (rows[:, -1] == 0)
    framed &= rows_equal(rows[:, :length_end], rows[0, :length_end])  # the same length could take more bytes
    framed &= rows_equal(rows[:, at : at + width], delta_varints(members, width))
    framed &= rows_equal(rows[:, at + width : start], middle)
    return start, framed


def delta_varints(deltas: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """The signed varints of offset deltas that all take `width` bytes, as uint8 of shape (n, width)."""
    raw = deltas << 1
    out = np.empty((len(deltas), width), np.uint8)
    for place in range(width):
        more = 0x80 if place < width - 1 else 0
        out[:, place] = (raw >> (7 * place)) & 0x7F | more
    return out


def _loose(body: bytes, heads: NDArray[np.int64], taken: NDArray[np.bool_], batch: Batch) -> dict[int, Single]:
    """The records in no group, by their index in the batch."""
    edges = np.flatnonzero(np.diff(np.concatenate(([True], taken, [True])).astype(np.int8)))
    loose: dict[int, Single] = {}
    for first, after in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        records = read_records(body, int(heads[first]), int(heads[after]), batch, after - first)
        for index, record in enumerate(records, start=first):
            loose[index] = Single(record.offset, _value(batch, record.offset, record.value))
    return loose
