from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raft.interface.config import Endpoint
from raft.interface.effects import Append, Denied, HighWatermark, SaveEpochs, Send, Truncate, VotersChanged
from raft.interface.inputs import Answered, Failed, Flushed
from raft.interface.voters import VoterSet, voters_record
from raft.state.roles import Follower, Prospective, Unattached
from records.batch import build_batch, build_control_batch
from records.control import KRaftVersionRecord
from records.control_batch import control_key, encode_control
from records.errors import Error
from records.messages.elections import VoteRequest
from records.messages.fetch import FetchRequest, FetchResponse
from tests.raft.building import (
    Bench,
    active,
    batch,
    begin_request,
    dynamic_voters,
    endpoint,
    fetch_request,
    fetch_response,
    follower,
    log,
    snapshot,
    static_voters,
    unattached,
    voted,
)


def answered(bench: Bench, response: FetchResponse, *, settle: bool = True) -> list[Any]:
    """The last Fetch is answered; the effects, with those of the disk unless it is slow."""
    send = bench.last_send()
    event = Answered(send.peer, send.number, response)
    return bench.tell(event) if settle else bench.step(event)


def kinds(effects: list[Any]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


# Asking


def test_a_follower_fetches_from_the_end_of_its_log() -> None:
    bench = follower(leader=2, epoch=4, recovered=log(7, (1, 0), (3, 5)), fetch_bytes_max=1234)

    send = bench.last_send()

    asked = fetch_request(4, 1, 7, 3, high_watermark=-1, max_bytes=1234)
    assert (send.peer, send.endpoint, send.request) == (2, endpoint(2), asked)


def test_a_follower_sends_its_high_watermark() -> None:
    bench = follower(leader=2, epoch=1, recovered=log(7, (1, 0)))
    answered(bench, fetch_response(1, 2, high_watermark=5))

    assert bench.last_send().request == fetch_request(1, 1, 7, 1, high_watermark=5)


def test_nothing_is_fetched_before_the_leader_is_saved() -> None:
    bench = Bench(election=voted(4, 2), settled=False)

    assert bench.sends() == []
    assert [send.peer for send in bench.sends(bench.settle())] == [2]


def test_the_fetch_offset_is_the_flushed_end() -> None:
    bench = follower(leader=2)

    unflushed = answered(bench, fetch_response(1, 2, records=batch(0, 1, 3)), settle=False)
    flushed = bench.step(Flushed(1))

    assert kinds(unflushed) == ["Append", "SaveEpochs"]
    assert [send.request for send in bench.sends(flushed)] == [fetch_request(1, 1, 3, 1, high_watermark=-1)]


def test_one_fetch_is_under_way_at_a_time() -> None:
    bench = follower(leader=2)

    assert bench.sends(bench.wait(1999)) == []


def test_a_replica_without_a_leader_asks_a_random_voter() -> None:
    asked = {Bench(election=voted(3), seed=seed).last_send().peer for seed in range(20)}

    assert asked == {2, 3}


def test_bootstrap_servers_are_asked_under_numbers_of_their_own() -> None:
    servers = (Endpoint("", "one", 1), Endpoint("", "two", 2))
    asked = {
        (send.peer, send.endpoint)
        for seed in range(20)
        for send in Bench(voters=static_voters(), bootstrap_servers=servers, seed=seed).sends()
    }

    assert asked == {(-2, servers[0]), (-3, servers[1])}


def test_an_observer_without_a_leader_keeps_asking() -> None:
    bench = unattached(9, epoch=1)

    for _ in range(5):
        send = bench.last_send()
        bench.tell(Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE))
        bench.wait(20)
        assert bench.last_send() is not send

    assert isinstance(bench.role, Unattached)


def test_a_peer_that_is_not_the_leader_is_not_asked_again_at_once() -> None:
    """KAFKA-17751: else two replicas without a leader ask each other as fast as they can."""
    bench = unattached(9, epoch=1, voters=static_voters(2))

    at_once = answered(bench, fetch_response(1, -1, error=Error.NOT_LEADER_OR_FOLLOWER))

    assert bench.sends(at_once) == []
    assert [send.peer for send in bench.sends(bench.wait(20))] == [2]


