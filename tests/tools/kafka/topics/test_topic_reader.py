"""Topics read from brokers: pages of partitions, brokers without DescribeTopicPartitions, orders of Java's maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from records.errors import Error
from records.messages.cluster import DescribeClusterResponse, DescribeTopicPartitionsResponse, MetadataResponse
from tests.tools.client.test_admin import Node, nodes
from tools.client.admin import Admin
from tools.client.settings import settings_of
from tools.command_line.java_texts import Uncaught
from tools.kafka.topics.topic_reader import BrokerReader, PartitionInfo, shown_order

if TYPE_CHECKING:
    from collections.abc import Iterator

METADATA, DESCRIBE_CLUSTER, DESCRIBE_TOPICS = 3, 60, 75
ID = bytes(range(16))


@pytest.fixture(name="node")
def _node() -> Iterator[Node]:
    with nodes({}) as (found,):
        broker = MetadataResponse.MetadataResponseBroker(node_id=101, host="127.0.0.1", port=found.port)
        listed = DescribeClusterResponse.DescribeClusterBroker(broker_id=101, host="127.0.0.1", port=found.port)
        found.answers[METADATA] = lambda: MetadataResponse(brokers=(broker,), topics=())
        found.answers[DESCRIBE_CLUSTER] = lambda: DescribeClusterResponse(
            throttle_time_ms=0, error_code=0, cluster_id="x", brokers=(listed,)
        )
        found.versions[METADATA] = 13
        yield found


@pytest.fixture(name="reader")
def _reader(node: Node) -> Iterator[BrokerReader]:
    settings = {"default.api.timeout.ms": "5000", "request.timeout.ms": "5000"}
    with Admin(settings_of(f"127.0.0.1:{node.port}", None, settings)) as admin:
        yield BrokerReader(admin)


def page(*topics: tuple[str, list[int]], following: tuple[str, int] | None = None, error: int = 0) -> Any:
    response = DescribeTopicPartitionsResponse
    kind = response.DescribeTopicPartitionsResponseTopic
    partition = kind.DescribeTopicPartitionsResponsePartition
    return response(
        throttle_time_ms=0,
        topics=tuple(
            kind(
                error_code=error,
                name=name,
                topic_id=ID,
                partitions=tuple(
                    partition(
                        error_code=0, partition_index=number, leader_id=101 + number % 2, replica_nodes=(101, 102),
                        isr_nodes=(101,), eligible_leader_replicas=(102,), last_known_elr=(), offline_replicas=(),
                    )
                    for number in numbers
                ),
            )
            for name, numbers in topics
        ),
        next_cursor=None if following is None else response.Cursor(
            topic_name=following[0], partition_index=following[1]
        ),
    )  # fmt: skip


def test_a_topic_goes_on_in_the_next_page(node: Node, reader: BrokerReader) -> None:
    pages = iter([
        page(("a", [0]), ("b", [0, 1]), following=("b", 2)),
        page(("b", [2]), ("c", [0]), following=("c", 1)),
        page(("c", [1])),
    ])  # fmt: skip
    node.answers[DESCRIBE_TOPICS] = lambda: next(pages)

    found = reader.describe(["c", "a", "b"], 2)

    assert [(topic.name, [each.number for each in topic.partitions]) for topic in found] == [
        ("a", [0]), ("b", [0, 1, 2]), ("c", [0, 1]),
    ]  # fmt: skip
    # Broker 102 is not live, so it is no leader.
    assert found[1].partitions[:2] == [
        PartitionInfo(0, 101, (101, 102), (101,), (102,), ()), PartitionInfo(1, None, (101, 102), (101,), (102,), ()),
    ]  # fmt: skip


def test_pages_without_progress_end_in_an_error(node: Node, reader: BrokerReader) -> None:
    node.answers[DESCRIBE_TOPICS] = lambda: page(("b", []), following=("b", 0))

    with pytest.raises(Uncaught, match="did not contain topic b"):
        reader.describe(["b"])


def test_a_page_that_repeats_partitions_ends_in_an_error(node: Node, reader: BrokerReader) -> None:
    pages = iter([page(("b", [0]), following=("b", 1))] * 9)
    node.answers[DESCRIBE_TOPICS] = lambda: next(pages)

    with pytest.raises(Uncaught, match="repeats partitions of topic b"):
        reader.describe(["b"])

    assert len(list(pages)) == 7


def test_pages_of_a_topic_that_was_not_asked_for_end_in_an_error(node: Node, reader: BrokerReader) -> None:
    pages = iter([page(("z", [number]), following=("z", number + 1)) for number in range(9)])
    node.answers[DESCRIBE_TOPICS] = lambda: next(pages)

    with pytest.raises(Uncaught, match="goes on with topic z, which was not asked for"):
        reader.describe(["b"])

    assert len(list(pages)) == 8


def test_the_error_of_a_topic_is_raised(node: Node, reader: BrokerReader) -> None:
    node.answers[DESCRIBE_TOPICS] = lambda: page(("b", []), error=Error.UNKNOWN_TOPIC_OR_PARTITION)

    with pytest.raises(Uncaught, match="This server does not host this topic-partition"):
        reader.describe(["b"])


def test_brokers_without_eligible_leaders_are_asked_for_their_metadata(node: Node, reader: BrokerReader) -> None:
    first = node.answers[METADATA]
    kind = MetadataResponse.MetadataResponseTopic
    partition = kind.MetadataResponsePartition(
        error_code=0, partition_index=0, leader_id=101, replica_nodes=(101, 102), isr_nodes=(101,)
    )
    topic = kind(error_code=0, name="b", topic_id=ID, partitions=(partition,))

    def with_topic() -> MetadataResponse:
        return MetadataResponse(brokers=first().brokers, topics=(topic,))

    node.answers[METADATA] = with_topic

    (found,) = reader.describe(["b"])

    assert found.partitions == [PartitionInfo(0, 101, (101, 102), (101,), None, None)]
    assert found == reader.describe_by_id(ID)[0]
    with pytest.raises(Uncaught, match="Topic c not found"):
        reader.describe(["c"])
    with pytest.raises(Uncaught, match="TopicId AAAAAAAAAAAAAAAAAAAAAA not found"):
        reader.describe_by_id(bytes(16))


def test_topics_are_in_the_order_of_the_maps_of_stocks_client() -> None:
    """As kafka-topics 4.3.1 describes these topics (`tests/interop/test_stock_topics.py`)."""
    names = ["t", "u", "u.v", "w_x", "alpha", "beta-1", "beta-2", "__consumer_offsets"]

    assert shown_order(names) == [
        "w_x", "beta-1", "t", "beta-2", "u", "alpha", "u.v", "__consumer_offsets",
    ]  # fmt: skip
