from __future__ import annotations

from typing import Any

import pytest

from raft.interface.config import ReplicaKey, SnapshotId
from raft.interface.effects import HighWatermark, Reply, ReplyRecords
from raft.interface.inputs import Disconnected, Flushed, Propose, Requested, Resign, Source
from raft.state.leader_state import UNKNOWN
from raft.state.roles import Follower
from records.errors import Error
from records.messages.fetch import FetchRequest, FetchResponse
from tests.raft.building import (
    Bench,
    active,
    batch,
    begin_request,
    candidate,
    directory,
    dynamic_voters,
    endpoint,
    fetch_request,
    fetch_response,
    follower,
    key,
    leader,
    log,
    prospective,
    snapshot,
    static_voters,
    unattached,
    vote_request,
    voted,
)


def fetched(bench: Bench, request: FetchRequest, connection: int = 50, version: int = 18) -> Any:
    """What is answered at once: the effect, or None."""
    source = Source(connection, 0)
    effects = bench.tell(Requested(source, request, version, "CONTROLLER"))
    return next((each for each in effects if isinstance(each, (Reply, ReplyRecords)) and each.source == source), None)


def propose(bench: Bench, count: int = 1) -> list[Any]:
    """The state machine appends a batch; the flush is left to the test."""
    base = bench.role.state.proposals.next_offset
    epoch = bench.role.epoch
    return bench.step(Propose(epoch, base, base + count - 1, batch(base, epoch, count)))


# Refusals, in the order in which Kafka checks them


def test_another_cluster_is_refused() -> None:
    answer = fetched(leader(), fetch_request(2, 2, 0, 0, cluster_id="other"))

    assert answer.response == FetchResponse(error_code=Error.INCONSISTENT_CLUSTER_ID, responses=())


def test_a_client_that_does_not_know_the_cluster_is_served() -> None:
    answer = fetched(leader(), fetch_request(2, 2, 0, 0, cluster_id=None))

    assert answer.response.error_code == Error.NONE


def test_another_log_is_refused() -> None:
    good = fetch_request(2, 2, 0, 0).topics[0]
    partition = good.partitions[0]
    other_topic = FetchRequest.FetchTopic(topic_id=b"x" * 16, partitions=(partition,))
    two = FetchRequest.FetchTopic(topic_id=good.topic_id, partitions=(partition, partition))
    other = FetchRequest.FetchTopic.FetchPartition(partition=1, fetch_offset=0, partition_max_bytes=0)
    other_partition = FetchRequest.FetchTopic(topic_id=good.topic_id, partitions=(other,))
    for topics in ((), (good, good), (other_topic,), (two,), (other_partition,)):
        request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics)

        assert fetched(leader(), request).response == FetchResponse(error_code=Error.INVALID_REQUEST, responses=())


@pytest.mark.parametrize(("max_wait_ms", "offset", "last_epoch"), [(-1, 0, 0), (500, -1, 0), (500, 0, -1), (500, 0, 3)])
def test_an_invalid_request_is_refused(max_wait_ms: int, offset: int, last_epoch: int) -> None:
    answer = fetched(leader(epoch=2), fetch_request(2, 2, offset, last_epoch, max_wait_ms=max_wait_ms))

    assert answer.response == fetch_response(2, 1, error=Error.INVALID_REQUEST, node=1)


@pytest.mark.parametrize(("epoch", "error"), [(1, Error.FENCED_LEADER_EPOCH), (3, Error.UNKNOWN_LEADER_EPOCH)])
def test_a_fetch_of_another_epoch_is_refused_and_not_adopted(epoch: int, error: Error) -> None:
    bench = leader(epoch=2)

    assert fetched(bench, fetch_request(epoch, 2, 0, 0)).response == fetch_response(2, 1, error=error, node=1)
    assert bench.replica.epoch == 2


@pytest.mark.parametrize("make", [unattached, prospective, candidate])
def test_a_replica_that_is_not_the_leader_answers_so(make: Any) -> None:
    answer = fetched(make(epoch=4), fetch_request(4, 3, 0, 0))

    assert answer.response == fetch_response(4, -1, error=Error.NOT_LEADER_OR_FOLLOWER)