# Finding the leader


def test_the_leader_in_an_answer_is_adopted() -> None:
    bench = unattached(9, epoch=1)

    answered(bench, fetch_response(3, 2, error=Error.NOT_LEADER_OR_FOLLOWER, node=2))

    assert (type(bench.role), bench.role.epoch, bench.role.leader_id) == (Follower, 3, 2)
    assert bench.last_send().request == fetch_request(3, 9, 0, 0, high_watermark=-1)


def test_an_observer_takes_records_from_the_answer_in_which_it_finds_the_leader() -> None:
    bench = unattached(9, epoch=1)

    effects = answered(bench, fetch_response(1, 2, records=batch(0, 1), high_watermark=1, node=2))

    assert isinstance(bench.role, Follower)
    assert bench.role.state.has_fetched
    assert HighWatermark(1) in effects


def test_fetched_records_are_appended_after_the_leader_is_saved() -> None:
    bench = unattached(9, epoch=1)

    unsaved = answered(bench, fetch_response(1, 2, records=batch(0, 1), node=2), settle=False)

    assert kinds(unsaved) == ["SaveElection"]
    assert "Append" in kinds(bench.settle())


def test_a_voter_without_a_leader_may_find_it_by_asking() -> None:
    bench = unattached(1, epoch=1)

    answered(bench, fetch_response(1, 2, node=2))

    assert isinstance(bench.role, Follower)


def test_an_answer_without_a_leader_is_no_success() -> None:
    bench = unattached(9, epoch=1)

    effects = answered(bench, fetch_response(1, -1, records=batch(0, 1)))

    assert kinds(effects) == ["Send"]
    assert "fetch_answered_without_leader" in bench.notes


def test_a_leader_without_a_usable_address_is_not_followed() -> None:
    bench = unattached(9, epoch=1)

    answered(bench, fetch_response(1, 77))

    assert isinstance(bench.role, Unattached)


@pytest.mark.parametrize("epoch", [1, 4])
def test_no_other_node_can_claim_that_we_are_the_leader(epoch: int) -> None:
    """A removed leader asks a voter that still takes it for the leader."""
    bench = unattached(9, epoch=1)

    answered(bench, fetch_response(epoch, 9, error=Error.NOT_LEADER_OR_FOLLOWER, node=9))

    assert (type(bench.role), bench.role.epoch) == (Unattached, 1)
    assert "peer_inconsistent" in bench.notes


def test_a_leader_of_a_later_epoch_is_followed() -> None:
    bench = follower(leader=2, epoch=4)

    answered(bench, fetch_response(6, 3, error=Error.FENCED_LEADER_EPOCH, node=3))

    assert (bench.role.epoch, bench.role.leader_id) == (6, 3)
    assert bench.last_send().peer == 3


def test_a_later_epoch_without_a_leader_is_adopted_too() -> None:
    bench = follower(leader=2, epoch=4)

    answered(bench, fetch_response(6, -1, error=Error.FENCED_LEADER_EPOCH))

    assert (type(bench.role), bench.role.epoch) == (Unattached, 6)


def test_an_answer_of_an_older_epoch_is_ignored() -> None:
    bench = follower(leader=2, epoch=4)

    effects = answered(bench, fetch_response(3, 2, records=batch(0, 3)))

    assert kinds(effects) == ["Send"]
    assert not bench.role.state.has_fetched


def test_a_peer_with_an_older_epoch_is_asked_again_after_a_backoff() -> None:
    """It may be another node, to whom the way to the leader leads now: that says so a thousand times a second."""
    bench = follower(leader=2, epoch=4)

    at_once = answered(bench, fetch_response(3, -1, error=Error.UNKNOWN_LEADER_EPOCH))
    other = bench.sends(at_once)[0]
    later = bench.answer(other, fetch_response(4, 2, error=Error.NOT_LEADER_OR_FOLLOWER, node=2)) + bench.wait(20)

    assert other.peer != 2
    assert [send.peer for send in bench.sends(later)][:1] == [2]


