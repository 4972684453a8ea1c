from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.effects import ReserveOffsets, Send
from raft.interface.inputs import Failed
from raft.interface.voters import VoterSet
from raft.state.roles import Follower, Leader
from records.errors import Error
from records.messages.fetch import FetchRequest
from records.messages.versions import ApiVersionsRequest
from records.messages.voters import UpdateRaftVoterRequest
from records.schema import replace
from tests.raft.building import (
    Bench,
    active,
    dynamic_voters,
    endpoint,
    fetch_response,
    follower,
    key,
    leader,
    static_voters,
)
from tests.raft.changing import (
    answer_versions,
    answers,
    ask,
    catch_up,
    leading,
    leave_offsets,
    remove,
    removed,
    update,
    updated,
    versions,
    with_voters,
)

MOVED = Endpoint("CONTROLLER", "elsewhere", 19092)

if TYPE_CHECKING:
    from collections.abc import Callable


# The leader


def test_a_voter_gets_its_new_address_into_the_log() -> None:
    bench = leading(1, 2, 3)

    asked = ask(bench, update(key(2), MOVED))
    effects = leave_offsets(bench)

    assert ReserveOffsets(2, 1) in asked
    assert (answers(asked), answers(effects)) == ([], [updated(0)])
    assert bench.replica.voters.get(2) == Voter(key(2), (MOVED,), (0, 1))
    assert bench.replica.voters.ids == (1, 2, 3)


def test_an_update_that_is_appended_is_complete_and_the_next_change_waits_for_its_commit() -> None:
    bench = leading(1, 2, 3)
    ask(bench, update(key(2), MOVED))
    leave_offsets(bench)

    refused = answers(ask(bench, remove(key(3))))
    catch_up(bench, 2)
    ask(bench, remove(key(3)))

    assert refused[0].error_message == (
        "Request timed out waiting for voters to commit the latest voter change at Optional[3] with HWM 3"
    )
    assert bench.role.state.change is not None


def test_with_static_voters_the_leader_alone_keeps_the_entry() -> None:
    bench = active(1)

    effects = ask(bench, update(key(2), MOVED))

    assert answers(effects) == [updated(0)]
    assert bench.role.state.reported_voters.get(2) == Voter(key(2), (MOVED,), (0, 1))
    assert bench.replica.voters == static_voters(1, 2, 3)


def test_a_voter_that_updates_its_entry_is_alive() -> None:
    bench = leading(1, 2, 3)
    bench.role.state.quorum_deadline_ms = bench.now + 1

    ask(bench, update(key(2), MOVED))

    assert bench.role.state.quorum_deadline_ms == bench.now + 3000


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (update(key(2), MOVED, cluster_id="other"), Error.INCONSISTENT_CLUSTER_ID),
        (update(key(2), MOVED, epoch=1), Error.FENCED_LEADER_EPOCH),
        (update(key(2), MOVED, epoch=3), Error.UNKNOWN_LEADER_EPOCH),
        (update(ReplicaKey(-1, key(2).directory_id), MOVED), Error.INVALID_REQUEST),
        (update(ReplicaKey(2), MOVED), Error.INVALID_REQUEST),
        (update(key(2), Endpoint("OTHER", "h", 1)), Error.INVALID_REQUEST),
        (update(key(2), Endpoint("CONTROLLER", "", 1)), Error.INVALID_REQUEST),
        (update(key(2), Endpoint("CONTROLLER", "h", 0)), Error.INVALID_REQUEST),
        (update(key(2), MOVED, versions=(-1, 1)), Error.INVALID_REQUEST),
        (update(key(2), MOVED, versions=(1, 0)), Error.INVALID_REQUEST),
        (update(key(2), MOVED, versions=(0, 0)), Error.INVALID_REQUEST),
        (update(key(1), MOVED), Error.INVALID_REQUEST),
        (update(ReplicaKey(2, key(3).directory_id), MOVED), Error.VOTER_NOT_FOUND),
        (update(key(4), MOVED), Error.VOTER_NOT_FOUND),
    ],
)
def test_a_wrong_update_changes_nothing(request_: Any, error: Error) -> None:
    bench = leading(1, 2, 3)

    assert answers(ask(bench, request_)) == [updated(error)]
    assert bench.replica.voters == dynamic_voters(1, 2, 3)
    assert bench.role.state.change is None


def test_an_update_with_a_listener_name_that_is_too_long_in_upper_case_is_refused() -> None:
    bench = leading(1, 2, 3)
    request = update(key(2), MOVED)
    longer = UpdateRaftVoterRequest.Listener(name="ŉ" * 16_000, host="h", port=2)  # 3 bytes each in upper case

    effects = ask(bench, replace(request, listeners=(*request.listeners, longer)))

    assert answers(effects) == [updated(Error.INVALID_REQUEST)]


def test_an_update_waits_while_another_change_is_under_way() -> None:
    bench = leading(1, 2, 3)
    ask(bench, remove(key(3)))

    assert answers(ask(bench, update(key(2), MOVED))) == [updated(Error.REQUEST_TIMED_OUT)]


