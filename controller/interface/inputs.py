"""The inputs of a controller, taken by `controller.core.steps.step`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from raft.interface.config import SnapshotId
    from raft.interface.inputs import Source


class Principal(NamedTuple):
    """The authenticated sender of a request (KIP-48, KIP-590). token: whether a delegation token authenticated it."""

    type: str = "User"
    name: str = "ANONYMOUS"
    token: bool = False

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS = Principal()


class Forwarder(NamedTuple):
    """The broker that sent a client's request in an Envelope. address: as text."""

    principal: Principal
    address: str


class Written(NamedTuple):
    """The records that a request wrote. epoch: of the leader that wrote them; last_offset: inclusive."""

    epoch: int
    first_offset: int
    last_offset: int


@dataclass(slots=True)
class RequestContext:
    """The data of a request besides its body.

    principal, client_address, client_id: of the original client when a broker forwarded the request in an Envelope.
    listener: the name of the listener it came in on. arrived_ms: monotonic time of its arrival. security_protocol: of
    that listener. is_own: whether this node sent the request to itself, which needs no permission. decisions: the
    authorizer's decisions for this request, kept by `controller.rules.permissions`. throttled_until_ms: monotonic;
    until when the sender must wait, kept by `controller.rules.mutation_quotas`; 0 where it need not. request: its body,
    kept when it is served. forwarder: of a forwarded request. written: None until the request has written records.
    is_long: whether it has so much to do that it is served in slices (`controller.core.long_steps`). is_broker: whether
    it is long and of a broker, which may make it: it comes before those of users. denials: the
    actions that were denied, counted by `controller.rules.permissions`. charges: what a long request took of the quotas
    of mutations, kept by `controller.rules.mutation_quotas`; is_charged: whether the answer depends on these quotas.
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
    throttled_until_ms: int = 0
    request: Any = None
    forwarder: Forwarder | None = None
    written: Written | None = None
    is_long: bool = False
    is_broker: bool = False
    denials: int = 0
    charges: list[tuple[Any, int]] = field(default_factory=list)
    is_charged: bool = False


@dataclass(slots=True)
class Ticked:
    """No event but the passing of time."""


@dataclass(slots=True)
class WallClock:
    """The wall clock is this far ahead of the monotonic one, in ms. It serves for timestamps in the log, never for
    rules.
    """

    offset_ms: int


@dataclass(slots=True)
class Requested:
    """A request of the controller's own APIs (the quorum's go to `raft`)."""

    context: RequestContext
    request: Any


@dataclass(slots=True)
class Disconnected:
    """Connections are closed: responses to their requests are dropped; records that were appended stay."""

    connections: AbstractSet[int]


@dataclass(slots=True)
class LeaderChanged:
    """The quorum has another leader, or none. leader_id: None where unknown.

    For this node itself it comes when all records before `end_offset` are committed and were given by `Committed`: the
    controller becomes active, and its next record has offset `end_offset`.
    """

    epoch: int
    leader_id: int | None
    end_offset: int = -1


@dataclass(slots=True)
class Committed:
    """For a standby: whole committed record batches, bytes as in the log, contiguous with those given before."""

    data: bytes


@dataclass(slots=True)
class CommittedPart:
    """For a standby: it may replay some records of a large batch, which is given whole each time. When all of them are
    replayed, `Committed` with this batch follows. records: how many.
    """

    data: bytes
    records: int


@dataclass(slots=True)
class HighWatermark:
    """For the active controller: all records below this offset are committed."""

    offset: int


@dataclass(slots=True)
class AppendRefused:
    """The quorum refused an `Append`: this node no longer leads, or not in that epoch."""

    epoch: int


@dataclass(slots=True)
class SnapshotOpened:
    """A snapshot replaces all state; its batches follow in `SnapshotPart`s, then `SnapshotClosed`."""

    id: SnapshotId


@dataclass(slots=True)
class SnapshotPart:
    """A record batch of the opened snapshot, bytes as in the file. It comes again until all its records are replayed:
    each time about as many more as take the time of `records`.
    """

    data: bytes
    records: int


@dataclass(slots=True)
class SnapshotClosed:
    """All parts of the opened snapshot were given."""


@dataclass(slots=True)
class SnapshotWritten:
    """The snapshot that `TakeSnapshot` requested is on disk. size: bytes."""

    id: SnapshotId
    size: int


@dataclass(slots=True)
class SnapshotGivenUp:
    """The snapshot that `TakeSnapshot` requested was not written. reason: a text."""

    id: SnapshotId
    reason: str


@dataclass(slots=True)
class CaughtUp:
    """The state of this standby has reached the first high watermark that it learned after its start."""


@dataclass(slots=True)
class LeadershipConfirmed:
    """The quorum confirmed that this node led `epoch` at some moment after the `ConfirmLeadership` of this number."""

    number: int
    epoch: int


@dataclass(slots=True)
class SendAnswered:
    """The active controller answered a `SendToActive`; response None: it did not answer."""

    number: int
    response: Any


@dataclass(slots=True)
class KraftVersion:
    """kraft.version of the log's control records; `offset` of the record, -1 where there is none."""

    level: int
    offset: int


@dataclass(slots=True)
class KraftVersionSupport:
    """The highest level of kraft.version that all voters support, as far as the leader of `epoch` knows, this node."""

    epoch: int
    level: int


@dataclass(slots=True)
class ReserveOffsets:
    """The quorum is to append a control batch: leave it `count` offsets. Answered by an `OffsetsReserved` effect, when
    this node is the active controller of `epoch`; never if it does not become that.
    """

    epoch: int
    count: int


@dataclass(slots=True)
class Stopping:
    """The node is about to stop: take a snapshot if a restart would have much to replay."""


@dataclass(slots=True)
class ShutDown:
    """Shut down: answer the waiting requests, write nothing more."""


Input = (
    Ticked | WallClock | Requested | Disconnected | LeaderChanged | Committed | CommittedPart | HighWatermark
    | AppendRefused | SnapshotOpened | SnapshotPart | SnapshotClosed | SnapshotWritten | SnapshotGivenUp
    | CaughtUp | LeadershipConfirmed | SendAnswered | KraftVersion | KraftVersionSupport | ReserveOffsets | Stopping
    | ShutDown
)  # fmt: skip
