"""The inputs of a controller, taken by `controller.core.steps.step`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from raft.config import SnapshotId
    from raft.inputs import Source


class Principal(NamedTuple):
    """Who asks (KIP-48, KIP-590). token: authenticated by a delegation token."""

    type: str = "User"
    name: str = "ANONYMOUS"
    token: bool = False

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS = Principal()


@dataclass(slots=True)
class RequestContext:
    """All that a handler may know of a request besides its body.

    principal, client_address, client_id: of the original client when a broker forwarded the request in an Envelope.
    listener: the name of the listener it came in on. arrived_ms: monotonic time of its arrival. security_protocol: of
    that listener. is_own: whether this node sent the request to itself, which needs no permission. decisions: what the
    authorizer decided for this request, kept by `controller.rules.permissions`.
    """

    source: Source
    api_key: int
    version: int
    listener: str
    arrived_ms: int = 0
    principal: Principal = ANONYMOUS
    client_address: str = "127.0.0.1"
    client_id: str | None = None
    forwarded: bool = False
    security_protocol: str = "PLAINTEXT"
    is_own: bool = False
    decisions: dict[Any, bool] | None = None


@dataclass(slots=True)
class Ticked:
    """Nothing but time has passed."""


@dataclass(slots=True)
class WallClock:
    """The wall clock is this far ahead of the monotonic one, in ms: for timestamps in the log, never for rules."""

    offset_ms: int


@dataclass(slots=True)
class Requested:
    """A request of the controller's own APIs (the quorum's go to `raft`)."""

    context: RequestContext
    request: Any


@dataclass(slots=True)
class Disconnected:
    """A connection is gone: nobody waits for its answers any more; what was appended stays."""

    connection: int


@dataclass(slots=True)
class LeaderChanged:
    """Who leads the quorum. leader_id: None where unknown.

    For this node itself it comes when all before `end_offset` is committed and was given here by `Committed`:
    the controller claims leadership, and its next record has offset `end_offset`.
    """

    epoch: int
    leader_id: int | None
    end_offset: int = -1


@dataclass(slots=True)
class Committed:
    """To a standby: whole committed record batches, bytes as in the log, contiguous with what was given before."""

    data: bytes


@dataclass(slots=True)
class HighWatermark:
    """To the active controller: all records below this offset are committed."""

    offset: int


@dataclass(slots=True)
class AppendRefused:
    """An `Append` was not taken: this node leads no more, or not in that epoch."""

    epoch: int


@dataclass(slots=True)
class SnapshotOpened:
    """A snapshot replaces all state; its batches follow in `SnapshotPart`s, then `SnapshotClosed`."""

    id: SnapshotId


@dataclass(slots=True)
class SnapshotPart:
    """Whole record batches of the opened snapshot, bytes as in the file."""

    data: bytes


@dataclass(slots=True)
class SnapshotClosed:
    """The opened snapshot was given whole."""


@dataclass(slots=True)
class SnapshotWritten:
    """The snapshot asked for by `TakeSnapshot` is on disk. size: bytes."""

    id: SnapshotId
    size: int


@dataclass(slots=True)
class SnapshotGivenUp:
    """Nothing came of the snapshot asked for by `TakeSnapshot`. reason: a text."""

    id: SnapshotId
    reason: str


@dataclass(slots=True)
class CaughtUp:
    """The state of this standby has all that was known to be committed when that was first known, since the start."""


@dataclass(slots=True)
class LeadershipConfirmed:
    """The answer that this node led `epoch` at some moment after the `ConfirmLeadership` of this number."""

    number: int
    epoch: int


@dataclass(slots=True)
class SendAnswered:
    """The active controller answered a `SendToActive`; response None: it came to nothing."""

    number: int
    response: Any


@dataclass(slots=True)
class KraftVersion:
    """kraft.version as the log's control records have it; `offset` of the record, -1 where there is none."""

    level: int
    offset: int


@dataclass(slots=True)
class ShutDown:
    """Leave: answer what waits, write nothing more."""


Input = (
    Ticked | WallClock | Requested | Disconnected | LeaderChanged | Committed | HighWatermark | AppendRefused
    | SnapshotOpened | SnapshotPart | SnapshotClosed | SnapshotWritten | SnapshotGivenUp
    | CaughtUp | LeadershipConfirmed | SendAnswered | KraftVersion | ShutDown
)  # fmt: skip