def test_a_follower_answers_with_the_leader_and_its_endpoint() -> None:
    """This is how observers find the leader."""
    bench = follower(leader=2, epoch=4)

    newest = fetched(bench, fetch_request(4, 3, 0, 0))
    older = fetched(bench, fetch_request(4, 3, 0, 0), version=16)

    assert newest.response == fetch_response(4, 2, error=Error.NOT_LEADER_OR_FOLLOWER, node=2)
    assert older.response == fetch_response(4, 2, error=Error.NOT_LEADER_OR_FOLLOWER)


def test_a_follower_answers_only_with_the_endpoint_on_the_listener_of_the_request() -> None:
    bench = follower(leader=2, epoch=4)

    effects = bench.tell(Requested(Source(9, 0), fetch_request(4, 3, 0, 0), 18, "OTHER"))

    assert effects[0].response == fetch_response(4, 2, error=Error.NOT_LEADER_OR_FOLLOWER)


@pytest.mark.parametrize("max_wait_ms", [0, 500])
def test_a_replica_with_our_own_id_is_not_served(max_wait_ms: int) -> None:
    bench = leader(epoch=2)
    request = fetch_request(2, 1, 0, 0, directory_id=directory(9), max_wait_ms=max_wait_ms)

    assert fetched(bench, request).response == fetch_response(2, 1, error=Error.UNKNOWN_SERVER_ERROR, node=1)


# What is served


def test_records_are_served_from_the_offset_up_to_the_end_of_the_log() -> None:
    bench = Bench(voters=static_voters(1), recovered=log(7, (1, 0)), election=voted(1))

    answer = fetched(bench, fetch_request(2, 9, 3, 1, max_bytes=77))

    assert answer == ReplyRecords(Source(50, 0), fetch_response(2, 1, high_watermark=8, node=1), 3, 8, 77)


def test_no_answer_is_larger_than_this_nodes_own_fetch_limit() -> None:
    bench = Bench(voters=static_voters(1), recovered=log(7, (1, 0)), election=voted(1))

    answer = fetched(bench, fetch_request(2, 9, 3, 1, max_bytes=(1 << 31) - 1))

    assert isinstance(answer, ReplyRecords)
    assert answer.bytes_max == bench.replica.config.fetch_bytes_max == 1 << 20


def test_records_are_served_before_they_are_committed_and_before_our_own_flush() -> None:
    bench = active(epoch=2)

    effects = propose(bench)

    replies = [effect for effect in effects if isinstance(effect, ReplyRecords)]
    assert [(reply.source.connection, reply.start_offset, reply.end_offset) for reply in replies] == [
        (2, 1, 2),
        (3, 1, 2),
    ]
    assert type(effects[0]).__name__ == "Append"
    assert replies[0].response.responses[0].partitions[0].high_watermark == 1


def test_a_negative_size_serves_one_batch() -> None:
    answer = fetched(leader(epoch=2), fetch_request(2, 3, 0, 0, max_bytes=-5))

    assert answer.bytes_max == 0


def test_a_consumer_is_served_and_has_no_progress() -> None:
    bench = leader(epoch=2)

    answer = fetched(bench, fetch_request(2, -1, 0, 0))

    assert answer.start_offset == 0
    assert bench.role.state.observers == {}


def test_before_version_15_the_replica_id_is_in_another_field() -> None:
    bench = leader(epoch=2)
    request = fetch_request(2, -1, 1, 2, max_wait_ms=0, directory_id=bytes(16))
    request.replica_id = 3

    fetched(bench, request, version=14)

    assert bench.replica.high_watermark == 1


def test_a_diverging_log_is_answered_with_the_diverging_epoch() -> None:
    bench = leader(epoch=5, recovered=log(7, (1, 0), (2, 5)))

    answer = fetched(bench, fetch_request(5, 3, 9, 3))

    assert answer.response == fetch_response(5, 1, diverging=(2, 7), node=1)


def test_a_diverging_fetch_does_not_change_the_progress_of_its_sender() -> None:
    bench = leader(epoch=5, recovered=log(7, (1, 0), (2, 5)))
    deadline = bench.role.state.quorum_deadline_ms

    fetched(bench, fetch_request(5, 3, 9, 3))

    assert bench.role.state.voters[3].end_offset == UNKNOWN
    assert bench.role.state.quorum_deadline_ms == deadline


