"""Opening the partition's directory: reads, checks and repairs everything that a replica starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.interface.config import SnapshotId
from raft.interface.recovered import Recovered, StoredSnapshot
from raft.interface.voters import VoterSet, control_values
from raft.storage.directory import has_partition_metadata, list_contents
from raft.storage.epoch_checkpoint import epochs_text, parse_epochs
from raft.storage.errors import CorruptLog
from raft.storage.files import read_whole, replace_file
from raft.storage.names import (
    EPOCH_CHECKPOINT,
    KEPT_QUORUM_STATE,
    PARTITION_METADATA,
    PARTITION_METADATA_TEXT,
    QUORUM_STATE,
    snapshot_name,
)
from raft.storage.quorum_state import newer, read_quorum_state, write_quorum_state
from raft.storage.recovery import LogRecovery
from raft.storage.snapshot_file import check_snapshot, read_head
from raft.storage.snapshots import control_state
from records.batch import CorruptBatch, read_header

if TYPE_CHECKING:
    from raft.interface.recovered import Election
    from raft.storage.files import Files
    from raft.storage.log import LogLimits, MetadataLog
    from raft.storage.recovery import Notes
    from raft.storage.snapshot_file import SnapshotHead


class Opened(NamedTuple):
    """An open directory. committed: the records below this offset are known to be committed."""

    log: MetadataLog
    recovered: Recovered
    notes: Notes
    committed: int


def open_partition(files: Files, directory: str, limits: LogLimits) -> Opened:
    """Open the directory of the metadata partition, and repair what an interrupted run left.

    Raises StorageError if a node cannot start from the directory; the directory is then unchanged.
    """
    files.make_directory(directory)
    files.sync_directory(directory.rpartition("/")[0])
    notes: Notes = []
    contents = list_contents(files, directory)
    stated, copied = (read_quorum_state(files, directory, name) for name in (QUORUM_STATE, KEPT_QUORUM_STATE))
    election = newer(stated, copied)
    heads: dict[tuple[int, int], SnapshotHead] = {}
    for snapshot in contents.snapshots:
        heads[snapshot] = read_head(files, f"{directory}/{snapshot_name(*snapshot)}")
    newest = contents.snapshots[-1] if contents.snapshots else None

    def check_newest() -> None:
        if newest is not None:
            check_snapshot(files, f"{directory}/{snapshot_name(*newest)}")

    recovery = LogRecovery(files, directory, newest, check_newest, notes, limits)
    is_marked = has_partition_metadata(files, directory)
    try:
        recovery.examine(contents.segments)
        voter_sets, kraft_versions = control_history(directory, recovery, heads)
        log = recovery.settle()
        kept = [snapshot for snapshot in contents.snapshots if snapshot[0] >= log.first_offset]
        unneeded = [snapshot_name(*snapshot) for snapshot in contents.snapshots if snapshot not in kept]
        for name in (*contents.leftovers, *contents.orphans, *unneeded):
            files.remove(f"{directory}/{name}")
        if not is_marked:
            replace_file(files, f"{directory}/{PARTITION_METADATA}", PARTITION_METADATA_TEXT)
        _heal_epochs(files, directory, log, notes)
        if stated != copied:
            _heal_election(files, directory, election, notes, is_stated=election is stated)
        stored = tuple(
            StoredSnapshot(SnapshotId(*snapshot), _size(files, directory, snapshot), heads[snapshot].timestamp_ms)
            for snapshot in kept
        )
    except BaseException:
        recovery.close()
        raise
    committed = max(recovery.prefix.end_offset, 0 if newest is None else newest[0])
    recovered = Recovered(
        election, log.first_offset, log.end_offset, tuple(log.epochs), stored, voter_sets, kraft_versions, log.size,
        committed,
    )  # fmt: skip
    return Opened(log, recovered, notes, committed)


def control_history(
    directory: str, recovery: LogRecovery, heads: dict[tuple[int, int], SnapshotHead]
) -> tuple[tuple[tuple[int, VoterSet], ...], tuple[tuple[int, int], ...]]:
    """Voter sets and kraft.versions, by offset, of the newest snapshot and of the log after it."""
    voter_sets: list[tuple[int, VoterSet]] = []
    kraft_versions: list[tuple[int, int]] = []
    start = 0
    if recovery.snapshot is not None:
        start = recovery.snapshot[0]
        path = f"{directory}/{snapshot_name(*recovery.snapshot)}"
        kraft_version, voters = control_state(heads[recovery.snapshot], path)
        if kraft_version is not None:
            kraft_versions.append((start - 1, kraft_version))
        if voters is not None:
            voter_sets.append((start - 1, voters))
    for data in recovery.control_batches(start):
        batch = read_header(data)
        assert batch is not None, "a control batch that was examined is whole"
        try:
            values = control_values(data, batch)
        except CorruptBatch as error:
            raise CorruptLog(f"{directory}, the log", error.position, error.offset, error.reason) from None
        for at, value in values:
            if isinstance(value, VoterSet):
                voter_sets.append((at, value))
            else:
                kraft_versions.append((at, value))
    return tuple(voter_sets), tuple(kraft_versions)


def _heal_epochs(files: Files, directory: str, log: MetadataLog, notes: Notes) -> None:
    """Make the epoch checkpoint agree with the log."""
    path = f"{directory}/{EPOCH_CHECKPOINT}"
    text = epochs_text(log.epochs)
    try:
        stored = read_whole(files, path)
    except FileNotFoundError:
        stored = b""
    if stored == text or not (stored or log.epochs):
        return
    try:
        # An epoch that began at the end of the log, and has no record, is dropped without a note.
        is_other = [entry for entry in parse_epochs(stored) if entry[1] < log.end_offset] != log.epochs
    except ValueError:
        is_other = True
    if stored and is_other:
        notes.append(("epoch_checkpoint_healed", {"file": path, "entries": len(log.epochs)}))
    replace_file(files, path, text)


def _heal_election(files: Files, directory: str, election: Election | None, notes: Notes, *, is_stated: bool) -> None:
    """Make both names of quorum-state hold the newer election. is_stated: it is the one of quorum-state itself."""
    assert election is not None, "two that differ"
    text = read_whole(files, f"{directory}/{QUORUM_STATE if is_stated else KEPT_QUORUM_STATE}")
    write_quorum_state(files, directory, text)
    if not is_stated:
        fields = {"epoch": election.epoch, "leader_id": election.leader_id}
        voted = None if election.voted is None else election.voted.id
        notes.append(("quorum_state_restored", {"file": f"{directory}/{QUORUM_STATE}", **fields, "voted": voted}))


def _size(files: Files, directory: str, snapshot: tuple[int, int]) -> int:
    handle = files.open_to_read(f"{directory}/{snapshot_name(*snapshot)}")
    try:
        return files.size(handle)
    finally:
        files.close(handle)
