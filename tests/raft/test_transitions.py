from __future__ import annotations

from typing import Any

import pytest

from raft.interface.config import ReplicaKey
from raft.interface.effects import SaveElection
from raft.interface.inputs import Resign
from raft.interface.limits import NEVER
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from records.messages.elections import VoteRequest
from tests.raft.building import (
    Bench,
    active,
    begin_request,
    candidate,
    directory,
    dynamic_voters,
    endpoint,
    fetch_response,
    follower,
    key,
    log,
    prospective,
    static_voters,
    unattached,
    vote_request,
    vote_response,
    voted,
)


def left(bench: Bench) -> int:
    deadline: int = bench.role.election_deadline_ms
    return deadline - bench.now


# The role in which a replica starts (`first_role`)


def test_without_quorum_state_no_leader_and_no_vote_is_known() -> None:
    bench = Bench()

    assert bench.role == Unattached(0, None, None, bench.role.election_deadline_ms)
    assert bench.first[0] == SaveElection(1, 0, None, None, 0, (1, 2, 3))


def test_a_log_of_a_later_epoch_than_quorum_state_gives_the_epoch_without_a_vote() -> None:
    bench = Bench(recovered=log(9, (1, 0), (6, 5)), election=voted(4, 2, key(3)))

    assert bench.role == Unattached(6, None, None, bench.role.election_deadline_ms)


@pytest.mark.parametrize("vote", [None, key(3), ReplicaKey(3)])
def test_without_a_leader_the_vote_is_kept(vote: ReplicaKey | None) -> None:
    bench = Bench(election=voted(4, None, vote))

    assert bench.role == Unattached(4, None, vote, bench.role.election_deadline_ms)


@pytest.mark.parametrize("vote", [key(1), ReplicaKey(1)])
def test_a_candidate_that_restarts_is_candidate_in_the_same_epoch(vote: ReplicaKey) -> None:
    bench = Bench(election=voted(4, None, vote))

    assert (type(bench.role), bench.role.epoch, bench.role.voted) == (Candidate, 4, key(1))
    assert bench.role.tally.granting == (1,)
    assert [send.request for send in bench.sends(kind=VoteRequest)] == [
        vote_request(4, 1, voter=ReplicaKey(2)),
        vote_request(4, 1, voter=ReplicaKey(3)),
    ]


def test_a_vote_of_another_directory_of_our_id_is_not_ours() -> None:
    other = ReplicaKey(1, directory(9))
    bench = Bench(election=voted(4, None, other))

    assert bench.role == Unattached(4, None, other, bench.role.election_deadline_ms)


@pytest.mark.parametrize("vote", [None, key(3), key(1)])
def test_a_known_leader_is_followed_at_the_start(vote: ReplicaKey | None) -> None:
    election = voted(4, 2, vote)
    bench = Bench(election=election)

    if vote == key(1):
        # Our own vote counts before the leader: we may have stood, and lost, or won without knowing.
        assert isinstance(bench.role, Candidate)
    else:
        assert (type(bench.role), bench.role.leader_id, bench.role.voted) == (Follower, 2, vote)
        assert bench.role.state.fetch_deadline_ms == 2000


def test_a_known_leader_without_an_endpoint_is_looked_for() -> None:
    bench = Bench(election=voted(4, 9, key(3)))

    assert bench.role == Unattached(4, 9, key(3), bench.role.election_deadline_ms)
    assert bench.sends() != []


def test_a_former_leader_starts_as_resigned() -> None:
    bench = Bench(election=voted(4, 1))

    assert bench.role == Resigned(4, 1, (endpoint(1),), bench.role.election_deadline_ms, (), [])
    assert bench.role.unacked == [2, 3]


@pytest.mark.parametrize("election", [None, voted(4), voted(4, None, key(1)), voted(4, 1), voted(4, None, key(2))])
def test_a_sole_voter_leads_at_once_in_an_epoch_of_its_own(election: Any) -> None:
    bench = Bench(voters=static_voters(1), election=election)

    stood = election is not None and election.voted == key(1)
    expected = 1 if election is None else 4 if stood else 5
    assert (type(bench.role), bench.role.epoch) == (Leader, expected)
    assert bench.sends() == []


def test_a_sole_voter_that_followed_leads_at_once() -> None:
    bench = Bench(voters=dynamic_voters(1), election=voted(4, 2))

    assert (type(bench.role), bench.role.epoch) == (Leader, 5)


