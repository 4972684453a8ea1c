from __future__ import annotations

from typing import Any

import pytest

from raft.interface.config import ReplicaKey
from raft.interface.effects import Denied, Reply, SaveElection
from raft.interface.inputs import Answered, Failed, Refused, Requested, Saved, Source, Ticked
from raft.state.follower_state import FollowerState
from raft.state.leader_state import LeaderState
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from raft.state.tally import Tally
from raft.vote import can_grant
from records.errors import Error
from records.messages.elections import VoteRequest, VoteResponse
from tests.raft.building import (
    Bench,
    active,
    batch,
    candidate,
    directory,
    dynamic_voters,
    endpoint,
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

VOTERS = static_voters(1, 2, 3)


def of(bench: Bench, request: VoteRequest, version: int = 2) -> VoteResponse:
    found = bench.ask(request, version)
    assert isinstance(found, VoteResponse)
    return found


# The roles that grant a vote or a pre-vote


def role(kind: str) -> Any:
    endpoints = (endpoint(2),)
    fetching = FollowerState(0, 0)
    fetching.has_fetched = True
    return {
        "unattached": Unattached(5, None, None, 0),
        "unattached, voted for 3": Unattached(5, None, key(3), 0),
        "unattached, voted for 3 of any directory": Unattached(5, None, ReplicaKey(3), 0),
        "unattached, knows leader 2": Unattached(5, 2, None, 0),
        "prospective": Prospective(5, None, (), None, 0, Tally(VOTERS, 1)),
        "prospective, voted for 3": Prospective(5, None, (), key(3), 0, Tally(VOTERS, 1)),
        "prospective, knows leader 2": Prospective(5, 2, endpoints, None, 0, Tally(VOTERS, 1)),
        "prospective, voted for 3, knows leader 2": Prospective(5, 2, endpoints, key(3), 0, Tally(VOTERS, 1)),
        "candidate": Candidate(5, key(1), 0, Tally(VOTERS, 1)),
        "leader": Leader(5, 1, endpoints, LeaderState(1, VOTERS, (1,), 0)),
        "follower": Follower(5, 2, endpoints, None, FollowerState(0, 0)),
        "follower, voted for 3": Follower(5, 2, endpoints, key(3), FollowerState(0, 0)),
        "follower that has fetched": Follower(5, 2, endpoints, None, fetching),
        "resigned": Resigned(5, 1, endpoints, 0, (), []),
    }[kind]


# Whether replica 3 gets a vote, with an up-to-date log and without, and a pre-vote likewise.
GRANTS = {
    "unattached": (True, False, True, False),
    "unattached, voted for 3": (True, True, True, False),
    "unattached, voted for 3 of any directory": (True, True, True, False),
    "unattached, knows leader 2": (False, False, True, False),
    "prospective": (True, False, True, False),
    "prospective, voted for 3": (True, True, True, False),
    "prospective, knows leader 2": (False, False, True, False),
    "prospective, voted for 3, knows leader 2": (True, True, True, False),
    "candidate": (False, False, True, False),
    "leader": (False, False, False, False),
    "follower": (False, False, True, False),
    "follower, voted for 3": (False, False, True, False),
    "follower that has fetched": (False, False, False, False),
    "resigned": (False, False, True, False),
}


@pytest.mark.parametrize("kind", GRANTS)
def test_votes_and_pre_votes_are_granted_by_role_and_by_log(kind: str) -> None:
    asked = [(False, True), (False, False), (True, True), (True, False)]

    granted = tuple(
        can_grant(role(kind), key(3), is_up_to_date=is_up_to_date, pre_vote=pre_vote)
        for pre_vote, is_up_to_date in asked
    )

    assert granted == GRANTS[kind]


@pytest.mark.parametrize("other", [key(2), ReplicaKey(3, directory(9)), ReplicaKey(3)])
def test_a_voter_grants_only_one_vote_in_an_epoch(other: ReplicaKey) -> None:
    assert not can_grant(role("unattached, voted for 3"), other, is_up_to_date=True, pre_vote=False)


def test_a_saved_vote_without_a_directory_id_is_for_the_voter_id() -> None:
    """kraft.version 0 does not write the directory id of the vote to the disk."""
    given = role("unattached, voted for 3 of any directory")

    assert can_grant(given, ReplicaKey(3, directory(9)), is_up_to_date=True, pre_vote=False)


# Answering


def test_a_vote_is_saved_before_it_is_answered() -> None:
    bench = unattached(epoch=1)
    request = Requested(Source(5, 0), vote_request(2, 3), 2, "CONTROLLER")

    asked = bench.step(request)
    saved = bench.step(Saved(asked[0].number))

    assert asked == [SaveElection(2, 2, None, key(3), 0, (1, 2, 3))]
    assert [each for each in saved if isinstance(each, Reply)] == [Reply(Source(5, 0), vote_response(2, granted=True))]


def test_a_vote_in_our_own_epoch_is_saved_too() -> None:
    bench = unattached(epoch=2)
    request = Requested(Source(5, 0), vote_request(2, 3), 2, "CONTROLLER")

    assert bench.step(request) == [SaveElection(2, 2, None, key(3), 0, (1, 2, 3))]
    assert bench.role.voted == key(3)


def test_one_vote_is_granted_in_an_epoch() -> None:
    bench = unattached(epoch=1)

    first = of(bench, vote_request(2, 3))
    second = of(bench, vote_request(2, 2))
    again = of(bench, vote_request(2, 3))
    next_epoch = of(bench, vote_request(3, 2))

    assert [first, second, again, next_epoch] == [
        vote_response(2, granted=True),
        vote_response(2),
        vote_response(2, granted=True),
        vote_response(3, granted=True),
    ]


def test_a_vote_survives_a_restart() -> None:
    bench = Bench(election=voted(2, None, key(3)))

    assert of(bench, vote_request(2, 2)) == vote_response(2)
    assert of(bench, vote_request(2, 3)) == vote_response(2, granted=True)


def test_granting_a_vote_restarts_the_election_timeout() -> None:
    bench = unattached(epoch=1)
    bench.wait(50)

    of(bench, vote_request(2, 3))

    assert 1000 <= bench.role.election_deadline_ms - bench.now < 2000


@pytest.mark.parametrize(
    ("last_epoch", "last_offset", "granted"),
    [(2, 7, True), (2, 6, False), (2, 8, True), (3, 1, True), (1, 99, False)],
)
@pytest.mark.parametrize("pre_vote", [False, True])
def test_only_a_log_as_up_to_date_as_ours_gets_a_vote(
    last_epoch: int, last_offset: int, granted: bool, pre_vote: bool
) -> None:
    bench = Bench(recovered=log(7, (1, 0), (2, 5)), election=voted(4))
    request = vote_request(4, 3, last_epoch=last_epoch, last_offset=last_offset, pre_vote=pre_vote)

    assert of(bench, request) == vote_response(4, granted=granted)


def test_a_pre_vote_changes_nothing() -> None:
    bench = unattached(epoch=2)
    before = bench.role

    effects = bench.step(Requested(Source(5, 0), vote_request(2, 3, pre_vote=True), 2, "CONTROLLER"))

    assert effects == [Reply(Source(5, 0), vote_response(2, granted=True))]
    assert bench.role is before


def test_a_pre_vote_of_a_higher_epoch_raises_ours() -> None:
    bench = follower(leader=2, epoch=2)

    assert of(bench, vote_request(5, 3, pre_vote=True)) == vote_response(5, granted=True)
    assert bench.replica.epoch == 5
    assert bench.role.voted is None


def test_a_refused_vote_request_of_a_higher_epoch_still_raises_ours() -> None:
    bench = Bench(recovered=log(7, (1, 0)), election=voted(2, 2))

    assert of(bench, vote_request(5, 3, last_epoch=1, last_offset=3)) == vote_response(5)
    assert bench.role == Unattached(5, None, None, bench.role.election_deadline_ms)


def test_an_answer_has_the_leader_and_its_endpoint() -> None:
    bench = follower(leader=2, epoch=3)

    assert of(bench, vote_request(3, 3)) == vote_response(3, leader=2, node=2)
    assert of(bench, vote_request(3, 3), version=0) == vote_response(3, leader=2)


def test_a_leader_names_itself() -> None:
    bench = leader(epoch=3)

    assert of(bench, vote_request(3, 3)) == vote_response(3, leader=1, node=1)


def test_an_observer_grants_votes_like_a_voter() -> None:
    """The voters that ask may know of a voter set that we do not."""
    bench = unattached(7, epoch=1)

    assert of(bench, vote_request(2, 3)) == vote_response(2, granted=True)


@pytest.mark.parametrize(
    ("own_id", "before_ms", "settings", "granted"),
    [
        pytest.param(7, 0, {}, True, id="an observer"),
        pytest.param(7, 1, {}, False, id="before the fetch timeout"),
        pytest.param(1, 1, {}, False, id="a voter"),
        pytest.param(7, 0, {"observers_grant_pre_votes": False}, False, id="as in Kafka"),
    ],
)
def test_an_observer_grants_a_pre_vote_when_its_leader_is_silent(
    own_id: int, before_ms: int, settings: dict[str, Any], granted: bool
) -> None:
    """It may be a voter by a record that it lacks. A voter becomes Prospective after the fetch timeout."""
    bench = follower(own_id, leader=2, epoch=3, **settings)
    bench.answer(bench.last_send(), fetch_response(3, 2))

    bench.now = bench.role.state.fetch_deadline_ms - before_ms

    assert of(bench, vote_request(3, 3, pre_vote=True)) == vote_response(3, leader=2, node=2, granted=granted)


def test_a_candidate_outside_of_our_voter_set_may_get_a_vote() -> None:
    bench = unattached(epoch=1)

    assert of(bench, vote_request(2, 9)) == vote_response(2, granted=True)


def test_a_candidate_with_our_own_id_gets_no_vote() -> None:
    bench = unattached(1, epoch=1)
    other = ReplicaKey(1, directory(9))

    assert of(bench, vote_request(2, 1, candidate_key=other)) == vote_response(2)
    assert of(bench, vote_request(2, 1, candidate_key=other, pre_vote=True)) == vote_response(2)


@pytest.mark.parametrize("make", [candidate, leader, active])
def test_a_candidate_or_leader_votes_for_no_other_in_its_epoch(make: Any) -> None:
    bench = make(epoch=2)

    assert not of(bench, vote_request(2, 3, last_offset=9)).topics[0].partitions[0].vote_granted
    assert of(bench, vote_request(3, 3, last_offset=9, last_epoch=2)) == vote_response(3, granted=True)


# Refusals, in the order in which Kafka checks them


def test_another_cluster_is_refused() -> None:
    assert of(unattached(), vote_request(2, 3, cluster_id="other")) == VoteResponse(error_code=104, topics=())


def test_a_request_without_a_cluster_id_is_accepted() -> None:
    assert of(unattached(), vote_request(2, 3, cluster_id=None)) == vote_response(2, granted=True)


def test_a_request_for_another_log_is_refused() -> None:
    data = vote_request(2, 3).topics[0]
    partition = data.partitions[0]
    two = VoteRequest.TopicData(topic_name=data.topic_name, partitions=(partition, partition))
    other = VoteRequest.TopicData(topic_name="other", partitions=(partition,))
    for topics in ((), (data, data), (two,), (other,)):
        request = VoteRequest(cluster_id=None, topics=topics)

        assert of(unattached(), request) == VoteResponse(error_code=Error.INVALID_REQUEST, topics=())


@pytest.mark.parametrize(
    ("pre_vote", "last_epoch", "last_offset", "candidate_id"),
    [(False, 2, 5, 3), (False, 3, 5, 3), (True, 3, 5, 3), (False, -1, 5, 3), (True, 1, -1, 3), (False, 1, 5, -1)],
)
def test_an_invalid_request_is_refused(pre_vote: bool, last_epoch: int, last_offset: int, candidate_id: int) -> None:
    request = vote_request(
        2, 0, candidate_key=ReplicaKey(candidate_id), last_epoch=last_epoch, last_offset=last_offset, pre_vote=pre_vote
    )

    assert of(unattached(epoch=1), request) == vote_response(1, error=Error.INVALID_REQUEST)


def test_a_pre_vote_may_have_the_epoch_of_its_log() -> None:
    request = vote_request(2, 3, last_epoch=2, last_offset=5, pre_vote=True)

    assert of(unattached(epoch=2), request) == vote_response(2, granted=True)


def test_an_older_epoch_is_fenced() -> None:
    bench = follower(leader=2, epoch=5)

    for pre_vote in (False, True):
        expected = vote_response(5, error=Error.FENCED_LEADER_EPOCH, leader=2, node=2)
        assert of(bench, vote_request(4, 3, pre_vote=pre_vote)) == expected


@pytest.mark.parametrize("meant", [ReplicaKey(2), ReplicaKey(1, directory(9))])
def test_a_request_for_another_voter_raises_the_epoch_and_is_refused(meant: ReplicaKey) -> None:
    bench = unattached(epoch=1)

    assert of(bench, vote_request(2, 3, voter=meant)) == vote_response(2, error=Error.INVALID_VOTER_KEY)
    assert bench.role.voted is None


@pytest.mark.parametrize("meant", [ReplicaKey(-1), ReplicaKey(1), key(1)])
def test_a_request_for_this_voter_or_for_any_is_answered(meant: ReplicaKey) -> None:
    assert of(unattached(epoch=1), vote_request(2, 3, voter=meant)) == vote_response(2, granted=True)


def test_the_greatest_epoch_is_refused() -> None:
    bench = unattached(epoch=1)

    assert of(bench, vote_request((1 << 31) - 1, 3)) == vote_response(1, error=Error.INVALID_REQUEST)


def test_no_election_is_started_in_the_greatest_epoch() -> None:
    bench = prospective(epoch=(1 << 31) - 2)

    bench.answer(bench.last_send(), vote_response((1 << 31) - 2, granted=True))

    assert isinstance(bench.role, Prospective)
    assert "epochs_exhausted" in bench.notes


# Asking


def test_a_prospective_asks_each_other_voter_for_a_pre_vote() -> None:
    bench = prospective(epoch=4, recovered=log(7, (1, 0), (2, 5)))

    asked = [(send.peer, send.endpoint, send.request) for send in bench.sends(kind=VoteRequest)]

    assert asked == [
        (2, endpoint(2), vote_request(4, 1, last_epoch=2, last_offset=7, pre_vote=True, voter=ReplicaKey(2))),
        (3, endpoint(3), vote_request(4, 1, last_epoch=2, last_offset=7, pre_vote=True, voter=ReplicaKey(3))),
    ]


def test_requests_name_the_directory_of_a_dynamic_voter() -> None:
    bench = prospective(epoch=4, voters=dynamic_voters(1, 2, 3))

    assert bench.sends(kind=VoteRequest)[0].request == vote_request(4, 1, pre_vote=True, voter=key(2))


def test_a_majority_of_pre_votes_makes_a_candidate() -> None:
    bench = prospective(epoch=4)

    effects = bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    assert effects[0] == SaveElection(2, 5, None, key(1), 0, (1, 2, 3))
    assert [send.request for send in bench.sends(effects)] == [
        vote_request(5, 1, voter=ReplicaKey(2)),
        vote_request(5, 1, voter=ReplicaKey(3)),
    ]


def test_no_request_for_votes_leaves_before_the_own_vote_is_saved() -> None:
    bench = prospective(epoch=4)
    send = bench.sends(kind=VoteRequest)[0]

    unsaved = bench.step(_answered(send, vote_response(4, granted=True)))

    assert unsaved == [SaveElection(2, 5, None, key(1), 0, (1, 2, 3))]
    assert len(bench.sends(bench.settle())) == 2


def _answered(send: Any, response: Any) -> Any:
    from raft.interface.inputs import Answered

    return Answered(send.peer, send.number, response)


def test_a_majority_of_votes_makes_a_leader() -> None:
    bench = candidate(epoch=5)

    bench.answer(bench.sends(kind=VoteRequest)[-1], vote_response(5, granted=True))

    assert isinstance(bench.role, Leader)
    assert bench.role.state.granting == (1, 3)


def test_five_voters_need_three_votes() -> None:
    bench = prospective(epoch=4, voters=static_voters(1, 2, 3, 4, 5))
    sends = bench.sends(kind=VoteRequest)

    bench.answer(sends[0], vote_response(4, granted=True))
    after_two = type(bench.role)
    bench.answer(sends[2], vote_response(4, granted=True))

    assert (after_two, type(bench.role)) == (Prospective, Candidate)


def test_an_answer_counts_once() -> None:
    bench = prospective(epoch=4, voters=static_voters(1, 2, 3, 4, 5))
    send = bench.sends(kind=VoteRequest)[0]

    bench.answer(send, vote_response(4, granted=True))
    bench.answer(send, vote_response(4, granted=True))

    assert bench.role.tally.granting == (1, 2)


def test_an_answer_of_an_earlier_election_does_not_count() -> None:
    bench = candidate(epoch=5)
    old = bench.sends(kind=VoteRequest)[-1]
    bench.wait(2000)
    assert isinstance(bench.role, Prospective)

    bench.answer(old, vote_response(5, granted=True))

    assert bench.role.tally.granting == (1,)


def test_an_answer_to_a_pre_vote_is_no_vote() -> None:
    bench = prospective(epoch=4)
    first, second = bench.sends(kind=VoteRequest)
    bench.answer(first, vote_response(4, granted=True))

    bench.answer(second, vote_response(4, granted=True))

    assert isinstance(bench.role, Candidate)
    assert bench.role.tally.granting == (1,)


def test_a_peer_without_pre_votes_makes_a_candidate_at_once() -> None:
    bench = prospective(epoch=4)
    send = bench.sends(kind=VoteRequest)[0]

    bench.tell(Failed(send.peer, send.number, Error.UNSUPPORTED_VERSION))

    assert isinstance(bench.role, Candidate)


def test_an_unreachable_peer_is_asked_again_after_a_backoff() -> None:
    bench = prospective(epoch=4)
    send = bench.sends(kind=VoteRequest)[0]

    at_once = bench.tell(Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE))
    later = bench.wait(20)

    assert bench.sends(at_once) == []
    assert [each.peer for each in bench.sends(later)] == [send.peer]


