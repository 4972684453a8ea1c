"""The sparse indexes of a segment: offset to position, timestamp to offset, in the bytes of Kafka's files.

Like Kafka, it adds an entry at the first batch that begins more than 4096 bytes after the batch of the last entry. It
does so after a restart too, so both files are determined by the bytes of the log.
"""

from __future__ import annotations

from struct import Struct as Layout

INTERVAL_BYTES = 4096
# The size that Kafka allocates for an index file (segment.index.bytes): a segment rolls when one of them is full.
FILE_BYTES_MAX = 10 * 1024 * 1024

_OFFSET_ENTRY = Layout(">ii")  # last offset of a batch less the base offset, position of the batch
_TIME_ENTRY = Layout(">qi")  # largest timestamp so far, offset of its batch less the base offset
_OFFSET_BYTES = _OFFSET_ENTRY.size
_TIME_BYTES = _TIME_ENTRY.size
_OFFSET_ENTRIES_MAX = FILE_BYTES_MAX // _OFFSET_BYTES
_TIME_ENTRIES_MAX = FILE_BYTES_MAX // _TIME_BYTES


class SparseIndex:
    """Both indexes of one segment. Offsets are absolute in the methods, relative in the bytes.

    offsets, times: the entries, as they are in the files. max_timestamp, max_timestamp_offset: the largest timestamp of
    the batches so far and the last offset of the first batch that has it; -1 where there is none.
    """

    __slots__ = ("_since", "base_offset", "max_timestamp", "max_timestamp_offset", "offsets", "times")

    def __init__(self, base_offset: int, offsets: bytes = b"", times: bytes = b"") -> None:
        self.base_offset = base_offset
        self.offsets = bytearray(offsets)
        self.times = bytearray(times)
        self._since = 0  # bytes from the batch of the last entry, or from the start, to the end
        self.max_timestamp, self.max_timestamp_offset = self._last_time()

    def add(self, last_offset: int, max_timestamp: int, position: int, size: int) -> None:
        """A batch was appended at `position`."""
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        if self._since > INTERVAL_BYTES:
            self.offsets += _OFFSET_ENTRY.pack(last_offset - self.base_offset, position)
            self._add_time()
            self._since = 0
        self._since += size

    @property
    def is_full(self) -> bool:
        return (
            len(self.offsets) // _OFFSET_BYTES >= _OFFSET_ENTRIES_MAX
            or len(self.times) // _TIME_BYTES >= _TIME_ENTRIES_MAX - 1
        )

    @property
    def last_position(self) -> int:
        """Position of the batch of the last entry; 0 where there is none."""
        if not self.offsets:
            return 0
        _, position = _OFFSET_ENTRY.unpack_from(self.offsets, len(self.offsets) - _OFFSET_BYTES)
        return int(position)

    def position_before(self, offset: int) -> int:
        """Where a search for the batch of `offset` may begin: the position of a batch at or before it."""
        low, high = 0, len(self.offsets) // _OFFSET_BYTES
        relative = offset - self.base_offset
        while low < high:
            middle = (low + high) // 2
            last, _ = _OFFSET_ENTRY.unpack_from(self.offsets, middle * _OFFSET_BYTES)
            if last <= relative:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            return 0
        _, position = _OFFSET_ENTRY.unpack_from(self.offsets, (low - 1) * _OFFSET_BYTES)
        return int(position)

    def before(self, position: int) -> tuple[bytes, bytes]:
        """The entries of both indexes for batches before `position`, a batch boundary."""
        low, high = 0, len(self.offsets) // _OFFSET_BYTES
        while low < high:
            middle = (low + high) // 2
            if _OFFSET_ENTRY.unpack_from(self.offsets, middle * _OFFSET_BYTES)[1] < position:
                low = middle + 1
            else:
                high = middle
        offsets = bytes(self.offsets[: low * _OFFSET_BYTES])
        return offsets, bytes(self.times[: self._times_until(offsets)])

    def truncate(self, end_offset: int) -> int:
        """Drop the entries of batches at and above `end_offset`.

        Returns the position of a batch; the caller must call `resume` for it and all batches after it.
        """
        relative = end_offset - self.base_offset
        while (
            self.offsets and _OFFSET_ENTRY.unpack_from(self.offsets, len(self.offsets) - _OFFSET_BYTES)[0] >= relative
        ):
            del self.offsets[-_OFFSET_BYTES:]
        del self.times[self._times_until(self.offsets) :]
        self._since = 0
        self.max_timestamp, self.max_timestamp_offset = self._last_time()
        return self.last_position

    def resume(self, last_offset: int, max_timestamp: int, size: int) -> None:
        """Add a batch that is already in the log, at or after the last entry's: after a truncation, or a start with
        entries.
        """
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
            self.max_timestamp_offset = last_offset
        self._since += size

    def closed_times(self) -> bytes:
        """The time index of a segment that is closed: its last entry has the segment's largest timestamp."""
        if self.max_timestamp <= self._last_time()[0]:
            return bytes(self.times)
        relative = self.max_timestamp_offset - self.base_offset
        return bytes(self.times) + _TIME_ENTRY.pack(self.max_timestamp, relative)

    def _times_until(self, offsets: bytes | bytearray) -> int:
        """The bytes of the time index that were added with these entries of the offset index.

        A time entry is added with the first offset entry at or after its own offset.
        """
        last = _OFFSET_ENTRY.unpack_from(offsets, len(offsets) - _OFFSET_BYTES)[0] if offsets else -1
        end = len(self.times)
        while end and _TIME_ENTRY.unpack_from(self.times, end - _TIME_BYTES)[1] > last:
            end -= _TIME_BYTES
        return end

    def _add_time(self) -> None:
        if self.max_timestamp > self._last_time()[0]:
            self.times += _TIME_ENTRY.pack(self.max_timestamp, self.max_timestamp_offset - self.base_offset)

    def _last_time(self) -> tuple[int, int]:
        if not self.times:
            return -1, -1
        timestamp, relative = _TIME_ENTRY.unpack_from(self.times, len(self.times) - _TIME_BYTES)
        return timestamp, self.base_offset + relative


def is_sound(base_offset: int, end_offset: int, size: int, offsets: bytes, times: bytes) -> bool:
    """Whether entries from files can be those of a segment that holds [base_offset, end_offset) in `size` bytes."""
    if len(offsets) % _OFFSET_BYTES or len(times) % _TIME_BYTES:
        return False
    last = (-1, -1)
    for entry in _OFFSET_ENTRY.iter_unpack(offsets):
        if entry[0] <= last[0] or entry[1] <= last[1] or entry[0] >= end_offset - base_offset or entry[1] >= size:
            return False
        last = entry
    last = (-1, -1)
    for entry in _TIME_ENTRY.iter_unpack(times):
        if entry[0] <= last[0] or entry[1] <= last[1] or entry[1] >= end_offset - base_offset:
            return False
        last = entry
    return True
