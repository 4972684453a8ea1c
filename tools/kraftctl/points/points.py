"""A state of the metadata at a point, an offset or a time, read from a directory, a file or a live quorum.

An offset is exclusive, as in the name of a checkpoint: the state at offset 100 has the records below it. A state at a
time has the batches before the first that was written later. A batch is atomic: an offset within a batch means the
start of it.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from tools.kraftctl.points.changes import time_text
from tools.kraftctl.points.noting_image import NotingImage
from tools.offline.live_directory import LiveDirectory, NoMetadata
from tools.offline.log_file import LogFile
from tools.offline.take_in import take_checkpoint, take_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.kraftctl.points.changes import Change
    from tools.offline.image import Image
    from tools.offline.log_file import StoredBatch


_OFFSET_DIGITS_MAX = 18
_AGO = re.compile(r"(\d{1,6})([smhd])")
_UNITS_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SEGMENT = re.compile(r"(\d{20})\.log")
_CHECKPOINT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
END_WORDS = {"now", "end"}
POINT_HELP = "an offset, a time such as 2026-11-22T16:00:00Z (UTC if it names no zone), or 2h for two hours ago"


class NoPoint(Exception):
    """A point that cannot be read, or a source that does not reach it or does not answer; the text is one line."""


class Point(NamedTuple):
    """offset: exclusive; time_ms: since 1970. Both None: the end."""

    offset: int | None = None
    time_ms: int | None = None

    def is_before(self, batch: StoredBatch) -> bool:
        """Whether the batch does not belong to the state at this point."""
        if self.offset is not None:
            return batch.last_offset >= self.offset
        return self.time_ms is not None and batch.max_timestamp > self.time_ms


START, END = Point(offset=0), Point()


def parse_point(text: str, now_ms: int) -> Point:
    """The point that a text means. Raises NoPoint."""
    if text in END_WORDS:
        return END
    if text.isascii() and text.isdigit() and len(text) <= _OFFSET_DIGITS_MAX:
        return Point(offset=int(text))
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return Point(time_ms=now_ms - int(ago[1]) * _UNITS_MS[ago[2]])
    from datetime import UTC, datetime

    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise NoPoint(f"{text!r} is no point; give {POINT_HELP}") from None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return Point(time_ms=int(at.timestamp() * 1000))


class Reading:
    """One reading of a source up to a point, with the changes after another.

    until: where the state ends. since: from where on changes are noted; None: none are. wanted: which are noted.
    note: called with the number of bytes that were replayed. noted_from: the offset from which on changes are noted, -1
    if none are; end_offset: of what was replayed, exclusive; is_ended: whether there was more behind `until`.
    """

    def __init__(
        self,
        until: Point = END,
        since: Point | None = None,
        wanted: Callable[[Change], bool] = lambda _change: True,
        note: Callable[[int], None] = lambda _bytes: None,
    ) -> None:
        self.until = until
        self.since = since
        self.wanted = wanted
        self.note = note
        self.noted_from = -1
        self.end_offset = 0
        self.is_ended = False
        self._bytes = 0

    def new_image(self) -> NotingImage:
        return NotingImage(self.wanted)

    def begins(self, end_offset: int, time_ms: int) -> None:
        """A checkpoint is the base. Raises NoPoint if it is newer than a point of the reading; START may be any."""
        for point in (self.until, END if self.since in (None, START) else self.since):
            assert point is not None
            is_newer = point.offset is not None and point.offset < end_offset
            if is_newer or (point.time_ms is not None and point.time_ms < time_ms):
                raise NoPoint(
                    f"the log does not reach back to {_text_of(point)}: it begins with the checkpoint at offset "
                    f"{end_offset}, {time_text(time_ms)}"
                )
        self.end_offset = end_offset

    def admits(self, image: Image, batch: StoredBatch) -> bool:
        """Whether to replay this batch; called before each."""
        if self.is_ended or self.until.is_before(batch):
            self.is_ended = True
            return False
        if self.since is not None and self.since.is_before(batch):
            assert isinstance(image, NotingImage)
            image.notes = True
            if self.noted_from < 0:
                self.noted_from = batch.base_offset
        self.end_offset = batch.last_offset + 1
        self.count(len(batch.data))
        return True

    def count(self, size: int) -> None:
        """So many more bytes were replayed."""
        self._bytes += size
        self.note(self._bytes)

    def check(self, where: str) -> None:
        """Check the points against the source. Raises NoPoint if it ends before an offset that was asked for."""
        for point in (self.until, self.since):
            if point is not None and point.offset is not None and point.offset > self.end_offset and not self.is_ended:
                raise NoPoint(f"{where} ends at offset {self.end_offset}, before offset {point.offset}")


def _text_of(point: Point) -> str:
    return f"offset {point.offset}" if point.offset is not None else time_text(point.time_ms or 0)


class PastDirectory(LiveDirectory):
    """The directory of the metadata partition, which a running node may write to, up to the end of a reading."""

    image: NotingImage

    def __init__(self, directory: str, reading: Reading) -> None:
        self.reading = reading
        super().__init__(directory)
        if not os.path.isdir(self.directory):  # noqa: PTH112 - pathlib costs 10 ms
            raise NoMetadata(f"{directory} is no directory")

    def new_image(self) -> NotingImage:
        return self.reading.new_image()

    def update(self) -> NotingImage:
        super().update()
        return self.image

    def admits(self, batch: StoredBatch) -> bool:
        return self.reading.admits(self.image, batch)

    def usable(self, segments: list[int], checkpoints: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """The checkpoints at which the reading may begin: none is newer than a point that it needs. Raises NoPoint."""
        since = END if self.reading.since is None else self.reading.since
        limits = [self._offset_of(point, segments) for point in (self.reading.until, since)]
        known = [limit for limit in limits if limit is not None]
        begin = segments[0] if segments else 0
        behind = [each for each in checkpoints if each[0] >= begin]
        if not known:
            return behind
        candidates = [each for each in behind if each[0] <= min(known)]
        if candidates or (segments and begin == 0):
            return candidates
        if since == START and behind:
            return behind[:1]
        least = behind[0][0] if behind else begin
        raise NoPoint(f"{self.directory} does not reach back to offset {min(known)}: it begins at offset {least}")

    def on_bytes(self, count: int) -> None:
        self.reading.count(count)

    def on_checkpoint(self, end_offset: int, time_ms: int) -> None:
        self.reading.begins(end_offset, time_ms)

    def _offset_of(self, point: Point, segments: list[int]) -> int | None:
        """The offset of a point; None for the end."""
        if point.time_ms is None:
            return point.offset
        for base_offset in segments:
            with LogFile(self._path(base_offset)) as log:
                for batch in log.batches():
                    if point.is_before(batch):
                        if batch.base_offset == segments[0] > 0:
                            raise NoPoint(
                                f"{self.directory} does not reach back to {time_text(point.time_ms)}: its log begins "
                                f"at offset {segments[0]}, {time_text(batch.max_timestamp)}"
                            )
                        return batch.base_offset
        return None


class OneFile:
    """The image of one file: a checkpoint, or a segment of the log."""

    def __init__(self, path: str, reading: Reading) -> None:
        self.path = path
        self.reading = reading
        self.image = reading.new_image()

    def update(self) -> NotingImage:
        """Read the file. Raises NoPoint, NoMetadata, DamagedLog, OSError."""
        name = os.path.basename(self.path)  # noqa: PTH119 - pathlib costs 10 ms
        checkpoint, segment = _CHECKPOINT.fullmatch(name), _SEGMENT.fullmatch(name)
        if checkpoint is None and segment is None:
            raise NoMetadata(f"{self.path} is neither a checkpoint nor a segment of the metadata log, by its name")
        image = self.image
        if checkpoint is None:
            assert segment is not None
            with open(self.path, "rb") as file:  # noqa: PTH123
                data = file.read()
            take_in(image, data, int(segment[1]), None, lambda batch: self.reading.admits(image, batch))
            return image
        take_checkpoint(image, self.path, int(checkpoint[1]), int(checkpoint[2]), self.reading.count)
        self.reading.begins(int(checkpoint[1]), image.last_time_ms)
        return image
