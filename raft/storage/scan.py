"""Reading record batches by their headers alone: where each begins and ends, and the fields of its header."""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING, NamedTuple

from records.batch import HEADER_BYTES, MAGIC, CorruptBatch

if TYPE_CHECKING:
    from collections.abc import Iterator

# base offset, length, leader epoch, magic, crc, attributes, last offset delta, base timestamp, max timestamp
_HEAD = Layout(">qiibIhiqq")

# Controllers write batches of at most 8 MiB; a length far above it is damage, and must not be trusted.
BATCH_BYTES_MAX = 16 << 20

LENGTH_BEFORE = 12  # base offset and length are not counted in the length
CRC_AT = 17
CRC_FROM = 21  # the CRC covers the batch from here on


class Head(NamedTuple):
    """The fields of a batch's header that the log needs. position: in the bytes read; size: header included."""

    position: int
    size: int
    base_offset: int
    last_offset: int
    epoch: int
    attributes: int
    max_timestamp: int
    crc: int


def head_at(data: bytes | memoryview, position: int) -> Head:
    """The header at `position`; raises CorruptBatch if the bytes from there on cannot be a batch.

    The batch itself may extend beyond the data; fewer than 61 bytes are refused.
    """
    if len(data) - position < HEADER_BYTES:
        raise CorruptBatch(-1, position, f"{len(data) - position} bytes are no batch")
    base, length, epoch, magic, crc, attributes, delta, _, max_timestamp = _HEAD.unpack_from(data, position)
    size = length + LENGTH_BEFORE
    if magic != MAGIC:
        raise CorruptBatch(base, position, f"magic is {magic}, only {MAGIC} is read")
    if not HEADER_BYTES <= size <= BATCH_BYTES_MAX:
        raise CorruptBatch(base, position, f"size is {size}, not {HEADER_BYTES} to {BATCH_BYTES_MAX}")
    if base < 0 or delta < 0 or epoch < 0:
        raise CorruptBatch(base, position, f"negative offset, delta {delta} or epoch {epoch}")
    return Head(position, size, base, base + delta, epoch, attributes, max_timestamp, crc)


def heads(data: bytes | memoryview) -> Iterator[Head]:
    """The batches that fill `data` exactly; raises CorruptBatch where they do not. CRCs are not checked."""
    position = 0
    while position < len(data):
        head = head_at(data, position)
        if position + head.size > len(data):
            raise CorruptBatch(head.base_offset, position, f"{head.size} bytes in the {len(data) - position} left")
        yield head
        position += head.size


def cut(data: bytes, offset: int, end_offset: int, bytes_max: int) -> bytes:
    """The whole batches of `data` from the one with `offset` on, none reaching above `end_offset`: at least one (if
    there is one), then as many as fit into `bytes_max`. `data` may end within a batch.
    """
    first = position = -1
    at = 0
    while len(data) - at >= HEADER_BYTES:
        head = head_at(data, at)
        stop = at + head.size
        if stop > len(data) or head.last_offset >= end_offset:
            break
        if head.last_offset >= offset:
            if first < 0:
                first = at
            elif stop - first > bytes_max:
                break
            position = stop
        at = stop
    if first < 0:
        return b""
    return data if first == 0 and position == len(data) else data[first:position]
