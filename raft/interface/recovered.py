"""What a replica starts from: the content of its directory, as the storage recovered it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raft.interface.config import ReplicaKey, SnapshotId
    from raft.interface.voters import VoterSet


@dataclass(slots=True)
class Election:
    """The content of quorum-state. leader_id: None where unknown. voted: None where no vote was given in this epoch."""

    epoch: int
    leader_id: int | None
    voted: ReplicaKey | None


@dataclass(slots=True)
class StoredSnapshot:
    """A complete snapshot on disk. size: in bytes; timestamp_ms: of its last record, from its header."""

    id: SnapshotId
    size: int
    timestamp_ms: int


@dataclass(slots=True)
class Recovered:
    """All of it is durable: recovery has truncated and flushed where it had to.

    election: None where there is no quorum-state under either of its names. log_start, log_end: end exclusive; equal in
    an empty log. epochs: (epoch, start offset), ascending, none at or above the end but one assigned without data.
    snapshots: ascending by id, the 0-0 one of the formatter too; where log_start is above 0, one of them covers it.
    voter_sets, kraft_versions: (offset, value), ascending, of the control records of the newest snapshot (at its end
    offset - 1, so -1 for 0-0) and of the log from that snapshot's end on (`voters.control_values`).
    log_bytes: the size of the segments together. committed: the records below it were committed when the process before
    this one ran, as far as it wrote that down.
    """

    election: Election | None = None
    log_start: int = 0
    log_end: int = 0
    epochs: tuple[tuple[int, int], ...] = ()
    snapshots: tuple[StoredSnapshot, ...] = ()
    voter_sets: tuple[tuple[int, VoterSet], ...] = ()
    kraft_versions: tuple[tuple[int, int], ...] = ()
    log_bytes: int = 0
    committed: int = 0
