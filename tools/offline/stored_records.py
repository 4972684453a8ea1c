"""The records of a stored batch, one by one, up to the first that cannot be read (KIP-98)."""

from __future__ import annotations

from records.wire import read_zigzag
from tools.offline.log_file import HEADER_BYTES, MAGIC, InvalidRecord, StoredBatch, next_sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class StoredRecord:
    """A record of a batch. timestamp: in ms; sequence: -1 where the batch has none; header_keys: may repeat."""

    __slots__ = ("header_keys", "key", "offset", "sequence", "timestamp", "value")

    def __init__(
        self,
        offset: int,
        timestamp: int,
        sequence: int,
        key: bytes | None,
        value: bytes | None,
        header_keys: tuple[str, ...],
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.sequence = sequence
        self.key = key
        self.value = value
        self.header_keys = header_keys


def records_of(batch: StoredBatch) -> Iterator[StoredRecord]:
    """The records in stored order; raises InvalidRecord at the first that cannot be read.

    All records of a compressed batch are read before the first is returned.
    """
    if batch.magic < MAGIC:
        raise InvalidRecord(f"The records of magic {batch.magic} are not read, only those of magic {MAGIC}")
    if len(batch.data) < HEADER_BYTES:
        raise InvalidRecord("Incorrect declared batch size, premature EOF reached")
    if batch.record_count == 0:
        return iter(())
    if batch.record_count < 0:
        raise InvalidRecord(f"Found invalid record count {batch.record_count} in magic v{batch.magic} batch")
    if not batch.compression:
        return _records(batch, batch.data, HEADER_BYTES)
    from records.compression import decompress

    try:
        body = decompress(batch.compression, batch.data[HEADER_BYTES:])
    except ValueError as error:
        raise InvalidRecord(str(error)) from None
    return iter(list(_records(batch, body, 0)))


def _records(batch: StoredBatch, data: bytes, position: int) -> Iterator[StoredRecord]:
    for number in range(batch.record_count):
        record, position = record_at(batch, data, position, number)
        yield record


def record_at(batch: StoredBatch, data: bytes, position: int, number: int) -> tuple[StoredRecord, int]:
    """The record of this number, which starts at a position of the uncompressed records, and the position after it.

    Raises InvalidRecord if it cannot be read, or if it is the last and bytes are left.
    """
    try:
        size, start = read_zigzag(data, position)
    except IndexError:
        raise InvalidRecord("Incorrect declared batch size, premature EOF reached") from None
    except ValueError:
        raise InvalidRecord("Found invalid record structure") from None
    left = len(data) - start
    if left < size:
        raise InvalidRecord(
            f"Invalid record size: expected {size} bytes in record payload, but instead the buffer has only {left} "
            "remaining bytes."
        )
    try:
        record, position = _record(batch, data, start)
    except IndexError:
        raise InvalidRecord("Incorrect declared batch size, premature EOF reached") from None
    if position - start != size:
        raise InvalidRecord(
            f"Invalid record size: expected to read {size} bytes in record payload, but instead read {position - start}"
        )
    if number == batch.record_count - 1 and position != len(data):
        raise InvalidRecord("Incorrect declared batch size, records still remaining in file")
    return record, position


def _record(batch: StoredBatch, data: bytes, position: int) -> tuple[StoredRecord, int]:
    try:
        position += 1  # attributes: none are defined
        timestamp_delta, position = read_zigzag(data, position, 10)
        offset_delta, position = read_zigzag(data, position)
        key, position = _bytes(data, position)
        value, position = _bytes(data, position)
        header_count, position = read_zigzag(data, position)
        if header_count < 0:
            raise InvalidRecord(f"Found invalid number of record headers {header_count}")
        if header_count > len(data) - position:
            raise InvalidRecord(
                f"Found invalid number of record headers. {header_count} is larger than the remaining size of the "
                "buffer"
            )
        header_keys = []
        for _ in range(header_count):
            size, position = read_zigzag(data, position)
            if size < 0:
                raise InvalidRecord(f"Invalid negative header key size {size}")
            if position + size > len(data):
                raise IndexError
            header_keys.append(data[position : position + size].decode("utf-8", "replace"))
            _, position = _bytes(data, position + size)
    except InvalidRecord:
        raise
    except (ValueError, IndexError):
        raise InvalidRecord("Found invalid record structure") from None
    timestamp = batch.max_timestamp if batch.is_append_time else batch.base_timestamp + timestamp_delta
    sequence = next_sequence(batch.base_sequence, offset_delta) if batch.base_sequence >= 0 else -1
    return StoredRecord(batch.base_offset + offset_delta, timestamp, sequence, key, value, tuple(header_keys)), position


def _bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    size, position = read_zigzag(data, position)
    if size < 0:
        return None, position
    end = position + size
    if end > len(data):
        raise IndexError
    return data[position:end], end
