"""The state of a leader: the progress of each replica, deadlines, parked Fetches, and batches to append."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.limits import NEVER
from raft.state.proposals import Proposals
from raft.state.rounds import Rounds

if TYPE_CHECKING:
    from raft.interface.config import Endpoint, ReplicaKey
    from raft.interface.voters import VoterSet
    from raft.state.parked import Parked
    from raft.state.voter_change import VoterChange

UNKNOWN = -1
OBSERVERS_MAX = 10_000


class Progress:
    """The progress of a replica, from its fetches. key: as in the voter set, or as the observer sent it. connection: on
    which it fetches, None after its end; since_ms: of its first Fetch there.

    end_offset: its durable log end, UNKNOWN before its first Fetch; it may decrease. fetched_ms, caught_up_ms: when it
    last fetched, and when it was last caught up with the leader; UNKNOWN for never. leader_end: the leader's log end
    at its last Fetch. endpoints: of a voter.
    """

    __slots__ = (
        "caught_up_ms", "connection", "end_offset", "endpoints", "fetched_ms", "key", "leader_end", "since_ms",
    )  # fmt: skip

    def __init__(self, key: ReplicaKey, endpoints: tuple[Endpoint, ...] = ()) -> None:
        self.key = key
        self.endpoints = endpoints
        self.end_offset = self.fetched_ms = self.caught_up_ms = self.leader_end = self.since_ms = UNKNOWN
        self.connection: int | None = None

    def on_fetched(self, offset: int, leader_end: int, connection: int, now_ms: int) -> None:
        """It fetches from `offset` on: all records below are durable there."""
        if connection != self.connection:
            self.connection, self.since_ms = connection, now_ms
        if offset >= leader_end:
            self.caught_up_ms = now_ms
        elif self.leader_end > 0 and offset >= self.leader_end:
            # It now has all records that the leader had at its last Fetch: it was caught up at that time.
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.leader_end = leader_end
        self.fetched_ms = now_ms
        self.end_offset = offset


class LeaderState:
    """start_offset: where the leader's epoch begins. granting: ids of the voters that granted their vote.

    voters: by id, with the leader itself; observers: all others that fetch, by key. fetched_voters: ids of the other
    voters that fetched since quorum_deadline_ms was set. begin_deadline_ms: when BeginQuorumEpoch is next sent to the
    voters that do not fetch. parked: by connection, its one unanswered Fetch. change: the change of the voter set that
    is under way; None where there is none. is_removed: whether this replica's own removal is committed.
    reported_voters: with kraft.version 0, the static voters with what each reported to this leader; None with 1.
    """

    __slots__ = (
        "begin_deadline_ms",
        "change",
        "fetched_voters",
        "granting",
        "is_removed",
        "observers",
        "own_id",
        "parked",
        "parked_deadline_ms",
        "proposals",
        "quorum_deadline_ms",
        "reported_voters",
        "rounds",
        "start_offset",
        "voters",
    )  # fmt: skip

    def __init__(self, own_id: int, voters: VoterSet, granting: tuple[int, ...], start_offset: int) -> None:
        self.own_id = own_id
        self.start_offset = start_offset
        self.granting = granting
        self.voters: dict[int, Progress] = {}
        self.observers: dict[ReplicaKey, Progress] = {}
        self.fetched_voters: set[int] = set()
        self.quorum_deadline_ms = NEVER
        self.begin_deadline_ms = 0
        self.parked: dict[int, Parked] = {}
        self.parked_deadline_ms = NEVER
        self.proposals = Proposals(start_offset)
        self.rounds = Rounds()
        self.change: VoterChange | None = None
        self.is_removed = False
        self.reported_voters: VoterSet | None = None
        self.follow(voters)

    def follow(self, voters: VoterSet) -> None:
        """The voter set changed: its members count from now on; a voter that left becomes an observer (KIP-853)."""
        left = self.voters
        self.voters = {}
        for voter in voters:
            known = left.get(voter.key.id)
            if known is not None and known.key.matches(voter.key):
                del left[voter.key.id]
            else:
                known = self.observers.pop(voter.key, None) or Progress(voter.key)
            known.key = voter.key
            known.endpoints = voter.endpoints
            self.voters[voter.key.id] = known
        self.fetched_voters &= self.voters.keys()
        for progress in left.values():
            progress.endpoints = ()
            self.observers.setdefault(progress.key, progress)

    def voter(self, key: ReplicaKey) -> Progress | None:
        """The progress of the voter with this key; None where the key is that of an observer."""
        progress = self.voters.get(key.id)
        return progress if progress is not None and progress.key.matches(key) else None

    def replica(self, key: ReplicaKey, session_ms: int, now_ms: int) -> Progress:
        """The progress of the voter or observer with this key; an unknown key is added as an observer."""
        progress = self.voter(key) or self.observers.get(key)
        if progress is None:
            if len(self.observers) >= OBSERVERS_MAX:
                self.forget_silent(session_ms, now_ms)
            if len(self.observers) >= OBSERVERS_MAX:
                # No cluster has so many: a peer makes keys up. Remove the one that has not fetched for longest.
                del self.observers[min(self.observers, key=lambda other: self.observers[other].fetched_ms)]
            progress = self.observers[key] = Progress(key)
        return progress

    def forget_silent(self, session_ms: int, now_ms: int) -> None:
        """Forget observers that have not fetched for `session_ms`, and voters that left without a Fetch; a leader that
        left the voter set itself stays.
        """
        for key, seen in list(self.observers.items()):
            is_silent = seen.fetched_ms == UNKNOWN or now_ms - seen.fetched_ms >= session_ms
            if is_silent and key.id != self.own_id:
                del self.observers[key]

    def record_contact(self, key: ReplicaKey, timeout_ms: int, now_ms: int) -> None:
        """A replica fetched. Once a majority of the voters have, the quorum deadline moves to `timeout_ms` from now."""
        if self.voter(key) is None:
            return
        self.fetched_voters.add(key.id)
        needed = len(self.voters) // 2 + 1 - (self.own_id in self.voters)
        if len(self.fetched_voters) >= needed:
            self.fetched_voters.clear()
            self.quorum_deadline_ms = now_ms + timeout_ms

    def silent_voters(self, interval_ms: int, now_ms: int) -> list[ReplicaKey]:
        """The other voters that have not fetched for `interval_ms`: they may not know the leader."""
        return [
            progress.key
            for progress in self.voters.values()
            if progress.key.id != self.own_id
            and (progress.fetched_ms == UNKNOWN or now_ms - progress.fetched_ms >= interval_ms)
        ]

    def successors(self) -> tuple[ReplicaKey, ...]:
        """The other voters, the longest logs first; of equal ones that which has been connected for longest, and those
        without a connection last.

        One that has just started may still replay its log, and would not serve as soon as it is elected; one without a
        connection may not run.
        """
        others = [progress for progress in self.voters.values() if progress.key.id != self.own_id]
        others.sort(key=lambda other: (-other.end_offset, other.connection is None, other.since_ms, other.key))
        return tuple(other.key for other in others)

    def on_disconnected(self, connection: int) -> None:
        """The connection is closed."""
        self.parked.pop(connection, None)
        self.rounds.forget(connection)
        for progress in self.voters.values():
            if progress.connection == connection:
                progress.connection = None