def test_a_replica_below_the_log_start_is_sent_the_newest_snapshot_id() -> None:
    bench = leader(epoch=5, recovered=log(20, (2, 10), start=10, snapshots=(snapshot(10, 2), snapshot(15, 2))))

    before_the_start = fetched(bench, fetch_request(5, 3, 5, 2))
    old_epoch = fetched(bench, fetch_request(5, 3, 12, 1))

    expected = fetch_response(5, 1, snapshot_id=SnapshotId(15, 2), log_start=10, node=1)
    assert [before_the_start.response, old_epoch.response] == [expected, expected]


def test_an_empty_replica_is_sent_the_newest_snapshot_id_even_where_the_log_begins_at_0() -> None:
    bench = leader(epoch=5, recovered=log(20, (2, 0), snapshots=(snapshot(15, 2),)))

    answer = fetched(bench, fetch_request(5, 3, 0, 0))

    assert answer.response == fetch_response(5, 1, snapshot_id=SnapshotId(15, 2), node=1)


def test_the_snapshot_of_the_formatter_is_offered_to_no_replica() -> None:
    bench = leader(epoch=5, recovered=log(0, snapshots=(snapshot(0, 0),)))

    assert isinstance(fetched(bench, fetch_request(5, 3, 0, 0)), ReplyRecords)


# The high watermark


def test_the_high_watermark_rises_when_a_majority_has_the_record_on_disk() -> None:
    bench = leader(epoch=2)
    before = bench.replica.high_watermark

    effects = bench.step(Requested(Source(5, 0), fetch_request(2, 3, 1, 2), 18, "CONTROLLER"))

    assert before is None
    assert HighWatermark(1) in effects
    assert bench.replica.high_watermark == 1


def test_a_leader_counts_its_own_records_when_they_are_flushed() -> None:
    bench = active(epoch=2)
    propose(bench)
    bench.step(Requested(Source(5, 0), fetch_request(2, 3, 2, 2), 18, "CONTROLLER"))
    unflushed = bench.replica.high_watermark

    effects = bench.settle()

    assert (unflushed, bench.replica.high_watermark) == (1, 2)
    assert HighWatermark(2) in effects


def test_two_followers_commit_what_the_leader_has_not_flushed() -> None:
    bench = active(epoch=2)
    propose(bench)

    for replica_id in (2, 3):
        bench.step(Requested(Source(replica_id, 1), fetch_request(2, replica_id, 2, 2), 18, "CONTROLLER"))

    assert bench.replica.high_watermark == 2
    assert bench.replica.log.durable_end == 1


def test_a_sole_voter_commits_what_is_flushed() -> None:
    bench = Bench(voters=static_voters(1))
    propose(bench)
    unflushed = bench.replica.high_watermark

    bench.step(Flushed(2))

    assert (unflushed, bench.replica.high_watermark) == (1, 2)


def test_records_of_earlier_epochs_wait_for_one_of_this_epoch() -> None:
    bench = leader(epoch=5, recovered=log(7, (1, 0), (2, 5)))

    fetched(bench, fetch_request(5, 3, 7, 2))
    old = bench.replica.high_watermark
    fetched(bench, fetch_request(5, 3, 8, 5))

    assert (old, bench.replica.high_watermark) == (None, 8)


def test_the_high_watermark_does_not_fall_with_a_replica() -> None:
    bench = active(epoch=2)
    propose(bench)
    propose(bench)
    bench.settle()
    fetched(bench, fetch_request(2, 2, 3, 2), connection=2)
    high = bench.replica.high_watermark

    effects = bench.tell(Requested(Source(2, 0), fetch_request(2, 2, 2, 2, high_watermark=3), 18, "CONTROLLER"))

    assert (high, bench.replica.high_watermark, bench.role.state.voters[2].end_offset) == (3, 3, 2)
    assert [each for each in effects if isinstance(each, HighWatermark)] == []


def test_an_observer_does_not_count_for_the_high_watermark() -> None:
    bench = leader(epoch=2)

    fetched(bench, fetch_request(2, 100, 1, 2))

    assert bench.replica.high_watermark is None


