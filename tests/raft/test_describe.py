from __future__ import annotations

from typing import Any

import pytest

from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.inputs import Requested, Source, WallClock
from raft.interface.voters import VoterSet
from records.errors import Error, error_text
from records.messages.quorum import DescribeQuorumRequest, DescribeQuorumResponse
from tests.raft.building import (
    TOPIC,
    Bench,
    active,
    describe_request,
    directory,
    dynamic_voters,
    endpoint,
    fetch_request,
    follower,
    key,
    leader,
    static_voters,
    unattached,
)

Topic = DescribeQuorumResponse.TopicData
Partition = Topic.PartitionData
State = Partition.ReplicaState
Node = DescribeQuorumResponse.Node


def failed(error: Error, topic: str = TOPIC, partition: int = 0) -> DescribeQuorumResponse:
    data = Partition(
        partition_index=partition,
        error_code=error,
        error_message=error_text(error),
        leader_id=0,
        leader_epoch=0,
        high_watermark=0,
        current_voters=(),
        observers=(),
    )
    return DescribeQuorumResponse(error_code=0, topics=(Topic(topic_name=topic, partitions=(data,)),))


def described(bench: Bench, version: int = 2) -> Any:
    return bench.ask(describe_request(), version)


def state(replica: int, end: int, fetched: int, caught_up: int, directory_id: bytes = bytes(16)) -> State:
    return State(
        replica_id=replica,
        replica_directory_id=directory_id,
        log_end_offset=end,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=caught_up,
    )


def test_the_leader_describes_the_progress_of_each_replica() -> None:
    bench = leader(epoch=2, voters=dynamic_voters(1, 2, 3))
    at = bench.now
    bench.ask(fetch_request(2, 3, 1, 2))
    bench.ask(fetch_request(2, 100, 0, 0))
    bench.wait(100)

    answer = described(bench)

    partition = answer.topics[0].partitions[0]
    assert partition.current_voters == (
        state(1, 1, bench.now, bench.now, directory(1)),
        state(2, -1, -1, -1, directory(2)),
        state(3, 1, at, at, directory(3)),
    )
    assert partition.observers == (state(100, 0, at, -1, directory(100)),)
    assert (partition.leader_id, partition.leader_epoch, partition.high_watermark) == (1, 2, 1)
    assert (partition.error_code, partition.error_message, answer.error_code, answer.error_message) == (0, "", 0, "")
    assert answer.nodes == tuple(
        Node(node_id=each, listeners=(Node.Listener(name="CONTROLLER", host=f"host-{each}", port=9000 + each),))
        for each in (1, 2, 3)
    )


def test_static_voters_have_no_directory() -> None:
    answer = described(active(epoch=2))

    assert [each.replica_directory_id for each in answer.topics[0].partitions[0].current_voters] == [bytes(16)] * 3


def test_before_version_2_there_are_neither_directories_nor_nodes() -> None:
    answer = described(active(epoch=2, voters=dynamic_voters(1, 2, 3)), version=1)

    assert [each.replica_directory_id for each in answer.topics[0].partitions[0].current_voters] == [bytes(16)] * 3
    assert answer.nodes == ()


def test_times_are_of_the_wall_clock() -> None:
    bench = leader(epoch=2)
    bench.ask(fetch_request(2, 3, 1, 2))
    bench.tell(WallClock(1_700_000_000_000))

    voters = described(bench).topics[0].partitions[0].current_voters

    assert [each.last_fetch_timestamp for each in voters] == [
        1_700_000_000_000 + bench.now,
        -1,
        1_700_000_000_000 + bench.now,
    ]


def test_before_anything_is_committed_the_high_watermark_is_unknown() -> None:
    assert described(leader(epoch=2)).topics[0].partitions[0].high_watermark == -1


def test_an_observer_is_listed_for_five_minutes() -> None:
    bench = Bench(voters=static_voters(1))
    bench.ask(fetch_request(1, 100, 1, 1))
    bench.wait(299_999)

    before = described(bench).topics[0].partitions[0].observers
    bench.wait(1)

    assert (len(before), described(bench).topics[0].partitions[0].observers) == (1, ())


def test_a_voter_with_another_directory_is_an_observer() -> None:
    bench = active(epoch=2, voters=dynamic_voters(1, 2, 3))
    bench.ask(fetch_request(2, 3, 1, 2, directory_id=directory(9)))

    observers = described(bench).topics[0].partitions[0].observers

    assert [(each.replica_id, each.replica_directory_id) for each in observers] == [(3, directory(9))]


def test_all_listeners_of_a_voter_are_listed() -> None:
    both = (endpoint(1), Endpoint("OTHER", "h", 1))
    bench = Bench(voters=VoterSet([Voter(ReplicaKey(1), both)]))

    listeners = described(bench).nodes[0].listeners

    assert [each.name for each in listeners] == ["CONTROLLER", "OTHER"]


@pytest.mark.parametrize("make", [unattached, follower])
def test_a_replica_that_is_not_the_leader_answers_so(make: Any) -> None:
    assert described(make()) == failed(Error.NOT_LEADER_OR_FOLLOWER)


@pytest.mark.parametrize(("topic", "partition"), [("other", 0), (TOPIC, 1)])
def test_another_log_is_unknown(topic: str, partition: int) -> None:
    answer = active(epoch=2).ask(describe_request(topic, partition))

    assert answer == failed(Error.UNKNOWN_TOPIC_OR_PARTITION, topic, partition)


def test_each_partition_of_a_request_for_several_is_unknown() -> None:
    two = describe_request().topics + describe_request("other", 3).topics
    bench = active(epoch=2)

    answer = bench.tell(Requested(Source(5, 0), DescribeQuorumRequest(topics=two), 2, "CONTROLLER"))[0].response

    expected = [failed(Error.UNKNOWN_TOPIC_OR_PARTITION), failed(Error.UNKNOWN_TOPIC_OR_PARTITION, "other", 3)]
    assert answer.topics == tuple(each.topics[0] for each in expected)
    assert key(1).id == 1


def test_a_replica_whose_log_gets_shorter_has_its_new_end_offset() -> None:
    bench = active(epoch=2)
    bench.ask(fetch_request(2, 3, 0, 0))

    ends = [each.log_end_offset for each in described(bench).topics[0].partitions[0].current_voters]

    assert ends == [1, 1, 0]
