from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.config import Endpoint
from raft.interface.inputs import Failed
from raft.interface.limits import OVERRIDE_PEER
from raft.state.roles import Candidate, Leader, Prospective
from records.errors import Error
from records.messages.elections import BeginQuorumEpochRequest, VoteRequest
from tests.raft.building import Bench, dynamic_voters, endpoint, key, prospective, static_voters, vote_response

if TYPE_CHECKING:
    from raft.interface.effects import Send

VOTERS = dynamic_voters(1, 2, 3)


def new_address(replica_id: int) -> Endpoint:
    return Endpoint("CONTROLLER", f"new-{replica_id}", 9100 + replica_id)


# As a configuration has them: without the name of a listener.
SERVERS = tuple(new_address(each)._replace(listener="") for each in (2, 3))
AT_2, AT_3 = -2, -3


def searching(**options: Any) -> Bench:
    """Voter 1 asks for pre-votes, which nobody has answered yet."""
    options = {"voters": VOTERS, "bootstrap_servers": SERVERS, "finds_moved_voters": True, **options}
    return prospective(epoch=4, **options)


def search(bench: Bench) -> list[Send]:
    """Let the time before a search pass; returns what is sent by then."""
    return votes(bench, bench.wait(bench.replica.config.search_after_ms))


def votes(bench: Bench, effects: list[Any]) -> list[Send]:
    return bench.sends(effects, VoteRequest)


def asked_key(send: Send) -> tuple[int, bytes]:
    return send.request.voter_id, send.request.topics[0].partitions[0].voter_directory_id


def test_a_silent_voter_is_asked_by_its_key_at_the_bootstrap_servers() -> None:
    bench = searching()

    asked = search(bench)

    assert [(send.peer, send.endpoint, asked_key(send), send.least_version) for send in asked] == [
        (AT_2, new_address(2), key(2), 1),
        (AT_3, new_address(3), key(2), 1),
    ]


def test_an_election_that_is_decided_at_once_sends_no_more_than_before() -> None:
    bench = searching()

    for send in votes(bench, bench.seen):
        if isinstance(bench.role, Prospective):
            bench.answer(send, vote_response(4, granted=True))

    assert isinstance(bench.role, Candidate)
    assert all(send.peer > 0 and send.least_version == 0 for send in votes(bench, bench.seen))


@pytest.mark.parametrize(
    "options",
    [{"finds_moved_voters": False}, {"bootstrap_servers": ()}, {"voters": static_voters(1, 2, 3)}],
    ids=["not configured", "no other address", "static voters"],
)
def test_nobody_is_searched_for(options: dict[str, Any]) -> None:
    assert search(searching(**options)) == []


def test_another_node_gives_no_vote_and_is_asked_for_the_next_voter() -> None:
    bench = searching()
    asked = search(bench)

    bench.answer(asked[0], vote_response(4, error=Error.INVALID_VOTER_KEY, granted=True))
    again = votes(bench, bench.wait(bench.replica.config.retry_backoff_ms))

    assert bench.role.tally.granting == (1,)
    assert [(send.peer, asked_key(send)) for send in again] == [(AT_2, key(3))]
    assert "peer_has_other_key" not in bench.notes


def test_an_answer_counts_for_the_voter_that_the_request_named() -> None:
    bench = searching()
    asked = search(bench)

    bench.answer(asked[1], vote_response(4, granted=True))

    assert isinstance(bench.role, Candidate)
    assert bench.role.voted == key(1)
    assert "voter_moved" in bench.notes


def test_a_vote_of_one_voter_counts_once_wherever_it_was_given() -> None:
    bench = searching(voters=dynamic_voters(1, 2, 3, 4, 5))
    asked = search(bench)

    for send in asked:
        bench.answer(send, vote_response(4, granted=True))
    at_home = [send for send in votes(bench, bench.seen) if send.peer == 2]
    bench.answer(at_home[-1], vote_response(4, granted=True))

    assert {asked_key(send) for send in asked} == {key(2)}
    assert isinstance(bench.role, Prospective)
    assert bench.role.tally.granting == (1, 2)


def test_each_place_is_asked_for_each_voter_once_in_an_election() -> None:
    bench = searching(first_election_timeout_ms=50, election_timeout_ms=4_000)
    seen: list[tuple[int, tuple[int, bytes]]] = []

    sent = search(bench)
    while sent:
        seen += [(send.peer, asked_key(send)) for send in sent if send.peer < 0]
        for send in sent:
            bench.tell(Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE))
        sent = [send for send in votes(bench, bench.wait(50)) if send.peer < 0]

    assert isinstance(bench.role, Prospective)
    assert sorted(seen) == sorted((peer, key(each)) for peer in (AT_2, AT_3) for each in (2, 3))


def test_a_voter_that_was_found_is_asked_there_at_once_and_begins_its_epoch_there() -> None:
    bench = searching()
    asked = search(bench)
    bench.answer(asked[0], vote_response(4, granted=True))
    assert isinstance(bench.role, Candidate)

    to_2 = [send for send in votes(bench, bench.seen) if send.peer == 2][-1]
    bench.answer(to_2, vote_response(5, granted=True))

    assert (to_2.endpoint, asked_key(to_2), to_2.least_version) == (new_address(2), key(2), 1)
    assert isinstance(bench.role, Leader)
    began = {send.peer: send.endpoint for send in bench.sends(kind=BeginQuorumEpochRequest)}
    assert began == {2: new_address(2), 3: endpoint(3)}


def test_a_voter_that_fails_where_it_was_found_is_asked_at_its_own_address_again() -> None:
    bench = searching()
    bench.answer(search(bench)[0], vote_response(4, granted=True))
    to_2 = [send for send in votes(bench, bench.seen) if send.peer == 2][-1]

    bench.tell(Failed(2, to_2.number, Error.BROKER_NOT_AVAILABLE))
    again = votes(bench, bench.wait(bench.replica.config.retry_backoff_ms))

    assert [(send.endpoint, send.least_version) for send in again if send.peer == 2] == [(endpoint(2), 0)]


def test_a_place_without_pre_votes_does_not_start_an_election() -> None:
    bench = searching()

    for send in search(bench):
        bench.tell(Failed(send.peer, send.number, Error.UNSUPPORTED_VERSION))

    assert isinstance(bench.role, Prospective)


def test_no_voter_is_searched_for_where_another_one_has_answered() -> None:
    servers = tuple(endpoint(each)._replace(listener="") for each in (2, 3))
    bench = searching(voters=dynamic_voters(1, 2, 3), bootstrap_servers=servers)
    first = next(send for send in votes(bench, bench.seen) if send.peer == 2)

    bench.answer(first, vote_response(4, granted=False))

    assert search(bench) == []


def test_an_override_is_asked_for_its_voter_alone() -> None:
    bench = searching(bootstrap_servers=(), voter_overrides=((3, new_address(3)),))

    asked = search(bench)

    assert [(send.peer, send.endpoint, asked_key(send)) for send in asked] == [
        (OVERRIDE_PEER - 3, new_address(3), key(3))
    ]