def test_a_leader_that_has_committed_nothing_takes_no_update() -> None:
    bench = leader(1, recovered=with_voters(1, 2, 3))

    assert answers(ask(bench, update(key(2), MOVED))) == [updated(Error.REQUEST_TIMED_OUT)]


def test_a_follower_names_the_leader() -> None:
    bench = follower(1, 2, 2)

    assert answers(ask(bench, update(key(3), MOVED))) == [updated(Error.NOT_LEADER_OR_FOLLOWER, 2)]


# The leader, where it asks the voter at its new endpoint first


def asking(bench: Bench) -> Bench:
    """A leader without a request on its way to another voter."""
    bench.replica.config.asks_new_endpoints = True
    bench.replica.peers.reset()
    return bench


def test_a_voter_is_asked_at_its_new_address_before_the_leader_takes_it() -> None:
    bench = asking(leading(1, 2, 3))

    asked = ask(bench, update(key(2), MOVED))
    told = answer_versions(bench, versions())
    effects = leave_offsets(bench)

    sent = bench.sends(asked, ApiVersionsRequest)
    assert [(each.peer, each.endpoint) for each in sent] == [(2, MOVED)]
    assert not [each for each in asked if isinstance(each, ReserveOffsets)]
    assert ReserveOffsets(2, 1) in told
    assert (answers(asked), answers(told), answers(effects)) == ([], [], [updated(0)])
    assert bench.replica.voters.get(2) == Voter(key(2), (MOVED,), (0, 1))


def fail(bench: Bench) -> list[Any]:
    sent = bench.last_send(ApiVersionsRequest)
    return bench.tell(Failed(sent.peer, sent.number, Error.BROKER_NOT_AVAILABLE))


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (fail, Error.REQUEST_TIMED_OUT),
        (lambda bench: bench.wait(2000), Error.REQUEST_TIMED_OUT),
        (lambda bench: answer_versions(bench, versions(error=Error.UNSUPPORTED_VERSION)), Error.REQUEST_TIMED_OUT),
        (lambda bench: answer_versions(bench, versions(1, 1)), Error.INVALID_REQUEST),
        (lambda bench: answer_versions(bench, versions(name="other")), Error.INVALID_REQUEST),
    ],
)
def test_an_address_where_the_voter_does_not_answer_is_not_taken(end: Callable[[Bench], Any], error: Error) -> None:
    bench = asking(leading(1, 2, 3))
    ask(bench, update(key(2), MOVED))

    effects = end(bench)

    assert answers(effects) == [updated(error)]
    assert bench.notes[-1] == "voter_not_updated"
    assert bench.replica.voters == dynamic_voters(1, 2, 3)
    assert bench.role.state.change is None


def test_with_static_voters_too_the_leader_asks_first() -> None:
    bench = asking(active(1))

    asked = ask(bench, update(key(2), MOVED))
    reported = bench.role.state.reported_voters.get(2)
    effects = answer_versions(bench, versions())

    assert (answers(asked), answers(effects)) == ([], [updated(0)])
    assert reported.endpoints != (MOVED,)
    assert bench.role.state.reported_voters.get(2) == Voter(key(2), (MOVED,), (0, 1))
    assert bench.role.state.change is None


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (update(key(2), MOVED, versions=(0, 0)), Error.INVALID_REQUEST),
        (update(ReplicaKey(2, key(3).directory_id), MOVED), Error.VOTER_NOT_FOUND),
        (update(key(4), MOVED), Error.VOTER_NOT_FOUND),
    ],
)
def test_what_the_voter_set_cannot_take_is_refused_after_the_answer(request_: Any, error: Error) -> None:
    bench = asking(leading(1, 2, 3))
    asked = ask(bench, request_)

    levels = request_.kraft_version_feature
    effects = answer_versions(bench, versions(levels.min_supported_version, levels.max_supported_version))

    assert (answers(asked), answers(effects)) == ([], [updated(error)])
    assert bench.replica.voters == dynamic_voters(1, 2, 3)


def test_a_voter_that_another_request_is_on_its_way_to_is_not_asked() -> None:
    bench = asking(leading(1, 2, 3))
    bench.replica.peers.record_sent(2, None, bench.now)

    assert answers(ask(bench, update(key(2), MOVED))) == [updated(Error.REQUEST_TIMED_OUT)]
    assert bench.role.state.change is None


def test_the_leader_does_not_ask_itself() -> None:
    bench = asking(leading(1, 2, 3))

    assert answers(ask(bench, update(key(1), MOVED))) == [updated(Error.INVALID_REQUEST)]


def test_other_changes_wait_until_the_update_is_committed() -> None:
    bench = asking(leading(1, 2, 3))
    ask(bench, update(key(2), MOVED))
    before = answers(ask(bench, remove(key(3))))
    answer_versions(bench, versions())
    leave_offsets(bench)

    after = answers(ask(bench, remove(key(3))))
    catch_up(bench, 2)
    ask(bench, remove(key(3)))

    text = "Request timed out waiting for leader to handle previous voter change request"
    assert (before, after) == ([removed(Error.REQUEST_TIMED_OUT, text)], [removed(Error.REQUEST_TIMED_OUT, text)])
    assert bench.role.state.change is not None


