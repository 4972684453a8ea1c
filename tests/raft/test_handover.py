"""A leader that shuts down resigns when the other voters have its log, and stays to vote until another leader has
committed a record, or a short time is over.
"""

from __future__ import annotations

from typing import Any

import pytest

from raft.epoch import wait_before_election
from raft.interface.effects import ShutdownComplete
from raft.interface.inputs import Answered, Disconnected, Propose, Refused, Resign, ShutDown
from raft.state.roles import Follower, Leader, Resigned, Unattached
from records.errors import Error
from records.messages.elections import EndQuorumEpochRequest
from records.messages.fetch import FetchRequest
from records.messages.voters import UpdateRaftVoterRequest
from tests.raft.building import (
    Bench,
    active,
    batch,
    begin_request,
    directory,
    end_request,
    end_response,
    fetch_request,
    fetch_response,
    follower,
    key,
    vote_request,
    vote_response,
)  # fmt: skip
from tests.raft.changing import ask, catch_up, leading, leave_offsets, remove

HANDOVER_MS = 500
# The last successor stands after half of election_backoff_max_ms.
STAY_MS = HANDOVER_MS + 500
RESIGN_MS = 100


def behind(**options: int) -> Bench:
    """A leader of epoch 4 that has appended a record which the other voters lack, and is to shut down. They fetch on
    the connections 2 and 3.
    """
    bench = active(epoch=4, **options)
    bench.tell(Propose(4, 1, 1, batch(1, 4)))
    assert bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest) == []
    return bench


def fetch(bench: Bench, voter: int) -> None:
    """The voter has all records."""
    bench.ask(fetch_request(4, voter, bench.replica.log.end, 4), connection=voter)


def acknowledged() -> Bench:
    """A leader of epoch 4 that shuts down, after both other voters have acknowledged its resignation."""
    bench = active(epoch=4)
    to_2, to_3 = bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest)
    assert bench.answer(to_2, end_response(4, leader=1)) == []
    assert ShutdownComplete() not in bench.answer(to_3, end_response(4, leader=1))
    return bench


def test_it_resigns_when_all_voters_that_fetch_have_its_log() -> None:
    bench = behind()

    fetch(bench, 2)
    before = bench.role
    fetch(bench, 3)

    assert isinstance(before, Leader)
    assert isinstance(bench.role, Resigned)
    assert [send.peer for send in bench.sends(kind=EndQuorumEpochRequest)] == [2, 3]


def test_it_does_not_wait_for_a_voter_that_has_disconnected() -> None:
    bench = behind()

    bench.tell(Disconnected(3))
    fetch(bench, 2)

    assert isinstance(bench.role, Resigned)


def test_it_does_not_wait_for_a_voter_that_never_fetched() -> None:
    bench = active(epoch=4)
    bench.tell(Disconnected(2))
    bench.tell(Disconnected(3))

    bench.tell(ShutDown())

    assert isinstance(bench.role, Resigned)


def test_it_resigns_at_the_latest_after_a_fifth_of_the_time() -> None:
    bench = behind()

    bench.wait(RESIGN_MS - 1)
    before = bench.role
    bench.wait(1)

    assert isinstance(before, Leader)
    assert isinstance(bench.role, Resigned)


def test_before_it_resigns_it_appends_what_was_proposed_and_accepts_no_more() -> None:
    bench = active(epoch=4, append_linger_ms=20)
    bench.tell(Propose(4, 1, 1, batch(1, 4)))
    bench.tell(ShutDown())

    bench.wait(20)
    end_offset = bench.replica.log.end
    bench.tell(Propose(4, 2, 2, batch(2, 4)))
    bench.wait(30)

    assert isinstance(bench.role, Leader)
    assert (end_offset, bench.replica.log.end) == (2, 2)


def test_before_it_resigns_it_refuses_the_update_of_a_voter() -> None:
    bench = behind()
    request = UpdateRaftVoterRequest(
        cluster_id=bench.replica.config.cluster_id, current_leader_epoch=4, voter_id=2, voter_directory_id=directory(2),
        listeners=(), kraft_version_feature=UpdateRaftVoterRequest.KRaftVersionFeature(
            min_supported_version=0, max_supported_version=1
        ),
    )  # fmt: skip

    assert bench.ask(request).error_code == Error.BROKER_NOT_AVAILABLE


def test_it_follows_another_leader_until_that_has_committed_a_record() -> None:
    bench = acknowledged()
    bench.ask(vote_request(5, 3, last_epoch=4, last_offset=1))
    bench.ask(begin_request(5, 3))
    first = bench.sends(kind=FetchRequest)[-1]

    bench.answer(first, fetch_response(5, 3, records=batch(1, 5), high_watermark=1))
    before = bench.role, bench.replica.stopped
    second = bench.sends(kind=FetchRequest)[-1]
    bench.answer(second, fetch_response(5, 3, high_watermark=2))

    assert isinstance(before[0], Follower)
    assert second.request.topics[0].partitions[0].fetch_offset == 2
    assert (before[1], bench.replica.stopped) == (False, True)


def test_it_follows_another_leader_no_longer_than_it_votes() -> None:
    bench = acknowledged()
    bench.ask(begin_request(5, 3))

    before = bench.wait(STAY_MS - 1)
    after = bench.wait(1)

    assert ShutdownComplete() not in before
    assert ShutdownComplete() in after


def test_it_does_not_stand_when_the_other_leader_resigns() -> None:
    bench = acknowledged()
    bench.ask(begin_request(5, 3))

    bench.ask(end_request(5, 3, (bench.replica.key,)))
    bench.wait(STAY_MS - 1)

    assert isinstance(bench.role, Follower)


