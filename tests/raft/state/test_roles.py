from __future__ import annotations

import itertools
from typing import Any

import pytest

from raft.state.follower_state import FollowerState
from raft.state.leader_state import LeaderState
from raft.state.roles import NEXT, Candidate, Follower, Leader, Prospective, Resigned, Unattached, check_change
from raft.state.tally import Tally
from tests.raft.building import endpoint, key, static_voters

VOTERS = static_voters(1, 2, 3)


def role(kind: type, epoch: int, leader_id: int | None = None, voted: Any = None) -> Any:
    """A role of replica 1."""
    endpoints = (endpoint(leader_id or 2),)
    return {
        Unattached: lambda: Unattached(epoch, leader_id, voted, 0),
        Prospective: lambda: Prospective(epoch, leader_id, endpoints, voted, 0, Tally(VOTERS, 1)),
        Candidate: lambda: Candidate(epoch, key(1), 0, Tally(VOTERS, 1)),
        Leader: lambda: Leader(epoch, 1, endpoints, LeaderState(1, VOTERS, (1, 2), 0)),
        Follower: lambda: Follower(epoch, leader_id or 2, endpoints, voted, FollowerState(0, 0)),
        Resigned: lambda: Resigned(epoch, 1, endpoints, 0, (), [2, 3]),
    }[kind]()


# What the epoch may do from a role (row) to a role (column): s it stays, + it rises by one, * it rises by more.
TABLE = """
             Unattached  Prospective  Candidate  Leader  Follower  Resigned
Unattached   s+*         s            -          -       s+*       -
Prospective  s+*         s            +          -       s+*       -
Candidate    +*          s            -          s       s+*       -
Leader       +*          -            -          -       +*        s
Follower     +*          s            -          -       s+*       -
Resigned     +*          s            -          -       +*        -
"""


def allowed() -> dict[tuple[str, str], str]:
    head, *rows = (line.split() for line in TABLE.strip().splitlines())
    return {(row[0], column): cell for row in rows for column, cell in zip(head, row[1:], strict=True)}


@pytest.mark.parametrize(("old", "new"), list(itertools.product(NEXT, NEXT)), ids=lambda kind: kind.__name__)
def test_a_role_may_follow_another_as_the_table_says(old: Any, new: Any) -> None:
    for mark, epoch in (("s", 5), ("+", 6), ("*", 9)):
        before = role(old, 5, voted=key(1) if new is Candidate else None)
        after = role(new, epoch, leader_id=before.leader_id if epoch == 5 and new is not Candidate else None)
        if new is not Candidate and epoch == 5 and before.voted is not None:
            after = role(new, epoch, before.leader_id, before.voted)

        if mark in allowed()[old.__name__, new.__name__]:
            check_change(before, after)
        else:
            with pytest.raises(AssertionError):
                check_change(before, after)


@pytest.mark.parametrize(("old", "new"), list(itertools.product(NEXT, NEXT)), ids=lambda kind: kind.__name__)
def test_no_role_follows_one_of_a_higher_epoch(old: Any, new: Any) -> None:
    with pytest.raises(AssertionError):
        check_change(role(old, 5), role(new, 4))


@pytest.mark.parametrize("kind", [Unattached, Prospective, Follower])
def test_a_vote_is_kept_within_its_epoch_only(kind: Any) -> None:
    before = role(Prospective, 5, 2, voted=key(3))

    with pytest.raises(AssertionError):
        check_change(before, role(kind, 5, 2, voted=None))
    with pytest.raises(AssertionError):
        check_change(before, role(kind, 5, 2, voted=key(2)))
    check_change(before, role(kind, 5, 2, voted=key(3)))


def test_a_candidate_keeps_its_own_vote_when_it_follows_in_its_epoch() -> None:
    check_change(role(Candidate, 5), role(Follower, 5, 2, voted=key(1)))

    with pytest.raises(AssertionError):
        check_change(role(Candidate, 5), role(Follower, 5, 2, voted=None))


def test_there_is_one_leader_in_an_epoch() -> None:
    with pytest.raises(AssertionError):
        check_change(role(Follower, 5, 2), role(Follower, 5, 3))
    check_change(role(Follower, 5, 2), role(Follower, 6, 3))


@pytest.mark.parametrize("kind", [Prospective, Leader])
def test_a_replica_starts_neither_as_leader_nor_as_prospective(kind: Any) -> None:
    with pytest.raises(AssertionError):
        check_change(None, role(kind, 5))


@pytest.mark.parametrize("kind", [Unattached, Candidate, Follower, Resigned])
def test_a_replica_starts_in_the_role_of_its_quorum_state(kind: Any) -> None:
    check_change(None, role(kind, 5))


def test_equality_of_roles_ignores_their_mutable_state() -> None:
    assert role(Candidate, 5) == role(Candidate, 5)
    assert role(Follower, 5, 2) != role(Follower, 5, 3)
