from __future__ import annotations

import pytest

from raft import step
from raft.interface import effects, inputs
from raft.interface.effects import HighWatermark, Noted
from raft.interface.inputs import (
    Answered,
    Disconnected,
    Failed,
    Flushed,
    PartWritten,
    Refused,
    Requested,
    Resign,
    Saved,
    ShutDown,
    Source,
    Ticked,
)
from raft.state.log_view import LogView
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned
from records.errors import Error
from records.messages.elections import VoteRequest
from tests.raft.building import (
    Bench,
    active,
    begin_request,
    fetch_request,
    fetch_response,
    follower,
    leader,
    prospective,
    unattached,
    vote_request,
    vote_response,
)


def test_each_input_class_has_a_function() -> None:
    assert set(step.INPUTS) == set(inputs.Input.__args__)  # type: ignore[attr-defined]


def test_each_effect_class_is_defined_in_effects() -> None:
    made = {each for each in vars(effects).values() if isinstance(each, type) and each.__module__ == effects.__name__}

    assert made == set(effects.Effect.__args__)  # type: ignore[attr-defined]


def test_time_alone_changes_nothing_before_something_is_due() -> None:
    bench = follower(leader=2)

    assert bench.tell(Ticked()) == []


# A connection that is refused: raft/DESIGN.md


def test_a_follower_whose_leader_refuses_connections_asks_for_pre_votes_at_once() -> None:
    bench = follower(leader=2, epoch=4)

    effects = bench.tell(Refused(2))

    assert isinstance(bench.role, Prospective)
    assert [send.request.topics[0].partitions[0].pre_vote for send in bench.sends(effects, VoteRequest)] == [True, True]
    assert bench.replica.epoch == 4


def test_a_refusal_by_another_voter_starts_no_pre_vote() -> None:
    bench = follower(leader=2, epoch=4)

    assert bench.tell(Refused(3)) == []
    assert isinstance(bench.role, Follower)


def test_the_early_pre_vote_can_be_disabled() -> None:
    bench = follower(leader=2, epoch=4, pre_vote_on_lost_connection=False)

    bench.tell(Refused(2))

    assert isinstance(bench.role, Follower)


def test_an_observer_whose_leader_refuses_connections_looks_for_the_leader() -> None:
    bench = follower(9, leader=2, epoch=4)

    bench.tell(Refused(2))

    assert isinstance(bench.role, Follower)


def test_a_replica_that_shuts_down_asks_for_no_votes() -> None:
    bench = follower(leader=2, epoch=4)
    bench.tell(ShutDown())

    assert bench.tell(Refused(2)) == []


def test_a_pre_vote_of_a_live_leaders_follower_is_refused() -> None:
    bench = follower(leader=2, epoch=4)
    bench.answer(bench.last_send(), fetch_response(4, 2))

    assert bench.ask(vote_request(4, 3, pre_vote=True)) == vote_response(4, leader=2, node=2)


@pytest.mark.parametrize("bench", [unattached(epoch=4), prospective(epoch=4), leader(epoch=4)])
def test_a_refused_connection_changes_nothing_without_a_leader(bench: Bench) -> None:
    before = bench.role

    bench.tell(Refused(2))

    assert bench.role is before


# Words that come late, or twice, or for nothing


def test_an_answer_without_a_request_is_ignored() -> None:
    bench = follower(leader=2)
    send = bench.last_send()
    bench.answer(send, fetch_response(1, 2, high_watermark=0))

    assert bench.answer(send, fetch_response(9, 3, node=3)) == []
    assert bench.tell(Answered(77, 5, fetch_response(9, 3, node=3))) == []
    assert bench.tell(Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE)) == []


def test_a_part_that_is_not_being_written_is_ignored() -> None:
    for bench in (follower(leader=2), leader()):
        assert bench.tell(PartWritten(1)) == []


@pytest.mark.parametrize("epoch", [3, 5])
def test_a_resignation_of_another_epoch_is_ignored(epoch: int) -> None:
    bench = active(epoch=4)

    bench.tell(Resign(epoch))

    assert isinstance(bench.role, Leader)


def test_a_resignation_of_a_replica_that_is_not_the_leader_is_ignored() -> None:
    bench = follower(leader=2, epoch=4)

    assert bench.tell(Resign(4)) == []


def test_a_resigned_leader_may_be_followed_by_another_in_the_next_epoch() -> None:
    bench = active(epoch=4)
    bench.tell(Resign(4))
    resigned = bench.role

    bench.ask(begin_request(5, 3))

    assert isinstance(resigned, Resigned)
    assert isinstance(bench.role, Follower)


def test_after_resigning_it_votes_in_later_epochs_and_not_in_its_own() -> None:
    bench = active(epoch=4)
    bench.tell(Resign(4))

    own = bench.ask(vote_request(4, 3, last_offset=9, last_epoch=3))
    later = bench.ask(vote_request(5, 3, last_offset=9, last_epoch=4))

    assert own == vote_response(4, leader=1, node=1)
    assert later == vote_response(5, granted=True)


def test_only_a_leader_reacts_to_a_closed_connection() -> None:
    for bench in (follower(leader=2), unattached(), leader()):
        assert bench.tell(Disconnected(5)) == []


def test_a_flush_of_the_leader_commits_records() -> None:
    bench = leader(settled=True)
    replica = bench.replica
    bench.ask(fetch_request(2, 3, 1, 2))

    assert replica.high_watermark == 1
    assert HighWatermark(1) in bench.seen
    assert isinstance(replica.log, LogView)


def test_a_flush_that_was_not_ordered_fails_an_assertion() -> None:
    with pytest.raises(AssertionError):
        follower(leader=2).tell(Flushed(5))


def test_a_request_of_another_api_fails_an_assertion() -> None:
    with pytest.raises(KeyError):
        follower(leader=2).tell(Requested(Source(1, 0), object(), 0))


def test_a_repeated_save_report_is_ignored() -> None:
    assert follower(leader=2).tell(Saved(1)) == []


def test_after_another_failure_the_peer_has_a_backoff() -> None:
    bench = prospective(epoch=4)
    send = bench.sends(kind=VoteRequest)[0]

    effects = step.step(bench.replica, Failed(send.peer, send.number, Error.NETWORK_EXCEPTION), bench.now)

    noted = next(each for each in effects if isinstance(each, Noted))
    assert (noted.name, noted.fields) == ("peer_answered_error", {"peer": send.peer, "error": "NETWORK_EXCEPTION"})
    assert not isinstance(bench.role, Candidate)
    assert bench.replica.peers.is_backing_off(send.peer, bench.now)
