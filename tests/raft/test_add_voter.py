from __future__ import annotations

import pytest

from raft.add_voter import FETCHED_WITHIN_MS
from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.effects import Append, ReserveOffsets, Send
from raft.interface.inputs import Answered, Failed, ShutDown
from raft.interface.voters import control_values
from raft.state.java_texts import key_text
from raft.state.roles import Leader, Resigned
from records.batch import read_header
from records.errors import Error, error_text
from records.messages.versions import ApiVersionsRequest
from records.messages.voters import AddRaftVoterRequest
from records.schema import replace
from tests.raft.building import Bench, active, dynamic_voters, endpoint, follower, key, leader
from tests.raft.changing import (
    add,
    added,
    adding,
    answer_versions,
    answers,
    ask,
    catch_up,
    leading,
    leave_offsets,
    remove,
    versions,
    with_voters,
)

NEW = key_text(key(4))


def test_a_new_voter_is_asked_for_its_versions_before_it_counts() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)

    effects = ask(bench, add(key(4)))

    assert [(each.peer, each.endpoint, type(each.request)) for each in bench.sends(effects)] == [
        (4, endpoint(4), ApiVersionsRequest)
    ]
    assert answers(effects) == []
    assert bench.replica.voters == dynamic_voters(1, 2, 3)


def test_a_voter_counts_from_the_append_of_its_record_on() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    ask(bench, add(key(4)))

    asked = answer_versions(bench, versions())
    effects = leave_offsets(bench)

    assert asked == [ReserveOffsets(2, 1)]
    written = next(each for each in effects if isinstance(each, Append))
    header = read_header(written.data)
    assert header is not None
    assert header.is_control
    assert control_values(written.data, header) == [(3, dynamic_voters(1, 2, 3, 4))]
    assert bench.replica.voters == dynamic_voters(1, 2, 3, 4)
    assert sorted(bench.role.state.voters) == [1, 2, 3, 4]


def test_the_answer_waits_for_a_majority_of_the_new_set() -> None:
    bench = leading(1, 2, 3)
    effects = adding(bench, 4)

    first = catch_up(bench, 2)
    second = catch_up(bench, 3)

    assert answers(effects) == []
    assert (answers(first), answers(second)) == ([], [added(0)])
    assert bench.role.state.change is None


def test_a_caller_that_does_not_wait_is_answered_after_the_append() -> None:
    bench = leading(1, 2, 3)

    effects = adding(bench, 4, ack_when_committed=False)

    assert answers(effects) == [added(0)]
    assert bench.role.state.change is not None
    assert answers(ask(bench, add(key(5)))) == [
        added(Error.REQUEST_TIMED_OUT, "Request timed out waiting for leader to handle previous voter change request")
    ]
    catch_up(bench, 2)
    assert answers(catch_up(bench, 3)) == []
    assert bench.role.state.change is None


def test_the_entry_has_the_versions_that_the_voter_said() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    ask(bench, add(key(4)))

    answer_versions(bench, versions(1, 7))
    leave_offsets(bench)

    assert bench.replica.voters.get(4) == Voter(key(4), (endpoint(4),), (1, 7))


def test_proposals_keep_their_offsets_when_a_voter_is_added() -> None:
    bench = leading(1, 2, 3)

    adding(bench, 4)

    assert bench.role.state.proposals.next_offset == bench.replica.log.end == 4


# What is refused, in the order of the checks


def test_another_cluster_is_refused() -> None:
    bench = leading(1, 2, 3)

    effects = ask(bench, add(key(4), cluster_id="other"))

    text = 'The given id "other" doesn\'t match the cluster id "cluster-of-the-test"'
    assert answers(effects) == [added(Error.INCONSISTENT_CLUSTER_ID, text)]


def test_only_the_leader_changes_voters() -> None:
    bench = follower(1, 2)

    assert answers(ask(bench, add(key(4)))) == [added(Error.NOT_LEADER_OR_FOLLOWER, "")]


@pytest.mark.parametrize("voter", [ReplicaKey(-1, bytes(15) + b"\1"), ReplicaKey(4)])
def test_a_voter_has_an_id_and_a_directory(voter: ReplicaKey) -> None:
    bench = leading(1, 2, 3)

    effects = ask(bench, add(voter, endpoint(4)))

    assert answers(effects) == [added(Error.INVALID_REQUEST, "Add voter request didn't include a valid voter")]