def test_a_silent_peer_is_asked_again_after_the_request_timeout() -> None:
    bench = prospective(epoch=4, request_timeout_ms=300)

    before = bench.wait(299)
    after = bench.wait(1)

    assert bench.sends(before) == []
    assert [send.peer for send in bench.sends(after)] == [2, 3]


def test_a_vote_answer_after_the_request_timeout_is_ignored() -> None:
    bench = prospective(epoch=4, request_timeout_ms=300)
    send = bench.sends(kind=VoteRequest)[0]
    bench.wait(300)

    bench.answer(send, vote_response(4, granted=True))

    assert bench.role.tally.granting == (1,)


# Losing


def lost(bench: Bench, epoch: int) -> None:
    for send in bench.sends(kind=VoteRequest)[-2:]:
        bench.answer(send, vote_response(epoch))


def test_a_prospective_that_lost_waits_for_another_election() -> None:
    bench = prospective(epoch=4)

    lost(bench, 4)

    assert bench.role == Unattached(4, None, None, bench.role.election_deadline_ms)
    assert 1000 <= bench.role.election_deadline_ms - bench.now < 2000


def test_a_prospective_that_lost_follows_the_leader_it_knew() -> None:
    bench = follower(leader=2, epoch=4)
    bench.wait(2000)
    assert isinstance(bench.role, Prospective)

    lost(bench, 4)

    assert (type(bench.role), bench.role.leader_id, bench.role.endpoints) == (Follower, 2, (endpoint(2),))


