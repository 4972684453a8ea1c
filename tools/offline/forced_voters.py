"""Appending a voter set to the log of a stopped node, by force, at a higher epoch (KIP-853; KAFKA-17973).

The voter history of Kafka accepts a set that shares no majority with the one before, for disaster recovery.
"""

from __future__ import annotations

from raft.interface.voters import VoterSet, voters_record
from raft.storage.epoch_checkpoint import epochs_text
from raft.storage.files import OsFiles, replace_file
from raft.storage.names import EPOCH_CHECKPOINT, LOG, segment_name
from raft.storage.quorum_state import quorum_state_text, write_quorum_state
from records.batch import build_control_batch
from records.control import KRaftVersionRecord
from records.control_batch import encode_control
from tools.offline.examined import examine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from raft.interface.config import Voter
    from tools.offline.examined import Examined


def force_voter(
    examined: Examined, voter: Voter, new_epoch: int, time_ms: int, kraft_version: int | None = None
) -> None:
    """Make `voter` the only voter, at the end of the log; durable when this returns.

    kraft_version: of the log from then on, None for the same; at 0 only the epoch moves up. The caller holds the lock,
    and has made a copy. The order is safe against a crash at any point: first the epoch, which a node may always raise,
    then the record. Raises OSError.
    """
    assert examined.fault is None, examined.fault
    assert new_epoch > examined.epoch, f"epoch {new_epoch} after {examined.epoch}"
    files = OsFiles()
    directory = examined.directory
    level = examined.kraft_version if kraft_version is None else kraft_version
    records = [encode_control(voters_record(VoterSet([voter])))]
    if level != examined.kraft_version:
        # In one batch, as a leader does that raises the level (KIP-853).
        records.insert(0, encode_control(KRaftVersionRecord(version=0, kraft_version=level)))
    # Made before anything is written, as it may be refused.
    batch = build_control_batch(
        records,
        base_offset=examined.end_offset,
        leader_epoch=new_epoch,
        timestamp_ms=time_ms,
    )
    voter_ids = (voter.key.id,)
    state = quorum_state_text(new_epoch, None, None, examined.kraft_version, voter_ids)
    write_quorum_state(files, directory, state)
    if level == 0:
        return
    # Without a segment the log is to begin at the newest checkpoint; segments before it are dropped by a start.
    path = f"{directory}/{segment_name(examined.end_offset, LOG)}"
    size = 0
    if examined.segments:
        path, size = examined.segments[-1].path, examined.segments[-1].size
    handle = files.open(path, create=not examined.segments)
    try:
        # Behind the good part there may be an unfinished append.
        files.truncate(handle, size)
        files.write(handle, size, batch)
        files.sync(handle)
    finally:
        files.close(handle)
    files.sync_directory(directory)
    epochs = epochs_text([*examined.epochs, (new_epoch, examined.end_offset)])
    replace_file(files, f"{directory}/{EPOCH_CHECKPOINT}", epochs)
    again = examine(directory)
    assert again.fault is None, again.fault
    assert again.voters == VoterSet([voter]), f"the voters are {again.voters}, not {voter.key}"
    assert again.kraft_version == level, f"kraft.version is {again.kraft_version}, not {level}"
