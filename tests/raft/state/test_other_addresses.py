from __future__ import annotations

from raft.interface.config import Endpoint, RaftConfig, Voter
from raft.interface.limits import OVERRIDE_PEER
from raft.state.other_addresses import OtherAddresses, Place
from tests.raft.building import CLUSTER, endpoint, key

VOTER_2 = Voter(key(2), (endpoint(2),), (0, 1))
THERE = Endpoint("CONTROLLER", "new-2", 9102)


def addresses(*, finds: bool = True) -> OtherAddresses:
    config = RaftConfig(
        CLUSTER,
        finds_moved_voters=finds,
        bootstrap_servers=(Endpoint("", "new-2", 9102), Endpoint("", "new-3", 9103)),
        voter_overrides=((3, Endpoint("CONTROLLER", "moved-3", 9203)),),
    )
    return OtherAddresses(config)


def test_the_places_are_the_overrides_and_the_bootstrap_servers() -> None:
    assert addresses().places == (
        Place(OVERRIDE_PEER - 3, Endpoint("CONTROLLER", "moved-3", 9203), 3),
        Place(-2, THERE, None),
        Place(-3, Endpoint("CONTROLLER", "new-3", 9103), None),
    )


def test_there_are_no_places_where_nobody_is_searched_for() -> None:
    assert addresses(finds=False).places == ()


def test_a_voter_is_where_it_has_answered_until_a_request_fails() -> None:
    found = addresses()

    assert found.of(VOTER_2) is None
    assert found.record(VOTER_2, -2) == THERE
    assert found.of(VOTER_2) == THERE

    found.forget(2)

    assert found.of(VOTER_2) is None


def test_a_new_entry_in_the_voter_set_counts_more_than_an_answer() -> None:
    found = addresses()
    found.record(VOTER_2, -2)

    moved = Voter(key(2), (Endpoint("CONTROLLER", "newest-2", 9302),), (0, 1))

    assert found.of(moved) is None