def test_a_prospective_with_a_leader_without_an_endpoint_waits() -> None:
    bench = Bench(election=voted(4, 9))
    assert bench.role.leader_id == 9
    bench.wait(300)
    assert isinstance(bench.role, Prospective)

    lost(bench, 4)

    assert (type(bench.role), bench.role.leader_id) == (Unattached, 9)


def test_a_prospective_without_answers_tries_again_after_its_timeout() -> None:
    bench = prospective(epoch=4)
    first = bench.role

    bench.wait(first.election_deadline_ms - bench.now)

    assert isinstance(bench.role, Prospective)
    assert bench.role is not first
    assert bench.replica.epoch == 4


def test_a_candidate_that_lost_waits_for_the_rest_of_its_time_then_asks_for_pre_votes() -> None:
    bench = candidate(epoch=5)
    stood = bench.role

    lost(bench, 5)
    waiting = bench.wait(stood.election_deadline_ms - bench.now - 1)
    still = bench.role
    bench.wait(1)

    assert (still, bench.sends(waiting)) == (stood, [])
    assert isinstance(bench.role, Prospective)
    assert bench.role.voted == key(1)


def test_a_prospective_keeps_its_vote_as_candidate() -> None:
    bench = candidate(epoch=5)
    bench.wait(2000)

    assert of(bench, vote_request(5, 3)) == vote_response(5)