@pytest.mark.parametrize("directory_id", [directory(9), bytes(16)])
def test_a_voter_with_another_directory_is_an_observer(directory_id: bytes) -> None:
    bench = leader(epoch=2, voters=dynamic_voters(1, 2, 3))

    fetched(bench, fetch_request(2, 3, 1, 2, directory_id=directory_id))

    assert bench.replica.high_watermark is None
    assert list(bench.role.state.observers) == [ReplicaKey(3, directory_id)]


# Waiting


def test_a_fetch_without_new_data_is_parked() -> None:
    bench = active(epoch=2)

    assert fetched(bench, fetch_request(2, 100, 1, 2, high_watermark=1)) is None


@pytest.mark.parametrize("known", [-1, 0])
def test_an_observer_with_an_older_high_watermark_is_answered_at_once(known: int) -> None:
    bench = active(epoch=2)

    answer = fetched(bench, fetch_request(2, 100, 1, 2, high_watermark=known))

    assert answer == Reply(Source(50, 0), fetch_response(2, 1, high_watermark=1, node=1))


@pytest.mark.parametrize("known", [-1, 0, (1 << 63) - 1])
def test_a_fetch_before_the_high_watermark_is_known_is_parked(known: int) -> None:
    bench = leader(epoch=2)

    assert fetched(bench, fetch_request(2, 100, 1, 2, high_watermark=known)) is None


def test_a_fetch_with_max_wait_0_is_answered_without_records() -> None:
    bench = active(epoch=2)

    answer = fetched(bench, fetch_request(2, 100, 1, 2, max_wait_ms=0))

    assert answer == Reply(Source(50, 0), fetch_response(2, 1, high_watermark=1, node=1))


def test_a_parked_fetch_is_answered_without_records_after_max_wait() -> None:
    bench = active(epoch=2)
    fetched(bench, fetch_request(2, 100, 1, 2, max_wait_ms=300))

    early = bench.wait(299)
    late = bench.wait(1)

    assert [each for each in early if isinstance(each, Reply) and each.source.connection == 50] == []
    assert Reply(Source(50, 0), fetch_response(2, 1, high_watermark=1, node=1)) in late


def test_each_parked_fetch_has_its_own_max_wait() -> None:
    bench = active(epoch=2)
    for connection, wait_ms in ((50, 300), (51, 100), (52, 200)):
        fetched(bench, fetch_request(2, 100, 1, 2, max_wait_ms=wait_ms), connection)

    ends = [
        [each.source.connection for each in bench.wait(100) if isinstance(each, Reply) and each.source.connection >= 50]
        for _ in range(3)
    ]

    assert ends == [[51], [52], [50]]


def test_a_new_high_watermark_answers_all_parked_fetches() -> None:
    """So that brokers hear of what is committed without another append (KAFKA-14145)."""
    bench = active(epoch=2)
    propose(bench)
    bench.settle()
    fetched(bench, fetch_request(2, 100, 2, 2, high_watermark=1), connection=50)

    effects = bench.tell(Requested(Source(2, 1), fetch_request(2, 2, 2, 2, high_watermark=1), 18, "CONTROLLER"))

    sent_response = fetch_response(2, 1, high_watermark=2, node=1)
    assert [each for each in effects if isinstance(each, Reply)] == [
        Reply(Source(50, 0), sent_response),
        Reply(Source(2, 1), sent_response),
    ]


def test_voters_get_a_high_watermark_without_records_after_a_delay() -> None:
    """Where the node asks for that: the next records mostly bring it along."""
    bench = active(epoch=2, high_watermark_delay_ms=5)
    propose(bench)
    bench.settle()
    fetched(bench, fetch_request(2, 100, 2, 2, high_watermark=1), connection=50)

    at_once = bench.tell(Requested(Source(2, 1), fetch_request(2, 2, 2, 2, high_watermark=1), 18, "CONTROLLER"))
    later = bench.wait(5)

    assert [each.source for each in at_once if isinstance(each, Reply)] == [Source(50, 0)]
    assert [each for each in later if isinstance(each, Reply)] == [
        Reply(Source(2, 1), fetch_response(2, 1, high_watermark=2, node=1))
    ]


