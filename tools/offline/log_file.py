"""The batches of a `.log` or `.checkpoint` file, one after another, valid or not.

The reader reports what is in a file, as Kafka's tools do; it does not refuse a file as a node would (`raft.storage`).
Only one batch is in memory at a time.
"""

from __future__ import annotations

import os
from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import BinaryIO, Self

LARGEST_FILE = (1 << 31) - 1
MAGIC = 2
HEADER_BYTES = 61
_START_BYTES = 17  # up to the magic
_OVERHEAD = 12  # base offset and length
_LENGTH_MIN = 14  # of the oldest format; each format has its own minimum
_START = Struct(">qiib")
_HEADER = Struct(">qiibIhiqqqhii")
_OLD_HEADER = Struct(">qiIbB")

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")


class DamagedLog(ValueError):
    """Bytes of a file that no batch can have."""


class CorruptRecord(DamagedLog):
    """The frame of a batch is damaged; the batches after it cannot be found."""


class InvalidRecord(DamagedLog):
    """The records in a batch contradict its header."""


class Unreadable(DamagedLog):
    """A batch whose header does not fit in the file."""


class StoredBatch:
    """A batch of a file, valid or not.

    position: where it starts in the file; data: all of its bytes, the header too. Offsets and counts are as written.
    Of one of magic 0 or 1, which Kafka 3 wrote last, only the header is read: its offset is that of its last record,
    and what it has no field for is -1.
    """

    __slots__ = (
        "attributes", "base_offset", "base_sequence", "base_timestamp", "crc", "data", "last_offset_delta",
        "leader_epoch", "magic", "max_timestamp", "position", "producer_epoch", "producer_id", "record_count",
    )  # fmt: skip

    base_offset: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    def __init__(self, position: int, data: bytes) -> None:
        self.position = position
        self.data = data
        self.magic = _START.unpack_from(data)[3]
        if self.magic < MAGIC:
            self.base_offset, _, self.crc, _, self.attributes = _OLD_HEADER.unpack_from(data)
            self.attributes &= 0xF
            self.max_timestamp = int.from_bytes(data[18:26], "big", signed=True) if self.magic == 1 else -1
            self.last_offset_delta = 0
            self.leader_epoch = self.base_timestamp = self.producer_id = self.producer_epoch = self.base_sequence = -1
            self.record_count = -1
        else:
            (
                self.base_offset, _, self.leader_epoch, _, self.crc, self.attributes, self.last_offset_delta,
                self.base_timestamp, self.max_timestamp, self.producer_id, self.producer_epoch, self.base_sequence,
                self.record_count,
            ) = _HEADER.unpack_from(data)  # fmt: skip

    @property
    def last_offset(self) -> int:
        return (self.base_offset + self.last_offset_delta + (1 << 63)) % (1 << 64) - (1 << 63)

    @property
    def compression(self) -> int:
        return self.attributes & 7

    @property
    def is_append_time(self) -> bool:
        return bool(self.attributes & 8)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & 16)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & 32)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the tombstones of a compacted batch may be deleted; stored as the base timestamp (KIP-534)."""
        return self.base_timestamp if self.attributes & 64 else None

    @property
    def last_sequence(self) -> int:
        return -1 if self.base_sequence == -1 else next_sequence(self.base_sequence, self.last_offset_delta)

    def is_intact(self) -> bool:
        """Whether the CRC matches the bytes."""
        if self.magic < MAGIC:
            from zlib import crc32

            return crc32(memoryview(self.data)[16:]) == self.crc
        from records.crc import crc32c

        return crc32c(memoryview(self.data)[21:]) == self.crc


def next_sequence(sequence: int, count: int) -> int:
    """The sequence `count` after another: they wrap at 2^31 - 1, and damaged ones as Java's ints do."""
    if sequence > _int32(LARGEST_FILE - count):
        return _int32(_int32(count - _int32(LARGEST_FILE - sequence)) - 1)
    return _int32(sequence + count)


def _int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


class LogFile:
    """An open file of batches; a context manager.

    size: its bytes. Raises OSError where it cannot be opened, and DamagedLog where it is larger than a segment may be.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        descriptor = os.open(path, os.O_RDONLY)
        try:
            self.size = os.fstat(descriptor).st_size
            if self.size > LARGEST_FILE:
                raise DamagedLog(
                    f"The size of segment {path} ({self.size}) is larger than the maximum allowed segment size of "
                    f"{LARGEST_FILE}"
                )
            self.file: BinaryIO = os.fdopen(descriptor, "rb", buffering=1 << 16)
        except BaseException:
            os.close(descriptor)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()

    def batches(self, start: int = 0, end: int | None = None) -> Iterator[StoredBatch]:
        """The batches that lie whole between two positions; ends at the first that does not.

        Raises CorruptRecord where a length cannot be one, Unreadable where the file ends within a header.
        """
        end = self.size if end is None else min(end, self.size)
        position = start
        while position < end - _START_BYTES:
            self.file.seek(position)
            prefix = self.file.read(_START_BYTES)
            if len(prefix) < _START_BYTES:
                raise CorruptRecord("Unexpected EOF while attempting to read the next batch")
            length = _START.unpack(prefix)[1]
            if length < _LENGTH_MIN:
                raise CorruptRecord(
                    f"Found record size {length} smaller than minimum record overhead ({_LENGTH_MIN}) in file "
                    f"{self.path}."
                )
            if position > end - _OVERHEAD - length:
                return
            size = length + _OVERHEAD
            # A header reaches beyond a batch that is too small for one, as far as the file does.
            least = HEADER_BYTES if _START.unpack(prefix)[3] >= MAGIC else 26
            data = prefix + self.file.read(max(size, least) - _START_BYTES)
            if len(data) < max(size, least):
                raise Unreadable(f"Failed to load record batch at position {position} from {self.describe(start, end)}")
            batch = StoredBatch(position, data)
            batch.data = data[:size]
            yield batch
            position += size

    def describe(self, start: int, end: int) -> str:
        """The file as Kafka names it in an error."""
        return f"FileRecords(size={self.size}, file={self.path}, start={start}, end={end})"