def test_a_prospective_that_grants_a_vote_restarts_its_pre_vote() -> None:
    bench = prospective(epoch=4, voters=static_voters(1, 2, 3, 4, 5))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    granted = of(bench, vote_request(4, 3))

    assert granted == vote_response(4, granted=True)
    assert (bench.role.voted, bench.role.tally.granting) == (key(3), (1,))


def test_an_answer_that_names_a_leader_ends_the_election() -> None:
    bench = prospective(epoch=4)

    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, leader=3, node=3))

    assert (type(bench.role), bench.role.leader_id, bench.role.epoch) == (Follower, 3, 4)


def test_an_answer_of_a_higher_epoch_ends_the_election() -> None:
    bench = candidate(epoch=5)

    bench.answer(bench.sends(kind=VoteRequest)[-1], vote_response(7, error=Error.FENCED_LEADER_EPOCH))

    assert (type(bench.role), bench.role.epoch) == (Unattached, 7)


@pytest.mark.parametrize("error", [Error.INVALID_REQUEST, Error.UNKNOWN_SERVER_ERROR, Error.INVALID_VOTER_KEY])
def test_an_error_is_noted_and_counts_as_no_vote(error: Error) -> None:
    bench = prospective(epoch=4)

    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, error=error, granted=True))

    assert bench.role.tally.granting == (1,)
    assert bench.notes[-1] in {"peer_answered_error", "peer_has_other_key"}


