"""Finding copies of metadata logs: node directories, folders of them, and directories of the partition alone."""

from __future__ import annotations

import os
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from raft.storage.meta_properties import META_PROPERTIES, parse_meta_properties
from raft.storage.names import CHECKPOINT, LOG, segment_offset, snapshot_id
from records.metadata_log import PARTITION_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Iterable


class LogFile(NamedTuple):
    """A segment, or a checkpoint. offset: of a segment its first offset; of a checkpoint its end offset, exclusive."""

    path: str
    offset: int
    size: int


class Copy(NamedTuple):
    """One node's copy of the log of a cluster. Segments and checkpoints ascend. node_id: None if unknown."""

    directory: str
    cluster_id: str
    node_id: int | None
    segments: tuple[LogFile, ...]
    checkpoints: tuple[LogFile, ...]


class Skipped(NamedTuple):
    """A path that is not read. reason: one line that names it."""

    path: str
    reason: str


class Mark(NamedTuple):
    """The ids in a directory's meta.properties. partition: the directory of the partition in it."""

    directory: str
    partition: str
    cluster_id: str | None
    node_id: int | None


def find(patterns: Iterable[str], cluster_id: str | None = None) -> tuple[list[Copy], list[Skipped]]:
    """The copies that the patterns name, and named paths that are not copies.

    patterns: paths or globs; each match is a node directory, a folder of the nodes of one cluster, or a directory of
    the partition. cluster_id: if given, directories of other clusters are skipped, and those without an id count as
    this one.
    """
    copies: list[Copy] = []
    skipped: list[Skipped] = []
    seen: set[str] = set()
    for pattern in patterns:
        paths = sorted(glob(pattern)) if has_magic(pattern) else [pattern]  # noqa: PTH207 - patterns may be absolute
        if not paths:
            skipped.append(Skipped(pattern, f"{pattern}: no path fits this pattern"))
        for path in paths:
            if (real := os.path.realpath(path)) in seen:
                continue
            seen.add(real)
            marks, refused = _marks(path)
            skipped += refused
            for mark in _of_one_cluster(path, marks, skipped):
                copy = _copy(mark, cluster_id)
                if isinstance(copy, Skipped):
                    skipped.append(copy)
                else:
                    copies.append(copy)
    return copies, skipped


def _marks(path: str) -> tuple[list[Mark], list[Skipped]]:
    """The node directories at a path: itself, or its subdirectories."""
    try:
        names = sorted(entry.name for entry in os.scandir(path))
    except OSError as error:
        return [], [Skipped(path, f"{path}: {error.strerror or error}")]
    if PARTITION_DIRECTORY in names:
        return _read_mark(path, f"{path}/{PARTITION_DIRECTORY}", path)
    if any(segment_offset(name, LOG) is not None or snapshot_id(name) for name in names):
        return _read_mark(path, path, str(Path(path).parent))
    inner = [f"{path}/{name}" for name in names if Path(path, name, PARTITION_DIRECTORY).is_dir()]
    if not inner:
        return [], [
            Skipped(path, f"{path} is no metadata log: there is neither {PARTITION_DIRECTORY} in it nor a segment")
        ]
    marks: list[Mark] = []
    refused: list[Skipped] = []
    for directory in inner:
        inner_marks, wrong = _read_mark(directory, f"{directory}/{PARTITION_DIRECTORY}", directory)
        marks += inner_marks
        refused += wrong
    return marks, refused


def _read_mark(directory: str, partition: str, beside: str) -> tuple[list[Mark], list[Skipped]]:
    """The mark of one directory. beside: where its meta.properties should be."""
    file = Path(beside, META_PROPERTIES)
    try:
        values = parse_meta_properties(file.read_bytes())
    except FileNotFoundError:
        return [Mark(directory, partition, None, None)], []
    except (OSError, ValueError) as error:
        return [], [Skipped(directory, f"{directory}: {file} cannot be read: {error}")]
    return [Mark(directory, partition, values.cluster_id, values.node_id)], []


def _of_one_cluster(path: str, marks: list[Mark], skipped: list[Skipped]) -> list[Mark]:
    """The nodes of one folder belong to one cluster: the one of most of them; in a tie, of the first."""
    said = [mark.cluster_id for mark in marks if mark.cluster_id is not None]
    if len(set(said)) < 2:
        return marks
    chosen = max(said, key=said.count)
    kept = []
    for mark in marks:
        if mark.cluster_id in (None, chosen):
            kept.append(mark)
        else:
            reason = (
                f"{mark.directory} is of cluster {mark.cluster_id}, others in {path} are of {chosen}: mixed cluster "
                "ids; name it by itself to read it"
            )
            skipped.append(Skipped(mark.directory, reason))
    return kept


def _copy(mark: Mark, wanted: str | None) -> Copy | Skipped:
    cluster_id = mark.cluster_id or wanted
    if cluster_id is None:
        return Skipped(
            mark.directory, f"{mark.directory}: no {META_PROPERTIES} says of which cluster it is; say it by an option"
        )
    if wanted is not None and cluster_id != wanted:
        return Skipped(mark.directory, f"{mark.directory} is of cluster {cluster_id}, not of {wanted}")
    segments: list[LogFile] = []
    checkpoints: list[LogFile] = []
    try:
        for entry in os.scandir(mark.partition):
            if (offset := segment_offset(entry.name, LOG)) is not None:
                segments.append(LogFile(entry.path, offset, entry.stat().st_size))
            elif entry.name.endswith(CHECKPOINT) and (checkpoint_id := snapshot_id(entry.name)) is not None:
                checkpoints.append(LogFile(entry.path, checkpoint_id[0], entry.stat().st_size))
    except OSError as error:
        return Skipped(mark.directory, f"{mark.directory}: {error.strerror or error}")
    if not segments and not checkpoints:
        return Skipped(mark.directory, f"{mark.directory} is no metadata log: it has neither segments nor checkpoints")
    return Copy(
        mark.directory,
        cluster_id,
        mark.node_id,
        tuple(sorted(segments, key=_offset)),
        tuple(sorted(checkpoints, key=_offset)),
    )


def _offset(file: LogFile) -> int:
    return file.offset
