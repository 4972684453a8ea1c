from __future__ import annotations

from typing import Any

import pytest

from raft.epoch import wait_before_election
from raft.interface.config import Endpoint, ReplicaKey
from raft.interface.effects import Denied
from raft.interface.inputs import Failed, Requested, Resign, Source
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from records.errors import Error
from records.messages.elections import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
)
from records.messages.fetch import FetchRequest
from tests.raft.building import (
    Bench,
    active,
    batch,
    begin_request,
    begin_response,
    candidate,
    directory,
    dynamic_voters,
    end_request,
    end_response,
    endpoint,
    fetch_request,
    fetch_response,
    follower,
    key,
    leader,
    prospective,
    static_voters,
    unattached,
    vote_request,
    vote_response,
    voted,
)

EXTERNAL = Endpoint("EXTERNAL", "host-2", 19002)


def place(bench: Bench) -> tuple[type, int, int | None]:
    return type(bench.role), bench.role.epoch, bench.role.leader_id


# BeginQuorumEpoch, asked


@pytest.mark.parametrize("make", [unattached, prospective, candidate, follower, leader, active])
def test_in_every_role_a_replica_follows_a_leader_of_a_higher_epoch(make: Any) -> None:
    bench = make(epoch=4)

    answer = bench.ask(begin_request(6, 3, voter=key(1)))

    assert answer == begin_response(6, leader=3, node=3)
    assert place(bench) == (Follower, 6, 3)


@pytest.mark.parametrize("make", [unattached, prospective, candidate])
def test_a_replica_without_a_leader_follows_one_of_its_own_epoch(make: Any) -> None:
    bench = make(epoch=4)

    answer = bench.ask(begin_request(4, 3))

    assert answer == begin_response(4, leader=3, node=3)
    assert place(bench) == (Follower, 4, 3)


def test_the_answer_is_sent_when_the_leader_is_saved() -> None:
    bench = unattached(epoch=4)

    unsaved = bench.step(Requested(Source(5, 0), begin_request(5, 3), 1, "CONTROLLER"))

    assert [type(effect).__name__ for effect in unsaved] == ["SaveElection"]
    assert [type(effect).__name__ for effect in bench.settle()] == ["Reply", "Send", "LeaderChanged"]


def test_the_vote_of_an_epoch_is_kept_when_its_leader_is_known() -> None:
    bench = Bench(election=voted(4, None, key(3)))

    bench.ask(begin_request(4, 3))

    assert bench.role.voted == key(3)


def test_the_leaders_endpoints_are_those_in_its_request() -> None:
    bench = unattached(epoch=4)
    moved = Endpoint("CONTROLLER", "elsewhere", 1234)

    bench.ask(begin_request(5, 2, endpoints=(moved, EXTERNAL)))

    assert bench.role.endpoints == (moved, EXTERNAL)
    assert bench.last_send().endpoint == moved


def test_the_endpoint_of_an_older_leader_is_that_of_the_voter_set() -> None:
    bench = unattached(epoch=4)

    bench.ask(begin_request(5, 2), version=0)

    assert bench.role.endpoints == (endpoint(2),)


def test_more_endpoints_of_the_same_leader_are_adopted() -> None:
    bench = follower(leader=2, epoch=4)
    first = bench.role

    bench.ask(begin_request(4, 2, endpoints=(endpoint(2),)))
    same = bench.role
    bench.ask(begin_request(4, 2, endpoints=(endpoint(2), EXTERNAL)))

    assert same is first
    assert bench.role.endpoints == (endpoint(2), EXTERNAL)


def test_a_prospective_that_knows_the_leader_continues_its_pre_vote() -> None:
    bench = follower(leader=2, epoch=4)
    bench.wait(2000)

    assert bench.ask(begin_request(4, 2, endpoints=(endpoint(2),))) == begin_response(4, leader=2, node=2)
    assert place(bench) == (Prospective, 4, 2)


def test_a_leader_without_an_endpoint_is_remembered() -> None:
    """A Java node would die of this."""
    bench = unattached(epoch=4)

    answer = bench.ask(begin_request(6, 9, endpoints=(EXTERNAL,)))

    assert answer == begin_response(6, leader=9)
    assert place(bench) == (Unattached, 6, 9)


@pytest.mark.parametrize("port", [0, 65535])
def test_only_a_valid_address_is_adopted(port: int) -> None:
    bench = unattached(epoch=4)

    bench.ask(begin_request(6, 9, endpoints=(Endpoint("CONTROLLER", "" if port else "host", port),)))

    assert place(bench) == (Unattached, 6, 9)


def test_an_older_epoch_is_fenced() -> None:
    bench = follower(leader=2, epoch=4)

    assert bench.ask(begin_request(3, 3)) == begin_response(4, error=Error.FENCED_LEADER_EPOCH, leader=2, node=2)
    assert place(bench) == (Follower, 4, 2)