@pytest.mark.parametrize("error", [Error.BROKER_NOT_AVAILABLE, Error.UNKNOWN_SERVER_ERROR, Error.INVALID_REQUEST])
def test_after_an_error_of_the_leader_other_nodes_are_asked(error: Error) -> None:
    bench = follower(leader=2, epoch=4)

    answered(bench, fetch_response(4, 2, error=error))

    assert bench.last_send().peer == 3


@pytest.mark.parametrize("error", [Error.CLUSTER_AUTHORIZATION_FAILED, Error.INCONSISTENT_CLUSTER_ID])
def test_only_a_refusal_for_lack_of_authorization_ends_the_replica(error: Error) -> None:
    bench = follower(leader=2, epoch=4)

    effects = answered(bench, FetchResponse(error_code=error, responses=()))

    assert isinstance(bench.role, Follower)
    assert "peer_answered_error" in bench.notes
    assert (Denied(2) in effects) is (error == Error.CLUSTER_AUTHORIZATION_FAILED)


def test_a_partition_that_is_denied_ends_no_replica() -> None:
    bench = follower(leader=2, epoch=4)

    effects = answered(bench, fetch_response(4, 2, error=Error.CLUSTER_AUTHORIZATION_FAILED))

    assert not [effect for effect in effects if isinstance(effect, Denied)]


def test_an_answer_for_another_topic_is_no_success() -> None:
    bench = follower(leader=2, epoch=4)

    answered(bench, FetchResponse(error_code=Error.NONE, responses=()))

    assert not bench.role.state.has_fetched
    assert bench.last_send().peer == 3


def test_an_unreachable_leader_is_looked_for_again() -> None:
    bench = follower(leader=2, epoch=4, request_timeout_ms=10_000, fetch_timeout_ms=20_000)
    send = bench.last_send()

    bench.tell(Failed(send.peer, send.number, Error.BROKER_NOT_AVAILABLE))
    asked_3 = bench.last_send()
    answered(bench, fetch_response(4, 2, error=Error.NOT_LEADER_OR_FOLLOWER, node=2))
    bench.wait(20)

    assert [asked_3.peer, bench.last_send().peer] == [3, 2]


def test_after_a_request_timeout_the_leader_is_looked_for_again() -> None:
    bench = follower(leader=2, epoch=4, request_timeout_ms=500)
    late = bench.last_send()

    bench.wait(500)
    asked = bench.last_send()
    ignored = bench.tell(Answered(late.peer, late.number, fetch_response(4, 2, records=batch(0, 1))))

    assert asked is not late
    assert kinds(ignored) == []


def test_an_answer_from_a_former_leader_is_ignored() -> None:
    bench = follower(leader=2, epoch=4)
    old = bench.last_send()
    bench.ask(begin_request(5, 3))

    effects = bench.tell(Answered(old.peer, old.number, fetch_response(5, 3, records=batch(0, 5))))

    assert kinds(effects) == []


def test_an_answer_after_the_fetch_timeout_is_ignored() -> None:
    bench = follower(leader=2, epoch=4, request_timeout_ms=9000)
    old = bench.last_send()
    bench.wait(2000)
    assert isinstance(bench.role, Prospective)

    effects = bench.tell(Answered(old.peer, old.number, fetch_response(4, 2, records=batch(0, 4))))

    assert kinds(effects) == []


# The fetch time-out


def test_a_voter_with_a_silent_leader_asks_for_pre_votes() -> None:
    bench = follower(leader=2, epoch=4)

    bench.wait(1999)
    before = bench.role
    effects = bench.wait(1)

    assert isinstance(before, Follower)
    assert isinstance(bench.role, Prospective)
    assert [send.peer for send in bench.sends(effects, VoteRequest)] == [2, 3]


def test_an_observer_with_a_silent_leader_looks_for_the_leader() -> None:
    bench = follower(9, leader=2, epoch=4)

    bench.wait(60_000)

    assert isinstance(bench.role, Follower)


