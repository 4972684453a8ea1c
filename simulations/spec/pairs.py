"""Which action of the specification may follow which, by the same node: the pairs that runs are to reach.

Two may follow each other if the first leaves the node in a role in which the second is possible; NOT_AFTER lists the
exceptions, with the reasons.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from simulations.spec.values import CANDIDATE, FOLLOWER, LEADER, PROSPECTIVE, RESIGNED, UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Callable

Pair = tuple[str, str]

ANY = frozenset((UNATTACHED, PROSPECTIVE, CANDIDATE, LEADER, FOLLOWER, RESIGNED))
_FETCHING = frozenset((UNATTACHED, FOLLOWER))
_LEADER = frozenset((LEADER,))
_FOLLOWER = frozenset((FOLLOWER,))


class Roles(NamedTuple):
    """The roles in which an action is possible, and those that it leads to."""

    before: frozenset[str]
    after: frozenset[str]


ACTIONS: dict[str, Roles] = {
    "RestartWithState": Roles(frozenset(), frozenset((UNATTACHED, CANDIDATE, FOLLOWER, RESIGNED))),
    "Crash": Roles(ANY, frozenset()),
    "VoterFetchTimeout": Roles(_FOLLOWER, frozenset((PROSPECTIVE,))),
    "VoterElectionTimeout": Roles(frozenset((UNATTACHED, CANDIDATE)), frozenset((PROSPECTIVE,))),
    "ResignedElectionTimeout": Roles(frozenset((RESIGNED,)), frozenset((UNATTACHED,))),
    "ConcludePreVote": Roles(frozenset((PROSPECTIVE,)), frozenset((CANDIDATE, FOLLOWER, UNATTACHED))),
    "BecomeLeader": Roles(frozenset((CANDIDATE,)), _LEADER),
    "CheckQuorumResign": Roles(_LEADER, frozenset((RESIGNED,))),
    "HandleVoteRequest": Roles(ANY, ANY),
    "HandlePreVoteRequest": Roles(ANY, ANY),
    "HandleVoteResponse": Roles(frozenset((CANDIDATE,)), frozenset((CANDIDATE, FOLLOWER, UNATTACHED))),
    "HandlePreVoteResponse": Roles(frozenset((PROSPECTIVE,)), frozenset((PROSPECTIVE, FOLLOWER, UNATTACHED))),
    # A node that learns a leader can reach it, and follows it, unless it knew it before.
    "AcceptBeginQuorumRequest": Roles(ANY, frozenset((PROSPECTIVE, LEADER, FOLLOWER, RESIGNED))),
    "RejectBeginQuorumRequest": Roles(ANY, ANY),
    "HandleBeginQuorumResponse": Roles(_LEADER, frozenset((LEADER, FOLLOWER, UNATTACHED))),
    "AcceptEndQuorumRequest": Roles(ANY, frozenset((PROSPECTIVE, FOLLOWER))),
    "RejectEndQuorumRequest": Roles(ANY, ANY),
    "HandleEndQuorumResponse": Roles(frozenset((RESIGNED,)), frozenset((RESIGNED, FOLLOWER, UNATTACHED))),
    "HandleClientRequest": Roles(_LEADER, _LEADER),
    "AcceptFetchRequest": Roles(_LEADER, _LEADER),
    "DivergingFetchRequest": Roles(_LEADER, _LEADER),
    "SnapshotFetchRequest": Roles(_LEADER, _LEADER),
    "RejectFetchRequest": Roles(ANY, ANY),
    "HandleFetchResponse": Roles(_FETCHING, _FETCHING),
    "AcceptFetchSnapshotRequest": Roles(_LEADER, _LEADER),
    "RejectFetchSnapshotRequest": Roles(ANY, ANY),
    "HandleFetchSnapshotResponse": Roles(_FOLLOWER, _FETCHING),
    "AcceptUpdateVoterRequest": Roles(_LEADER, _LEADER),
    "RejectUpdateVoterRequest": Roles(ANY, ANY),
    "HandleUpdateVoterResponse": Roles(_FOLLOWER, _FETCHING),
    "AdvanceHighWatermark": Roles(_LEADER, _LEADER),
    "PersistElection": Roles(ANY, ANY),
    "PersistLog": Roles(ANY, ANY),
    "TakeSnapshot": Roles(ANY, ANY),
    "LoadSnapshot": Roles(_FETCHING, _FETCHING),
    "CleanLog": Roles(ANY, ANY),
}

CHANGES: dict[str, Roles] = dict.fromkeys(
    ("AddVoter", "RemoveVoter", "UpdateVoter", "RaiseVersion"), Roles(_LEADER, _LEADER)
)
"""The actions of worlds whose voters change."""

AFTER_WORK = frozenset((
    "HandleVoteResponse", "HandleFetchResponse", "HandleFetchSnapshotResponse", "HandleEndQuorumResponse", "PersistLog",
    "LoadSnapshot", "TakeSnapshot",
))  # fmt: skip

_TAKES_OF_LEADER = frozenset(("HandleFetchResponse", "HandleFetchSnapshotResponse"))
_LEARNS_EPOCH = frozenset(("HandleVoteResponse", "HandleBeginQuorumResponse", "HandleEndQuorumResponse"))

NOT_AFTER: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    (
        "the first record of an epoch is appended in the step in which it begins",
        lambda was, now: was == "BecomeLeader" and now != "HandleClientRequest",
    ),
    (
        "a resigned leader has waited for its timeout, so it starts an election in the same step",
        lambda was, now: was == "ResignedElectionTimeout" and now != "VoterElectionTimeout",
    ),
    (
        "a majority is reached by an answer, or is one voter",
        lambda was, now: now == "BecomeLeader" and was not in {"HandleVoteResponse", "ConcludePreVote"},
    ),
    (
        "the offset that a majority has changes only by a flush or a fetch",
        lambda was, now: now == "AdvanceHighWatermark" and was not in {"PersistLog", "AcceptFetchRequest"},
    ),
    (
        "a starting replica has sent no request, knows no committed record, and waits only for a save",
        lambda was, now: was == "RestartWithState" and now in AFTER_WORK,
    ),
    (
        "a candidate saves its own vote before it requests others",
        lambda was, now: (was, now) == ("ConcludePreVote", "HandleVoteResponse"),
    ),
    (
        "a leader of another epoch is saved before the first Fetch",
        lambda was, now: was in _LEARNS_EPOCH and now in _TAKES_OF_LEADER,
    ),
    (
        "a new follower sends a Fetch first, not a FetchSnapshot",
        lambda was, now: was in {"ConcludePreVote", "HandlePreVoteResponse"} and now == "HandleFetchSnapshotResponse",
    ),
    (
        "nothing is fetched until the snapshot, and the log that starts at its end, are durable",
        lambda was, now: (
            (was, now) == ("HandleFetchResponse", "LoadSnapshot")
            or (was == "LoadSnapshot" and now in {*_TAKES_OF_LEADER, "LoadSnapshot", "CleanLog"})
        ),
    ),
    (
        "leadership is saved before voters fetch, and before the state machine proposes",
        lambda was, now: (
            (was, now) in {("AdvanceHighWatermark", "PersistElection"), ("PersistElection", "HandleClientRequest")}
        ),
    ),
)
"""Reasons why an action does not follow another, although the roles would allow it."""


def why_not(was: str, now: str) -> str:
    """Why an action cannot follow another; "" where it can."""
    if was == "Crash" or now == "RestartWithState":
        return (
            ""
            if (was, now) == ("Crash", "RestartWithState")
            else "only a start follows a crash, and only a crash precedes a start"
        )
    if now != "Crash" and not _roles(was).after & _roles(now).before:
        return "the roles after the one and before the other do not overlap"
    return next((reason for reason, holds in NOT_AFTER if holds(was, now)), "")


def _roles(action: str) -> Roles:
    return ACTIONS.get(action) or CHANGES[action]


def feasible() -> list[Pair]:
    """All possible pairs, where the voters do not change."""
    return [(was, now) for was in ACTIONS for now in ACTIONS if not why_not(was, now)]


def of_changes() -> list[Pair]:
    """The pairs that are possible only where the voters change. A leader that was removed starts no election when it
    has resigned: it waits as an observer.
    """
    both = [*ACTIONS, *CHANGES]
    changing = [pair for pair in product(both, both) if not CHANGES.keys().isdisjoint(pair)]
    pairs = [pair for pair in changing if not why_not(*pair)]
    resigned = "ResignedElectionTimeout"
    return pairs + [(resigned, now) for now in ACTIONS if UNATTACHED in ACTIONS[now].before]
