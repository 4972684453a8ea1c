"""What happens to a replica: the inputs of `raft.step`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from raft.config import SnapshotId
    from raft.voters import VoterSet
    from records.errors import Error


class Source(NamedTuple):
    """Whom an answer goes to. Within one connection requests arrive, and answers leave, in order."""

    connection: int
    correlation: int


@dataclass(slots=True)
class Ticked:
    """Nothing but time has passed."""


@dataclass(slots=True)
class WallClock:
    """The wall clock is this far ahead of the monotonic one, in ms; only timestamps for people rest on it."""

    offset_ms: int


@dataclass(slots=True)
class Requested:
    """A peer, broker or client asks. request: a message class of `records.messages`, decoded at `version`."""

    source: Source
    request: Any
    version: int
    listener: str = ""


@dataclass(slots=True)
class Disconnected:
    """An accepted connection is gone: what is parked for it needs no answer."""

    connection: int


@dataclass(slots=True)
class Answered:
    """A peer answered the `Send` of this number."""

    peer: int
    number: int
    response: Any


@dataclass(slots=True)
class Failed:
    """A `Send` came to nothing: BROKER_NOT_AVAILABLE (no connection, or it broke), UNSUPPORTED_VERSION (the peer lacks
    a version that can carry the request), NETWORK_EXCEPTION (not authenticated).
    """

    peer: int
    number: int
    error: Error


@dataclass(slots=True)
class Refused:
    """A connection to a peer was refused, be it a first one or one in place of one that broke: its process is gone."""

    peer: int


@dataclass(slots=True)
class Saved:
    """The `SaveElection` of this number is on disk."""

    number: int


@dataclass(slots=True)
class Flushed:
    """Every `Append`, `Truncate`, `ResetLog` and `AdvanceLogStart` up to this number is on disk.

    end_offset: where the log ended after the operation of this number, -1 for where the core says; lower only after a
    `Truncate` to an offset within a batch. log_bytes: the size of its segments together; -1 for unchanged.
    """

    number: int
    end_offset: int = -1
    log_bytes: int = -1


@dataclass(slots=True)
class Propose:
    """The state machine of the leader appends one record batch, complete in its bytes.

    epoch: of the leadership it was built under; base_offset to last_offset: as in its header. Refused, by a
    `ProposalRefused` effect, where the epoch or the base offset is not the replica's next.
    """

    epoch: int
    base_offset: int
    last_offset: int
    data: bytes


@dataclass(slots=True)
class ConfirmLeadership:
    """Is this replica still the leader, now? Answered by `LeadershipConfirmed`, or by the loss of leadership."""

    number: int


@dataclass(slots=True)
class SnapshotTaken:
    """The state machine wrote a snapshot of its committed state, and it is on disk. timestamp_ms: that of its last
    record, from its header.
    """

    id: SnapshotId
    size: int
    timestamp_ms: int


@dataclass(slots=True)
class PartWritten:
    """The `WriteSnapshotPart` of this number is in the file."""

    number: int


@dataclass(slots=True)
class SnapshotStored:
    """The `FreezeSnapshot` of this number is done: a downloaded snapshot is on disk under its name.

    timestamp_ms: from its header; voters and kraft_version: from the control records of its first batch, None where
    it has none. refused: the file is not a whole snapshot; it was removed.
    """

    number: int
    size: int
    timestamp_ms: int = 0
    voters: VoterSet | None = None
    kraft_version: int | None = None
    refused: bool = False


@dataclass(slots=True)
class Resign:
    """The state machine cannot go on leading this epoch."""

    epoch: int


@dataclass(slots=True)
class ShutDown:
    """Leave in good order: hand leadership over, then `ShutdownComplete`."""


Input = (
    Ticked | WallClock | Requested | Disconnected | Answered | Failed | Refused | Saved | Flushed | Propose
    | ConfirmLeadership | SnapshotTaken | PartWritten | SnapshotStored | Resign | ShutDown
)  # fmt: skip
