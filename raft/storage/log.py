"""The log: appends to segments, rolls, truncates, resets and reads them; `disk_queue` makes it durable."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from raft.storage.cache import CACHE_BYTES_MAX, TailCache
from raft.storage.disk_queue import LogPoint
from raft.storage.names import (
    EMPTY_PRODUCER_STATE,
    LOG,
    PRODUCER_SNAPSHOT,
    segment_name,
    segment_offset,
)
from raft.storage.scan import Head, cut, heads
from raft.storage.segment import MARK_BYTES, Segment
from records.batch import CONTROL_ATTRIBUTE

if TYPE_CHECKING:
    from raft.storage.files import Files

# A relative offset in an index is an int32.
OFFSET_DELTA_MAX = (1 << 31) - 1


class LogLimits(NamedTuple):
    """segment_bytes_max, segment_ms_max: `metadata.log.segment.bytes` and `.ms`; cache_bytes_max: of the recent end;
    prefix_interval_ms: until the committed prefix is written again, or prefix_bytes_max appended bytes, of a smaller
    log a quarter of it and at least prefix_bytes_min; mark_bytes: between two batch boundaries that it may end at.
    """

    segment_bytes_max: int = 1 << 30
    segment_ms_max: int = 7 * 24 * 3600 * 1000
    cache_bytes_max: int = CACHE_BYTES_MAX
    prefix_interval_ms: int = 180_000
    # A start after a crash checks this many bytes batch by batch.
    prefix_bytes_max: int = 8 << 20
    # A node that was killed refuses to follow a leader whose log diverges below the offset in the file, such as an
    # empty one: so the file is not far behind a small log either.
    prefix_bytes_min: int = 1 << 10
    mark_bytes: int = MARK_BYTES


DEFAULT_LIMITS = LogLimits()


class MetadataLog:
    """The segments of `__cluster_metadata-0`, at least one; appends go to the last.

    epochs: (epoch, start offset) of the log, ascending. control_offsets: base offsets of its control batches.
    bytes_appended: since the start.
    """

    def __init__(
        self,
        files: Files,
        directory: str,
        segments: list[Segment],
        epochs: list[tuple[int, int]],
        control_offsets: list[int],
        limits: LogLimits,
    ) -> None:
        assert segments, "a log has a segment"
        self.files = files
        self.directory = directory
        self.segments = segments
        self.epochs = epochs
        self.control_offsets = control_offsets
        self.limits = limits
        self.bytes_appended = 0
        self.cache = TailCache(self.end_offset, limits.cache_bytes_max)
        self.deleted: list[str] = []  # files renamed to `.deleted`, to be unlinked later
        self.retired: list[int] = []  # handles to be closed behind the flushes that may use them
        self.flushed = 0  # number of the last operation on disk, names included; set by the flush thread
        self._made_by = 0  # number of the operation that made the last segment

    @property
    def first_offset(self) -> int:
        """The base offset of the first segment; records from here on can be read."""
        return self.segments[0].base_offset

    @property
    def end_offset(self) -> int:
        return self.segments[-1].end_offset

    @property
    def size(self) -> int:
        """The bytes of all segments together."""
        return sum(segment.size for segment in self.segments)

    def append(self, number: int, base_offset: int, end_offset: int, data: bytes) -> LogPoint:
        """Write whole batches, which have the offsets from `base_offset` to `end_offset` (exclusive), at the end."""
        assert base_offset == self.end_offset, f"append at {base_offset}, the log ends at {self.end_offset}"
        batches = list(heads(data))
        expected = base_offset
        epoch = self.epochs[-1][0] if self.epochs else 0
        for head in batches:
            assert head.base_offset == expected, f"batch at {head.base_offset}, expected {expected}"
            assert head.epoch >= epoch, f"batch at {expected} has epoch {head.epoch}, the log {epoch}"
            expected = head.last_offset + 1
            epoch = head.epoch
        assert expected == end_offset, f"batches end at {expected}, not {end_offset}"
        active = self.segments[-1]
        rolled = self._must_roll(active, len(data), batches)
        if rolled:
            active = self._roll(active)
            self._made_by = number
        active.append(data, batches)
        for head in batches:
            self._note(head)
        assert self.end_offset == end_offset, f"after an append to {end_offset} the log ends at {self.end_offset}"
        self.bytes_appended += len(data)
        self.cache.append(base_offset, end_offset, data)
        return self._point(number, active.handle, names_changed=rolled)

    def truncate(self, number: int, end_offset: int, committed: int = 0) -> LogPoint:
        """Remove the batches that hold offsets at or above `end_offset`, none of which is below `committed`; durable
        when this returns. Raises CorruptLog.
        """
        assert end_offset >= committed, f"truncation to {end_offset}, committed is {committed}"
        if end_offset >= self.end_offset:
            return self._point(number, None, names_changed=False)
        assert end_offset >= self.first_offset, f"truncation to {end_offset}, before {self.first_offset}"
        while self.segments[-1].base_offset > end_offset:
            self._remove_last()
        active = self.segments[-1]
        active.truncate(end_offset, committed)
        self.cache.truncate(self.end_offset)
        self._forget_from(self.end_offset)
        assert self.end_offset <= end_offset, f"after a truncation to {end_offset} the log ends at {self.end_offset}"
        return self._point(number, active.handle, names_changed=False)

    def reset(self, number: int, end_offset: int) -> LogPoint:
        """Empty the log, so that it starts and ends at `end_offset`, which a snapshot on disk covers.

        A crash in between leaves a log without its newest segments, or none: a start resets it to the snapshot, or
        the replica fetches it again.
        """
        while self.segments:
            self._remove_last()
        segment = create_segment(self.files, self.directory, end_offset, self.limits.mark_bytes)
        self._made_by = number
        self.segments.append(segment)
        self.epochs.clear()
        self.control_offsets.clear()
        self.cache.clear(end_offset)
        assert self.first_offset == self.end_offset == end_offset, f"the log, reset to {end_offset}, is not empty"
        return self._point(number, segment.handle, names_changed=True)

    def advance_start(self, number: int, start_offset: int) -> LogPoint:
        """Remove the segments that lie wholly below `start_offset`, oldest first, never the last one."""
        removed = False
        while len(self.segments) > 1 and self.segments[1].base_offset <= start_offset:
            self._remove(self.segments.pop(0))
            removed = True
        if removed:
            self._forget_before(self.first_offset)
        return self._point(number, None, names_changed=removed)

    def read(self, offset: int, end_offset: int, bytes_max: int) -> bytes:
        """Whole batches from the one that holds `offset` on, none reaching above `end_offset`: at least one, then as
        many as `bytes_max` holds and lie in the same segment; empty where `offset` is the end.

        Raises CorruptLog where the file does not hold them, ValueError where the log starts after `offset`.
        """
        end_offset = min(end_offset, self.end_offset)
        if offset >= end_offset:
            return b""
        if offset < self.first_offset:
            raise ValueError(f"offset {offset} is before the start of the log, {self.first_offset}")
        chunks = self.cache.chunks_from(offset, end_offset, bytes_max)
        if chunks is None:
            at = bisect_right(self.segments, offset, key=_base_offset) - 1
            return self.segments[at].read_batches(offset, end_offset, bytes_max)
        whole = []
        have = 0
        for chunk in chunks:
            data = chunk.data
            if chunk.base_offset < offset:
                data = cut(data, offset, end_offset, len(data))
            have += len(data)
            if have > bytes_max or chunk.end_offset > end_offset:
                break
            whole.append(data)
        if whole:
            return whole[0] if len(whole) == 1 else b"".join(whole)
        return cut(chunks[0].data, offset, end_offset, bytes_max)

    def write_closing(self) -> None:
        """Write the files that Kafka leaves beside a closed log: both indexes, and the producer state, which is empty
        here.
        """
        self.segments[-1].write_indexes()
        kept = {segment.base_offset for segment in self.segments} | {self.end_offset}
        for name in self.files.list(self.directory):
            offset = segment_offset(name, PRODUCER_SNAPSHOT)
            if offset is not None and offset not in kept:
                self.files.remove(f"{self.directory}/{name}")
        self._write_producer_state(self.end_offset)

    def close(self) -> None:
        """Close the files; nothing is flushed."""
        for segment in self.segments:
            self.files.close(segment.handle)

    def _must_roll(self, active: Segment, size: int, batches: list[Head]) -> bool:
        """Kafka's rule: an append that does not fit, or comes too late, begins a new segment."""
        if active.size == 0:
            return False
        waited = max(head.max_timestamp for head in batches) - active.first_timestamp
        return (
            active.size > self.limits.segment_bytes_max - size
            or (active.first_timestamp >= 0 and waited > self.limits.segment_ms_max)
            or active.index.is_full
            or batches[-1].last_offset - active.base_offset > OFFSET_DELTA_MAX
        )

    def _roll(self, active: Segment) -> Segment:
        # Once in a segment this waits for the disk, so that of a log only the last segment can be torn, or missing.
        # Of two names that are new a file system may keep the second alone, and a start refuses a log with a hole.
        self.files.sync_data(active.handle)
        if self.flushed < self._made_by:
            self.files.sync_directory(self.directory)
        active.write_indexes()
        self._write_producer_state(self.end_offset)
        segment = create_segment(self.files, self.directory, self.end_offset, self.limits.mark_bytes)
        self.segments.append(segment)
        return segment

    def _write_producer_state(self, offset: int) -> None:
        handle = self.files.open(f"{self.directory}/{segment_name(offset, PRODUCER_SNAPSHOT)}", create=True)
        try:
            self.files.write(handle, 0, EMPTY_PRODUCER_STATE)
            self.files.truncate(handle, len(EMPTY_PRODUCER_STATE))
        finally:
            self.files.close(handle)

    def _remove_last(self) -> None:
        """Durable when this returns: removed one by one, newest first, segments leave no hole after a crash."""
        self._remove(self.segments.pop())
        self.files.sync_directory(self.directory)

    def _remove(self, segment: Segment) -> None:
        self.deleted += segment.mark_deleted()
        self.retired.append(segment.handle)

    def _note(self, head: Head) -> None:
        if not self.epochs or head.epoch > self.epochs[-1][0]:
            self.epochs.append((head.epoch, head.base_offset))
        if head.attributes & CONTROL_ATTRIBUTE:
            self.control_offsets.append(head.base_offset)

    def _forget_from(self, end_offset: int) -> None:
        while self.epochs and self.epochs[-1][1] >= end_offset:
            self.epochs.pop()
        while self.control_offsets and self.control_offsets[-1] >= end_offset:
            self.control_offsets.pop()

    def _forget_before(self, offset: int) -> None:
        while len(self.epochs) > 1 and self.epochs[1][1] <= offset:
            del self.epochs[0]
        if self.epochs and self.epochs[0][1] < offset:
            self.epochs[0] = (self.epochs[0][0], offset)
        self.control_offsets[:] = [
            control_offset for control_offset in self.control_offsets if control_offset >= offset
        ]

    def _point(self, number: int, handle: int | None, *, names_changed: bool) -> LogPoint:
        return LogPoint(number, handle, names_changed, self.end_offset, self.size)


def create_segment(files: Files, directory: str, base_offset: int, mark_bytes: int = MARK_BYTES) -> Segment:
    """Make an empty segment; its name is durable after the directory was synced."""
    handle = files.open(f"{directory}/{segment_name(base_offset, LOG)}", create=True)
    files.truncate(handle, 0)
    return Segment(files, directory, base_offset, handle, mark_bytes)


def _base_offset(segment: Segment) -> int:
    return segment.base_offset
