"""A node's log, read while the node lives: which batches came, and which are gone from its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from controller.offline.log_file import HEADER_BYTES, DamagedLog, LogFile
from raft.storage.names import LOG, segment_offset

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Batch(NamedTuple):
    """As it lies in a log. crc: of all that is in it."""

    base_offset: int
    last_offset: int
    epoch: int
    crc: int


class _Lying(NamedTuple):
    """A batch with where it lies: so many bytes of the segment of this base offset."""

    batch: Batch
    segment: int
    position: int
    size: int
    header: bytes


class Tail:
    """What a log's directory held when it was last looked at, oldest first."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lying: list[_Lying] = []

    @property
    def batches(self) -> list[Batch]:
        return [each.batch for each in self._lying]

    def look(self) -> tuple[list[Batch], Batch | None, list[Batch]]:
        """Read what is new. Returns batches that are gone from the end, the one that is left before them, and those
        that came behind it.

        Segments that were deleted from the beginning are forgotten, and so is a log that begins anew behind its end.
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
        """Take away what does not lie there any more."""
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
        """As far as whole batches go: the next may be half-written now."""
        found: list[_Lying] = []
        try:
            with LogFile(str(self._path(segment))) as log:
                for stored in log.batches(position):
                    if not stored.is_intact():
                        break
                    batch = Batch(stored.base_offset, stored.last_offset, stored.leader_epoch, stored.crc)
                    found.append(
                        _Lying(batch, segment, stored.position, len(stored.data), bytes(stored.data[:HEADER_BYTES]))
                    )
        except (DamagedLog, OSError):
            pass  # nothing lies there yet, or the segment is on its way out
        return found

    def _path(self, segment: int) -> Path:
        return self._directory / f"{segment:020d}{LOG}"
