"""What a replica wants done: the effects that `raft.step` returns.

A driver starts them in the order of the list. Order is of starting only: a save or a flush ends later, and is then
told by an input with the effect's number. What must rest on the disk first, the core itself holds back until then.
A driver may end a save or a flush at once, but tells of it by a step of its own, after all effects of the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raft.config import Endpoint, ReplicaKey, SnapshotId, Voter
    from raft.inputs import Source


@dataclass(slots=True)
class Send:
    """Send a request to a peer. endpoint: where it is reached now.

    peer: a node id, or -2, -3 … for the bootstrap servers. The version is the highest that both sides have.
    A `Send` to a peer of which an earlier one is unanswered makes that one void: its answer is not wanted and not
    waited for, and the two never share a connection (the count of `ConfirmLeadership` rests on this).
    """

    peer: int
    number: int
    endpoint: Endpoint
    request: Any


@dataclass(slots=True)
class Reply:
    """Answer a request."""

    source: Source
    response: Any


@dataclass(slots=True)
class ReplyRecords:
    """Answer a Fetch with whole batches from `start_offset` on, none at or above `end_offset`: at least one batch, then
    as many as `bytes_max` holds. The driver puts them in the response's only partition.
    """

    source: Source
    response: Any
    start_offset: int
    end_offset: int
    bytes_max: int


@dataclass(slots=True)
class ReplySnapshot:
    """Answer a FetchSnapshot with the bytes [position, position + length) of a snapshot."""

    source: Source
    response: Any
    id: SnapshotId
    position: int
    length: int


@dataclass(slots=True)
class SaveElection:
    """Write quorum-state: temporary file, fsync, rename, fsync of the directory; then `Saved`.

    leader_id: None where unknown. voted: None where no vote was given in this epoch. voters: ids for the version 0
    of the file, which kraft.version 0 asks for.
    """

    number: int
    epoch: int
    leader_id: int | None
    voted: ReplicaKey | None
    kraft_version: int
    voter_ids: tuple[int, ...]


@dataclass(slots=True)
class Append:
    """Write these batches at the end of the log, flush, then `Flushed`. base_offset to end_offset (exclusive)."""

    number: int
    base_offset: int
    end_offset: int
    epoch: int
    data: bytes


@dataclass(slots=True)
class Truncate:
    """Remove all batches that hold offsets at or above `end_offset`; then `Flushed`.

    It is a batch boundary where the leader is honest; else the batch around it goes too, and `Flushed` names the end.
    """

    number: int
    end_offset: int


@dataclass(slots=True)
class ResetLog:
    """Empty the log, so that it starts and ends at this snapshot; then `Flushed`."""

    number: int
    id: SnapshotId


@dataclass(slots=True)
class SaveEpochs:
    """The leader-epoch checkpoint is now this: (epoch, start offset), ascending."""

    epochs: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class AdvanceLogStart:
    """The log starts at `start_offset`, the end of a stored snapshot: delete segments wholly below; then `Flushed`."""

    number: int
    start_offset: int


@dataclass(slots=True)
class DeleteSnapshot:
    """Delete a stored snapshot: rename to `.deleted` at once, unlink later."""

    id: SnapshotId


@dataclass(slots=True)
class WriteSnapshotPart:
    """Write bytes of a snapshot under download at `position`; position 0 starts the file anew. Then `PartWritten`."""

    number: int
    id: SnapshotId
    position: int
    data: bytes


@dataclass(slots=True)
class FreezeSnapshot:
    """The download is whole: check it, fsync, rename to its name; then `SnapshotStored`."""

    number: int
    id: SnapshotId


@dataclass(slots=True)
class DropSnapshotPart:
    """Forget a download."""

    id: SnapshotId


@dataclass(slots=True)
class HighWatermark:
    """Everything below this offset is committed; the state machine may have all whole batches below it."""

    offset: int


@dataclass(slots=True)
class LoadSnapshot:
    """The state machine starts over from this snapshot: at the start of the node, and whenever the log no longer holds
    what it lacks. (0, 0) is what the formatter wrote: a bootstrap, not committed state (KIP-1170).
    """

    id: SnapshotId


@dataclass(slots=True)
class LeaderChanged:
    """Who leads, as the state machine should know it. leader_id: None where unknown, and where this replica led
    `epoch` until now and has resigned.

    For this replica itself it is told only when the first record of its epoch is committed and the `HighWatermark`
    before it in the list covers the whole log, so the state machine has all that it leads from: its next offset is
    `end_offset`.
    """

    epoch: int
    leader_id: int | None
    end_offset: int = -1


@dataclass(slots=True)
class ProposalRefused:
    """A `Propose` came under an epoch that this replica does not lead, or is over."""

    epoch: int
    base_offset: int


@dataclass(slots=True)
class LeadershipConfirmed:
    """At some moment after `ConfirmLeadership` this replica was the leader of `epoch`."""

    number: int
    epoch: int


@dataclass(slots=True)
class Noted:
    """Something worth a line in the log. name: stable; fields: of plain values."""

    name: str
    fields: dict[str, Any]


@dataclass(slots=True)
class ShutdownComplete:
    """Nothing is left to hand over."""


@dataclass(slots=True)
class VotersChanged:
    """The voter set in force is another (the connections follow it)."""

    voters: tuple[Voter, ...]


Effect = (
    Send | Reply | ReplyRecords | ReplySnapshot | SaveElection | Append | Truncate | ResetLog | SaveEpochs
    | AdvanceLogStart | DeleteSnapshot | WriteSnapshotPart | FreezeSnapshot | DropSnapshotPart | HighWatermark
    | LoadSnapshot | LeaderChanged | ProposalRefused | LeadershipConfirmed | Noted | ShutdownComplete | VotersChanged
)  # fmt: skip