@pytest.mark.parametrize("make", [begin_request, end_request])
def test_a_request_without_a_leader_is_refused(make: Any) -> None:
    bench = unattached(epoch=4)

    answer = bench.ask(make(5, -1))

    assert answer.topics[0].partitions[0].error_code == Error.INVALID_REQUEST
    assert place(bench) == (Unattached, 4, None)


@pytest.mark.parametrize("make", [begin_request, end_request])
def test_another_cluster_and_another_log_are_refused(make: Any) -> None:
    bench = unattached(epoch=4)
    request = make(5, 3)
    other_log = type(request)(cluster_id=None, topics=())

    assert bench.ask(make(5, 3, cluster_id="other")).error_code == Error.INCONSISTENT_CLUSTER_ID
    assert bench.ask(other_log).error_code == Error.INVALID_REQUEST
    assert place(bench) == (Unattached, 4, None)


@pytest.mark.parametrize("meant", [ReplicaKey(2), ReplicaKey(1, directory(9))])
def test_a_request_for_another_voter_is_refused_but_its_leader_adopted(meant: ReplicaKey) -> None:
    bench = unattached(epoch=4)

    answer = bench.ask(begin_request(5, 3, voter=meant))

    assert answer == begin_response(5, error=Error.INVALID_VOTER_KEY, leader=3, node=3)
    assert place(bench) == (Follower, 5, 3)


@pytest.mark.parametrize("make", [begin_request, end_request])
@pytest.mark.parametrize("named", [1, 3])
def test_a_second_leader_of_an_epoch_is_refused_and_the_node_goes_on(make: Any, named: int) -> None:
    bench = follower(leader=2, epoch=4)

    answer = bench.ask(make(4, named))

    assert answer.topics[0].partitions[0].error_code == Error.INCONSISTENT_VOTER_SET
    assert place(bench) == (Follower, 4, 2)
    assert "peer_inconsistent" in bench.notes


def test_a_peer_cannot_claim_that_we_are_the_leader() -> None:
    bench = unattached(epoch=4)

    answer = bench.ask(begin_request(6, 1))

    assert answer == begin_response(4, error=Error.INCONSISTENT_VOTER_SET)
    assert place(bench) == (Unattached, 4, None)


# BeginQuorumEpoch, sent


def test_a_new_leader_notifies_each_other_voter_with_its_endpoint() -> None:
    bench = leader(epoch=5, voters=dynamic_voters(1, 2, 3), endpoints=(endpoint(1), EXTERNAL))

    sent = [(send.peer, send.endpoint, send.request) for send in bench.sends(kind=BeginQuorumEpochRequest)]

    assert sent == [
        (2, endpoint(2), begin_request(5, 1, voter=key(2), endpoints=(endpoint(1), EXTERNAL))),
        (3, endpoint(3), begin_request(5, 1, voter=key(3), endpoints=(endpoint(1), EXTERNAL))),
    ]


def test_voters_that_fetch_get_no_begin_quorum_epoch() -> None:
    bench = leader(epoch=5)
    for send in bench.sends(kind=BeginQuorumEpochRequest):
        bench.answer(send, begin_response(5, leader=1))
    bench.wait(500)
    bench.ask(fetch_request(5, 2, 1, 5, max_wait_ms=5000))

    effects = bench.wait(500)

    assert [send.peer for send in bench.sends(effects, BeginQuorumEpochRequest)] == [3]


def test_a_voter_that_does_not_fetch_gets_begin_quorum_epoch_every_half_fetch_timeout() -> None:
    bench = leader(epoch=5)
    for send in bench.sends(kind=BeginQuorumEpochRequest):
        bench.answer(send, begin_response(5, leader=1))

    early = bench.sends(bench.wait(999))
    due = bench.sends(bench.wait(1))

    assert (early, [send.peer for send in due]) == ([], [2, 3])


def test_a_voter_that_knows_a_later_epoch_ends_the_leadership() -> None:
    bench = leader(epoch=5)
    send = bench.last_send(BeginQuorumEpochRequest)

    bench.answer(send, begin_response(7, error=Error.FENCED_LEADER_EPOCH, leader=3, node=3))

    assert place(bench) == (Follower, 7, 3)


def test_a_voter_that_names_another_leader_of_our_epoch_is_noted() -> None:
    bench = leader(epoch=5)
    send = bench.last_send(BeginQuorumEpochRequest)

    bench.answer(send, begin_response(5, leader=3, node=3))

    assert place(bench) == (Leader, 5, 1)
    assert "peer_inconsistent" in bench.notes


