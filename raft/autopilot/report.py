"""What the autopilot says of the quorum: the state of each node, the next step, and what keeps it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from raft.autopilot.view import Endpoints
    from raft.interface.config import ReplicaKey


class Health(Enum):
    """HEALTHY: it fetches, and has the leader's log. LAGGING: it fetches, and lacks records. SILENT: it does not fetch.
    DEAD: it has been silent for `kraft.autopilot.dead.after.ms`.
    """

    HEALTHY = "healthy"
    LAGGING = "lagging"
    SILENT = "silent"
    DEAD = "dead"


class Kind(Enum):
    """A step is one request: AddRaftVoter, RemoveRaftVoter (KIP-853) or UnregisterController (KIP-1312)."""

    ADD = "add"
    REMOVE = "remove"
    UNREGISTER = "unregister"


class Step(NamedTuple):
    """One change. reason: in words. endpoints: of a voter that is added."""

    kind: Kind
    key: ReplicaKey
    reason: str
    endpoints: Endpoints = ()


class NodeState(NamedTuple):
    """since_ms: monotonic, since when the node has this health, as far as this leader knows. reason: why it is not
    healthy, or what keeps an observer from becoming a voter; empty for nothing.
    """

    key: ReplicaKey
    is_voter: bool
    health: Health
    since_ms: int
    reason: str


class Report(NamedTuple):
    """step: the next one; None for none. held_by: what keeps a step that would be needed, in words."""

    nodes: tuple[NodeState, ...]
    step: Step | None
    held_by: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether all voters are."""
        return all(node.health is Health.HEALTHY for node in self.nodes if node.is_voter)