def test_a_voter_with_another_directory_id_is_asked_again_after_a_backoff() -> None:
    bench = prospective(epoch=4)
    asked = bench.sends(kind=VoteRequest)

    bench.answer(asked[0], vote_response(4, error=Error.INVALID_VOTER_KEY))

    assert bench.sends(kind=VoteRequest) == asked
    assert bench.replica.peers.is_backing_off(asked[0].peer, bench.now)


@pytest.mark.parametrize("error", [Error.CLUSTER_AUTHORIZATION_FAILED, Error.INCONSISTENT_CLUSTER_ID])
def test_a_refusal_of_the_whole_request_is_noted(error: Error) -> None:
    bench = prospective(epoch=4)

    asked = bench.sends(kind=VoteRequest)[0]
    effects = bench.answer(asked, VoteResponse(error_code=error, topics=()))

    assert isinstance(bench.role, Prospective)
    assert bench.notes[-1] == "peer_answered_error"
    assert (Denied(asked.peer) in effects) is (error == Error.CLUSTER_AUTHORIZATION_FAILED)


def test_an_answer_of_another_kind_is_noted() -> None:
    bench = prospective(epoch=4)

    bench.answer(bench.sends(kind=VoteRequest)[0], fetch_response(4, 2))

    assert isinstance(bench.role, Prospective)
    assert bench.notes[-1] == "peer_answered_other"