def test_it_votes_and_does_not_stop_when_another_voter_leads() -> None:
    bench = acknowledged()

    pre_vote = bench.ask(vote_request(4, 3, last_epoch=4, last_offset=1, pre_vote=True))
    vote = bench.ask(vote_request(5, 3, last_epoch=4, last_offset=1))

    assert (pre_vote.topics[0].partitions[0].vote_granted, vote) == (True, vote_response(5, granted=True))
    assert isinstance(bench.role, Unattached)
    assert not bench.replica.stopped

    bench.ask(begin_request(5, 3))

    assert isinstance(bench.role, Follower)
    assert not bench.replica.stopped


def test_it_does_not_stand_itself() -> None:
    bench = active(epoch=4, election_timeout_ms=100)
    for send in bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest):
        bench.answer(send, end_response(4, leader=1))
    bench.ask(vote_request(5, 3, last_epoch=4, last_offset=1))
    assert isinstance(bench.role, Unattached)

    assert bench.sends(bench.wait(STAY_MS - 1)) == []
    assert bench.sends(bench.wait(1)) == []
    assert bench.replica.stopped


def test_it_stops_when_the_time_is_over() -> None:
    bench = acknowledged()

    before = bench.wait(STAY_MS - 100)
    after = bench.wait(100)

    assert ShutdownComplete() not in before
    assert ShutdownComplete() in after


def test_the_time_does_not_end_it_before_each_voter_has_acknowledged() -> None:
    bench = active(epoch=4)
    to_2, _ = bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest)
    bench.answer(to_2, end_response(4, leader=1))

    assert ShutdownComplete() not in bench.wait(2 * STAY_MS)


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
    assert ShutdownComplete() in bench.wait(STAY_MS)


def test_a_leader_that_resigned_before_hands_over_too() -> None:
    bench = active(epoch=4)
    bench.tell(Resign(4))

    assert ShutdownComplete() not in bench.tell(ShutDown())
    assert bench.replica.handover is not None


def test_a_second_request_to_shut_down_does_not_extend_the_time() -> None:
    bench = acknowledged()
    bench.wait(STAY_MS - 100)

    bench.tell(ShutDown())

    assert ShutdownComplete() in bench.wait(100)


def test_without_the_time_it_stops_when_each_voter_has_acknowledged() -> None:
    bench = active(epoch=4, handover_ms=0)
    to_2, to_3 = bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest)
    bench.answer(to_2, end_response(4, leader=1))

    assert ShutdownComplete() in bench.answer(to_3, end_response(4, leader=1))


def test_a_follower_has_nothing_to_hand_over() -> None:
    assert follower(1, leader=2).tell(ShutDown()) == [ShutdownComplete()]


def test_the_second_of_two_successors_still_gets_its_vote() -> None:
    bench = acknowledged()
    second_stands_ms = wait_before_election([key(2), key(3)], key(3), bench.replica.config.election_backoff_max_ms)

    bench.wait(second_stands_ms + 100)
    pre_vote = bench.ask(vote_request(4, 3, last_epoch=4, last_offset=1, pre_vote=True))

    assert pre_vote.topics[0].partitions[0].vote_granted
    assert not bench.replica.stopped


def test_a_long_election_backoff_does_not_keep_it_for_long() -> None:
    bench = active(epoch=4, election_backoff_max_ms=60_000)
    for send in bench.sends(bench.tell(ShutDown()), EndQuorumEpochRequest):
        bench.answer(send, end_response(4, leader=1))

    assert ShutdownComplete() in bench.wait(2 * HANDOVER_MS)


@pytest.mark.parametrize(
    "heard",
    [
        lambda bench: bench.ask(vote_request(4, 3, last_epoch=4, last_offset=1, pre_vote=True)),
        lambda bench: bench.ask(begin_request(5, 3)),
        lambda bench: bench.tell(Answered(3, 1, vote_response(4))),
    ],
    ids=["its request for a vote", "its leadership", "its answer"],
)
def test_a_voter_that_runs_again_is_not_gone(heard: Any) -> None:
    bench = acknowledged()
    bench.tell(Refused(3))

    heard(bench)
    bench.tell(Refused(2))

    assert not bench.replica.stopped


def test_a_leader_whose_own_removal_is_not_committed_hands_over() -> None:
    bench = leading(1, 2)
    ask(bench, remove(key(1)))
    leave_offsets(bench)

    effects = bench.tell(ShutDown())
    before = bench.replica.stopped, type(bench.role)
    effects += bench.wait(RESIGN_MS)
    (to_2,) = bench.sends(effects, EndQuorumEpochRequest)
    bench.answer(to_2, end_response(2, leader=1))
    bench.wait(STAY_MS - RESIGN_MS - 1)
    waits = bench.replica.stopped
    done = bench.wait(1)

    assert (before, to_2.peer, waits) == ((False, Leader), 2, False)
    assert ShutdownComplete() in done


def test_a_leader_whose_own_removal_is_committed_stops_when_the_voters_know_that_it_resigned() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(1)))
    leave_offsets(bench)
    bench.tell(ShutDown())

    for voter in (2, 3):
        catch_up(bench, voter)
    to_2, to_3 = bench.sends(kind=EndQuorumEpochRequest)
    before = bench.answer(to_2, end_response(2, leader=1))
    done = bench.answer(to_3, end_response(2, leader=1))

    assert isinstance(bench.role, Resigned)
    assert (before, done) == ([], [ShutdownComplete()])
