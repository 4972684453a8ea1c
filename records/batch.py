"""Record batches v2: building them, finding them in bytes, reading their records (KIP-98; KIP-595 for control batches).

A batch on the metadata log has null keys, no headers and timestamp deltas of 0, but any batch of Kafka's is read.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING, NamedTuple

from records.crc import crc32c
from records.wire import read_uvarint, read_zigzag, zigzag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEADER_BYTES = 61
RECORD_BYTES_MIN = 7
MAGIC = 2
CONTROL_ATTRIBUTE = 0x20
COMPRESSION_MASK = 0x07

# base offset, length, leader epoch, magic, crc, attributes, last offset delta, base and max timestamp, producer id,
# producer epoch, base sequence, record count
_HEADER = Layout(">qiibIhiqqqhii")
_PREFIX = Layout(">qiib")  # the header before the CRC
_CHECKED = Layout(">hiqqqhii")  # the part of the header that the CRC covers
_LENGTH_AT = 8
_CRC_FROM = 21

_zigzags: list[bytes] = []


class CorruptBatch(ValueError):
    """Bytes in a log that are not a record batch, or whose CRC does not match.

    offset: the base offset in the bytes, -1 if there is none; position: byte position of the batch.
    """

    def __init__(self, offset: int, position: int, reason: str) -> None:
        self.offset = offset
        self.position = position
        self.reason = reason
        super().__init__(offset, position, reason)

    def __str__(self) -> str:
        return f"batch of offset {self.offset} at byte {self.position}: {self.reason}"


class Batch(NamedTuple):
    """The header of a batch. position: where it starts in the given bytes; size: header included."""

    position: int
    size: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    crc: int
    attributes: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_ATTRIBUTE)

    @property
    def compression(self) -> int:
        """0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
        return self.attributes & COMPRESSION_MASK


class Record(NamedTuple):
    """One record of a batch. offset: absolute; timestamp in ms; headers: (key, value) pairs."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def build_batch(
    values: Sequence[bytes], *, base_offset: int, leader_epoch: int, timestamp_ms: int, attributes: int = 0
) -> bytes:
    """A batch of records with null keys, as the controller writes its metadata records; at least one value."""
    assert values, "a batch holds at least one record"
    count = len(values)
    deltas = zigzags(count)
    parts: list[bytes] = []
    add = parts.extend
    for value, delta in zip(values, deltas, strict=False):
        n = len(value)
        size = deltas[n] if n < len(deltas) else zigzag(n)
        length = n + len(delta) + len(size) + 4
        add((deltas[length] if length < len(deltas) else zigzag(length), b"\0\0", delta, b"\1", size, value, b"\0"))
    return seal(b"".join(parts), count, base_offset, leader_epoch, timestamp_ms, attributes=attributes)


def build_control_batch(
    records: Sequence[tuple[bytes, bytes]], *, base_offset: int, leader_epoch: int, timestamp_ms: int
) -> bytes:
    """A control batch of (key, value) pairs; at least one."""
    assert records, "a batch holds at least one record"
    parts: list[bytes] = []
    for delta, (key, value) in enumerate(records):
        body = b"".join((b"\0\0", zigzag(delta), zigzag(len(key)), key, zigzag(len(value)), value, b"\0"))
        parts.append(zigzag(len(body)) + body)
    return seal(b"".join(parts), len(records), base_offset, leader_epoch, timestamp_ms, attributes=CONTROL_ATTRIBUTE)


def zigzags(count: int) -> list[bytes]:
    """A table of the signed varints of 0, 1, 2 …: at least `count` of them, and enough for common sizes."""
    if len(_zigzags) < count or not _zigzags:
        _zigzags.extend(map(zigzag, range(len(_zigzags), max(512, count))))
    return _zigzags


def seal(
    body: bytes, count: int, base_offset: int, leader_epoch: int, timestamp_ms: int, *, attributes: int = 0
) -> bytes:
    """Put the header, with its CRC, before the encoded records."""
    checked = _CHECKED.pack(attributes, count - 1, timestamp_ms, timestamp_ms, -1, -1, -1, count)
    crc = crc32c(body, crc32c(checked))
    prefix = _PREFIX.pack(base_offset, HEADER_BYTES - 12 + len(body), leader_epoch, MAGIC)
    return b"".join((prefix, crc.to_bytes(4, "big"), checked, body))


def read_header(data: bytes | memoryview, position: int = 0) -> Batch | None:
    """The batch that starts at `position`; None if the data end within it (a torn tail, or a truncated response).

    The CRC is not checked. Raises CorruptBatch if the bytes cannot be a batch v2.
    """
    left = len(data) - position
    if left < 17:
        return None
    length = int.from_bytes(data[position + _LENGTH_AT : position + 12], "big", signed=True)
    offset = int.from_bytes(data[position : position + 8], "big", signed=True)
    magic = data[position + 16]
    if magic != MAGIC:
        raise CorruptBatch(offset, position, f"magic is {magic}, only {MAGIC} is read")
    if length < HEADER_BYTES - 12:
        raise CorruptBatch(offset, position, f"length is {length}, a batch has at least {HEADER_BYTES - 12}")
    if left < length + 12:
        return None
    base, _, epoch, _, crc, attributes, delta, first, last, producer, producer_epoch, sequence, count = (
        _HEADER.unpack_from(data, position)
    )
    if base < 0 or delta < 0 or count < 0 or epoch < -1:
        raise CorruptBatch(base, position, f"negative offset, delta {delta}, count {count} or epoch {epoch}")
    return Batch(
        position, length + 12, base, base + delta, epoch, crc, attributes, first, last, producer, producer_epoch,
        sequence, count,
    )  # fmt: skip


def is_intact(data: bytes | memoryview, batch: Batch) -> bool:
    """Whether the batch's CRC matches its bytes."""
    end = batch.position + batch.size
    return crc32c(memoryview(data)[batch.position + _CRC_FROM : end]) == batch.crc