def test_a_voter_has_an_endpoint_on_the_listener_of_the_quorum() -> None:
    bench = leading(1, 2, 3)

    effects = ask(bench, add(key(4), Endpoint("OTHER", "h", 1)))

    text = (
        "Add voter request didn't include the endpoint "
        "(Endpoints(endpoints={ListenerName(OTHER)=h/<unresolved>:1})) for the default listener "
        "ListenerName(CONTROLLER)"
    )
    assert answers(effects) == [added(Error.INVALID_REQUEST, text)]


def test_one_change_is_under_way_at_a_time() -> None:
    bench = leading(1, 2, 3)
    ask(bench, add(key(4)))

    text = "Request timed out waiting for leader to handle previous voter change request"
    assert answers(ask(bench, add(key(5)))) == [added(Error.REQUEST_TIMED_OUT, text)]
    assert len(bench.sends(kind=ApiVersionsRequest)) == 1


def test_a_leader_that_has_committed_nothing_changes_no_voters() -> None:
    bench = leader(1, recovered=with_voters(1, 2, 3))

    text = "Request timed out waiting for leader to establish HWM and fence previous voter changes"
    assert answers(ask(bench, add(key(4)))) == [added(Error.REQUEST_TIMED_OUT, text)]


def test_static_voters_cannot_be_changed() -> None:
    bench = active(1)

    text = "Cluster doesn't support adding voter because the kraft.version feature is 0"
    assert answers(ask(bench, add(key(4)))) == [added(Error.UNSUPPORTED_VERSION, text)]


def test_a_change_waits_for_the_commit_of_the_one_before() -> None:
    bench = leading(1, 2, 3)
    adding(bench, 4)
    bench.wait(2000)

    text = "Request timed out waiting for voters to commit the latest voter change at Optional[3] with HWM 3"
    assert answers(ask(bench, add(key(5)))) == [added(Error.REQUEST_TIMED_OUT, text)]


def test_an_id_is_in_the_set_once() -> None:
    bench = leading(1, 2)
    other = ReplicaKey(2, bytes(15) + b"\1")

    text = (
        f"The voter id for {key_text(other)} is already part of the set of voters "
        f"[{key_text(key(1))}, {key_text(key(2))}]."
    )
    answer = answers(ask(bench, add(other)))[0]
    assert answer.error_code == Error.DUPLICATE_VOTER
    assert sorted(answer.error_message) == sorted(text)


def test_a_voter_whose_connection_backs_off_is_not_added() -> None:
    bench = leading(1, 2, 3)
    ask(bench, add(key(4)))
    sent = bench.last_send(ApiVersionsRequest)
    bench.tell(Failed(sent.peer, sent.number, Error.BROKER_NOT_AVAILABLE))

    text = f"New voter {NEW} is not ready to receive requests"
    assert answers(ask(bench, add(key(4)))) == [added(Error.REQUEST_TIMED_OUT, text)]


def test_a_voter_that_cannot_be_reached_is_not_added() -> None:
    bench = leading(1, 2, 3)
    ask(bench, add(key(4)))
    sent = bench.last_send(ApiVersionsRequest)

    effects = bench.tell(Failed(sent.peer, sent.number, Error.BROKER_NOT_AVAILABLE))

    text = "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE"
    assert answers(effects) == [added(Error.REQUEST_TIMED_OUT, text)]
    assert bench.role.state.change is None


def test_a_voter_that_refuses_api_versions_is_not_added() -> None:
    bench = leading(1, 2, 3)
    ask(bench, add(key(4)))

    effects = answer_versions(bench, versions(error=Error.UNSUPPORTED_VERSION))

    text = "Aborted add voter operation for since API_VERSIONS returned an error UNSUPPORTED_VERSION"
    assert answers(effects) == [added(Error.REQUEST_TIMED_OUT, text)]


@pytest.mark.parametrize(
    ("answer", "levels"),
    [
        (versions(2, 3), "(min: 2, max: 3"),
        (versions(name="other"), "(min: 0, max: 0)"),
        (versions(0, 0), "(min: 0, max: 0"),
    ],
)
def test_a_voter_without_the_level_of_the_quorum_is_not_added(answer: object, levels: str) -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    ask(bench, add(key(4)))

    effects = answer_versions(bench, answer)

    text = (
        f"Aborted add voter operation for {NEW} since the kraft.version range {levels} doesn't support the finalized "
        "version 1"
    )
    assert answers(effects) == [added(Error.INVALID_REQUEST, text)]


