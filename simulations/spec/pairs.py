"""Which action of the specification may come after which, by the same node: what runs are counted against.

Two may follow each other where the one leaves the node in a role in which the other is taken; NOT_AFTER tells of those
that cannot all the same, with the reason.
"""

from __future__ import annotations

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
    """In which roles an action is taken, and which it leaves."""

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
    "AcceptBeginQuorumRequest": Roles(ANY, ANY - {CANDIDATE}),  # who leads the epoch can be reached
    "RejectBeginQuorumRequest": Roles(ANY, ANY),
    "HandleBeginQuorumResponse": Roles(_LEADER, frozenset((LEADER, FOLLOWER, UNATTACHED))),
    "AcceptEndQuorumRequest": Roles(ANY, frozenset((UNATTACHED, PROSPECTIVE, FOLLOWER))),
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
    "AdvanceHighWatermark": Roles(_LEADER, _LEADER),
    "PersistElection": Roles(ANY, ANY),
    "PersistLog": Roles(ANY, ANY),
    "TakeSnapshot": Roles(ANY, ANY),
    "LoadSnapshot": Roles(_FETCHING, _FETCHING),
    "CleanLog": Roles(ANY, ANY),
}

AFTER_WORK = frozenset((
    "HandleVoteResponse", "HandleFetchResponse", "HandleFetchSnapshotResponse", "HandleEndQuorumResponse", "PersistLog",
    "LoadSnapshot",
))  # fmt: skip

NOT_AFTER: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    (
        "the first record of an epoch is appended in the step in which it begins",
        lambda was, now: was == "BecomeLeader" and now != "HandleClientRequest",
    ),
    (
        "who resigned waited as long as for an election, so it stands in the step in which it ends",
        lambda was, now: was == "ResignedElectionTimeout" and now != "VoterElectionTimeout",
    ),
    (
        "a majority comes with an answer, or is one voter",
        lambda was, now: now == "BecomeLeader" and was not in {"HandleVoteResponse", "ConcludePreVote"},
    ),
    (
        "what a majority has changes with a flush or a fetch",
        lambda was, now: now == "AdvanceHighWatermark" and was not in {"PersistLog", "AcceptFetchRequest"},
    ),
    (
        "who starts has asked nobody, and has nothing under way but a save",
        lambda was, now: was == "RestartWithState" and now in AFTER_WORK,
    ),
)
"""Reasons for which an action does not follow another, though the roles would let it."""


def why_not(was: str, now: str) -> str:
    """Why an action cannot follow another; "" where it can."""
    if was == "Crash" or now == "RestartWithState":
        return "" if (was, now) == ("Crash", "RestartWithState") else "who is gone starts, and who starts was gone"
    if now != "Crash" and not ACTIONS[was].after & ACTIONS[now].before:
        return "no role is left by the one and taken by the other"
    return next((reason for reason, holds in NOT_AFTER if holds(was, now)), "")


def feasible() -> list[Pair]:
    """All pairs that may be."""
    return [(was, now) for was in ACTIONS for now in ACTIONS if not why_not(was, now)]
