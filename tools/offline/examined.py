"""The directory of the metadata partition, read and checked as a start of a node does it; nothing is changed.

`raft.storage.opening` refuses a damaged directory. Here the damage is a value, so that a tool can say what is left.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from raft.interface.voters import control_values
from raft.storage.directory import list_contents
from raft.storage.errors import CorruptLog, CorruptSnapshot, StorageError
from raft.storage.files import OsFiles
from raft.storage.meta_properties import MetaProperties, read_meta_properties
from raft.storage.names import LOG, segment_name, snapshot_name
from raft.storage.opening import control_history
from raft.storage.quorum_state import last_election
from raft.storage.recovery import LogRecovery
from raft.storage.snapshot_file import check_snapshot
from raft.storage.snapshots import control_state
from raft.storage.walk import next_intact
from records.batch import read_header
from records.metadata_log import PARTITION_DIRECTORY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from raft.interface.recovered import Election
    from raft.interface.voters import VoterSet
    from raft.storage.snapshot_file import SnapshotHead


class NotALog(Exception):
    """A directory that has no metadata partition; the text says what is missing."""


class ReadOnlyFiles(OsFiles):
    """Files that are only read: log segments are opened without the right to write."""

    def open(self, path: str, *, create: bool = False, mode: int = 0o666) -> int:
        assert not create, f"{path} would be created with mode {mode:o}"
        return self.open_to_read(path)

    def sync(self, handle: int) -> None:
        """Nothing was written."""


class Fault(NamedTuple):
    """The first thing that is wrong. position: its byte in the file; offset: of the batch or record, -1 if unknown."""

    file: str
    position: int
    offset: int
    reason: str

    def __str__(self) -> str:
        offset = "" if self.offset < 0 else f", offset {self.offset}"
        return f"{self.file}, byte {self.position}{offset}: {self.reason}"


class SegmentSpan(NamedTuple):
    """A segment up to its first fault. size: of the good batches; file_size: of the file; end_offset: exclusive."""

    path: str
    base_offset: int
    end_offset: int
    size: int
    file_size: int


class Examined(NamedTuple):
    """What a directory holds. The values are those of the good part: below the fault, if there is one.

    directory: of the partition. log_directory: the directory around it. mark: the values of `meta.properties`, None
    without one. snapshots: (end offset, epoch), ascending. end_offset, seen_offset: exclusive, of the good part and of
    all batches that could be found. committed: offsets below it are known to be committed; more may be. epochs:
    (epoch, start offset). torn: the file, position and reason of an unfinished last append, which a start truncates.
    """

    directory: str
    log_directory: str
    mark: MetaProperties | None
    election: Election | None
    snapshots: list[tuple[int, int]]
    segments: list[SegmentSpan]
    start_offset: int
    end_offset: int
    seen_offset: int
    committed: int
    epochs: tuple[tuple[int, int], ...]
    voter_sets: tuple[tuple[int, VoterSet], ...]
    kraft_versions: tuple[tuple[int, int], ...]
    torn: Fault | None
    fault: Fault | None

    @property
    def epoch(self) -> int:
        """Of the last record, in the log or in the newest snapshot; 0 if there is none."""
        in_log = self.epochs[-1][0] if self.epochs else 0
        return max(in_log, self.snapshots[-1][1] if self.snapshots else 0)

    @property
    def known_end(self) -> int:
        """Exclusive, of the offsets that were in this log: batches with them are found, or they are committed."""
        return max(self.seen_offset, self.committed)

    @property
    def kraft_version(self) -> int:
        return self.kraft_versions[-1][1] if self.kraft_versions else 0

    @property
    def voters(self) -> VoterSet | None:
        """The last voter set in the log; None with static voters, which are in the configuration."""
        return self.voter_sets[-1][1] if self.voter_sets else None


def partition_of(directory: str) -> tuple[str, str]:
    """The log directory and the partition's directory within it; either may be given. Raises NotALog."""
    given = os.path.abspath(directory)  # noqa: PTH100 - pathlib costs 10 ms
    inner = f"{given}/{PARTITION_DIRECTORY}"
    if os.path.isdir(inner):  # noqa: PTH112
        return given, inner
    if os.path.basename(given) == PARTITION_DIRECTORY and os.path.isdir(given):  # noqa: PTH112, PTH119
        return os.path.dirname(given), given  # noqa: PTH120
    what = "it is no directory" if not os.path.isdir(given) else f"it has no {PARTITION_DIRECTORY}"  # noqa: PTH112
    raise NotALog(f"{directory}: {what}; give the directory of metadata.log.dir, or else the first of log.dirs")


