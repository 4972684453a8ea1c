"""Keeping the committed prefix file up to date while the log grows (see `committed_prefix`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.storage.committed_prefix import CommittedPrefix, SegmentPrefix, prefix_text
from raft.storage.files import replace_file
from raft.storage.names import COMMITTED_PREFIX, OFFSET_INDEX, TIME_INDEX
from records.crc import crc32c

if TYPE_CHECKING:
    from raft.storage.disk_queue import DiskQueue
    from raft.storage.files import Files
    from raft.storage.log import MetadataLog


class PrefixKeeper:
    """Writes the file when the log has grown, when an interval is over (see `LogLimits`), and on request.

    high_watermark: the highest known one; it never falls.
    """

    def __init__(self, files: Files, directory: str, queue: DiskQueue, log: MetadataLog, committed: int) -> None:
        self.files = files
        self.high_watermark = committed
        self._path = f"{directory}/{COMMITTED_PREFIX}"
        self._queue = queue
        self._log = log
        self._limits = log.limits
        self._next_ms: int | None = None  # when the interval is over; None before the first tick
        self._written_at = 0  # bytes appended to the log when the file was last written
        self._written_end = -1  # the high watermark when it was last written

    def is_due(self) -> bool:
        least, most = self._limits.prefix_bytes_min, self._limits.prefix_bytes_max
        grown = self._log.bytes_appended - self._written_at
        return grown >= min(least, most) and grown >= min(most, self._log.size // 4)

    def is_overdue(self, now_ms: int) -> bool:
        """Whether an interval is over in which the high watermark advanced.

        Without this rule a quiet quorum would have no file that says what is committed for months, and a start would
        cut committed records as a torn tail.
        """
        if self._next_ms is None:
            self._next_ms = now_ms + self._limits.prefix_interval_ms
        if now_ms < self._next_ms:
            return False
        self._next_ms = now_ms + self._limits.prefix_interval_ms
        return self.high_watermark > self._written_end

    def schedule(self) -> None:
        """Have the flush thread write the file for the records that are committed now."""
        text, handle = self._capture()
        self._queue.submit(COMMITTED_PREFIX, lambda: self._write(text, handle))

    def write_now(self) -> None:
        """Write the file on this thread, when the flush thread has ended."""
        self._write(*self._capture())

    def _capture(self) -> tuple[bytes, int]:
        """The file's text, and the handle of the segment that must be on disk before it; those before it are."""
        self._written_at = self._log.bytes_appended
        self._written_end = self.high_watermark
        end = self._log.first_offset
        parts = []
        for segment in self._log.segments:
            mark = segment.mark_before(self.high_watermark)
            if mark.position == 0:
                break
            offsets, times = segment.index.before(mark.position)
            if segment is self._log.segments[-1]:
                # Here and not by the flush thread: a roll may write these files at any moment.
                segment.write_index(OFFSET_INDEX, offsets)
                segment.write_index(TIME_INDEX, times)
            parts.append(
                SegmentPrefix(
                    segment.base_offset, mark.end_offset, mark.position, mark.crc,
                    len(offsets), crc32c(offsets), len(times), crc32c(times),
                )
            )  # fmt: skip
            end = mark.end_offset
            if end < segment.end_offset:
                break
        prefix = CommittedPrefix(
            max(end, min(self.high_watermark, self._log.end_offset)),
            tuple(entry for entry in self._log.epochs if entry[1] < end),
            tuple(offset for offset in self._log.control_offsets if offset < end),
            tuple(parts),
        )
        return prefix_text(prefix), self._log.segments[-1].handle

    def _write(self, text: bytes, handle: int) -> None:
        self.files.sync_data(handle)
        replace_file(self.files, self._path, text)
