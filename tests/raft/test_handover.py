"""A leader that shuts down stays to vote, until another one is elected or a short time is over."""

from __future__ import annotations

from raft.effects import ShutdownComplete
from raft.inputs import Refused, Resign, ShutDown
from raft.roles import Resigned, Unattached
from records.messages.elections import EndQuorumEpochRequest
from tests.raft.building import (
    Bench,
    active,
    begin_request,
    end_response,
    follower,
    vote_request,
    vote_response,
)  # fmt: skip

HANDOVER_MS = 500


def acknowledged() -> Bench:
    """A leader of epoch 4 that shuts down, after both other voters have acknowledged its resignation."""
    bench = active(epoch=4)
    to_2, to_3 = bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest)
    assert bench.answer(to_2, end_response(4, leader=1)) == []
    assert ShutdownComplete() not in bench.answer(to_3, end_response(4, leader=1))
    return bench


def test_it_votes_and_stops_when_another_voter_leads() -> None:
    bench = acknowledged()

    pre_vote = bench.ask(vote_request(4, 3, last_epoch=4, last_offset=1, pre_vote=True))
    vote = bench.ask(vote_request(5, 3, last_epoch=4, last_offset=1))

    assert (pre_vote.topics[0].partitions[0].vote_granted, vote) == (True, vote_response(5, granted=True))
    assert isinstance(bench.role, Unattached)
    assert not bench.replica.stopped

    bench.ask(begin_request(5, 3))

    assert bench.replica.stopped


def test_it_does_not_stand_itself() -> None:
    bench = active(epoch=4, election_timeout_ms=100)
    for send in bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest):
        bench.answer(send, end_response(4, leader=1))
    bench.ask(vote_request(5, 3, last_epoch=4, last_offset=1))
    assert isinstance(bench.role, Unattached)

    assert bench.sends(bench.wait(HANDOVER_MS - 1)) == []
    assert bench.sends(bench.wait(1)) == []
    assert bench.replica.stopped


def test_it_stops_when_the_time_is_over() -> None:
    bench = acknowledged()

    before = bench.wait(HANDOVER_MS - 100)
    after = bench.wait(100)

    assert ShutdownComplete() not in before
    assert ShutdownComplete() in after


def test_the_time_does_not_end_it_before_each_voter_has_acknowledged() -> None:
    bench = active(epoch=4)
    to_2, _ = bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest)
    bench.answer(to_2, end_response(4, leader=1))

    assert ShutdownComplete() not in bench.wait(2 * HANDOVER_MS)


def test_it_stops_at_once_when_no_other_voter_runs() -> None:
    bench = acknowledged()

    first = bench.tell(Refused(2))
    second = bench.tell(Refused(3))

    assert ShutdownComplete() not in first
    assert ShutdownComplete() in second
    assert isinstance(bench.role, Resigned)


def test_a_voter_that_does_not_run_needs_no_notification() -> None:
    bench = active(epoch=4)
    to_2, to_3 = bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest)

    bench.tell(Refused(to_3.peer))
    bench.answer(to_2, end_response(4, leader=1))

    assert bench.role.unacked == []
    assert ShutdownComplete() in bench.wait(HANDOVER_MS)


def test_a_leader_that_resigned_before_hands_over_too() -> None:
    bench = active(epoch=4)
    bench.tell(Resign(4))

    assert ShutdownComplete() not in bench.tell(ShutDown())
    assert bench.replica.handover is not None


def test_a_second_request_to_shut_down_does_not_extend_the_time() -> None:
    bench = acknowledged()
    bench.wait(HANDOVER_MS - 100)

    bench.tell(ShutDown())

    assert ShutdownComplete() in bench.wait(100)


def test_without_the_time_it_stops_when_each_voter_has_acknowledged() -> None:
    bench = active(epoch=4, handover_ms=0)
    to_2, to_3 = bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest)
    bench.answer(to_2, end_response(4, leader=1))

    assert ShutdownComplete() in bench.answer(to_3, end_response(4, leader=1))


def test_a_follower_has_nothing_to_hand_over() -> None:
    assert follower(1, leader=2).tell(ShutDown()) == [ShutdownComplete()]
