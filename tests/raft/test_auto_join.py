from __future__ import annotations

from typing import Any

import pytest

from raft.interface.config import ReplicaKey, Voter
from raft.interface.recovered import Recovered
from raft.interface.voters import VoterSet
from records.errors import Error
from records.messages.fetch import FetchRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest
from tests.raft.building import Bench, dynamic_voters, endpoint, fetch_response, follower, key, static_voters
from tests.raft.changing import add, added, remove, removed, with_voters

JOIN = (AddRaftVoterRequest, RemoveRaftVoterRequest)


def observer(**options: Any) -> Bench:
    """Node 4, which is no voter, follows node 2."""
    return follower(4, 2, recovered=options.pop("recovered", with_voters(1, 2, 3)), **options)


def wait_following(bench: Bench, ms: int) -> None:
    for _ in range(ms // 500):
        bench.wait(500)
        send = bench.last_send(FetchRequest)
        bench.answer(send, fetch_response(bench.replica.epoch, 2))


def asked(bench: Bench) -> list[Any]:
    return [each.request for each in bench.seen if type(getattr(each, "request", None)) in JOIN]


def test_an_observer_has_itself_added() -> None:
    bench = observer(auto_join=True)

    wait_following(bench, 2500)

    assert asked(bench) == [add(key(4), timeout_ms=2000, ack_when_committed=False)]
    assert bench.last_send(AddRaftVoterRequest).endpoint == endpoint(2)


def test_it_fetches_on_after_the_answer_and_asks_again_after_a_while() -> None:
    bench = observer(auto_join=True)
    wait_following(bench, 2500)

    effects = bench.answer(bench.last_send(AddRaftVoterRequest), added(Error.REQUEST_TIMED_OUT, "lagging"))
    wait_following(bench, 2500)

    assert [type(each.request) for each in bench.sends(effects)] == [FetchRequest]
    assert len(asked(bench)) == 2


def test_it_does_not_join_a_silent_leader_but_asks_other_nodes_for_another() -> None:
    bench = observer(auto_join=True)
    wait_following(bench, 2500)
    bench.answer(bench.last_send(AddRaftVoterRequest), added(Error.REQUEST_TIMED_OUT, "lagging"))
    bench.seen.clear()

    bench.wait(12_000)

    fetched_from = {send.peer for send in bench.sends(kind=FetchRequest)}
    assert (asked(bench), fetched_from) == ([], {1, 2, 3})


def test_a_voter_asks_no_more() -> None:
    bench = observer(auto_join=True)
    wait_following(bench, 2500)
    bench.answer(bench.last_send(AddRaftVoterRequest), added(0))

    bench.replica.take_control([(7, dynamic_voters(1, 2, 3, 4))])
    wait_following(bench, 5000)

    assert len(asked(bench)) == 1


def test_the_voter_of_a_lost_directory_is_removed_first() -> None:
    former = Voter(ReplicaKey(4, bytes(15) + b"\1"), (endpoint(4),), (0, 1))
    voters = VoterSet([*dynamic_voters(1, 2, 3), former])
    bench = observer(auto_join=True, recovered=Recovered(voter_sets=((-1, voters),), kraft_versions=((-1, 1),)))
    wait_following(bench, 2500)
    bench.answer(bench.last_send(RemoveRaftVoterRequest), removed(0))
    bench.replica.take_control([(7, dynamic_voters(1, 2, 3))])

    wait_following(bench, 2500)

    assert asked(bench) == [remove(former.key), add(key(4), timeout_ms=2000, ack_when_committed=False)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"auto_join": True, "has_controller_role": False},
        {"auto_join": True, "recovered": Recovered(), "voters": static_voters(1, 2, 3)},
    ],
)
def test_others_do_not_join(options: Any) -> None:
    bench = observer(**options)

    wait_following(bench, 5000)

    assert asked(bench) == []


def test_an_unexpected_answer_makes_it_back_off() -> None:
    bench = observer(auto_join=True)
    wait_following(bench, 2500)

    effects = bench.answer(bench.last_send(AddRaftVoterRequest), added(Error.INVALID_REQUEST, "bad"))

    assert "peer_answered_error" in bench.notes
    assert not [each for each in bench.sends(effects) if each.peer == 2]
