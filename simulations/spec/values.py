"""The plain values of the specification of KRaft: roles, logs, nodes (KIP-595, KIP-630, KIP-853, KIP-996).

Written from the protocol, independent of the product's code; nothing here imports `raft`. Values are immutable: an
action makes a new node.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.world.voter_sets import NO_VOTERS, Key, Voters

if TYPE_CHECKING:
    from collections.abc import Callable

UNATTACHED, PROSPECTIVE, CANDIDATE = "Unattached", "Prospective", "Candidate"
LEADER, FOLLOWER, RESIGNED = "Leader", "Follower", "Resigned"

NOBODY = -1
UNKNOWN = -1
"""A high watermark, or an end, that is not known."""


def _same(old: int, new: int) -> bool:
    return new == old


def _up(old: int, new: int) -> bool:
    return new > old


def _one_up(old: int, new: int) -> bool:
    return new == old + 1


def _not_down(old: int, new: int) -> bool:
    return new >= old


FOLLOWS: dict[str, dict[str, Callable[[int, int], bool]]] = {
    UNATTACHED: {UNATTACHED: _not_down, PROSPECTIVE: _same, FOLLOWER: _not_down},
    PROSPECTIVE: {PROSPECTIVE: _same, UNATTACHED: _not_down, CANDIDATE: _one_up, FOLLOWER: _not_down},
    CANDIDATE: {PROSPECTIVE: _same, UNATTACHED: _up, LEADER: _same, FOLLOWER: _not_down},
    LEADER: {UNATTACHED: _up, FOLLOWER: _up, RESIGNED: _same},
    FOLLOWER: {UNATTACHED: _up, PROSPECTIVE: _same, FOLLOWER: _not_down},
    RESIGNED: {UNATTACHED: _up, FOLLOWER: _up, PROSPECTIVE: _same},
}
"""By role, the roles that may follow it, and what the epoch does then."""


class NotAllowed(Exception):
    """A guard of an action does not hold."""

    def __init__(self, action: str, guard: str) -> None:
        self.action = action
        self.guard = guard
        super().__init__(action, guard)


class Log(NamedTuple):
    """start: its first offset, and the epoch of the record before; runs: (epoch, end offset) of each epoch's records,
    ascending in both. Ends are exclusive.
    """

    start: int = 0
    start_epoch: int = 0
    runs: tuple[tuple[int, int], ...] = ()

    @property
    def end(self) -> int:
        return self.runs[-1][1] if self.runs else self.start

    @property
    def last_epoch(self) -> int:
        return self.runs[-1][0] if self.runs else self.start_epoch

    def append(self, epoch: int, end: int) -> Log:
        """The log with records of one epoch up to `end`."""
        start, start_epoch, runs = self
        kept = runs[:-1] if runs and runs[-1][0] == epoch else runs
        return Log(start, start_epoch, (*kept, (epoch, end)))

    def cut(self, end: int) -> Log:
        """The part of it before `end`."""
        kept = [run for run in self.runs if run[1] <= end]
        if len(kept) < len(self.runs) and end > (kept[-1][1] if kept else self.start):
            kept.append((self.runs[len(kept)][0], end))
        return self._replace(runs=tuple(kept))

    def begin_at(self, start: int) -> Log:
        """The log from `start` on: earlier records are in a snapshot."""
        return Log(start, self.epoch_before(start), tuple(run for run in self.runs if run[1] > start))

    def epoch_before(self, offset: int) -> int:
        """The epoch of the record before an offset of this log."""
        last = self.start_epoch
        begin = self.start
        for epoch, end in self.runs:
            if offset <= begin:
                return last
            last, begin = epoch, end
        return last

    def end_of(self, epoch: int) -> tuple[int, int]:
        """(epoch, end) of the newest epoch here that is not above `epoch`; before all, the start of the log."""
        if epoch >= self.last_epoch:
            return self.last_epoch, self.end
        newest = (self.start_epoch, self.start)
        for run in self.runs:
            if run[0] > epoch:
                break
            newest = run
        return newest

    def shares(self, other: Log) -> int:
        """Up to where both have the same records, by their epochs; UNKNOWN if one starts after the other's end."""
        if self is other or self == other:
            return self.end
        if self[:2] == other[:2] and self.runs[:-1] == other.runs[:-1] and self.last_epoch == other.last_epoch:
            return min(self.end, other.end)  # the one is being written still
        start, end = max(self.start, other.start), min(self.end, other.end)
        if start > end or self.epoch_before(start) != other.epoch_before(start):
            return UNKNOWN
        shared = start
        for (own_epoch, own_end), (other_epoch, other_end) in zip(
            self.begin_at(start).runs, other.begin_at(start).runs, strict=False
        ):
            if own_epoch != other_epoch:
                break
            shared = min(own_end, other_end)
            if own_end != other_end:
                break
        return shared


class Election(NamedTuple):
    """The election state that a node must save."""

    epoch: int = 0
    leader: int = NOBODY
    voted: int = NOBODY


class Disk(NamedTuple):
    """election, log: after a crash. saving, writing: (number, value) of pending operations, oldest first. asked: the
    log after all pending operations; said: the newest election that was ordered.
    """

    election: Election | None = None
    log: Log = Log()
    saving: tuple[tuple[int, Election], ...] = ()
    writing: tuple[tuple[int, Log], ...] = ()
    asked: Log = Log()
    said: Election | None = None

    def holds(self, log: Log) -> int:
        """Up to where `log` would survive a crash now; UNKNOWN if not even its start would."""
        durable = self.log
        if durable is log:
            runs = log.runs
            end = runs[-1][1] if runs else log.start
        else:
            end = durable.shares(log)
        for _, version in self.writing:
            if version is not log:
                end = min(end, version.shares(log))
        return end