def batches(data: bytes | memoryview, position: int = 0, *, check: bool = True) -> Iterator[Batch]:
    """The whole batches from `position` on; a torn one at the end is left out.

    Raises CorruptBatch at the first that is not a batch, or (with `check`) whose CRC does not match.
    """
    while (batch := read_header(data, position)) is not None:
        if check and not is_intact(data, batch):
            raise CorruptBatch(batch.base_offset, position, f"CRC is {batch.crc}, the bytes give another")
        yield batch
        position += batch.size


def records_of(data: bytes, batch: Batch, *, decompressed_max: int = 64 << 20) -> list[Record]:
    """The records of a batch, decompressed if necessary, to at most `decompressed_max` bytes.

    Raises CorruptBatch if its bytes are not `count` records with the ascending offsets that the header states.
    """
    body, position, end = uncompress(data, batch, decompressed_max=decompressed_max)
    return read_records(body, position, end, batch, batch.record_count)


def uncompress(data: bytes, batch: Batch, *, decompressed_max: int = 64 << 20) -> tuple[bytes, int, int]:
    """Bytes that contain the batch's records uncompressed, and their start and end in them; raises CorruptBatch."""
    end = batch.position + batch.size
    position = batch.position + HEADER_BYTES
    if not batch.compression:
        return data, position, end
    from records.compression import decompress

    try:
        body = decompress(batch.compression, data[position:end], decompressed_max)
    except ValueError as error:
        raise CorruptBatch(batch.base_offset, batch.position, str(error)) from None
    return body, 0, len(body)


def read_records(data: bytes, position: int, end: int, batch: Batch, count: int) -> list[Record]:
    """The `count` records of the batch that fill `data` from `position` to `end`; raises CorruptBatch."""
    try:
        records, position = _read_records(data, position, end, batch, count)
    except (ValueError, IndexError) as error:
        raise CorruptBatch(batch.base_offset, batch.position, f"records: {error}") from None
    if position != end:
        raise CorruptBatch(batch.base_offset, batch.position, f"{end - position} bytes are left after the records")
    return records


def some_records(data: bytes, position: int, end: int, batch: Batch, count: int) -> tuple[list[Record], int]:
    """The next `count` records of the batch, and the position after the last: for callers that must not block for long.

    data, position, end: first as `uncompress` returns them, then with the position that this returned. Raises
    CorruptBatch.
    """
    try:
        return _read_records(data, position, end, batch, count)
    except (ValueError, IndexError) as error:
        raise CorruptBatch(batch.base_offset, batch.position, f"records: {error}") from None


