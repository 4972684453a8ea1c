"""Removing the end of a log, offline: planned first, then done in an order that survives a crash at any point."""

from __future__ import annotations

from typing import NamedTuple

from raft.storage.directory import list_contents
from raft.storage.epoch_checkpoint import epochs_text
from raft.storage.files import OsFiles, replace_file
from raft.storage.names import (
    COMMITTED_PREFIX,
    EPOCH_CHECKPOINT,
    LOG,
    OFFSET_INDEX,
    PRODUCER_SNAPSHOT,
    TIME_INDEX,
    segment_name,
    segment_offset,
    snapshot_name,
)
from tools.offline.log_file import LogFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tools.offline.examined import Examined, SegmentSpan

_SUFFIXES = (LOG, OFFSET_INDEX, TIME_INDEX, PRODUCER_SNAPSHOT, ".txnindex")


class CannotTruncate(Exception):
    """The log cannot end at this offset; the text has the reason and what is possible."""


class Truncation(NamedTuple):
    """What a truncation does.

    end_offset: of the log afterwards, exclusive, at a batch boundary. asked: the offset that was given. lost: offsets
    that were in the log and are not in it afterwards, also those that are unreadable or gone already; lost_committed:
    those of them that are known to be committed. cut: the segment that is cut, and its size afterwards; None if it ends
    there already. segments, snapshots: file names that are removed. epochs: those that are left. drops_prefix: whether
    the committed prefix file is removed too.
    """

    directory: str
    asked: int
    end_offset: int
    lost: int
    lost_committed: int
    cut: tuple[str, int] | None
    segments: list[str]
    snapshots: list[str]
    epochs: tuple[tuple[int, int], ...]
    drops_prefix: bool


def plan_truncation(examined: Examined, end_offset: int) -> Truncation:
    """Plan to remove all batches that hold offsets at or above `end_offset`. Raises CannotTruncate, OSError."""
    if end_offset > examined.end_offset:
        raise CannotTruncate(
            f"the log can be read up to offset {examined.end_offset}, which is its highest possible end; it cannot end "
            f"at {end_offset}"
        )
    contents = list_contents(OsFiles(), examined.directory)
    last = None
    position, boundary = 0, end_offset
    # Without a segment, a start makes a log at the end of the newest checkpoint.
    if examined.segments or end_offset != examined.end_offset:
        last, position, boundary = _last_segment(examined, end_offset)
    return Truncation(
        examined.directory,
        end_offset,
        boundary,
        max(0, examined.known_end - boundary),
        max(0, examined.committed - boundary),
        (last.path, position) if last is not None and last.file_size > position else None,
        [segment_name(base, LOG) for base in contents.segments if last is not None and base > last.base_offset],
        # Those that are damaged too: by its name each says that its end was committed, and a start would reach for it.
        [snapshot_name(*snapshot) for snapshot in contents.snapshots if snapshot[0] > boundary],
        tuple(entry for entry in examined.epochs if entry[1] < boundary),
        examined.committed > boundary,
    )


def _last_segment(examined: Examined, end_offset: int) -> tuple[SegmentSpan, int, int]:
    """The segment that is the last one afterwards, its size then, and the end offset. Raises CannotTruncate."""
    at = [segment for segment in examined.segments if segment.base_offset <= end_offset]
    if not at:
        raise CannotTruncate(f"the log starts at offset {examined.start_offset}; it cannot end at {end_offset}")
    position, boundary = _boundary(at[-1].path, at[-1].size, at[-1].base_offset, end_offset)
    needed = [snapshot for snapshot in examined.snapshots if examined.start_offset <= snapshot[0] <= boundary]
    if examined.start_offset > 0 and not needed:
        above = [snapshot[0] for snapshot in examined.snapshots if snapshot[0] >= examined.start_offset]
        raise CannotTruncate(
            f"the log starts at offset {examined.start_offset}, and no checkpoint ends between there and {boundary}; "
            f"the lowest possible end is {min(above) if above else 'none'}"
        )
    return at[-1], position, boundary


def truncate(plan: Truncation) -> None:
    """Do what was planned; each step is on disk before the next. The caller holds the lock, and has made a copy.

    Checkpoints above the end go first, else a start would empty the log to reach them; then segments, newest first, so
    that a crash in between leaves no hole; then the last segment is cut. Raises OSError.
    """
    files = OsFiles()
    directory = plan.directory
    if plan.drops_prefix and files.exists(f"{directory}/{COMMITTED_PREFIX}"):
        files.remove(f"{directory}/{COMMITTED_PREFIX}")
    for name in reversed(plan.snapshots):
        files.remove(f"{directory}/{name}")
    files.sync_directory(directory)
    for name in reversed(plan.segments):
        base_offset = segment_offset(name, LOG)
        assert base_offset is not None, name
        for suffix in _SUFFIXES:
            path = f"{directory}/{segment_name(base_offset, suffix)}"
            if files.exists(path):
                files.remove(path)
        files.sync_directory(directory)
    if plan.cut is not None:
        path, size = plan.cut
        # A start makes the indexes again; entries for removed batches would be wrong.
        for suffix in (OFFSET_INDEX, TIME_INDEX):
            index = path.removesuffix(LOG) + suffix
            if files.exists(index):
                files.remove(index)
        handle = files.open(path)
        try:
            files.truncate(handle, size)
            files.sync(handle)
        finally:
            files.close(handle)
    # Producer state of an offset above the end would name records that are gone.
    for name in files.list(directory):
        offset = segment_offset(name, PRODUCER_SNAPSHOT)
        if offset is not None and offset > plan.end_offset:
            files.remove(f"{directory}/{name}")
    replace_file(files, f"{directory}/{EPOCH_CHECKPOINT}", epochs_text(plan.epochs))


def _boundary(path: str, size: int, base_offset: int, end_offset: int) -> tuple[int, int]:
    """The position and the end offset of the last batch that holds no offset at or above `end_offset`."""
    position, boundary = 0, base_offset
    with LogFile(path) as log:
        for batch in log.batches(0, size):
            if batch.last_offset >= end_offset:
                break
            position, boundary = batch.position + len(batch.data), batch.last_offset + 1
    return position, boundary
