"""Which requests tell a controller with an empty disk that a quorum exists."""

from __future__ import annotations

from typing import Any

import pytest

from raft.formation.rules import InitialController, Sign, Unformatted
from raft.formation.signs import sign_of
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.schema import replace

ONE, TWO = (InitialController(number, bytes([number]) * 16, f"c{number}", 9093) for number in (1, 2))
FORMER, FOURTH = b"f" * 16, b"4" * 16
OWN = Unformatted(ONE, (), 2, "given")


def vote(candidate: bytes = FOURTH, voter: bytes = FORMER) -> VoteRequest:
    part = VoteRequest.TopicData.PartitionData(
        partition_index=0, replica_epoch=0, replica_id=4, replica_directory_id=candidate, voter_directory_id=voter,
        last_offset_epoch=0, last_offset=0, pre_vote=True,
    )  # fmt: skip
    topic = VoteRequest.TopicData(topic_name="__cluster_metadata", partitions=(part,))
    return VoteRequest(cluster_id="given", voter_id=1, topics=(topic,))


def begin(voter: bytes = FORMER) -> BeginQuorumEpochRequest:
    part = BeginQuorumEpochRequest.TopicData.PartitionData(
        partition_index=0, voter_directory_id=voter, leader_id=4, leader_epoch=7
    )
    topic = BeginQuorumEpochRequest.TopicData(topic_name="__cluster_metadata", partitions=(part,))
    return BeginQuorumEpochRequest(cluster_id="given", voter_id=1, topics=(topic,), leader_endpoints=())


def end() -> EndQuorumEpochRequest:
    part = EndQuorumEpochRequest.TopicData.PartitionData(partition_index=0, leader_id=4, leader_epoch=7)
    topic = EndQuorumEpochRequest.TopicData(topic_name="__cluster_metadata", partitions=(part,))
    return EndQuorumEpochRequest(cluster_id="given", topics=(topic,), leader_endpoints=())


def fetch(offset: int = 0, epoch: int = 0, disk: bytes = FOURTH) -> FetchRequest:
    part = FetchRequest.FetchTopic.FetchPartition(
        partition=0, current_leader_epoch=epoch, fetch_offset=offset, last_fetched_epoch=0, partition_max_bytes=0,
        replica_directory_id=disk,
    )  # fmt: skip
    state = FetchRequest.ReplicaState(replica_id=4, replica_epoch=-1)
    topic = FetchRequest.FetchTopic(topic_id=b"t" * 16, partitions=(part,))
    return FetchRequest(cluster_id="given", replica_state=state, max_wait_ms=0, min_bytes=0, topics=(topic,))


def fetch_snapshot() -> FetchSnapshotRequest:
    Part = FetchSnapshotRequest.TopicSnapshot.PartitionSnapshot  # noqa: N806
    part = Part(
        partition=0, current_leader_epoch=7, snapshot_id=Part.SnapshotId(end_offset=9, epoch=7), position=0,
        replica_directory_id=FOURTH,
    )  # fmt: skip
    topic = FetchSnapshotRequest.TopicSnapshot(name="__cluster_metadata", partitions=(part,))
    return FetchSnapshotRequest(cluster_id="given", replica_id=4, topics=(topic,))


@pytest.mark.parametrize(
    ("request_", "text", "leads"),
    [
        (vote(), "asks for a vote", False),
        (begin(), "leads it", True),
        (end(), "has led it", False),
        (fetch(9), "asks for records from offset 9 on", False),
        (fetch(0, 3), "asks for records from offset 0 on", False),
        (fetch_snapshot(), "asks for a snapshot", False),
    ],
)
def test_what_needs_metadata_is_a_sign_of_a_quorum(request_: Any, text: str, *, leads: bool) -> None:
    sign = Sign("given", leads, f"node 4 has its metadata, and {text}")

    assert sign_of(OWN, request_) == sign
    assert sign_of(OWN._replace(cluster_id=""), request_) == sign


@pytest.mark.parametrize(
    "request_",
    [
        fetch(),  # a new broker or controller that waits, too
        replace(fetch(9), topics=()),  # a controller with an empty disk asks for a cluster id so
        replace(fetch(9), cluster_id=None),  # a consumer
        replace(vote(), cluster_id="other"),
    ],
)
def test_other_requests_are_none(request_: Any) -> None:
    assert sign_of(OWN, request_) is None


def test_the_quorum_that_this_controller_may_form_is_no_other_quorum() -> None:
    saved = OWN._replace(saved=(ONE, TWO))

    assert sign_of(saved, vote(candidate=TWO.directory_id)) is None
    assert sign_of(saved, fetch(9, 1, TWO.directory_id)) is None
    assert sign_of(OWN._replace(former=((ONE, TWO),)), vote(candidate=TWO.directory_id)) is None
    assert sign_of(saved, begin(voter=ONE.directory_id)) is None
    assert sign_of(saved, vote(voter=ONE.directory_id)) is None
