from __future__ import annotations

from types import SimpleNamespace

import pytest

from raft.discovery import (
    LeaderReport,
    is_consistent,
    is_reachable,
    learn,
    note_refusal,
    note_unexpected,
    report_of,
    take_answer,
)
from raft.interface.config import Endpoint
from raft.interface.effects import Denied
from raft.interface.inputs import Ticked
from raft.interface.limits import EPOCH_MAX
from raft.state.roles import Follower, Prospective, Unattached
from records.errors import Error
from records.messages.fetch import FetchRequest
from tests.raft.building import Bench, active, endpoint, fetch_response, follower, unattached

HERE = (endpoint(3),)


def place(bench: Bench) -> tuple[type, int, int | None]:
    return type(bench.role), bench.role.epoch, bench.role.leader_id


def test_a_report_has_the_endpoints_of_the_leader_alone_on_our_listener() -> None:
    replica = unattached().replica
    leader = SimpleNamespace(leader_id=3, leader_epoch=5)
    nodes = [SimpleNamespace(node_id=node_id, host=f"host-{node_id}", port=9000 + node_id) for node_id in (2, 3)]

    assert report_of(replica, Error.NONE, leader, nodes) == LeaderReport(
        Error.NONE, 3, 5, (Endpoint("CONTROLLER", "host-3", 9003),)
    )


def test_a_report_with_a_negative_leader_id_names_no_leader() -> None:
    replica = unattached().replica

    assert report_of(replica, Error.NONE, SimpleNamespace(leader_id=-1, leader_epoch=5), []) == LeaderReport(
        Error.NONE, None, 5
    )


@pytest.mark.parametrize(
    ("leader_id", "epoch", "expected"),
    [(2, 4, True), (None, 4, True), (3, 4, False), (3, 5, True), (1, 5, False), (1, 4, False)],
)
def test_an_epoch_has_one_leader_and_only_this_replica_can_elect_itself(
    leader_id: int | None, epoch: int, expected: bool
) -> None:
    assert is_consistent(follower(replica_id=1, leader=2, epoch=4).replica, leader_id, epoch) is expected


def test_the_leader_agrees_that_it_is_the_leader_of_its_own_epoch() -> None:
    replica = active(epoch=2).replica

    assert [is_consistent(replica, 1, epoch) for epoch in (2, 3)] == [True, False]


@pytest.mark.parametrize(
    ("endpoints", "expected"),
    [
        ((), False),
        ((Endpoint("EXTERNAL", "host", 9),), False),
        ((Endpoint("CONTROLLER", "", 9),), False),
        ((Endpoint("CONTROLLER", "host", 0),), False),
        ((Endpoint("CONTROLLER", "host", 65536),), False),
        ((Endpoint("EXTERNAL", "host", 9), Endpoint("CONTROLLER", "host", 65535)), True),
    ],
)
def test_a_leader_is_reachable_on_the_listener_of_the_quorum(endpoints: tuple[Endpoint, ...], expected: bool) -> None:
    assert is_reachable(unattached().replica, endpoints) is expected


def test_a_higher_epoch_with_a_reachable_leader_is_followed() -> None:
    bench = unattached(epoch=4)

    is_taken = learn(bench.replica, 3, 6, HERE, bench.now)

    assert (is_taken, place(bench)) == (True, (Follower, 6, 3))


def test_the_voter_set_has_the_endpoints_of_a_leader_that_the_peer_gave_none_for() -> None:
    bench = unattached(epoch=4)

    learn(bench.replica, 3, 4, (), bench.now)

    assert (place(bench), bench.role.endpoints) == ((Follower, 4, 3), HERE)


MOVED = (Endpoint("CONTROLLER", "new-2", 9102),)


def test_a_follower_that_has_not_fetched_takes_another_address_of_its_leader() -> None:
    """Its own came from the log, which ends before the record of the leader's present one."""
    bench = follower(leader=2, epoch=4, finds_moved_voters=True)
    deadline_ms = bench.role.state.fetch_deadline_ms

    bench.now += 500
    learn(bench.replica, 2, 4, MOVED, bench.now)

    assert (place(bench), bench.role.endpoints) == ((Follower, 4, 2), MOVED)
    assert bench.role.state.fetch_deadline_ms == deadline_ms


