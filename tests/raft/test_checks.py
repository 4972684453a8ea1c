from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from raft.checks import (
    is_for_this_voter,
    is_our_cluster,
    leader_endpoint,
    leader_id_or_none,
    only_partition,
    refusal_of_non_leader,
    refusal_of_voter_request,
)
from raft.interface.inputs import Requested, Source
from raft.interface.limits import EPOCH_MAX
from records.errors import Error
from records.messages.elections import VoteRequest
from records.uuids import ZERO_UUID
from tests.raft.building import CLUSTER, active, directory, endpoint, follower, unattached, vote_request

if TYPE_CHECKING:
    from raft.interface.config import Endpoint


def requested(listener: str = "") -> Requested:
    return Requested(Source(1, 0), None, 2, listener)


@pytest.mark.parametrize(("cluster_id", "expected"), [(None, True), (CLUSTER, True), ("other", False)])
def test_a_cluster_id_is_ours_or_not_known_to_the_peer(cluster_id: str | None, expected: bool) -> None:
    assert is_our_cluster(unattached().replica, cluster_id) is expected


def test_the_only_partition_is_partition_0_of_the_metadata_topic() -> None:
    topics = vote_request(1, 2).topics
    topic = topics[0]
    other_name = VoteRequest.TopicData(topic_name="other", partitions=topic.partitions)
    other_index = VoteRequest.TopicData(
        topic_name=topic.topic_name,
        partitions=(
            VoteRequest.TopicData.PartitionData(
                partition_index=1, replica_epoch=1, replica_id=2, last_offset_epoch=0, last_offset=0
            ),
        ),
    )
    twice = VoteRequest.TopicData(topic_name=topic.topic_name, partitions=topic.partitions * 2)

    assert only_partition(topics) is topic.partitions[0]
    assert [only_partition(found) for found in ((), topics * 2, (other_name,), (other_index,), (twice,))] == [None] * 5


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(1, Error.FENCED_LEADER_EPOCH), (2, Error.NOT_LEADER_OR_FOLLOWER), (3, Error.UNKNOWN_LEADER_EPOCH)],
)
def test_a_replica_that_is_not_the_leader_refuses_by_epoch(epoch: int, error: Error) -> None:
    assert refusal_of_non_leader(follower(epoch=2).replica, epoch) == error


def test_a_leader_does_not_refuse() -> None:
    assert refusal_of_non_leader(active(epoch=2).replica, 2) == Error.NONE


@pytest.mark.parametrize(
    ("sender_id", "epoch", "error"),
    [
        (2, 1, Error.FENCED_LEADER_EPOCH),
        (-1, 1, Error.FENCED_LEADER_EPOCH),
        (-1, 2, Error.INVALID_REQUEST),
        (2, EPOCH_MAX + 1, Error.INVALID_REQUEST),
        (2, EPOCH_MAX, Error.NONE),
        (2, 2, Error.NONE),
    ],
)
def test_a_voter_request_needs_a_sender_and_an_epoch_that_is_not_lower(
    sender_id: int, epoch: int, error: Error
) -> None:
    assert refusal_of_voter_request(unattached(epoch=2).replica, sender_id, epoch) == error


@pytest.mark.parametrize(
    ("voter_id", "directory_id", "expected"),
    [
        (-1, ZERO_UUID, True),
        (1, ZERO_UUID, True),
        (1, directory(1), True),
        (1, directory(2), False),
        (2, ZERO_UUID, False),
    ],
)
def test_a_request_is_for_this_voter_by_id_and_directory(voter_id: int, directory_id: bytes, expected: bool) -> None:
    assert is_for_this_voter(unattached(replica_id=1).replica, voter_id, directory_id) is expected


@pytest.mark.parametrize(
    ("make", "leader_id", "endpoints"),
    [(unattached, -1, [None, None]), (follower, 2, [endpoint(2), None]), (active, 1, [endpoint(1), None])],
)
def test_an_answer_names_the_leader_and_its_endpoint_on_the_listener_of_the_request(
    make: Any, leader_id: int, endpoints: list[Endpoint | None]
) -> None:
    replica = make().replica

    found = [leader_endpoint(replica, requested("controller")), leader_endpoint(replica, requested("EXTERNAL"))]

    assert (leader_id_or_none(replica), found) == (leader_id, endpoints)


def test_a_request_without_a_listener_is_answered_for_the_listener_of_the_quorum() -> None:
    assert leader_endpoint(follower(leader=3).replica, requested("")) == endpoint(3)