def test_a_parked_fetch_on_a_lost_connection_is_dropped() -> None:
    bench = active(epoch=2)
    fetched(bench, fetch_request(2, 100, 1, 2), connection=50)

    bench.tell(Disconnected(50))
    effects = propose(bench)

    assert [each.source.connection for each in effects if isinstance(each, ReplyRecords)] == [2, 3]


def test_a_connection_has_at_most_one_parked_fetch() -> None:
    """A peer that sends a second one has the first one answered: what waits cannot grow with what is sent."""
    bench = active(epoch=2)
    fetched(bench, fetch_request(2, 100, 1, 2), connection=50)

    effects = bench.tell(Requested(Source(50, 1), fetch_request(2, 100, 1, 2), 18, "CONTROLLER"))

    assert effects == [Reply(Source(50, 0), fetch_response(2, 1, high_watermark=1, node=1))]
    assert bench.role.state.parked[50].requested.source == Source(50, 1)


def test_a_deposed_leader_answers_parked_fetches_and_names_the_next_leader() -> None:
    bench = active(epoch=2)
    fetched(bench, fetch_request(2, 100, 1, 2), connection=50)

    effects = bench.tell(Requested(Source(7, 0), begin_request(3, 3), 1, "CONTROLLER"))

    assert isinstance(bench.role, Follower)
    refusal = fetch_response(3, 3, error=Error.NOT_LEADER_OR_FOLLOWER, node=3)
    assert Reply(Source(50, 0), refusal) in effects


def test_a_leader_that_learns_of_a_later_election_answers_parked_fetches() -> None:
    bench = active(epoch=2)
    fetched(bench, fetch_request(2, 100, 1, 2), connection=50)

    effects = bench.tell(Requested(Source(7, 0), vote_request(3, 3), 2, "CONTROLLER"))

    assert Reply(Source(50, 0), fetch_response(3, -1, error=Error.NOT_LEADER_OR_FOLLOWER)) in effects


def test_a_leader_that_resigns_answers_parked_fetches() -> None:
    bench = active(epoch=2)
    fetched(bench, fetch_request(2, 100, 1, 2), connection=50)

    effects = bench.tell(Resign(2))

    assert Reply(Source(50, 0), fetch_response(2, 1, error=Error.NOT_LEADER_OR_FOLLOWER, node=1)) in effects


# Liveness


def test_a_leader_resigns_if_no_majority_fetches() -> None:
    bench = active(epoch=2)
    left = bench.role.state.quorum_deadline_ms - bench.now

    bench.wait(left - 1)
    leads = bench.replica.role
    bench.wait(1)

    assert left == 3000
    assert (type(leads).__name__, type(bench.role).__name__) == ("Leader", "Resigned")
    assert "quorum_lost" in bench.notes


def test_a_leader_stays_if_one_of_two_other_voters_fetches() -> None:
    bench = active(epoch=2)

    for _ in range(10):
        bench.wait(1000)
        fetched(bench, fetch_request(2, 3, 1, 2), connection=3)

    assert type(bench.role).__name__ == "Leader"


def test_a_sole_voter_leads_without_any_fetch() -> None:
    bench = Bench(voters=static_voters(1))

    bench.wait(60_000)

    assert type(bench.role).__name__ == "Leader"


def test_fetches_of_observers_do_not_keep_a_leader() -> None:
    bench = active(epoch=2)

    for _ in range(4):
        bench.wait(1000)
        if type(bench.role).__name__ == "Leader":
            fetched(bench, fetch_request(2, 100, 1, 2))

    assert type(bench.role).__name__ == "Resigned"


def test_answers_of_a_new_leader_wait_until_its_leadership_is_saved() -> None:
    bench = candidate(epoch=2)
    sends = bench.sends()
    from raft.interface.inputs import Answered
    from tests.raft.building import vote_response

    bench.step(Answered(sends[-1].peer, sends[-1].number, vote_response(2, granted=True)))
    unsaved = bench.step(Requested(Source(5, 0), fetch_request(2, 3, 0, 0), 18, "CONTROLLER"))

    assert unsaved == []
    assert any(isinstance(each, ReplyRecords) for each in bench.settle())


def test_endpoints_of_the_leader_are_its_own() -> None:
    assert leader(epoch=2).role.endpoints == (endpoint(1),)
    assert key(1).directory_id == directory(1)
