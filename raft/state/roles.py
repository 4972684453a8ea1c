"""The roles of a replica, as frozen values, and the allowed transitions (KIP-595, KIP-996; `QuorumState` of Kafka)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.config import Endpoint, ReplicaKey
    from raft.state.follower_state import FollowerState
    from raft.state.leader_state import LeaderState
    from raft.state.tally import Tally


@dataclass(frozen=True, slots=True)
class Unattached:
    """Knows no leader, or no endpoint of it. voted: the candidate that this replica voted for in this epoch."""

    epoch: int
    leader_id: int | None
    voted: ReplicaKey | None
    election_deadline_ms: int
    endpoints: tuple[Endpoint, ...] = field(default=(), init=False)


@dataclass(frozen=True, slots=True)
class Prospective:
    """A voter that asks for pre-votes before it raises its epoch. It keeps the leader and the vote that it knew."""

    epoch: int
    leader_id: int | None
    endpoints: tuple[Endpoint, ...]
    voted: ReplicaKey | None
    election_deadline_ms: int
    tally: Tally = field(compare=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A voter that asks for votes in a new epoch. voted: itself."""

    epoch: int
    voted: ReplicaKey
    election_deadline_ms: int
    tally: Tally = field(compare=False)
    leader_id: None = field(default=None, init=False)
    endpoints: tuple[Endpoint, ...] = field(default=(), init=False)


@dataclass(frozen=True, slots=True)
class Leader:
    """Elected by a majority. leader_id: its own."""

    epoch: int
    leader_id: int
    endpoints: tuple[Endpoint, ...]
    state: LeaderState = field(compare=False)
    voted: None = field(default=None, init=False)


@dataclass(frozen=True, slots=True)
class Follower:
    """Fetches from a leader. endpoints: of the leader, never empty. voted: kept within an epoch."""

    epoch: int
    leader_id: int
    endpoints: tuple[Endpoint, ...]
    voted: ReplicaKey | None
    state: FollowerState = field(compare=False)


@dataclass(frozen=True, slots=True)
class Resigned:
    """Was the leader of this epoch, has resigned, and notifies the other voters. leader_id: its own.

    successors: the other voters, the longest logs first. unacked: ids of the voters that have not acknowledged it yet.
    """

    epoch: int
    leader_id: int
    endpoints: tuple[Endpoint, ...]
    election_deadline_ms: int
    successors: tuple[ReplicaKey, ...]
    unacked: list[int] = field(compare=False)
    voted: None = field(default=None, init=False)


class Handover:
    """The end of a leader that is shut down. resign_ms: when it resigns at the latest; deadline_ms: until when it stays
    to vote; gone: the ids of voters whose processes are not running.
    """

    __slots__ = ("deadline_ms", "gone", "resign_ms")

    def __init__(self, resign_ms: int, deadline_ms: int) -> None:
        self.resign_ms = resign_ms
        self.deadline_ms = deadline_ms
        self.gone: set[int] = set()


Role = Unattached | Prospective | Candidate | Leader | Follower | Resigned


def same(old: int, new: int) -> bool:
    """The epoch does not change."""
    return new == old


def higher(old: int, new: int) -> bool:
    """The epoch is higher."""
    return new > old


def next_one(old: int, new: int) -> bool:
    """The epoch is higher by one: an election that this replica starts."""
    return new == old + 1


def not_lower(old: int, new: int) -> bool:
    """The epoch is the same or higher."""
    return new >= old


# The allowed transitions, and the rule for the epoch of each. Within an epoch a leader never becomes a follower, a
# candidate keeps its vote for itself, and only a Prospective may raise the epoch and become a candidate.
NEXT: dict[type[Role], dict[type[Role], Callable[[int, int], bool]]] = {
    Unattached: {Unattached: not_lower, Prospective: same, Follower: not_lower},
    Prospective: {Unattached: not_lower, Prospective: same, Candidate: next_one, Follower: not_lower},
    Candidate: {Unattached: higher, Prospective: same, Leader: same, Follower: not_lower},
    Leader: {Unattached: higher, Follower: higher, Resigned: same},
    Follower: {Unattached: higher, Prospective: same, Follower: not_lower},
    # A sole voter that restarts after it was leader becomes Prospective at once; others wait for the next epoch.
    Resigned: {Unattached: higher, Prospective: same, Follower: higher},
}

# The roles in which a replica may start.
FIRST: tuple[type[Role], ...] = (Unattached, Candidate, Follower, Resigned)


def check_change(old: Role | None, new: Role) -> None:
    """Assert that `new` may follow `old`; old: None when the replica starts."""
    if old is None:
        assert isinstance(new, FIRST), f"a replica cannot start as {new}"
        return
    rule = NEXT[type(old)].get(type(new))
    assert rule is not None, f"{type(new).__name__} cannot follow {old}"
    assert rule(old.epoch, new.epoch), f"{new} cannot follow {old}: its epoch is wrong"
    if new.epoch == old.epoch:
        # One vote, and one leader, in an epoch. The vote of a leader is implied: for itself.
        assert old.voted is None or new.voted == old.voted or isinstance(new, Leader), f"{new} forgets a vote of {old}"
        assert old.leader_id is None or new.leader_id == old.leader_id, f"{new} has another leader than {old}"