@pytest.mark.parametrize("error", [Error.INVALID_REQUEST, Error.INVALID_VOTER_KEY, Error.UNKNOWN_SERVER_ERROR])
def test_a_voter_that_refuses_is_noted(error: Error) -> None:
    bench = leader(epoch=5)
    send = bench.last_send(BeginQuorumEpochRequest)

    bench.answer(send, begin_response(5, error=error, leader=1))
    bench.answer(bench.sends(kind=BeginQuorumEpochRequest)[-2], BeginQuorumEpochResponse(error_code=error, topics=()))

    assert place(bench) == (Leader, 5, 1)
    assert {"peer_answered_error", "peer_has_other_key"} & set(bench.notes)


# EndQuorumEpoch, asked


def waits(bench: Bench) -> int:
    deadline: int = bench.role.state.fetch_deadline_ms
    return deadline - bench.now


def test_the_first_successor_starts_an_election_at_once() -> None:
    bench = follower(1, leader=2, epoch=4)

    answer = bench.ask(end_request(4, 2, (key(1), key(3))))

    assert answer == end_response(4, leader=2, node=2)
    assert place(bench) == (Prospective, 4, 2)


def test_the_other_successors_start_elections_in_their_order() -> None:
    bench = follower(1, leader=2, epoch=4)

    bench.ask(end_request(4, 2, (key(3), key(1))))

    assert place(bench) == (Follower, 4, 2)
    assert waits(bench) == 500


def test_a_follower_of_a_resigned_leader_grants_a_pre_vote_before_its_own_election() -> None:
    bench = follower(1, leader=2, epoch=4)
    bench.answer(bench.last_send(), fetch_response(4, 2))
    refused = bench.ask(vote_request(4, 3, pre_vote=True))

    bench.ask(end_request(4, 2, (key(3), key(1))))

    assert refused == vote_response(4, leader=2, node=2)
    assert bench.ask(vote_request(4, 3, pre_vote=True)) == vote_response(4, granted=True, leader=2, node=2)


def test_an_answer_that_arrives_after_the_resignation_does_not_undo_it() -> None:
    bench = follower(1, leader=2, epoch=4)
    fetch = bench.last_send(FetchRequest)
    bench.ask(end_request(4, 2, (key(3), key(1))))

    bench.answer(fetch, fetch_response(4, 2, records=batch(0, 4)))

    assert (waits(bench), bench.replica.log.end) == (500, 1)
    pre_vote = vote_request(4, 3, last_epoch=4, last_offset=1, pre_vote=True)
    assert bench.ask(pre_vote) == vote_response(4, granted=True, leader=2, node=2)


def test_a_resignation_that_is_repeated_does_not_delay_the_election() -> None:
    bench = follower(1, leader=2, epoch=4)
    bench.ask(end_request(4, 2, (key(3), key(1))))
    bench.wait(300)

    answer = bench.ask(end_request(4, 2, (key(3), key(1))))

    assert answer == end_response(4, leader=2, node=2)
    assert waits(bench) == 200


def test_a_leader_that_restarts_after_its_resignation_has_the_election_begin_at_once() -> None:
    bench = follower(1, leader=2, epoch=4)
    bench.ask(end_request(4, 2, (key(3), key(1))))

    bench.ask(end_request(4, 2))

    assert place(bench) == (Prospective, 4, 2)


def test_successors_of_an_older_leader_have_no_directory() -> None:
    bench = follower(1, leader=2, epoch=4)

    bench.ask(end_request(4, 2, (key(3), key(4), key(1)), version=0), version=0)

    assert waits(bench) == 500


def test_a_replica_without_a_leader_follows_the_resigned_one_and_then_waits() -> None:
    bench = unattached(1, epoch=4)

    bench.ask(end_request(5, 2, (key(3), key(1))))

    assert place(bench) == (Follower, 5, 2)
    assert waits(bench) == 500


def test_a_follower_of_another_leader_ignores_the_end() -> None:
    bench = follower(1, leader=3, epoch=4)

    answer = bench.ask(end_request(3, 2, (key(1),)))

    assert answer == end_response(4, error=Error.FENCED_LEADER_EPOCH, leader=3, node=3)
    assert waits(bench) == 2000


@pytest.mark.parametrize("make", [candidate, leader])
def test_a_candidate_or_leader_ignores_the_end_of_an_older_epoch(make: Any) -> None:
    bench = make(epoch=5)
    before = bench.role

    assert bench.ask(end_request(4, 2)).topics[0].partitions[0].error_code == Error.FENCED_LEADER_EPOCH
    assert bench.role is before


