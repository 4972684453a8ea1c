"""The view of a leader: voters and observers of the replica, and which of them are controllers."""

from __future__ import annotations

from raft.autopilot.view import Member, view_of
from raft.state.roles import Leader
from records.uuids import ZERO_UUID
from tests.raft.building import endpoint, fetch_request, key
from tests.raft.changing import leading


def test_the_view_has_the_voters_and_those_observers_that_are_controllers() -> None:
    bench = leading(1, 2)
    for node_id in (7, 8):
        bench.ask(fetch_request(2, node_id, 3, 2))
    role = bench.replica.role
    assert isinstance(role, Leader)

    view = view_of(bench.replica, role, {1: (endpoint(1),), 7: (endpoint(7),)}, bench.now)

    assert view.leader == key(1)
    assert [member.key.id for member in view.members] == [1, 2, 7]
    assert view.members[0] == Member(key(1), True, bench.now, bench.now)
    assert view.members[2].endpoints == (endpoint(7),)
    assert view.refusal == ""
    assert ZERO_UUID not in {member.key.directory_id for member in view.members}


def test_a_leader_without_dynamic_voters_says_why_it_changes_none() -> None:
    bench = leading(1, 2)
    bench.replica.kraft_version = 0
    role = bench.replica.role
    assert isinstance(role, Leader)

    view = view_of(bench.replica, role, {}, bench.now)

    assert view.refusal == "Cluster doesn't support changing voter because the kraft.version feature is 0"


def test_an_observer_without_the_listener_of_the_quorum_has_no_endpoints() -> None:
    bench = leading(1, 2)
    bench.ask(fetch_request(2, 7, 3, 2))
    role = bench.replica.role
    assert isinstance(role, Leader)

    view = view_of(bench.replica, role, {7: (endpoint(7)._replace(listener="OTHER"),)}, bench.now)

    assert [member.endpoints for member in view.members if member.key.id == 7] == [()]
