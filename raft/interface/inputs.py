"""The inputs of `raft.step`: requests, answers, completed disk operations, time, and calls of the state machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from raft.interface.config import SnapshotId
    from raft.interface.voters import VoterSet
    from records.errors import Error


class Source(NamedTuple):
    """Where the answer to a request goes. On one connection requests arrive, and answers leave, in order."""

    connection: int
    correlation: int


@dataclass(slots=True)
class Ticked:
    """Only time has passed."""


@dataclass(slots=True)
class WallClock:
    """How far the wall clock is ahead of the monotonic clock, in ms; used only for timestamps that people read."""

    offset_ms: int


@dataclass(slots=True)
class Requested:
    """A peer, broker or client sent a request. request: a message of `records.messages`, decoded at `version`."""

    source: Source
    request: Any
    version: int
    listener: str = ""


@dataclass(slots=True)
class Disconnected:
    """An accepted connection is closed: its parked requests need no answer."""

    connection: int


@dataclass(slots=True)
class Answered:
    """A peer answered the `Send` of this number."""

    peer: int
    number: int
    response: Any


@dataclass(slots=True)
class Failed:
    """A `Send` failed: BROKER_NOT_AVAILABLE (no connection, or it was lost), UNSUPPORTED_VERSION (the peer supports no
    version that can carry the request), NETWORK_EXCEPTION (not authenticated).
    """

    peer: int
    number: int
    error: Error


@dataclass(slots=True)
class Refused:
    """A new connection or a reconnect to a peer was refused: its process is not running."""

    peer: int


@dataclass(slots=True)
class Saved:
    """The `SaveElection` of this number is on disk."""

    number: int


@dataclass(slots=True)
class Flushed:
    """Every `Append`, `Truncate`, `ResetLog` and `AdvanceLogStart` up to this number is on disk.

    end_offset: where the log ended after the operation of this number, -1 for the end that the core expects; lower only
    after a `Truncate` to an offset within a batch. log_bytes: the size of all segments together; -1 for unchanged.
    """

    number: int
    end_offset: int = -1
    log_bytes: int = -1


@dataclass(slots=True)
class Propose:
    """The state machine of the leader proposes encoded record batches, one or several.

    epoch: the epoch that they were built for; base_offset to last_offset: as in their headers. Refused by a
    `ProposalRefused` effect where this replica does not lead that epoch, or the base offset is not the next.
    """

    epoch: int
    base_offset: int
    last_offset: int
    data: bytes


@dataclass(slots=True)
class OffsetsReserved:
    """The state machine of the leader leaves the offsets from `base_offset` on to a control batch, as `ReserveOffsets`
    asked; all that it proposed for lower offsets was given before.
    """

    epoch: int
    base_offset: int


@dataclass(slots=True)
class UpgradeKraftVersion:
    """The state machine of the leader raises kraft.version from 0, and leaves two offsets to the control batch.

    epoch, base_offset: as in `Propose`; refused by a `ProposalRefused` effect, also where a voter does not support the
    level.
    """

    epoch: int
    base_offset: int
    level: int


@dataclass(slots=True)
class ConfirmLeadership:
    """Asks whether this replica is still the leader. Answered by `LeadershipConfirmed`, or by a `LeaderChanged`."""

    number: int


@dataclass(slots=True)
class SnapshotTaken:
    """The state machine wrote a snapshot of its committed state, and the snapshot is on disk. timestamp_ms: of the last
    record in it, from the snapshot's header.
    """

    id: SnapshotId
    size: int
    timestamp_ms: int


@dataclass(slots=True)
class PartWritten:
    """The `WriteSnapshotPart` of this number is written to the file."""

    number: int


@dataclass(slots=True)
class SnapshotStored:
    """The `FreezeSnapshot` of this number is done: a downloaded snapshot is on disk under its name.

    timestamp_ms: from its header; voters and kraft_version: from the control records of its first batch, None where
    it has none. refused: the file is not a valid snapshot, and was removed.
    """

    number: int
    size: int
    timestamp_ms: int = 0
    voters: VoterSet | None = None
    kraft_version: int | None = None
    refused: bool = False


@dataclass(slots=True)
class Resign:
    """The state machine cannot be the leader of this epoch any longer."""

    epoch: int


@dataclass(slots=True)
class ShutDown:
    """Controlled shutdown: hand leadership over, then `ShutdownComplete`."""


Input = (
    Ticked | WallClock | Requested | Disconnected | Answered | Failed | Refused | Saved | Flushed | Propose
    | OffsetsReserved | UpgradeKraftVersion | ConfirmLeadership | SnapshotTaken | PartWritten | SnapshotStored
    | Resign | ShutDown
)  # fmt: skip
