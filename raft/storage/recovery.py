"""Opening the log at a start: reading its segments, truncating a torn tail, refusing damage (see DESIGN.md)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from raft.storage.committed_prefix import CommittedPrefix, parse_prefix
from raft.storage.errors import CorruptLog, StorageError
from raft.storage.files import crc_of_file, read_whole
from raft.storage.index import SparseIndex, is_sound
from raft.storage.log import DEFAULT_LIMITS, LogLimits, MetadataLog, create_segment
from raft.storage.names import COMMITTED_PREFIX, LOG, OFFSET_INDEX, TIME_INDEX, segment_name
from raft.storage.segment import Mark, Segment
from raft.storage.walk import Fault, Walker, is_torn, next_intact
from records.batch import CONTROL_ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from raft.storage.committed_prefix import SegmentPrefix
    from raft.storage.files import Files
    from raft.storage.scan import Head

Notes = list[tuple[str, dict[str, Any]]]

_PREFIX_BYTES_MAX = 16 << 20


class LogRecovery:
    """One opening of the log. First everything is read and checked; only then is anything changed.

    snapshot: (end offset, epoch) of the newest stored snapshot, None if there is none; check_snapshot raises
    StorageError if that one is incomplete, and is called before a log is dropped for it. notes: events for the log, as
    (name, fields). prefix: the contents of the committed prefix file.
    """

    def __init__(
        self,
        files: Files,
        directory: str,
        snapshot: tuple[int, int] | None,
        check_snapshot: Callable[[], None],
        notes: Notes,
        limits: LogLimits = DEFAULT_LIMITS,
    ) -> None:
        self.files = files
        self.directory = directory
        self.snapshot = snapshot
        self.limits = limits
        self.notes = notes
        self.prefix = self._read_prefix()
        self.segments: list[Segment] = []
        self._stale: list[Segment] = []
        self._new_start: int | None = None  # of a log to be made; None where there is one
        self._check_snapshot = check_snapshot
        self._epochs: list[tuple[int, int]] = []
        self._control_offsets: list[int] = []
        self._walker = Walker(files, 0, self._note_batch)

    @property
    def end_offset(self) -> int:
        return self.segments[-1].end_offset if self.segments else 0

    @property
    def epoch(self) -> int:
        """The epoch of the last batch; 0 where there is none."""
        return self._epochs[-1][0] if self._epochs else 0

    @property
    def epochs(self) -> tuple[tuple[int, int], ...]:
        """(epoch, start offset) of the log as far as it was read, ascending."""
        return tuple(self._epochs)

    def examine(self, bases: list[int]) -> None:
        """Read the segments with these base offsets, and decide what to do; nothing is changed.

        Raises CorruptLog if a durable batch is damaged or missing, StorageError if the log does not fit the snapshots
        or the committed prefix.
        """
        for base_offset in bases:
            self._take_segment(base_offset, is_last=base_offset == bases[-1])
        if self._is_behind_snapshot():
            self._new_start = self._drop_for_snapshot()
        elif not self.segments:
            self._new_start = 0
        self._check_bounds(self.end_offset if self._new_start is None else self._new_start)

    def control_batches(self, start_offset: int) -> Iterator[bytes]:
        """The control batches from `start_offset` on, of a log that was checked."""
        for offset in self._control_offsets:
            if offset >= start_offset:
                at = bisect_right(self.segments, offset, key=lambda segment: segment.base_offset) - 1
                yield self.segments[at].read_batches(offset, self.end_offset, 1)

    def settle(self) -> MetadataLog:
        """Truncate, drop and make segments as decided; the log, ready for appends, is then on disk."""
        deleted = []
        while self._stale:
            deleted += self._stale[-1].mark_deleted()
            self.files.close(self._stale.pop().handle)
        for segment in self.segments:
            if self.files.size(segment.handle) > segment.size:
                self.files.truncate(segment.handle, segment.size)
                self.files.sync(segment.handle)
        if self._new_start is not None:
            self.segments.append(create_segment(self.files, self.directory, self._new_start, self.limits.mark_bytes))
        self.files.sync_directory(self.directory)
        log = MetadataLog(self.files, self.directory, self.segments, self._epochs, self._control_offsets, self.limits)
        log.deleted = deleted
        return log

    def close(self) -> None:
        """Close the files after a failed start."""
        for segment in (*self.segments, *self._stale):
            self.files.close(segment.handle)

    def _take_segment(self, base_offset: int, *, is_last: bool) -> None:
        path = f"{self.directory}/{segment_name(base_offset, LOG)}"
        if self.segments and base_offset != self.end_offset:
            self._cross_hole(path, base_offset)
        segment = Segment(self.files, self.directory, base_offset, self.files.open(path), self.limits.mark_bytes)
        self.segments.append(segment)
        known = self.prefix.of(base_offset)
        if known is None or self.files.size(segment.handle) > known.position:
            self._read_from_disk(segment.handle)
        changed = False
        if known is not None and known.position:
            changed = crc_of_file(self.files, segment.handle, 0, known.position) != known.crc
            if not changed:
                self._adopt(segment, known)
        fault = self._walker.walk(segment)
        if known is not None and changed and segment.size >= known.position:
            raise CorruptLog(
                path, 0, base_offset,
                f"the first {known.position} bytes, up to offset {known.end_offset}, are whole batches, but not those"
                f" that were committed; {self._on_purpose('changed')}",
            )  # fmt: skip
        if fault is not None:
            self._check_fault(segment, fault, is_last=is_last)
            self.notes.append((
                "log_tail_cut",
                {"file": path, "position": fault.position, "offset": fault.offset, "reason": fault.reason,
                 "bytes": self.files.size(segment.handle) - fault.position},
            ))  # fmt: skip

    def _read_from_disk(self, handle: int) -> None:
        """Have the bytes of a segment read from the disk, and not from the page cache that the last process left.

        Where an fsync of that process failed, the kernel has marked pages as clean that never reached the disk. The
        next fsync succeeds, and a log that was read from these pages would be reported as durable. So dirty pages are
        written first, and then all are dropped. Bytes below the committed prefix were synced before it was written.
        """
        self.files.sync(handle)
        self.files.drop_clean(handle)

    def _cross_hole(self, path: str, base_offset: int) -> None:
        """Segments are missing between the ones before and this one. If a snapshot reaches up to this one, they were
        being removed (a log start that moved up, or a reset); otherwise they are lost.
        """
        if self.snapshot is None or self.snapshot[0] < base_offset or base_offset < self.end_offset:
            raise CorruptLog(
                path,
                0,
                self.end_offset,
                f"the segment before it ends at {self.end_offset}; the batches between are missing",
            )
        self._check_snapshot()
        self.notes.append(("log_segments_dropped", {"below": base_offset, "snapshot": self.snapshot[0]}))
        self._drop_segments()

    def _drop_segments(self) -> None:
        self._stale += self.segments
        self.segments.clear()
        self._epochs.clear()
        self._control_offsets.clear()

    def _adopt(self, segment: Segment, known: SegmentPrefix) -> None:
        """Accept the committed part of a segment, whose CRC is correct, without reading it batch by batch."""
        indexes = self._read_indexes(known)
        # The epochs of this part: the one that its first batch is in, and those that begin in it.
        inherited = [entry for entry in self.prefix.epochs if entry[1] <= segment.base_offset][-1:]
        begun = [entry for entry in self.prefix.epochs if segment.base_offset < entry[1] < known.end_offset]
        if indexes is None or not inherited or inherited[0][0] < self.epoch:
            return  # to be read batch by batch
        segment.adopt(Mark(known.end_offset, known.position, known.crc), SparseIndex(segment.base_offset, *indexes))
        for epoch, start in (*inherited, *begun):
            if not self._epochs or epoch > self.epoch:
                self._epochs.append((epoch, max(start, segment.base_offset)))
        self._control_offsets += [
            offset for offset in self.prefix.control_offsets if segment.base_offset <= offset < known.end_offset
        ]
        self._walker.epoch = self.epoch

    def _read_indexes(self, known: SegmentPrefix) -> tuple[bytes, bytes] | None:
        indexes = []
        for suffix, size, crc in (
            (OFFSET_INDEX, known.offsets_size, known.offsets_crc),
            (TIME_INDEX, known.times_size, known.times_crc),
        ):
            try:
                handle = self.files.open_to_read(f"{self.directory}/{segment_name(known.base_offset, suffix)}")
            except FileNotFoundError:
                return None
            try:
                if crc_of_file(self.files, handle, 0, size) != crc:
                    return None
                indexes.append(self.files.read(handle, 0, size))
            finally:
                self.files.close(handle)
        if not is_sound(known.base_offset, known.end_offset, known.position, indexes[0], indexes[1]):
            return None
        return indexes[0], indexes[1]

    def _check_fault(self, segment: Segment, fault: Fault, *, is_last: bool) -> None:
        """Raise CorruptLog, unless the fault is the torn tail of the log and no committed batch is after it."""

        def refuse(why: str) -> None:
            raise CorruptLog(segment.path, fault.position, fault.offset, f"{fault.reason}; {why}")

        if not is_last:
            refuse("there is a segment behind it, so this is no torn end")
        if fault.offset < self.prefix.end_offset:
            refuse(
                f"all offsets below {self.prefix.end_offset} are committed and were on disk, so this is damage, and no "
                "torn end; the other voters have them: replace this voter, or have `kraftctl log truncate "
                "--lose-committed` cut it"
            )
        if not is_torn(self.files, segment.handle, fault):
            refuse("no interrupted append leaves such bytes, so they are damaged")
        # A later batch may be there and yet this one have been lost by a crash, as pages reach the disk in any order;
        # but then zeros are in its place, and it was not durable.
        behind = next_intact(self.files, segment.handle, fault.position + 1, fault.offset)
        if behind is not None:
            if fault.is_short:
                refuse(f"the batch of offset {behind.base_offset} behind it is whole, so it is damaged")
            if self.snapshot is not None and fault.offset < self.snapshot[0]:
                refuse(f"the snapshot that ends at {self.snapshot[0]} shows that it is committed")

    def _is_behind_snapshot(self) -> bool:
        """Kafka's rule: if a snapshot ends after the log, the log was to be emptied, and a crash interrupted that."""
        if self.snapshot is None:
            return False
        end_offset, epoch = self.snapshot
        return epoch > self.epoch or (epoch == self.epoch and end_offset > self.end_offset)

    def _drop_for_snapshot(self) -> int | None:
        """Drop all segments; returns where the log starts again. None if it starts there already."""
        assert self.snapshot is not None
        end_offset = self.snapshot[0]
        if len(self.segments) == 1 and self.segments[0].base_offset == self.end_offset == end_offset:
            return None
        if self.segments:
            self._check_snapshot()
            self.notes.append(("log_reset_to_snapshot", {"log_end_offset": self.end_offset, "snapshot": end_offset}))
        self._drop_segments()
        return end_offset

    def _check_bounds(self, end_offset: int) -> None:
        """Raise StorageError if the log lacks records that must be there. end_offset: where it will end."""
        first = self.segments[0].base_offset if self.segments else end_offset
        path = f"{self.directory}/{segment_name(first, LOG)}"
        if end_offset < self.prefix.end_offset:
            position = self.segments[-1].size if self.segments else 0
            raise CorruptLog(
                self.segments[-1].path if self.segments else path, position, end_offset,
                f"the log ends here, but offsets below {self.prefix.end_offset} were committed and on disk;"
                f" {self._on_purpose('removed')}",
            )  # fmt: skip
        if first > 0 and (self.snapshot is None or self.snapshot[0] < first):
            newest = "there is none" if self.snapshot is None else f"the newest ends at {self.snapshot[0]}"
            raise StorageError(f"{path}: the log starts at offset {first} and needs a snapshot up to there; {newest}")
        if self.snapshot is not None and self.snapshot[0] > end_offset:
            raise StorageError(
                f"{path}: the log ends at offset {end_offset} in epoch {self.epoch}, but the newest snapshot, of epoch"
                f" {self.snapshot[1]}, holds offsets up to {self.snapshot[0]}"
            )

    def _on_purpose(self, done: str) -> str:
        return f"if the log was {done} on purpose, remove {self.directory}/{COMMITTED_PREFIX}"

    def _note_batch(self, head: Head) -> None:
        if not self._epochs or head.epoch > self.epoch:
            self._epochs.append((head.epoch, head.base_offset))
        if head.attributes & CONTROL_ATTRIBUTE:
            self._control_offsets.append(head.base_offset)

    def _read_prefix(self) -> CommittedPrefix:
        path = f"{self.directory}/{COMMITTED_PREFIX}"
        try:
            return parse_prefix(read_whole(self.files, path, _PREFIX_BYTES_MAX))
        except FileNotFoundError:
            return CommittedPrefix(0)
        except ValueError as error:
            self.notes.append(("committed_prefix_ignored", {"file": path, "reason": str(error)}))
            return CommittedPrefix(0)