@pytest.mark.parametrize(
    ("successors", "expected"),
    [
        ([], 0),
        ([1], 0),
        ([1, 2, 3], 0),
        ([2, 1], 500),
        ([2, 1, 3], 250),
        ([2, 3, 1], 500),
        ([2, 3, 4, 1], 500),
        ([2, 3, 1, 4], 250),
        ([2, 1, 3, 4], 125),
        ([2, 3], 1000),
        ([2], 1000),
    ],
)
def test_each_successor_waits_twice_as_long_as_the_one_before(successors: list[int], expected: int) -> None:
    assert wait_before_election([key(each) for each in successors], key(1), 1000) == expected


def test_a_very_long_list_of_successors_causes_no_large_shift() -> None:
    many = [key(2)] * 10_000

    assert wait_before_election([*many, key(1)], key(1), 1000) == 0
    assert wait_before_election(many, key(1), 1000) == 1000


def test_a_successor_with_a_directory_is_that_one_alone() -> None:
    listed = [ReplicaKey(1, directory(9)), key(2), ReplicaKey(1), key(3)]

    assert wait_before_election(listed, key(1), 1000) == 250


# EndQuorumEpoch, sent


def resigned(epoch: int = 5) -> Bench:
    bench = leader(epoch=epoch)
    bench.ask(fetch_request(epoch, 3, 1, epoch))
    bench.tell(Resign(epoch))
    assert isinstance(bench.role, Resigned)
    return bench


def test_a_leader_that_resigns_sends_each_voter_its_preferred_successors() -> None:
    bench = resigned()

    sent = [(send.peer, send.request) for send in bench.sends(kind=EndQuorumEpochRequest)]

    successors = (ReplicaKey(3), ReplicaKey(2))
    request = end_request(5, 1, successors)
    partition = request.topics[0].partitions[0]
    partition.preferred_successors = (3, 2)
    assert sent == [(2, request), (3, request)]


def test_a_leader_that_restarts_sends_end_quorum_epoch_to_the_voters() -> None:
    bench = Bench(election=voted(5, 1))

    assert [(send.peer, send.request) for send in bench.sends()] == [(2, end_request(5, 1)), (3, end_request(5, 1))]


def test_end_quorum_epoch_is_repeated_only_to_voters_that_have_not_acknowledged() -> None:
    bench = Bench(election=voted(5, 1), request_timeout_ms=300)
    first, second = bench.sends(kind=EndQuorumEpochRequest)
    bench.answer(first, end_response(5, leader=1))
    bench.tell(Failed(second.peer, second.number, Error.BROKER_NOT_AVAILABLE))

    retried = bench.sends(bench.wait(20))
    again = bench.sends(bench.wait(300))

    assert [[send.peer for send in sends] for sends in (retried, again)] == [[3], [3]]


def test_an_answer_of_a_later_epoch_ends_the_resignation() -> None:
    bench = resigned()

    bench.answer(bench.last_send(EndQuorumEpochRequest), end_response(6, leader=3, node=3))

    assert place(bench) == (Follower, 6, 3)


def test_a_voter_that_refuses_end_quorum_epoch_gets_it_again() -> None:
    bench = Bench(election=voted(5, 1))
    first = bench.sends(kind=EndQuorumEpochRequest)[0]

    bench.answer(first, EndQuorumEpochResponse(error_code=Error.UNKNOWN_SERVER_ERROR, topics=()))

    assert [send.peer for send in bench.sends(bench.wait(20))] == [2]


def test_a_resigned_leader_waits_for_others_then_goes_into_the_next_epoch() -> None:
    bench = Bench(election=voted(5, 1))

    bench.wait(bench.role.election_deadline_ms - bench.now)

    assert place(bench) == (Prospective, 6, None)


def test_a_late_end_answer_in_another_role_changes_nothing() -> None:
    bench = resigned()
    send = bench.last_send(EndQuorumEpochRequest)
    bench.ask(begin_request(6, 3))

    bench.answer(send, end_response(5, leader=1))

    assert place(bench) == (Follower, 6, 3)


def test_a_sole_voter_sends_no_end_quorum_epoch() -> None:
    bench = Bench(voters=static_voters(1), election=voted(5, 1))

    assert place(bench) == (Leader, 6, 1)
    assert bench.sends() == []


def test_a_candidate_follows_the_leader_of_its_own_epoch() -> None:
    bench = candidate(epoch=5)

    bench.ask(begin_request(5, 2))

    assert (type(bench.role), bench.role.voted) == (Follower, key(1))
    assert not isinstance(bench.role, Candidate)


def test_a_voter_that_lets_the_leader_take_no_part_ends_it() -> None:
    bench = leader(epoch=5)
    send = bench.last_send(BeginQuorumEpochRequest)

    answer = BeginQuorumEpochResponse(error_code=Error.CLUSTER_AUTHORIZATION_FAILED, topics=())

    assert Denied(send.peer) in bench.answer(send, answer)
