"""The image of a directory of the metadata partition, which a running node may write to meanwhile.

The newest checkpoint is loaded, then the log behind it to its end. No lock is taken and nothing is written. The files
do not say what is committed, so the last records may never be committed; when the node truncates them, the image is
loaded anew.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from records.metadata_log import PARTITION_DIRECTORY
from tools.offline.image import Image
from tools.offline.log_file import DamagedLog
from tools.offline.take_in import HEADER_BYTES, WINDOW_BYTES, last_batch, take_checkpoint, take_in, whole_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.offline.log_file import StoredBatch

_LOG, _CHECKPOINT = ".log", ".checkpoint"
_OFFSET_DIGITS, _EPOCH_DIGITS = 20, 10


class NoMetadata(Exception):
    """A directory that has neither a checkpoint nor a log of the metadata partition."""


class LogHole(DamagedLog):
    """The log starts above 0, and no checkpoint reaches up to there."""


class Place(NamedTuple):
    """The place up to which a log was read.

    base_offset: of the segment; position: of the first byte that was not read; last_position, last_header: the
    position and the first bytes of the last batch that was read, to detect a truncation.
    """

    base_offset: int
    position: int
    last_position: int
    last_header: bytes


class LiveDirectory:
    """An image of the metadata that `update` brings to the end of the files. end_offset: of the image, exclusive."""

    def __init__(self, directory: str) -> None:
        inner = f"{directory}/{PARTITION_DIRECTORY}"
        self.directory = inner if os.path.isdir(inner) else directory  # noqa: PTH112 - pathlib costs 10 ms
        self.image = self.new_image()
        self.end_offset = 0
        self._place: Place | None = None
        self._begun = False

    def update(self) -> Image:
        """Read what was written since the last call; returns the image. Raises NoMetadata, DamagedLog, OSError."""
        hole: LogHole | None = None
        for _ in range(3):  # a checkpoint or segment may be made or deleted during the listing, or before the reading
            segments, checkpoints = self._files()
            try:
                if not self._begun or not self._goes_on(segments):
                    self._begin(segments, checkpoints)
                for number, base_offset in enumerate(segments):
                    following = segments[number + 1] if number + 1 < len(segments) else None
                    if (following is None or following > self.end_offset) and not self._read(base_offset):
                        break
            except (FileNotFoundError, LogHole) as error:
                self._begun = False
                hole = error if isinstance(error, LogHole) else None
                continue
            return self.image
        if hole is not None:
            raise hole
        raise NoMetadata(f"{self.directory}: its files are replaced faster than they can be read")

    def new_image(self) -> Image:
        """An empty image."""
        return Image()

    def admits(self, batch: StoredBatch) -> bool:
        """Whether to replay a batch; `update` ends before the first that is refused."""
        del batch
        return True

    def usable(self, segments: list[int], checkpoints: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """The checkpoints of which the newest is loaded; without any, the image begins at the start of the log."""
        del segments
        return checkpoints

    def on_bytes(self, count: int) -> None:
        """So many more bytes of a checkpoint were read."""

    def on_checkpoint(self, end_offset: int, time_ms: int) -> None:
        """A checkpoint was loaded. time_ms: of the last batch that it covers."""

    def _files(self) -> tuple[list[int], list[tuple[int, int, str]]]:
        """Base offsets of the segments, ascending; end offset, epoch and name of the checkpoints, newest last."""
        segments, checkpoints = [], []
        for name in os.listdir(self.directory):  # noqa: PTH208 - pathlib costs 10 ms
            stem, dot, _ = name.partition(".")
            offset, _, epoch = stem.partition("-")
            if name == f"{stem}{_LOG}" and len(stem) == _OFFSET_DIGITS and stem.isdigit():
                segments.append(int(stem))
            elif (
                name == f"{stem}{_CHECKPOINT}"
                and dot
                and len(offset) == _OFFSET_DIGITS
                and len(epoch) == _EPOCH_DIGITS
                and (offset + epoch).isdigit()
            ):
                checkpoints.append((int(offset), int(epoch), name))
        if not segments and not checkpoints:
            raise NoMetadata(f"{self.directory}: no checkpoint and no log of the metadata partition is here")
        return sorted(segments), sorted(checkpoints)

    def _goes_on(self, segments: list[int]) -> bool:
        """Whether the log still holds the place up to which it was read."""
        if self._place is None:
            return bool(segments) and segments[0] <= self.end_offset
        if self._place.base_offset not in segments:
            # Cleaned, if it was read to its end and the log starts there or before; else it was truncated.
            return bool(segments) and self._place.base_offset < segments[0] == self.end_offset
        with open(self._path(self._place.base_offset), "rb") as file:  # noqa: PTH123
            file.seek(self._place.last_position)
            return file.read(HEADER_BYTES) == self._place.last_header

    def _begin(self, segments: list[int], checkpoints: list[tuple[int, int, str]]) -> None:
        """Load the newest usable checkpoint; without one, begin at the start of the log."""
        usable = self.usable(segments, checkpoints)
        if segments and segments[0] > (usable[-1][0] if usable else 0):
            newest = f"the newest checkpoint ends at {usable[-1][0]}" if usable else "there is no checkpoint"
            raise LogHole(f"{self.directory}: the log starts at offset {segments[0]}, and {newest}")
        self.image, self.end_offset, self._place = self.new_image(), segments[0] if segments else 0, None
        if usable:
            end_offset, epoch, name = usable[-1]
            take_checkpoint(self.image, f"{self.directory}/{name}", end_offset, epoch, self.on_bytes)
            self.end_offset = end_offset
            self.on_checkpoint(end_offset, self.image.last_time_ms)
        self._begun = True

    def _read(self, base_offset: int) -> bool:
        """Read the rest of a segment, after the place. False: a batch was refused."""
        position = self._place.position if self._place is not None and self._place.base_offset == base_offset else 0
        with open(self._path(base_offset), "rb") as file:  # noqa: PTH123
            size = os.fstat(file.fileno()).st_size
            window = WINDOW_BYTES
            while position < size:
                file.seek(position)
                data = file.read(min(window, size - position))
                whole = whole_bytes(data)
                if not whole:
                    if len(data) == size - position:
                        break  # the batch is being written
                    window *= 2
                    continue
                taken = take_in(self.image, data[:whole], self.end_offset, None, self.admits)
                if taken.is_refused and not taken.position:
                    return False
                self.end_offset = taken.end_offset
                last = last_batch(data[: taken.position])
                self._place = Place(
                    base_offset, position + taken.position, position + last, data[last : last + HEADER_BYTES]
                )  # fmt: skip
                position += taken.position
                if taken.is_refused:
                    return False
        return True

    def _path(self, base_offset: int) -> str:
        return f"{self.directory}/{base_offset:0{_OFFSET_DIGITS}d}{_LOG}"
