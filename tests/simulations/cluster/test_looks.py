"""What an answer that writes nothing rests on: its subjects, and the offsets at which the mirror saw them change."""

from typing import Any

import pytest

from records.messages.brokers import UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import IncrementalAlterConfigsRequest
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.brokers import BrokerRegistrationChangeRecord
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.topics import PartitionChangeRecord, TopicRecord
from simulations.cluster.rules.looks import Changes
from tests.simulations.cluster.test_rules import LEVEL, TOPIC, image, partition


def create(*names: str) -> CreateTopicsRequest:
    made = CreateTopicsRequest.CreatableTopic
    topics = [made(name=name, num_partitions=1, replication_factor=1, assignments=(), configs=()) for name in names]
    return CreateTopicsRequest(topics=tuple(topics), timeout_ms=1)


def delete(*names: str) -> DeleteTopicsRequest:
    state = DeleteTopicsRequest.DeleteTopicState
    return DeleteTopicsRequest(topics=tuple(state(name=name, topic_id=bytes(16)) for name in names), timeout_ms=1)


def configure(kind: int, name: str) -> IncrementalAlterConfigsRequest:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    resources = (resource(resource_type=kind, resource_name=name, configs=()),)
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=True)


def alter(broker_id: int) -> AlterPartitionRequest:
    data = AlterPartitionRequest.TopicData
    asked = data.PartitionData(
        partition_index=0, leader_epoch=5, new_isr_with_epochs=(), leader_recovery_state=0, partition_epoch=7
    )
    topics = (data(topic_id=TOPIC, partitions=(asked,)),)
    return AlterPartitionRequest(broker_id=broker_id, broker_epoch=1, topics=topics)


FENCE = BrokerRegistrationChangeRecord(broker_id=102, broker_epoch=102, fenced=1)
NEW = TopicRecord(name="a.b", topic_id=bytes(15) + b"n")
CHANGE = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(101,))
CONFIG = ConfigRecord(resource_type=2, resource_name="here", name="retention.ms", value="1")
CLUSTER = DescribeClusterRequest(include_cluster_authorized_operations=False)


@pytest.mark.parametrize(
    ("record", "request_", "end_offset"),
    [
        (NEW, create("a.b"), 8),
        (NEW, create("a_b"), 8),
        (NEW, create("other"), 0),
        (NEW, create("a.b", "a.b"), 0),  # refused without a look
        (FENCE, create("other"), 8),
        (FENCE, create("here"), 0),
        (NEW, delete("a.b"), 8),
        (NEW, delete("a.b", "a.b"), 0),
        (CONFIG, configure(2, "here"), 8),
        (CONFIG, configure(2, "there"), 0),
        (CONFIG, configure(4, "here"), 0),
        (FENCE, configure(4, "101"), 8),
        (CHANGE, alter(101), 8),
        (FENCE, alter(102), 8),
        (FENCE, alter(101), 0),
        (FENCE, UnregisterBrokerRequest(broker_id=102), 8),
        (FENCE, CLUSTER, 0),
        (FeatureLevelRecord(name="metadata.version", feature_level=13), CLUSTER, 8),
        (FeatureLevelRecord(name="metadata.version", feature_level=LEVEL["metadata.version"]), CLUSTER, 0),
    ],
)
def test_an_answer_rests_on_the_last_change_of_what_the_request_looks_at(
    record: Any, request_: Any, end_offset: int
) -> None:
    changes, before = Changes(), image(partition())

    changes.on_written(before, record, 7)

    assert changes.end_offset(before, request_) == end_offset


@pytest.mark.parametrize(
    ("record", "end_offset"),
    [
        (FENCE, 0),
        (BrokerRegistrationChangeRecord(broker_id=102, broker_epoch=102, fenced=-1), 8),
        (BrokerRegistrationChangeRecord(broker_id=102, broker_epoch=102, fenced=1, in_controlled_shutdown=1), 8),
    ],
)
def test_no_answer_rests_on_a_broker_that_is_fenced_again(
    record: BrokerRegistrationChangeRecord, end_offset: int
) -> None:
    changes, before = Changes(), image(partition())
    before.brokers[102].fenced = True

    changes.on_written(before, record, 7)

    assert changes.end_offset(before, create("other")) == end_offset