def examine(directory: str, *, with_mark: bool = True) -> Examined:
    """Read and check all files of a log directory. with_mark: whether `meta.properties` must be readable.

    Raises NotALog, OSError; StorageError for meta.properties.
    """
    log_directory, partition = partition_of(directory)
    files = ReadOnlyFiles()
    mark = read_meta_properties(files, log_directory) if with_mark else None
    contents = list_contents(files, partition)
    if not contents.segments and not contents.snapshots:
        raise NotALog(f"{partition}: no log segment and no checkpoint is here")
    fault = None
    election = None
    try:
        election = last_election(files, partition)
    except StorageError as error:
        file, _, reason = str(error).partition(": ")
        fault = Fault(file, 0, -1, reason)
    heads: dict[tuple[int, int], SnapshotHead] = {}
    for snapshot in contents.snapshots:
        try:
            heads[snapshot] = check_snapshot(files, f"{partition}/{snapshot_name(*snapshot)}")
        except CorruptSnapshot as error:
            fault = fault or Fault(error.path, error.position, -1, error.reason)
    whole = [snapshot for snapshot in contents.snapshots if snapshot in heads]
    notes: list[tuple[str, dict[str, Any]]] = []
    recovery = LogRecovery(files, partition, whole[-1] if whole else None, lambda: None, notes)
    try:
        try:
            recovery.examine(contents.segments)
            voter_sets, kraft_versions = control_history(partition, recovery, heads)
            kraft_versions = (*_earlier_levels(partition, recovery, heads), *kraft_versions)
        except CorruptLog as error:
            fault = fault or Fault(error.path, error.position, error.offset, error.reason)
            voter_sets, kraft_versions = _control_history_below(partition, recovery, heads, error.offset)
        except StorageError as error:
            fault = fault or Fault(partition, 0, -1, str(error))
            voter_sets, kraft_versions = (), ()
        segments = [
            SegmentSpan(each.path, each.base_offset, each.end_offset, each.size, files.size(each.handle))
            for each in recovery.segments
        ]
        end_offset = segments[-1].end_offset if segments else whole[-1][0] if whole else 0
        if fault is not None and fault.offset >= 0:
            end_offset = min(end_offset, fault.offset)
        torn = next(
            (Fault(note["file"], note["position"], note["offset"], note["reason"])
             for name, note in notes if name == "log_tail_cut"), None,
        )  # fmt: skip
        return Examined(
            partition,
            log_directory,
            mark,
            election,
            whole,
            segments,
            segments[0].base_offset if segments else end_offset,
            end_offset,
            max(end_offset, _find_good_end(files, partition, contents.segments, segments)),
            max(recovery.prefix.end_offset, *(end_offset for end_offset, _ in contents.snapshots), 0),
            tuple(entry for entry in recovery.epochs if entry[1] < end_offset),
            voter_sets,
            kraft_versions,
            torn,
            fault,
        )
    finally:
        recovery.close()


def _earlier_levels(
    partition: str, recovery: LogRecovery, heads: dict[tuple[int, int], SnapshotHead]
) -> list[tuple[int, int]]:
    """The kraft.versions below the newest checkpoint, with which a node starts: what is restored may end there."""
    newest = recovery.snapshot
    if newest is None:
        return []
    levels = [
        (snapshot[0] - 1, level)
        for snapshot, head in heads.items()
        if (level := control_state(head, f"{partition}/{snapshot_name(*snapshot)}")[0]) and snapshot != newest
    ]
    for data in recovery.control_batches(0):
        head = read_header(data)
        assert head is not None, "a control batch that was examined is whole"
        levels += [(at, level) for at, level in control_values(data, head) if isinstance(level, int) and at < newest[0]]
    return sorted(levels)


def _control_history_below(
    partition: str, recovery: LogRecovery, heads: dict[tuple[int, int], SnapshotHead], end_offset: int
) -> tuple[tuple[tuple[int, VoterSet], ...], tuple[tuple[int, int], ...]]:
    """What the good part holds; nothing where it cannot be read either."""
    try:
        voter_sets, kraft_versions = control_history(partition, recovery, heads)
    except (StorageError, ValueError):
        return (), ()
    return (
        tuple(entry for entry in voter_sets if entry[0] < end_offset),
        tuple(entry for entry in kraft_versions if entry[0] < end_offset),
    )


def _find_good_end(files: OsFiles, partition: str, bases: list[int], segments: list[SegmentSpan]) -> int:
    """The end of the last batch that is whole and has the right CRC, also behind a fault."""
    seen = 0
    good = {span.base_offset: span.size for span in segments}
    for base_offset in bases:
        handle = files.open_to_read(f"{partition}/{segment_name(base_offset, LOG)}")
        try:
            position = good.get(base_offset, 0)
            while (head := next_intact(files, handle, position, base_offset)) is not None:
                seen = max(seen, head.last_offset + 1)
                position = head.position + head.size
        finally:
            files.close(handle)
    return seen