def _read_records(data: bytes, position: int, end: int, batch: Batch, count: int) -> tuple[list[Record], int]:
    """The records between `position` and `end`, and the position after the last.

    Lengths and offset deltas of one or two bytes, which are nearly all, are decoded inline: a call costs more than the
    rest of the record.
    """
    if count * RECORD_BYTES_MIN > end - position:
        raise ValueError(f"{count} records do not fit in {end - position} bytes")
    base_offset, span = batch.base_offset, batch.last_offset - batch.base_offset
    # Where the broker set the time, it is that of the batch.
    base_timestamp, moves = (batch.max_timestamp, 0) if batch.attributes & 0x08 else (batch.base_timestamp, 1)
    offset_delta = -1
    records: list[Record] = []
    for _ in range(count):
        raw = data[position]
        position += 1
        if raw > 127:
            if (high := data[position]) < 128:
                raw += (high << 7) - 128
                position += 1
            else:
                raw, position = read_uvarint(data, position - 1)
        stop = position + (raw >> 1)
        if raw & 1 or stop > end:
            raise ValueError(f"record of {(raw >> 1) ^ -(raw & 1)} bytes in the {end - position} that are left")
        if data[position + 1]:  # at `position` are attributes, which have no meaning yet
            delta, position = read_zigzag(data, position + 1, 10)
            timestamp = base_timestamp + delta * moves
        else:
            timestamp = base_timestamp
            position += 2
        raw = data[position]
        position += 1
        if raw > 127:
            if (high := data[position]) < 128:
                raw += (high << 7) - 128
                position += 1
            else:
                raw, position = read_uvarint(data, position - 1)
        previous, offset_delta = offset_delta, (raw >> 1) ^ -(raw & 1)
        if not previous < offset_delta <= span:
            raise ValueError(f"offset delta {offset_delta} behind {previous} in a batch whose last is {span}")
        key: bytes | None = None
        if data[position] == 1:
            position += 1
        else:
            key, position = _read_bytes(data, position, stop)
        raw = data[position]
        position += 1
        if raw > 127:
            if (high := data[position]) < 128:
                raw += (high << 7) - 128
                position += 1
            else:
                raw, position = read_uvarint(data, position - 1)
        after = position + (raw >> 1)
        value: bytes | None = None
        if raw & 1:
            if raw != 1:
                raise ValueError(f"negative length {~(raw >> 1)}")
        elif after > stop:
            raise ValueError(f"{raw >> 1} bytes in the {stop - position} that are left")
        else:
            value = data[position:after]
            position = after
        headers: tuple[tuple[str, bytes | None], ...] = ()
        if data[position]:
            headers, position = _read_headers(data, position, stop)
        else:
            position += 1
        if position != stop:
            raise ValueError(f"record of offset delta {offset_delta} has {stop - position} bytes too many")
        records.append(Record(base_offset + offset_delta, timestamp, key, value, headers))
    return records, position


def _read_bytes(data: bytes, position: int, stop: int) -> tuple[bytes | None, int]:
    length, position = read_zigzag(data, position)
    if length < 0:
        if length != -1:
            raise ValueError(f"negative length {length}")
        return None, position
    if position + length > stop:
        raise ValueError(f"{length} bytes in the {stop - position} that are left")
    return data[position : position + length], position + length


def _read_headers(data: bytes, position: int, stop: int) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    count, position = read_zigzag(data, position)
    if count < 0 or count * 2 > stop - position:
        raise ValueError(f"{count} headers in {stop - position} bytes")
    headers = []
    for _ in range(count):
        key, position = _read_bytes(data, position, stop)
        value, position = _read_bytes(data, position, stop)
        if key is None:
            raise ValueError("null header key")
        headers.append((key.decode(), value))
    return tuple(headers), position


__all__ = [
    "Batch", "CorruptBatch", "Record", "batches", "build_batch", "build_control_batch", "is_intact", "read_header",
    "records_of", "seal",
]  # fmt: skip
