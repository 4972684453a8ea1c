from __future__ import annotations

from typing import Any

import pytest

from raft.interface.effects import ShutdownComplete, Truncate
from raft.interface.inputs import Answered, Flushed, Refused, Requested, ShutDown, Source
from raft.state.roles import Follower, Leader, Prospective, Resigned, Unattached
from records.messages.elections import EndQuorumEpochRequest, VoteRequest
from records.messages.fetch import FetchRequest
from tests.raft.building import (
    Bench,
    active,
    begin_request,
    candidate,
    dynamic_voters,
    fetch_response,
    follower,
    key,
    leader,
    log,
    prospective,
    static_voters,
    unattached,
    vote_request,
    vote_response,
    voted,
)

# Controlled shutdown


@pytest.mark.parametrize(
    "bench",
    [
        lambda: follower(1, leader=2),
        lambda: follower(9, leader=2),
        lambda: unattached(9),
        lambda: Bench(voters=static_voters(1)),
        lambda: Bench(election=voted(4, 9)),
        lambda: unattached(epoch=4),
        lambda: prospective(epoch=4),
        lambda: candidate(epoch=4),
    ],
    ids=[
        "follower",
        "following observer",
        "observer",
        "sole voter",
        "knows a leader it cannot reach",
        "unattached",
        "prospective",
        "candidate",
    ],
)
def test_a_replica_that_is_not_the_leader_shuts_down_at_once(bench: Any) -> None:
    leaving = bench()

    assert leaving.tell(ShutDown()) == [ShutdownComplete()]
    assert leaving.wait(10_000) == []


def test_a_leader_resigns_and_stays_for_a_time_when_another_leads() -> None:
    bench = active(epoch=4)

    effects = bench.tell(ShutDown())
    waiting = bench.wait(20)
    following = bench.tell(Requested(Source(9, 0), begin_request(5, 3), 1, "CONTROLLER"))
    done = bench.wait(980)

    assert [send.peer for send in bench.sends(effects, EndQuorumEpochRequest)] == [2, 3]
    assert ShutdownComplete() not in effects + waiting + following
    assert ShutdownComplete() in done
    assert isinstance(bench.role, Follower)


def test_a_resigned_leader_without_a_successor_repeats_end_quorum_epoch() -> None:
    bench = active(epoch=4, request_timeout_ms=300)
    bench.tell(ShutDown())

    effects = bench.wait(10_000)

    assert isinstance(bench.role, Resigned)
    assert bench.replica.epoch == 4
    assert len(bench.sends(effects, EndQuorumEpochRequest)) > 10


def test_a_replica_that_shuts_down_still_votes() -> None:
    bench = unattached(epoch=4)
    bench.tell(ShutDown())

    assert bench.ask(vote_request(5, 3, pre_vote=True)) == vote_response(5, granted=True)
    assert bench.ask(vote_request(6, 3)) == vote_response(6, granted=True)


# When it wants to be woken


def test_the_deadline_of_a_leader_is_the_next_due_work() -> None:
    bench = active(epoch=4)
    role = bench.role
    assert isinstance(role, Leader)

    assert bench.replica.deadline_ms == min(role.state.parked_deadline_ms, role.state.begin_deadline_ms)


def test_the_deadline_of_a_follower_is_its_request_or_fetch_timeout() -> None:
    bench = follower(leader=2, request_timeout_ms=700)

    assert bench.replica.deadline_ms == 700


def test_an_idle_replica_has_no_needless_deadline() -> None:
    bench = follower(9, leader=2)
    woken = 0
    while bench.now < 60_000:
        bench.now = bench.replica.deadline_ms
        from raft.interface.inputs import Ticked

        bench.tell(Ticked())
        woken += 1

    assert woken < 200


def test_a_replica_that_shut_down_has_no_deadline() -> None:
    bench = follower(leader=2)
    bench.tell(ShutDown())

    assert bench.replica.deadline_ms > 50_000


def test_a_yielding_prospective_has_the_end_of_the_yield_as_deadline() -> None:
    bench = prospective(2, epoch=4)
    bench.ask(vote_request(4, 1, pre_vote=True))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    assert bench.replica.deadline_ms == bench.role.tally.held_until_ms


def test_overdue_work_is_done_in_one_step() -> None:
    """The process was stopped for an hour."""
    bench = active(epoch=4)
    bench.now += 3_600_000
    from raft.interface.inputs import Ticked

    bench.tell(Ticked())

    assert isinstance(bench.role, Resigned)
    assert key(1) == bench.replica.key
    assert not isinstance(bench.role, Unattached)


def test_a_leader_with_other_voters_was_elected_by_them() -> None:
    assert leader(epoch=4).role.state.granting == (1, 2)


def test_a_voter_that_loses_its_place_by_a_truncation_within_a_batch_ends_its_candidacy() -> None:
    recovered = log(6, (1, 0))
    recovered.voter_sets = ((-1, dynamic_voters(2, 3)), (4, dynamic_voters(1, 2, 3)))
    recovered.kraft_versions = ((-1, 1),)
    bench = follower(1, leader=2, recovered=recovered)
    fetch = bench.last_send(FetchRequest)
    bench.step(Answered(fetch.peer, fetch.number, fetch_response(1, 2, diverging=(1, 5))))
    bench.step(Refused(2))
    asked = bench.sends(kind=VoteRequest)
    for send in asked:
        bench.step(Answered(send.peer, send.number, vote_response(1, granted=True)))
    before = bench.role

    truncation = next(each for each in bench.open if isinstance(each, Truncate))
    bench.step(Flushed(truncation.number, end_offset=4))

    assert isinstance(before, Prospective)
    assert (bench.replica.may_stand, type(bench.role)) == (False, Follower)