@pytest.mark.parametrize(
    "response",
    [
        fetch_response(1, 2),
        fetch_response(1, 2, records=batch(0, 1)),
        fetch_response(1, 2, snapshot_id=snapshot(10, 1).id),
        fetch_response(1, 2, diverging=(0, 0)),
    ],
    ids=["empty", "records", "snapshot", "diverging"],
)
def test_each_successful_answer_restarts_the_fetch_timeout(response: FetchResponse) -> None:
    bench = follower(leader=2, epoch=1)
    bench.wait(1500)

    answered(bench, response)

    assert bench.role.state.fetch_deadline_ms == bench.now + 2000
    assert bench.role.state.has_fetched


def test_an_error_does_not_restart_the_fetch_timeout() -> None:
    bench = follower(leader=2, epoch=1)
    bench.wait(1500)

    answered(bench, fetch_response(1, 2, error=Error.UNKNOWN_SERVER_ERROR))

    assert bench.role.state.fetch_deadline_ms == 2000
    assert not bench.role.state.has_fetched


# Appending


def test_batches_are_appended_unchanged() -> None:
    bench = follower(leader=2, epoch=3)
    data = batch(0, 1, 2) + batch(2, 1) + batch(3, 3)

    effects = answered(bench, fetch_response(3, 2, records=data), settle=False)

    first = batch(0, 1, 2) + batch(2, 1)
    assert effects == [
        Append(1, 0, 3, 1, first),
        SaveEpochs(((1, 0),)),
        Append(2, 3, 4, 3, batch(3, 3)),
        SaveEpochs(((1, 0), (3, 3))),
    ]


def test_an_incomplete_last_batch_is_ignored() -> None:
    bench = follower(leader=2)

    effects = answered(bench, fetch_response(1, 2, records=batch(0, 1) + batch(1, 1)[:-1]), settle=False)

    assert effects[0] == Append(1, 0, 1, 1, batch(0, 1))
    assert bench.notes == []
    assert bench.role.state.has_fetched


