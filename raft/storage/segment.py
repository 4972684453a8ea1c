"""One segment of the log: its file, and its indexes in memory."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from raft.storage.errors import CorruptLog
from raft.storage.files import crc_of_file
from raft.storage.index import SparseIndex
from raft.storage.names import DELETED, LOG, OFFSET_INDEX, PRODUCER_SNAPSHOT, TIME_INDEX, segment_name
from raft.storage.scan import Head, cut, head_at
from records.batch import HEADER_BYTES, CorruptBatch
from records.crc import crc32c

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from raft.storage.files import Files

_SEARCH_BYTES = 16 << 10
# The bytes between two batch boundaries that a committed prefix may end at.
MARK_BYTES = 256 << 10


class Mark(NamedTuple):
    """A batch boundary: the batches before it end at `end_offset` (exclusive) and `position`; crc: CRC-32C of them."""

    end_offset: int
    position: int
    crc: int


class Segment:
    """A run of whole batches. size: of the batches, in bytes; crc: CRC-32C of all of them, as they were appended;
    end_offset: exclusive; first_timestamp: of the first batch, -1 if there is none. mark_bytes: see `LogLimits`.
    """

    __slots__ = (
        "_marks", "base_offset", "crc", "directory", "end_offset", "files", "first_timestamp", "handle", "index",
        "mark_bytes", "path", "size",
    )  # fmt: skip

    def __init__(self, files: Files, directory: str, base_offset: int, handle: int, mark_bytes: int) -> None:
        self.files = files
        self.directory = directory
        self.base_offset = base_offset
        self.path = f"{directory}/{segment_name(base_offset, LOG)}"
        self.handle = handle
        self.index = SparseIndex(base_offset)
        self.size = 0
        self.end_offset = base_offset
        self.first_timestamp = -1
        self.crc = 0
        self.mark_bytes = mark_bytes
        self._marks: list[Mark] = []

    def append(self, data: bytes, batches: Iterable[Head]) -> None:
        """Write whole batches at the end; `batches` are their headers."""
        self.files.write(self.handle, self.size, data)
        for head in batches:
            self.add(head, self.size)
        self.fold(data)

    def add(self, head: Head, position: int) -> None:
        """Add a batch that is already in the file, after those added before."""
        if self.first_timestamp < 0:
            self.first_timestamp = head.max_timestamp
        self.index.add(head.last_offset, head.max_timestamp, position, head.size)
        self.size = position + head.size
        self.end_offset = head.last_offset + 1

    def fold(self, data: bytes | memoryview) -> None:
        """Update the CRC with the bytes of the batches that were added since the last call."""
        self.crc = crc32c(data, self.crc)
        if self.size - (self._marks[-1].position if self._marks else 0) >= self.mark_bytes:
            self._marks.append(Mark(self.end_offset, self.size, self.crc))

    def adopt(self, mark: Mark, index: SparseIndex) -> None:
        """Accept the bytes up to a mark of the committed prefix, without reading them."""
        self.index = index
        self.end_offset, self.size, self.crc = mark
        self._marks = [mark]
        self.resume(index.last_position)
        self.first_timestamp = self.head_at(0).max_timestamp

    def mark_before(self, end_offset: int) -> Mark:
        """The last known batch boundary before which no batch reaches above `end_offset`."""
        if self.end_offset <= end_offset:
            return Mark(self.end_offset, self.size, self.crc)
        at = bisect_right(self._marks, end_offset, key=_end_offset)
        return self._marks[at - 1] if at else Mark(self.base_offset, 0, 0)

    def head_at(self, position: int) -> Head:
        """The header of the batch that begins at `position`, below the size."""
        return self._head(self.read(position, HEADER_BYTES), 0, position)

    def locate(self, offset: int) -> int:
        """The position of the batch that holds `offset`; the size where `offset` is the end of the segment."""
        if offset >= self.end_offset:
            return self.size
        for position, head in self._heads_from(self.index.position_before(offset)):
            if head.last_offset >= offset:
                return position
        raise CorruptLog(self.path, self.size, offset, f"the batch is missing; the segment ends at {self.end_offset}")

    def read(self, position: int, length: int) -> bytes:
        """Bytes of batches; none at or after `size`."""
        return self.files.read(self.handle, position, min(length, self.size - position))

    def read_batches(self, offset: int, end_offset: int, bytes_max: int) -> bytes:
        """Whole batches from the one that holds `offset` on, none reaching above `end_offset`: at least one, then as
        many as `bytes_max` holds.
        """
        position = self.locate(offset)
        data = self.read(position, max(bytes_max, HEADER_BYTES))
        first = self._head(data, 0, position)
        if first.size > len(data):
            data = self.read(position, first.size)
        if first.size > len(data) or not first.base_offset <= offset <= first.last_offset:
            raise CorruptLog(
                self.path, position, offset, f"a batch of {first.base_offset} to {first.last_offset} is there"
            )
        try:
            return cut(data, offset, end_offset, bytes_max)
        except CorruptBatch as error:
            raise CorruptLog(self.path, position + error.position, error.offset, error.reason) from None

    def truncate(self, end_offset: int, committed: int) -> None:
        """Remove the batches that have offsets at or above `end_offset`; durable when this returns.

        Raises CorruptLog, and removes nothing, if by the header of a batch offsets below `committed` would be removed:
        no batch extends from below them beyond the end that is kept.

        Waiting for the disk here is deliberate: if bytes were appended before the truncation is durable, a crash could
        leave a file in which new and old bytes are mixed, and no recovery can distinguish that from damage.
        """
        position = self.locate(end_offset)
        if position < self.size:
            end_offset = self.head_at(position).base_offset
        if end_offset < committed:
            reason = f"a batch says it reaches beyond offset {committed - 1}, up to which all is committed"
            raise CorruptLog(self.path, position, end_offset, reason)
        self.files.truncate(self.handle, position)
        self.files.sync(self.handle)
        self.size = position
        self.end_offset = end_offset
        self.resume(self.index.truncate(end_offset))
        self._marks = [mark for mark in self._marks if mark.end_offset <= end_offset]
        known = self._marks[-1] if self._marks else Mark(self.base_offset, 0, 0)
        crc = crc_of_file(self.files, self.handle, known.position, position, known.crc)
        if crc is None:
            raise CorruptLog(self.path, position, end_offset, "the file ended before")
        self.crc = crc
        if position == 0:
            self.first_timestamp = -1

    def resume(self, position: int) -> None:
        """Add the batches from `position` on to the index; they have no entries of their own."""
        for _, head in self._heads_from(position):
            self.index.resume(head.last_offset, head.max_timestamp, head.size)

    def write_indexes(self) -> None:
        """Write the index files as Kafka leaves them for a closed segment."""
        self.write_index(OFFSET_INDEX, bytes(self.index.offsets))
        self.write_index(TIME_INDEX, self.index.closed_times())

    def mark_deleted(self) -> list[str]:
        """Rename the files to `.deleted`, the log last: an index without a log does no harm. Returns the new paths."""
        renamed = []
        for suffix in (OFFSET_INDEX, TIME_INDEX, PRODUCER_SNAPSHOT, LOG):
            path = f"{self.directory}/{segment_name(self.base_offset, suffix)}"
            if self.files.exists(path):
                self.files.rename(path, path + DELETED)
                renamed.append(path + DELETED)
        return renamed

    def write_index(self, suffix: str, data: bytes) -> None:
        path = f"{self.directory}/{segment_name(self.base_offset, suffix)}"
        handle = self.files.open(path, create=True)
        try:
            self.files.write(handle, 0, data)
            self.files.truncate(handle, len(data))
        finally:
            self.files.close(handle)

    def _heads_from(self, position: int) -> Iterator[tuple[int, Head]]:
        """The headers of the batches from `position` on, each with its position in the file."""
        while position < self.size:
            window = self.read(position, _SEARCH_BYTES)
            at = 0
            while at == 0 or len(window) - at >= HEADER_BYTES:
                head = self._head(window, at, position)
                yield position + at, head
                at += head.size
            position += at

    def _head(self, window: bytes, at: int, position: int) -> Head:
        try:
            return head_at(window, at)
        except CorruptBatch as error:
            raise CorruptLog(self.path, position + at, error.offset, error.reason) from None


def _end_offset(mark: Mark) -> int:
    return mark.end_offset
