"""Reads a node's log while the node runs: the batches that were appended, and those that were truncated."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.storage.names import LOG, segment_offset
from tools.offline.log_file import HEADER_BYTES, DamagedLog, LogFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Batch(NamedTuple):
    """A batch in a log. crc: of all of its bytes."""

    base_offset: int
    last_offset: int
    epoch: int
    crc: int


class _Lying(NamedTuple):
    """A batch with its position in the segment of this base offset."""

    batch: Batch
    segment: int
    position: int
    size: int
    header: bytes


class Tail:
    """The batches in a log's directory at the last look, oldest first."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lying: list[_Lying] = []

    @property
    def batches(self) -> list[Batch]:
        return [each.batch for each in self._lying]

    def look(self) -> tuple[list[Batch], Batch | None, list[Batch]]:
        """Read what is new. Returns batches that were removed from the end, the last one before them, and those that
        came after.

        Segments that were deleted at the beginning are forgotten, and so is a log that starts again after its end.
        """
        segments = sorted(self._segments())
        first = segments[0] if segments else 0
        self._lying = [each for each in self._lying if each.segment >= first]
        gone = self._cut()
        last = self._lying[-1] if self._lying else None
        came: list[_Lying] = []
        for segment in segments:
            if last is None or segment > last.segment:
                came += self._read(segment, 0)
            elif segment == last.segment:
                came += self._read(segment, last.position + last.size)
        self._lying += came
        return [each.batch for each in gone], last.batch if last else None, [each.batch for each in came]

    def _segments(self) -> Iterator[int]:
        for path in self._directory.glob(f"*{LOG}"):
            offset = segment_offset(path.name, LOG)
            if offset is not None:
                yield offset

    def _cut(self) -> list[_Lying]:
        """Forget batches that are no longer in the file."""
        gone: list[_Lying] = []
        while self._lying and not self._is_there(self._lying[-1]):
            gone.insert(0, self._lying.pop())
        return gone

    def _is_there(self, lying: _Lying) -> bool:
        try:
            with self._path(lying.segment).open("rb") as file:
                file.seek(lying.position)
                return file.read(HEADER_BYTES) == lying.header
        except OSError:
            return False

    def _read(self, segment: int, position: int) -> list[_Lying]:
        """Read whole batches: the next one may be half-written now."""
        batches: list[_Lying] = []
        try:
            with LogFile(str(self._path(segment))) as log:
                for stored in log.batches(position):
                    if not stored.is_intact():
                        break
                    batch = Batch(stored.base_offset, stored.last_offset, stored.leader_epoch, stored.crc)
                    batches.append(
                        _Lying(batch, segment, stored.position, len(stored.data), bytes(stored.data[:HEADER_BYTES]))
                    )
        except (DamagedLog, OSError):
            pass  # nothing lies there yet, or the segment is on its way out
        return batches

    def _path(self, segment: int) -> Path:
        return self._directory / f"{segment:020d}{LOG}"
