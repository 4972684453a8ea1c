"""The content of the partition's directory: segments, snapshots, leftovers, and `partition.metadata`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.storage.errors import StorageError
from raft.storage.files import read_whole
from raft.storage.names import (
    LOG,
    OFFSET_INDEX,
    PARTITION_METADATA,
    PARTITION_METADATA_TEXT,
    TIME_INDEX,
    is_leftover,
    segment_offset,
    snapshot_id,
)

if TYPE_CHECKING:
    from raft.storage.files import Files


class Contents(NamedTuple):
    """The files of a directory by kind. segments: base offsets, ascending; snapshots: (end offset, epoch), ascending by
    epoch, then offset; orphans: index files without a log; leftovers: of interrupted writes and deletes.
    """

    segments: list[int]
    snapshots: list[tuple[int, int]]
    orphans: list[str]
    leftovers: list[str]


def list_contents(files: Files, directory: str) -> Contents:
    """The files of a directory by kind; files with other names are ignored."""
    names = files.list(directory)
    segments = sorted(offset for name in names if (offset := segment_offset(name, LOG)) is not None)
    snapshots = [snapshot for name in names if (snapshot := snapshot_id(name)) is not None]
    snapshots.sort(key=lambda snapshot: (snapshot[1], snapshot[0]))
    orphans = [
        name
        for name in names
        for suffix in (OFFSET_INDEX, TIME_INDEX)
        if (offset := segment_offset(name, suffix)) is not None and offset not in segments
    ]
    return Contents(segments, snapshots, orphans, [name for name in names if is_leftover(name)])


def has_partition_metadata(files: Files, directory: str) -> bool:
    """Whether the directory is marked as the metadata topic's; raises StorageError where it is another topic's."""
    path = f"{directory}/{PARTITION_METADATA}"
    try:
        text = read_whole(files, path)
    except FileNotFoundError:
        return False
    if text.split() != PARTITION_METADATA_TEXT.split():
        shown = text[:80].decode("utf-8", "replace")
        raise StorageError(f"{path} says {shown!r}; it should say {PARTITION_METADATA_TEXT.decode()!r}")
    return True