class Leading(NamedTuple):
    """start: where the leader's epoch begins. ends: durable ends of the replicas that fetched, by their keys; fetched:
    ids of the voters that did since quorum_ms; proposed: the log end after all proposals. wanted: the changes of the
    voter set that it was asked for (`membership.Wanted`).
    """

    start: int
    ends: dict[Key, int]
    fetched: frozenset[int]
    quorum_ms: int
    proposed: int = UNKNOWN
    wanted: frozenset[Any] = frozenset()


class Download(NamedTuple):
    """A snapshot being fetched: (epoch, end), bytes so far, and the size (UNKNOWN before the first part)."""

    id: tuple[int, int]
    position: int = 0
    size: int = UNKNOWN


class Node(NamedTuple):
    """One replica. directory: the id of its log directory. sets: the voter sets of its log, or the static one.

    reaches: whether it knows its leader's address. committed: the highest offset that it ever knew to be committed, in
    this process; watermark: as its role knows it. since_ms: when the role began, a follower last got an answer of its
    leader, or that leader resigned, by the node's own clock. granted, refused: ids of voters, in a candidacy;
    electorate: the voter set when it began. fetched: whether the leader of this epoch has served it; released: whether
    it resigned. snapshots: (epoch, end, bytes), ascending. freezing: the complete download. leaving: it is to shut
    down. NOBODY and UNKNOWN where there is none.
    """

    id: int
    directory: bytes
    role: str
    epoch: int
    leader: int
    voted: int
    log: Log
    disk: Disk
    since_ms: int
    sets: tuple[Voters, ...] = (NO_VOTERS,)
    reaches: bool = False
    committed: int = 0
    watermark: int = UNKNOWN
    granted: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    electorate: Voters = NO_VOTERS
    fetched: bool = False
    released: bool = False
    snapshots: tuple[tuple[int, int, int], ...] = ()
    download: Download | None = None
    freezing: tuple[int, int] | None = None
    leading: Leading | None = None
    leaving: bool = False

    @property
    def key(self) -> Key:
        return self.id, self.directory

    @property
    def voters(self) -> Voters:
        """The voter set in force: the newest one of its log, committed or not (KIP-853)."""
        return self.sets[-1]

    @property
    def is_voter(self) -> bool:
        return self.sets[-1].holds((self.id, self.directory))

    @property
    def may_stand(self) -> bool:
        """Whether it may be elected: a voter, or one whose removal it does not know to be committed. The voters that
        are left may need its log (section 4.2.2 of the dissertation on Raft).
        """
        sets, key = self.sets, (self.id, self.directory)
        if sets[-1].holds(key):
            return True
        return any(voters.holds(key) and later.offset >= self.committed for voters, later in pairwise(sets))

    @property
    def is_removed(self) -> bool:
        """Whether it leads, and its removal from the voters is committed."""
        return self.role == LEADER and self.watermark > self.sets[-1].offset and not self.is_voter

    def on_served(self, now_ms: int) -> Node:
        """The node after a successful answer of its leader; where that has resigned, the timeout does not restart."""
        return self if self.released else self.but(since_ms=now_ms, fetched=True)

    def but(self, **changes: Any) -> Node:
        """The same node with other values of some fields. Like `_replace`, in a third of its time."""
        fields: list[Any] = [*self]
        for name, value in changes.items():
            fields[_PLACES[name]] = value
        return tuple.__new__(Node, fields)

    def describe(self) -> str:
        """The node as text for people."""
        parts = [f"{self.role} of epoch {self.epoch}"]
        if self.leader != NOBODY:
            parts.append(f"leader {self.leader}")
        if self.voted != NOBODY:
            parts.append(f"voted for {self.voted}")
        log = self.log
        parts.append(f"log {log.start}-{log.end} of epoch {log.last_epoch}")
        parts.append(f"committed {self.committed}, watermark {self.watermark}")
        if self.role in {PROSPECTIVE, CANDIDATE}:
            parts.append(f"granted by {sorted(self.granted)}, refused by {sorted(self.refused)}")
        if self.leading is not None:
            ends = sorted((key[0], end) for key, end in self.leading.ends.items())
            parts.append(f"begins at {self.leading.start}, nodes at {ends}")
        if len(self.sets) > 1:
            parts.append(f"voters {self.voters.ids} of {self.voters.offset}")
        return ", ".join(parts)


_PLACES = {name: place for place, name in enumerate(Node._fields)}


def is_sole(node: Node) -> bool:
    """Whether a node is the only voter."""
    return len(node.voters.keys) == 1 and node.is_voter


class Rules(NamedTuple):
    """The timeouts of the quorum, the same for all nodes, in ms. backoff_ms: the longest wait of a voter whose leader
    has resigned, before it stands.
    """

    fetch_ms: int
    election_ms: int
    request_ms: int
    backoff_ms: int

    @property
    def quorum_ms(self) -> int:
        """How long a leader stays leader while no majority fetches (KIP-595)."""
        return self.fetch_ms * 3 // 2
