"""The effects of a controller, returned by `controller.core.steps.step`, to be started in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from controller.interface.inputs import RequestContext
    from raft.interface.config import SnapshotId
    from raft.interface.inputs import Source


@dataclass(slots=True)
class Reply:
    """Answer a request; the driver encodes the response in the version of the request.

    context: of the request, for `controller.interface.refusals.alternatives` where the response cannot be encoded.
    """

    source: Source
    response: Any
    context: RequestContext


@dataclass(slots=True)
class Requeue:
    """Give these inputs to the controller again, in their order: they waited for the end of a long step."""

    events: list[Any]


@dataclass(slots=True)
class ServeLater:
    """Give this long request (`RequestContext.is_long`) to the controller when its turn comes, as `Requested`."""

    context: RequestContext
    request: Any


@dataclass(slots=True)
class Append:
    """Append one record batch, complete in its bytes, to the log of the quorum (`raft.interface.inputs.Propose`)."""

    epoch: int
    base_offset: int
    last_offset: int
    data: bytes


@dataclass(slots=True)
class OffsetsReserved:
    """The offsets from `base_offset` on are left to a control batch of the quorum (`raft`'s `OffsetsReserved`)."""

    epoch: int
    base_offset: int


@dataclass(slots=True)
class UpgradeKraftVersion:
    """Raise kraft.version: two control records, from `base_offset` on (`raft.interface.inputs.UpgradeKraftVersion`)."""

    epoch: int
    base_offset: int
    level: int


@dataclass(slots=True)
class ConfirmLeadership:
    """Ask the quorum whether this node still leads. `LeadershipConfirmed` or a `LeaderChanged` follows."""

    number: int


@dataclass(slots=True)
class Resign:
    """Resign as the leader of this epoch: the controller cannot go on. reason: for the log."""

    epoch: int
    reason: str


@dataclass(slots=True)
class TakeSnapshot:
    """Write the state as of `id` to a snapshot, in steps that alternate with other work.

    view: the committed state at `id.end_offset`, which does not change any more; `controller.state.snapshots` makes its
    batches. timestamp_ms: of the last record in it.
    """

    id: SnapshotId
    timestamp_ms: int
    view: Any


@dataclass(slots=True)
class SendToActive:
    """Send a request of this node's own (its registration) to the active controller."""

    number: int
    request: Any


@dataclass(slots=True)
class Noted:
    """An event for the node's log. name: one of `controller.node.logging.log_events`; fields: plain values."""

    name: str
    fields: dict[str, Any]


@dataclass(slots=True)
class SetLogLevel:
    """Set the level of one of this node's loggers; None: it inherits that of its parent, here and in `Env.loggers`."""

    name: str
    level: str | None


Effect = (
    Reply | Append | OffsetsReserved | UpgradeKraftVersion | ConfirmLeadership | Resign | TakeSnapshot | SendToActive
    | Noted | SetLogLevel | Requeue | ServeLater
)  # fmt: skip