def test_a_lost_pre_vote_leads_to_the_address_of_the_leader_that_the_voters_named() -> None:
    bench = follower(leader=2, epoch=4, finds_moved_voters=True)
    bench.wait(bench.role.state.fetch_deadline_ms - bench.now)
    role = bench.role

    for report in (LeaderReport(Error.NONE, 2, 4, MOVED), LeaderReport(Error.NONE, 2, 4, ())):
        take_answer(bench.replica, 3, report, bench.now)
    is_kept = bench.role is role
    for voter_id in (2, 3):
        role.tally.record(voter_id, False)
    bench.tell(Ticked())

    assert (isinstance(role, Prospective), is_kept) == (True, True)
    assert (place(bench), bench.role.endpoints) == ((Follower, 4, 2), MOVED)


@pytest.mark.parametrize("endpoints", [(), MOVED], ids=["none is named", "it has fetched"])
def test_the_address_of_a_leader_that_answers_stays(endpoints: tuple[Endpoint, ...]) -> None:
    bench = follower(leader=2, epoch=4, finds_moved_voters=True)
    role = bench.role
    bench.answer(bench.last_send(FetchRequest), fetch_response(4, 2, high_watermark=0))

    learn(bench.replica, 2, 4, endpoints, bench.now)

    assert bench.role is role


def test_a_leader_without_an_endpoint_raises_the_epoch_only() -> None:
    bench = unattached(epoch=4)

    learn(bench.replica, 77, 6, (), bench.now)

    assert place(bench) == (Unattached, 6, 77)


@pytest.mark.parametrize(("leader_id", "epoch"), [(3, 4), (1, 5), (3, EPOCH_MAX + 1)])
def test_a_contradiction_or_an_epoch_out_of_range_changes_nothing(leader_id: int, epoch: int) -> None:
    bench = follower(replica_id=1, leader=2, epoch=4)
    role = bench.role

    is_taken = learn(bench.replica, leader_id, epoch, HERE, bench.now)
    bench.settle()

    assert (is_taken, bench.role is role) == (False, True)


@pytest.mark.parametrize(
    ("report", "expected", "after"),
    [
        (LeaderReport(Error.NONE, 3, 3, HERE), False, (Unattached, 4, None)),  # a lower epoch: the peer lags behind
        (LeaderReport(Error.UNKNOWN_LEADER_EPOCH, None, 4), False, (Unattached, 4, None)),
        (LeaderReport(Error.NONE, 3, 6, HERE), True, (Follower, 6, 3)),
        (LeaderReport(Error.FENCED_LEADER_EPOCH, None, 6), True, (Unattached, 6, None)),
        (LeaderReport(Error.NOT_LEADER_OR_FOLLOWER, None, 4), False, (Unattached, 4, None)),  # nothing new: back off
        (LeaderReport(Error.NONE, 3, 4, HERE), None, (Follower, 4, 3)),  # the rest of the answer counts too
        (LeaderReport(Error.NOT_LEADER_OR_FOLLOWER, 3, 4, HERE), True, (Follower, 4, 3)),
        (LeaderReport(Error.NONE, 77, 4), False, (Unattached, 4, None)),  # no endpoint of the leader
        (LeaderReport(Error.BROKER_NOT_AVAILABLE, None, 4), False, (Unattached, 4, None)),
        (LeaderReport(Error.INVALID_VOTER_KEY, None, 4), False, (Unattached, 4, None)),
        (LeaderReport(Error.INVALID_REQUEST, None, 4), False, (Unattached, 4, None)),
        (LeaderReport(Error.NONE, None, 4), None, (Unattached, 4, None)),
        (LeaderReport(Error.UNKNOWN_SERVER_ERROR, None, 4), None, (Unattached, 4, None)),  # the caller handles it
    ],
)
def test_the_shared_fields_of_an_answer_are_handled_before_the_rest(
    report: LeaderReport, expected: bool | None, after: tuple[type, int, int | None]
) -> None:
    bench = unattached(epoch=4)

    handled = take_answer(bench.replica, 2, report, bench.now)

    assert (handled, place(bench)) == (expected, after)


@pytest.mark.parametrize("error", [Error.CLUSTER_AUTHORIZATION_FAILED, Error.UNKNOWN_SERVER_ERROR])
def test_only_a_peer_that_lets_a_node_take_no_part_ends_it(error: Error) -> None:
    bench = unattached()

    is_success = note_refusal(bench.replica, 2, error)

    assert not is_success
    assert (Denied(2) in bench.wait(1)) is (error == Error.CLUSTER_AUTHORIZATION_FAILED)


def test_an_unexpected_error_is_noted_and_no_success() -> None:
    bench = unattached()

    is_success = note_unexpected(bench.replica, 2, Error.UNKNOWN_SERVER_ERROR)
    bench.wait(1)

    assert (is_success, bench.notes[-1]) == (False, "peer_answered_error")