# The follower


def updates_sent(bench: Bench) -> list[Send]:
    return bench.sends(kind=UpdateRaftVoterRequest)


def wait_following(bench: Bench, ms: int) -> list[Any]:
    """Time passes, and the leader answers each Fetch after 500 ms."""
    effects = []
    for _ in range(ms // 500):
        effects += bench.wait(500)
        for send in bench.sends(effects, FetchRequest)[-1:] or bench.sends(kind=FetchRequest)[-1:]:
            effects += bench.answer(send, fetch_response(bench.replica.epoch, 2))
    return effects


def test_a_static_voter_updates_its_entry_once_per_leader() -> None:
    bench = follower(1, 2)

    wait_following(bench, 2500)

    assert [(each.peer, each.request) for each in updates_sent(bench)] == [(2, update(key(1), endpoint(1), epoch=1))]
    assert updates_sent(bench)[0].endpoint == endpoint(2)
    bench.answer(updates_sent(bench)[0], updated(0, 2, 1))
    wait_following(bench, 6000)
    assert len(updates_sent(bench)) == 1


def test_a_fetch_follows_the_answer() -> None:
    bench = follower(1, 2)
    wait_following(bench, 2500)

    effects = bench.answer(updates_sent(bench)[0], updated(0, 2, 1))

    assert [type(each.request) for each in bench.sends(effects)] == [FetchRequest]
    assert bench.role.state.fetch_deadline_ms == bench.now + 2000


def test_a_voter_whose_entry_is_up_to_date_sends_no_update() -> None:
    bench = follower(1, 2, recovered=with_voters(1, 2, 3))

    wait_following(bench, 6000)

    assert updates_sent(bench) == []


def test_a_voter_that_moved_sends_updates_until_the_log_has_them() -> None:
    bench = follower(1, 2, recovered=with_voters(1, 2, 3), endpoints=(MOVED,))
    wait_following(bench, 2500)
    bench.answer(updates_sent(bench)[0], updated(0, 2, 1))

    wait_following(bench, 2500)

    assert len(updates_sent(bench)) == 2
    moved = VoterSet([*(each for each in dynamic_voters(2, 3)), Voter(key(1), (MOVED,), (0, 1))])
    bench.replica.take_control([(7, moved)])
    bench.answer(updates_sent(bench)[1], updated(0, 2, 1))
    wait_following(bench, 5000)
    assert len(updates_sent(bench)) == 2


def test_a_leader_that_does_not_serve_the_request_gets_it_again_after_a_fetch_timeout() -> None:
    """As in stock. The Fetches go on in between, without a backoff."""
    bench = follower(1, 2)
    wait_following(bench, 2500)
    send = updates_sent(bench)[0]

    effects = bench.tell(Failed(send.peer, send.number, Error.UNSUPPORTED_VERSION))
    wait_following(bench, 5000)

    assert len(bench.sends(effects, FetchRequest)) == 1
    assert len(updates_sent(bench)) > 1
    assert "peer_answered_error" not in bench.notes


@pytest.mark.parametrize(("asks", "sent"), [(False, 3), (True, 1)])
def test_where_the_leader_asks_first_an_update_is_due_every_second_fetch_timeout(asks: bool, sent: int) -> None:
    bench = follower(1, 2, recovered=with_voters(1, 2, 3), endpoints=(MOVED,), asks_new_endpoints=asks)

    for _ in range(3):
        count = len(updates_sent(bench))
        wait_following(bench, 2500)
        for send in updates_sent(bench)[count:]:
            bench.answer(send, updated(0, 2, 1))

    assert len(updates_sent(bench)) == sent


def test_a_refused_update_is_sent_again_later() -> None:
    bench = follower(1, 2)
    wait_following(bench, 2500)

    bench.answer(updates_sent(bench)[0], updated(Error.REQUEST_TIMED_OUT, 2, 1))
    wait_following(bench, 1000)
    early = len(updates_sent(bench))
    wait_following(bench, 2000)

    assert (early, len(updates_sent(bench))) == (1, 2)


def test_the_answer_names_a_newer_leader() -> None:
    bench = follower(1, 2)
    wait_following(bench, 2500)

    bench.answer(updates_sent(bench)[0], updated(Error.FENCED_LEADER_EPOCH, 3, 5))

    assert (bench.role.epoch, bench.role.leader_id, type(bench.role)) == (5, 3, Follower)


def test_a_leader_corrects_its_own_entry_with_its_first_batch() -> None:
    bench = leader(1, recovered=with_voters(1, 2, 3), endpoints=(MOVED,))

    assert isinstance(bench.role, Leader)
    assert bench.replica.voters.endpoints(1) == (MOVED,)