def test_a_voter_without_a_leader_has_a_short_first_election_timeout() -> None:
    """Pre-votes disturb nobody, so a cold start need not take an election timeout."""
    deadlines = [Bench(seed=seed).role.election_deadline_ms for seed in range(30)]

    assert min(deadlines) >= 50
    assert max(deadlines) < 100


def test_the_first_election_timeout_is_not_longer_than_the_others() -> None:
    assert Bench(election_timeout_ms=10).role.election_deadline_ms < 20


def test_an_observer_never_starts_an_election() -> None:
    bench = unattached(9, epoch=4)

    bench.wait(100_000)

    assert bench.role == Unattached(4, None, None, NEVER)


# Timers


def test_a_higher_epoch_does_not_restart_the_election_timeout() -> None:
    """Else a lone candidate that raises its epoch again and again would keep all others from standing."""
    bench = unattached(epoch=4)
    deadline = bench.role.election_deadline_ms

    for epoch in range(5, 20):
        bench.wait(1)
        bench.ask(vote_request(epoch, 3, last_offset=-0, last_epoch=0, pre_vote=True))

    assert bench.role == Unattached(19, None, None, deadline)


@pytest.mark.parametrize("make", [candidate, prospective])
def test_a_candidate_keeps_its_timeout_when_the_epoch_rises(make: Any) -> None:
    bench = make(epoch=4)
    deadline = bench.role.election_deadline_ms

    bench.ask(vote_request(9, 3, pre_vote=True))

    assert bench.role == Unattached(9, None, None, deadline)


@pytest.mark.parametrize("make", [follower, active])
def test_a_follower_gets_a_new_election_timeout_when_the_epoch_rises(make: Any) -> None:
    bench = make(epoch=4)

    bench.ask(vote_request(9, 3, pre_vote=True, last_epoch=5, last_offset=9))

    assert isinstance(bench.role, Unattached)
    assert 1000 <= left(bench) < 2000


def test_a_resigned_leader_waits_for_the_rest_of_its_time() -> None:
    bench = active(epoch=4)
    bench.tell(Resign(4))
    deadline = bench.role.election_deadline_ms

    bench.ask(vote_request(9, 3, pre_vote=True))

    assert bench.role == Unattached(9, None, None, deadline)


def test_each_prospective_and_each_candidate_has_its_own_timeout() -> None:
    bench = prospective(epoch=4)
    first = left(bench)
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    assert 1000 <= first < 2000
    assert isinstance(bench.role, Candidate)
    assert 1000 <= left(bench) < 2000


def test_an_election_timeout_of_0_starts_an_election_at_once() -> None:
    bench = Bench(election_timeout_ms=0, fetch_timeout_ms=0, request_timeout_ms=0)

    bench.wait(5)

    assert isinstance(bench.role, Prospective)


# What is kept, and what is not


def test_a_vote_is_kept_through_the_roles_of_an_epoch() -> None:
    bench = Bench(election=voted(4, None, key(3)))
    seen = []

    bench.wait(300)
    seen.append((type(bench.role), bench.role.voted))
    for send in bench.sends(kind=VoteRequest)[-2:]:
        bench.answer(send, vote_response(4))
    seen.append((type(bench.role), bench.role.voted))
    bench.ask(begin_request(4, 2))
    seen.append((type(bench.role), bench.role.voted))
    bench.wait(2000)
    seen.append((type(bench.role), bench.role.voted))

    assert seen == [(Prospective, key(3)), (Unattached, key(3)), (Follower, key(3)), (Prospective, key(3))]


def test_a_new_epoch_has_no_vote() -> None:
    bench = Bench(election=voted(4, None, key(3)))

    bench.ask(begin_request(5, 2))

    assert bench.role.voted is None


def test_only_a_new_leader_loses_the_high_watermark() -> None:
    bench = follower(leader=2, epoch=4, recovered=log(7, (1, 0)))
    bench.answer(bench.last_send(), fetch_response(4, 2, high_watermark=5))
    seen = []
    bench.wait(2000)
    seen.append((type(bench.role), bench.replica.high_watermark))
    bench.answer(bench.sends(kind=VoteRequest)[-1], vote_response(4, granted=True))
    seen.append((type(bench.role), bench.replica.high_watermark))
    bench.answer(bench.sends(kind=VoteRequest)[-1], vote_response(5, granted=True))
    seen.append((type(bench.role), bench.replica.high_watermark))

    assert seen == [(Prospective, 5), (Candidate, 5), (Leader, None)]


def test_a_resigned_leader_knows_no_high_watermark() -> None:
    bench = active(epoch=4)
    bench.tell(Resign(4))

    assert bench.replica.high_watermark is None
