"""The effects that `raft.step` returns: orders to the driver.

A driver starts them in the order of the list. The order is that of starting only: a save or a flush completes later,
and the driver then steps the core with an input that carries the effect's number. The core itself holds back effects
that depend on durable state. A driver may complete a save or a flush at once, but must report it in a step of its own,
after it has started all effects of the list.

Saves become durable in their order, and so do operations of the log; a save may overtake an operation of the log, and
be overtaken. What a driver owes the core in full: `raft/DESIGN.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raft.interface.config import Endpoint, ReplicaKey, SnapshotId, Voter
    from raft.interface.inputs import Source


@dataclass(slots=True)
class Send:
    """Send a request to a peer. endpoint: its current address.

    peer: a node id; -2, -3 … for the bootstrap servers; `OVERRIDE_PEER` and below for overrides. The version is the
    highest that both sides support; below least_version, the request fails with UNSUPPORTED_VERSION.
    A `Send` to a peer replaces an earlier one that is unanswered: the driver drops the earlier answer, and never sends
    both on one connection (`ConfirmLeadership` depends on this).
    """

    peer: int
    number: int
    endpoint: Endpoint
    request: Any
    least_version: int = 0


@dataclass(slots=True)
class Reply:
    """Answer a request."""

    source: Source
    response: Any


@dataclass(slots=True)
class ReplyRecords:
    """Answer a Fetch with whole batches from `start_offset` on, none at or above `end_offset`: at least one batch, then
    as many as fit into `bytes_max`. The driver puts them into the response's only partition.
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
    """Write quorum-state: temporary file, fsync, rename, second name, fsync of the directory; then `Saved`.

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

    `end_offset` is a batch boundary unless the leader is faulty. In that case the batch around it is removed too, and
    `Flushed` carries the actual end.
    """

    number: int
    end_offset: int


@dataclass(slots=True)
class ResetLog:
    """Empty the log, so that it starts and ends at the end of this snapshot; then `Flushed`."""

    number: int
    id: SnapshotId


@dataclass(slots=True)
class SaveEpochs:
    """Write the leader-epoch checkpoint: (epoch, start offset), ascending."""

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
    """Write bytes of a snapshot under download at `position`; position 0 restarts the file. Then `PartWritten`."""

    number: int
    id: SnapshotId
    position: int
    data: bytes


@dataclass(slots=True)
class FreezeSnapshot:
    """The download is complete: check it, fsync, rename it to its final name; then `SnapshotStored`."""

    number: int
    id: SnapshotId


@dataclass(slots=True)
class DropSnapshotPart:
    """Delete an incomplete download."""

    id: SnapshotId


@dataclass(slots=True)
class HighWatermark:
    """All records below this offset are committed; the state machine may read all whole batches below it."""

    offset: int


@dataclass(slots=True)
class LoadSnapshot:
    """The state machine must load this snapshot in place of its state: at the start of the node, and when the log no
    longer holds the records that the state machine needs next. (0, 0) is the bootstrap snapshot that the formatter
    wrote, which is not committed state (KIP-1170).
    """

    id: SnapshotId


@dataclass(slots=True)
class LeaderChanged:
    """Notifies the state machine of the leader. leader_id: None where unknown, and where this replica was the leader of
    `epoch` and has resigned.

    When this replica itself is the leader, the effect comes only after the first record of its epoch is committed and a
    preceding `HighWatermark` covers the whole log: the state machine then has the complete state, and the next offset
    is `end_offset`.
    """

    epoch: int
    leader_id: int | None
    end_offset: int = -1


@dataclass(slots=True)
class ReserveOffsets:
    """The leader is about to append a control batch: the state machine must leave `count` offsets free, behind all that
    it has proposed, and report them by `OffsetsReserved`. If it does not lead `epoch` yet, it does so when it does.
    """

    epoch: int
    count: int


@dataclass(slots=True)
class KraftVersionSupport:
    """The highest level of kraft.version that all voters support, as they have reported to the leader of `epoch`."""

    epoch: int
    level: int


@dataclass(slots=True)
class ProposalRefused:
    """A `Propose` named an epoch that this replica does not lead (any more), or an offset that is not the next."""

    epoch: int
    base_offset: int


@dataclass(slots=True)
class LeadershipConfirmed:
    """Confirms that this replica was the leader of `epoch` at some moment after `ConfirmLeadership`."""

    number: int
    epoch: int


@dataclass(slots=True)
class Noted:
    """An event for the log. name: stable; fields: plain values."""

    name: str
    fields: dict[str, Any]


@dataclass(slots=True)
class Denied:
    """A peer lets this node take no part in the quorum (CLUSTER_AUTHORIZATION_FAILED): as in stock, the node ends."""

    peer: int


@dataclass(slots=True)
class ShutdownComplete:
    """The replica has handed over leadership, or had none: the node may stop."""


@dataclass(slots=True)
class VotersChanged:
    """The current voter set changed; the driver adapts its connections."""

    voters: tuple[Voter, ...]


Effect = (
    Send | Reply | ReplyRecords | ReplySnapshot | SaveElection | Append | Truncate | ResetLog | SaveEpochs
    | AdvanceLogStart | DeleteSnapshot | WriteSnapshotPart | FreezeSnapshot | DropSnapshotPart | HighWatermark
    | LoadSnapshot | LeaderChanged | ReserveOffsets | KraftVersionSupport | ProposalRefused | LeadershipConfirmed
    | Noted | ShutdownComplete | Denied | VotersChanged
)  # fmt: skip