def test_a_voter_that_does_not_fetch_is_not_added() -> None:
    bench = leading(1, 2, 3)
    ask(bench, add(key(4)))

    effects = answer_versions(bench, versions())

    text = f"Aborted add voter operation for {NEW} since it is lagging behind"
    assert answers(effects) == [added(Error.REQUEST_TIMED_OUT, text)]


def test_a_fetch_from_another_directory_of_the_same_id_does_not_count() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4, directory_id=b"another directory"[:16])
    ask(bench, add(key(4)))

    assert answers(answer_versions(bench, versions()))[0].error_code == Error.REQUEST_TIMED_OUT


def test_a_fetch_of_an_hour_ago_does_not_count() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    bench.role.state.observers[key(4)].fetched_ms = bench.now - FETCHED_WITHIN_MS
    ask(bench, add(key(4)))

    assert answers(answer_versions(bench, versions()))[0].error_code == Error.REQUEST_TIMED_OUT


# What goes wrong on the way


def test_an_operation_that_takes_too_long_is_answered() -> None:
    bench = leading(1, 2, 3)
    ask(bench, add(key(4)))

    effects = bench.wait(2000)

    assert answers(effects) == [added(Error.REQUEST_TIMED_OUT, error_text(Error.REQUEST_TIMED_OUT))]
    assert bench.role.state.change is None


def test_an_answer_that_comes_too_late_changes_nothing() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    ask(bench, add(key(4)))
    bench.wait(2000)

    assert answer_versions(bench, versions()) == []
    assert bench.replica.voters == dynamic_voters(1, 2, 3)


def test_the_answer_of_an_earlier_attempt_does_not_count_for_another_voter() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    ask(bench, add(key(4)))
    early = bench.last_send(ApiVersionsRequest)
    bench.now += 1999
    bench.role.state.change.deadline_ms = bench.now + 1
    bench.wait(1)
    ask(bench, add(key(5)))

    bench.tell(Answered(early.peer, early.number, versions()))

    assert bench.role.state.change.waits_for_versions


def test_a_record_that_waits_for_its_offset_is_appended_though_the_request_timed_out() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    ask(bench, add(key(4)))
    answer_versions(bench, versions())

    expired = bench.wait(2000)
    refused = ask(bench, remove(key(3)))
    leave_offsets(bench)

    assert [each.error_code for each in answers(expired)] == [Error.REQUEST_TIMED_OUT]
    assert [each.error_code for each in answers(refused)] == [Error.REQUEST_TIMED_OUT]
    assert bench.replica.voters == dynamic_voters(1, 2, 3, 4)


def test_a_leader_that_shuts_down_answers_that_it_leads_no_more() -> None:
    bench = leading(1, 2, 3)
    ask(bench, add(key(4)))

    effects = bench.tell(ShutDown())

    text = error_text(Error.NOT_LEADER_OR_FOLLOWER)
    assert answers(effects) == [added(Error.NOT_LEADER_OR_FOLLOWER, text)]


def test_a_new_voter_gets_begin_quorum_epoch() -> None:
    bench = leading(1, 2, 3)
    adding(bench, 4)

    effects = bench.wait(1000)

    assert 4 in {each.peer for each in effects if isinstance(each, Send)}


def test_a_sole_voter_waits_as_long_for_the_first_other_voter_as_for_any() -> None:
    bench = Bench(1, recovered=with_voters(1))
    bench.wait(10_000)
    adding(bench, 2)

    bench.wait(2999)
    early = type(bench.role)
    bench.wait(1)

    assert (early, type(bench.role)) == (Leader, Resigned)


def test_a_voter_that_was_removed_does_not_count_among_those_that_fetch() -> None:
    bench = leading(1, 2, 3, 4, 5)
    catch_up(bench, 5)
    bench.role.state.fetched_voters.add(5)
    ask(bench, remove(key(5)))
    leave_offsets(bench)

    assert 5 not in bench.role.state.fetched_voters


def test_a_listener_name_that_is_too_long_in_upper_case_is_refused() -> None:
    bench = leading(1, 2, 3)
    catch_up(bench, 4)
    request = add(key(4))
    longer = AddRaftVoterRequest.Listener(name="ŉ" * 16_000, host="h", port=2)  # 3 bytes each in upper case

    effects = ask(bench, replace(request, listeners=(*request.listeners, longer)))

    assert [each.error_code for each in answers(effects)] == [Error.INVALID_REQUEST]