# Two at once: raft/DESIGN.md


def pre_vote(epoch: int, asking: int, last_offset: int = 0, last_epoch: int = 0) -> VoteRequest:
    return vote_request(epoch, asking, pre_vote=True, last_offset=last_offset, last_epoch=last_epoch)


def test_of_two_prospectives_the_one_with_the_higher_id_yields() -> None:
    bench = prospective(2, epoch=4)

    granted = of(bench, pre_vote(4, asking=1))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))
    held = type(bench.role)
    bench.wait(200)

    assert granted == vote_response(4, granted=True)
    assert (held, type(bench.role)) == (Prospective, Candidate)


def test_of_two_prospectives_the_one_with_the_lower_id_does_not_yield() -> None:
    bench = prospective(2, epoch=4)

    of(bench, pre_vote(4, asking=3))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    assert isinstance(bench.role, Candidate)


def test_a_prospective_yields_to_a_longer_log_whatever_the_id() -> None:
    bench = prospective(2, epoch=4)

    of(bench, pre_vote(4, asking=3, last_offset=1))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    assert isinstance(bench.role, Prospective)


def test_a_prospective_does_not_yield_to_a_shorter_log() -> None:
    bench = prospective(2, epoch=4, recovered=log(7, (1, 0)))

    refused = of(bench, pre_vote(4, asking=1, last_epoch=1, last_offset=6))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    assert refused == vote_response(4)
    assert isinstance(bench.role, Candidate)


def test_a_prospective_yields_once_per_pre_vote() -> None:
    bench = prospective(2, epoch=4)
    of(bench, pre_vote(4, asking=1))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))
    bench.wait(160)

    of(bench, pre_vote(4, asking=1))
    bench.wait(40)

    assert isinstance(bench.role, Candidate)


def test_a_prospective_does_not_yield_to_a_replica_that_is_not_a_voter() -> None:
    bench = prospective(2, epoch=4, voters=static_voters(2, 3, 4))

    of(bench, pre_vote(4, asking=1))
    bench.answer(bench.sends(kind=VoteRequest)[0], vote_response(4, granted=True))

    assert isinstance(bench.role, Candidate)