def corrupt(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def with_count(data: bytes, count: int) -> bytes:
    """The batch with another record count, and a CRC that fits."""
    from crc32c import crc32c

    body = data[21:57] + count.to_bytes(4, "big") + data[61:]
    return data[:17] + crc32c(body).to_bytes(4, "big") + body


@pytest.mark.parametrize(
    "bad",
    [
        corrupt(batch(1, 1)),
        batch(2, 1),
        batch(0, 1),
        batch(1, 9),
        batch(1, 0),
        with_count(batch(1, 1), 0),
        with_count(batch(1, 1, 2), 3),
        b"\0" * 40 + b"garbage" * 10,
        build_control_batch([(control_key(5), b"")], base_offset=1, leader_epoch=1, timestamp_ms=0),
    ],
    ids=["crc", "gap", "overlap", "epoch above", "epoch below", "no records", "too many", "garbage", "control"],
)
def test_batches_before_an_invalid_one_are_appended_and_the_rest_refused(bad: bytes) -> None:
    """KAFKA-18723; a Java node before 4.0.1 dies of it."""
    bench = follower(leader=2, epoch=1)

    effects = answered(bench, fetch_response(1, 2, records=batch(0, 1) + bad + batch(2, 1)), settle=False)

    assert [each for each in effects if isinstance(each, Append)] == [Append(1, 0, 1, 1, batch(0, 1))]
    assert bench.replica.log.end == 1
    assert "fetched_records_refused" in bench.notes
    assert not bench.role.state.has_fetched


def test_a_leader_that_sends_invalid_records_is_not_asked_again_at_once() -> None:
    bench = follower(leader=2, voters=static_voters(1, 2))

    effects = answered(bench, fetch_response(1, 2, records=corrupt(batch(0, 1))))

    assert bench.sends(effects) == []


@given(st.binary(max_size=400))
def test_no_bytes_from_a_leader_crash_a_follower(data: bytes) -> None:
    bench = follower(leader=2)

    answered(bench, fetch_response(1, 2, records=data))

    assert isinstance(bench.role, Follower)
    assert bench.replica.log.end == 0


@given(st.integers(0, 200), st.binary(min_size=1, max_size=4))
def test_no_bytes_changed_in_a_batch_are_appended(place: int, change: bytes) -> None:
    good = batch(0, 1, 3)
    place %= len(good)
    data = good[:place] + change + good[place + len(change) :]
    bench = follower(leader=2, epoch=1)

    answered(bench, fetch_response(1, 2, records=data))

    # The leader epoch is not covered by the CRC: it may only be made less than it was, down to the log's.
    appended = b"".join(each.data for each in bench.seen if isinstance(each, Append))
    assert appended in {b"", good} or appended[16:] == good[16:]


def test_voters_in_the_log_are_in_force_when_they_are_appended() -> None:
    bench = follower(1, leader=2, epoch=1)
    records = [
        encode_control(KRaftVersionRecord(version=0, kraft_version=1)),
        encode_control(voters_record(dynamic_voters(2, 3))),
    ]
    data = build_control_batch(records, base_offset=0, leader_epoch=1, timestamp_ms=0)

    effects = answered(bench, fetch_response(1, 2, records=data))

    assert VotersChanged(tuple(dynamic_voters(2, 3))) in effects
    assert (bench.replica.voters, bench.replica.kraft_version) == (dynamic_voters(2, 3), 1)
    assert not bench.replica.is_voter


@pytest.mark.parametrize("leader_id", [None, 2])
def test_a_voter_that_was_down_while_kraft_version_was_raised_learns_the_voters(leader_id: int | None) -> None:
    """Its configuration names no static voters any more, and its log ends before kraft.version 1."""
    servers = (endpoint(2),)
    bench = Bench(
        1, VoterSet(), log(5, (1, 0)), election=voted(1, leader_id, None), bootstrap_servers=servers,
    )  # fmt: skip
    bench.wait(5000)
    asked = bench.last_send()
    records = [
        encode_control(KRaftVersionRecord(version=0, kraft_version=1)),
        encode_control(voters_record(dynamic_voters(1, 2, 3))),
    ]
    data = build_control_batch(records, base_offset=5, leader_epoch=1, timestamp_ms=0)

    bench.answer(asked, fetch_response(1, 2, error=Error.NOT_LEADER_OR_FOLLOWER, node=2))
    answered(bench, fetch_response(1, 2, records=data, high_watermark=7))

    assert (bench.replica.voters, bench.replica.kraft_version) == (dynamic_voters(1, 2, 3), 1)
    assert bench.replica.is_voter


def test_voters_that_are_truncated_are_no_longer_in_force() -> None:
    bench = follower(1, leader=2, epoch=2, recovered=log(5, (1, 0)))
    record = build_control_batch(
        [encode_control(voters_record(dynamic_voters(2, 3)))], base_offset=5, leader_epoch=2, timestamp_ms=0
    )
    answered(bench, fetch_response(2, 2, records=record))
    bench.ask(begin_request(3, 3))

    effects = answered(bench, fetch_response(3, 3, diverging=(1, 5)))

    assert VotersChanged(tuple(static_voters(1, 2, 3))) in effects
    assert bench.replica.voters == static_voters(1, 2, 3)


# The high watermark


def test_the_high_watermark_is_the_leaders_bounded_by_the_log_end() -> None:
    bench = follower(leader=2)

    first = answered(bench, fetch_response(1, 2, records=batch(0, 1, 3), high_watermark=9))
    second = answered(bench, fetch_response(1, 2, records=batch(3, 1, 3), high_watermark=4))

    assert HighWatermark(3) in first
    assert HighWatermark(4) in second


@pytest.mark.parametrize("said", [-1, 2, 3])
def test_the_high_watermark_neither_falls_nor_is_notified_twice(said: int) -> None:
    bench = follower(leader=2)
    answered(bench, fetch_response(1, 2, records=batch(0, 1, 3), high_watermark=3))

    effects = answered(bench, fetch_response(1, 2, high_watermark=said))

    assert bench.replica.high_watermark == 3
    assert kinds(effects) == ["Send"]


def test_the_high_watermark_is_kept_from_leader_to_leader() -> None:
    bench = follower(leader=2)
    answered(bench, fetch_response(1, 2, records=batch(0, 1, 3), high_watermark=3))

    bench.ask(begin_request(2, 3))

    assert bench.replica.high_watermark == 3


def test_a_former_leader_adopts_no_high_watermark_below_its_committed_offset() -> None:
    bench = active(epoch=2)
    bench.ask(begin_request(3, 3))
    before = bench.replica.high_watermark, bench.replica.log.committed
    bench.replica.high_watermark = None

    answered(bench, fetch_response(3, 3, high_watermark=0))

    assert before == (1, 1)
    assert bench.replica.high_watermark is None


# Cutting


def test_a_diverging_log_is_truncated_and_fetched_again() -> None:
    bench = follower(leader=2, epoch=5, recovered=log(9, (1, 0), (3, 5)))

    effects = answered(bench, fetch_response(5, 2, diverging=(2, 7)), settle=False)
    flushed = bench.step(Flushed(1))

    assert effects == [Truncate(1, 5), SaveEpochs(((1, 0),))]
    assert flushed == [Send(2, 2, endpoint(2), fetch_request(5, 1, 5, 1, high_watermark=-1))]


def test_committed_records_are_not_truncated() -> None:
    """A Java node dies of this."""
    bench = follower(leader=2, epoch=5, recovered=log(9, (1, 0)))
    answered(bench, fetch_response(5, 2, high_watermark=6))

    effects = answered(bench, fetch_response(5, 2, diverging=(1, 5)))

    assert "Truncate" not in kinds(effects)
    assert (bench.replica.log.end, bench.notes[-1]) == (9, "truncation_refused")


def test_records_that_an_earlier_process_knew_to_be_committed_are_not_truncated() -> None:
    """The high watermark of this process is that of the leader all the same."""
    bench = follower(leader=2, epoch=5, recovered=replace(log(9, (1, 0)), committed=6))

    effects = answered(bench, fetch_response(5, 2, diverging=(1, 5)))
    refused = bench.notes[-1]
    bench.wait(20)
    answered(bench, fetch_response(5, 2, high_watermark=2))

    assert "Truncate" not in kinds(effects)
    assert (refused, bench.replica.log.end, bench.replica.high_watermark) == ("truncation_refused", 9, 2)


def test_records_in_a_snapshot_are_not_truncated() -> None:
    bench = follower(leader=2, epoch=5, recovered=log(9, (1, 0), snapshots=(snapshot(7, 1),)))

    answered(bench, fetch_response(5, 2, diverging=(1, 6)))

    assert bench.replica.log.end == 9


def test_a_negative_end_of_an_epoch_is_refused() -> None:
    bench = follower(leader=2, epoch=5, recovered=log(9, (1, 0)))

    answered(bench, fetch_response(5, 2, diverging=(1, -1)))

    assert (bench.replica.log.end, bench.notes[-1]) == (9, "truncation_refused")


def test_after_a_truncation_within_a_batch_the_log_ends_where_the_disk_does() -> None:
    bench = follower(leader=2, epoch=5, recovered=log(9, (1, 0)))

    answered(bench, fetch_response(5, 2, diverging=(1, 6)), settle=False)
    effects = bench.step(Flushed(1, 4))

    assert bench.replica.log.end == 4
    assert bench.sends(effects)[0].request == fetch_request(5, 1, 4, 1, high_watermark=-1)


def test_answers_to_fetches_are_matched_by_number() -> None:
    bench = follower(leader=2)
    numbers = [bench.last_send(FetchRequest).number]
    for offset in range(3):
        answered(bench, fetch_response(1, 2, records=batch(offset, 1)))
        numbers.append(bench.last_send(FetchRequest).number)

    assert numbers == sorted(set(numbers))


def test_data_batches_are_not_decoded() -> None:
    """What it says is the state machine's matter."""
    bench = follower(leader=2)
    data = build_batch([b"\xff not a record"], base_offset=0, leader_epoch=1, timestamp_ms=0)

    answered(bench, fetch_response(1, 2, records=data))

    assert bench.replica.log.end == 1