def test_a_prospective_yields_to_a_voter_that_refused_it_whatever_the_id() -> None:
    """Replica 2 followed until now; as a Java node it would not hold back for replica 1."""
    bench = prospective(1, epoch=4, voters=static_voters(1, 2, 3, 4, 5))
    first, second, third, _ = bench.sends(kind=VoteRequest)
    bench.answer(first, vote_response(4))

    granted = of(bench, pre_vote(4, asking=2))
    bench.answer(second, vote_response(4, granted=True))
    bench.answer(third, vote_response(4, granted=True))

    assert granted == vote_response(4, granted=True)
    assert isinstance(bench.role, Prospective)


def test_a_voter_that_refused_as_follower_is_asked_again_after_its_own_pre_vote_request() -> None:
    bench = prospective(1, epoch=4)
    send = bench.sends(kind=VoteRequest)[0]
    bench.answer(send, vote_response(4))

    asked = Requested(Source(5, 0), pre_vote(4, asking=send.peer), 2, "CONTROLLER")
    at_once = bench.tell(asked) + bench.wait(199)
    later = bench.wait(1)

    assert bench.sends(at_once) == []
    assert [each.peer for each in bench.sends(later)] == [send.peer]


def test_a_voter_that_refused_with_a_shorter_log_is_asked_again_at_once() -> None:
    bench = prospective(1, epoch=4, recovered=log(7, (1, 0)))
    send = bench.sends(kind=VoteRequest)[0]
    bench.answer(send, vote_response(4))

    asked = pre_vote(4, asking=send.peer, last_epoch=1, last_offset=6)
    effects = bench.tell(Requested(Source(5, 0), asked, 2, "CONTROLLER"))

    assert [each.peer for each in bench.sends(effects)] == [send.peer]


def test_a_voter_that_refused_with_a_longer_log_is_not_asked_again() -> None:
    bench = prospective(1, epoch=4)
    send = bench.sends(kind=VoteRequest)[0]
    bench.answer(send, vote_response(4))

    bench.tell(Requested(Source(5, 0), pre_vote(4, asking=send.peer, last_offset=3), 2, "CONTROLLER"))

    assert bench.sends(bench.wait(300)) == []


# A log that is not on disk


def behind_its_disk(replica_id: int = 1) -> Bench:
    """A voter whose leader 2 is gone, and that asks for pre-votes before the last record of that leader is flushed."""
    bench = follower(replica_id, leader=2, epoch=4)
    fetch = bench.last_send()
    bench.step(Answered(fetch.peer, fetch.number, fetch_response(4, 2, records=batch(0, 4))))
    bench.step(Refused(2))
    assert isinstance(bench.role, Prospective)
    return bench


def test_a_voter_stands_when_its_whole_log_is_on_disk() -> None:
    bench = behind_its_disk()
    asked = bench.last_send(VoteRequest)

    bench.step(Answered(asked.peer, asked.number, vote_response(4, granted=True)))
    before = bench.role
    effects = bench.settle()

    assert isinstance(before, Prospective)
    assert isinstance(bench.role, Candidate)
    assert [send.request.topics[0].partitions[0].last_offset for send in bench.sends(effects)] == [1, 1]


def test_a_voter_whose_log_is_not_on_disk_waits_also_for_a_peer_without_pre_votes() -> None:
    bench = behind_its_disk()
    asked = bench.last_send(VoteRequest)

    bench.step(Failed(asked.peer, asked.number, Error.UNSUPPORTED_VERSION))
    before = bench.role
    bench.settle()
    bench.wait(20)
    again = bench.last_send(VoteRequest)
    bench.step(Failed(again.peer, again.number, Error.UNSUPPORTED_VERSION))

    assert isinstance(before, Prospective)
    assert (again.peer, again.number > asked.number) == (asked.peer, True)
    assert isinstance(bench.role, Candidate)


def test_a_log_that_does_not_become_durable_in_time_ends_the_candidacy() -> None:
    bench = behind_its_disk()
    asked = bench.last_send(VoteRequest)
    bench.step(Answered(asked.peer, asked.number, vote_response(4, granted=True)))

    bench.now = bench.role.election_deadline_ms
    bench.step(Ticked())

    assert isinstance(bench.role, Follower)
