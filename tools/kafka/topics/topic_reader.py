"""What kafka-topics shows of topics, read from brokers: Metadata, DescribeTopicPartitions (KIP-966)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from records.errors import Error
from records.java.java_order import hash_order
from records.messages.cluster import DescribeClusterRequest, DescribeTopicPartitionsRequest, MetadataRequest
from records.uuids import uuid_text
from tools.client.admin import Call
from tools.client.exceptions import KafkaError, no_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from tools.client.admin import Admin

INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")
DEFAULT_LIMIT = 2000


class ListedTopic(NamedTuple):
    """A topic without its partitions. topic_id: 16 bytes."""

    name: str
    topic_id: bytes
    is_internal: bool


class PartitionInfo(NamedTuple):
    """Broker ids throughout. leader: None where it is no live broker. elr, last_known_elr: None where unknown."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None


class TopicInfo(NamedTuple):
    """partitions: in the order of the response."""

    name: str
    topic_id: bytes
    partitions: list[PartitionInfo]


class TopicReader(Protocol):
    """A source of topics. Each method raises Uncaught."""

    def list_topics(self) -> list[ListedTopic]:
        """All topics, internal ones too."""

    def describe(self, names: Sequence[str], limit: int = DEFAULT_LIMIT) -> list[TopicInfo]:
        """These topics, in the order in which stock shows them. limit: of partitions in one response."""

    def describe_by_id(self, topic_id: bytes) -> list[TopicInfo]:
        """The topic with this id."""

    def live_brokers(self) -> set[int]:
        """The ids of the brokers that are not fenced."""


class BrokerReader:
    """Reads topics from brokers."""

    def __init__(self, admin: Admin) -> None:
        self.admin = admin

    def list_topics(self) -> list[ListedTopic]:
        response = self._ask("listTopics", MetadataRequest(topics=None))
        return [ListedTopic(str(topic.name), bytes(topic.topic_id), topic.is_internal) for topic in response.topics]

    def live_brokers(self) -> set[int]:
        request = DescribeClusterRequest(include_cluster_authorized_operations=False)
        response = self._ask("listNodes", request)
        if response.error_code:
            raise KafkaError(response.error_code, response.error_message)
        return {broker.broker_id for broker in response.brokers}

    def describe(self, names: Sequence[str], limit: int = DEFAULT_LIMIT) -> list[TopicInfo]:
        return _in_order(self.outcomes(names, limit))

    def outcomes(self, names: Sequence[str], limit: int = DEFAULT_LIMIT) -> dict[str, TopicInfo | KafkaError]:
        """These topics, or why a topic cannot be described. Raises Uncaught."""
        live = self.live_brokers()
        try:
            return self._read_pages(sorted(set(names)), limit, live)
        except KafkaError as error:
            if error.code != Error.UNSUPPORTED_VERSION:
                raise
            return self._from_metadata(names)

    def describe_by_id(self, topic_id: bytes) -> list[TopicInfo]:
        wanted = MetadataRequest.MetadataRequestTopic(topic_id=topic_id, name=None)
        response = self._ask("describeTopicsWithIds", _metadata_request([wanted]))
        for topic in response.topics:
            if bytes(topic.topic_id) == topic_id:
                if topic.error_code:
                    break
                return [_from_topic(topic, _nodes(response))]
        raise KafkaError(Error.UNKNOWN_TOPIC_ID, f"TopicId {uuid_text(topic_id)} not found.")

    def _read_pages(self, names: list[str], limit: int, live: set[int]) -> dict[str, TopicInfo | KafkaError]:
        """The topics, or why a topic cannot be described, page by page. Raises Uncaught."""
        request = DescribeTopicPartitionsRequest
        wanted = dict.fromkeys(names)
        described: dict[str, TopicInfo | KafkaError] = {}
        partial: TopicInfo | None = None
        while wanted:
            cursor = None
            if partial is not None:
                cursor = request.Cursor(topic_name=partial.name, partition_index=len(partial.partitions))
            topics = tuple(request.TopicRequest(name=name) for name in wanted)
            response = self._ask(
                "describeTopicPartitions", request(topics=topics, response_partition_limit=limit, cursor=cursor)
            )
            left = len(wanted), len(partial.partitions) if partial else 0
            partial = _take_page(response, partial, described, live)
            for name in described:
                wanted.pop(name, None)
            if (len(wanted), len(partial.partitions) if partial else 0) == left and wanted:
                text = f"The broker response did not contain topic {next(iter(wanted))}"
                raise no_result(text)
            # Otherwise a broker that names a next page in each response keeps the tool asking without end.
            if partial is not None and partial.name not in wanted:
                raise no_result(f"The broker response goes on with topic {partial.name}, which was not asked for")
            if partial is not None and len({each.number for each in partial.partitions}) < len(partial.partitions):
                raise no_result(f"The broker response repeats partitions of topic {partial.name}")
        return described

    def _from_metadata(self, names: Sequence[str]) -> dict[str, TopicInfo | KafkaError]:
        """The topics as brokers before 3.7 describe them. Raises Uncaught."""
        wanted = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        response = self._ask("describeTopics", _metadata_request(wanted))
        nodes = _nodes(response)
        described: dict[str, TopicInfo | KafkaError] = {
            str(topic.name): KafkaError(topic.error_code) if topic.error_code else _from_topic(topic, nodes)
            for topic in response.topics
        }
        for name in names:
            if name not in described:
                described[name] = KafkaError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Topic {name} not found.")
        return described

    def _ask(self, name: str, request: Any) -> Any:
        return self.admin.call(Call(name, lambda _: request, lambda response: response))


def _metadata_request(wanted: Sequence[Any]) -> MetadataRequest:
    return MetadataRequest(topics=tuple(wanted), allow_auto_topic_creation=False)


def _nodes(response: Any) -> set[int]:
    return {broker.node_id for broker in response.brokers}


def _take_page(
    response: Any, partial: TopicInfo | None, described: dict[str, TopicInfo | KafkaError], live: set[int]
) -> TopicInfo | None:
    """Take one page; the topic whose partitions go on in the next page, if there is one.

    partial: the topic that this page begins with. described: gets the topics that are whole, and errors.
    """
    cursor = None if response.next_cursor is None else response.next_cursor.topic_name
    following: TopicInfo | None = None
    for topic in response.topics:
        name = str(topic.name)
        if topic.error_code:
            described[name] = KafkaError(topic.error_code)
            cursor = None if cursor == name else cursor
            continue
        partitions = [
            PartitionInfo(
                partition.partition_index,
                partition.leader_id if partition.leader_id in live else None,
                tuple(partition.replica_nodes),
                tuple(partition.isr_nodes),
                tuple(partition.eligible_leader_replicas or ()),
                tuple(partition.last_known_elr or ()),
            )
            for partition in topic.partitions
        ]
        if partial is not None and partial.name == name:
            partial.partitions.extend(partitions)
        elif cursor == name:
            following = TopicInfo(name, bytes(topic.topic_id), partitions)
        else:
            described[name] = TopicInfo(name, bytes(topic.topic_id), partitions)
    if partial is not None and cursor != partial.name:
        described[partial.name] = partial
        partial = None
    return following or partial


def _from_topic(topic: Any, nodes: set[int]) -> TopicInfo:
    """A topic of a Metadata response, which has nothing of eligible leaders."""
    partitions = [
        PartitionInfo(
            partition.partition_index,
            partition.leader_id if partition.leader_id in nodes else None,
            tuple(partition.replica_nodes),
            tuple(partition.isr_nodes),
        )
        for partition in sorted(topic.partitions, key=lambda partition: int(partition.partition_index))
    ]
    return TopicInfo(str(topic.name), bytes(topic.topic_id), partitions)


def _in_order(described: dict[str, TopicInfo | KafkaError]) -> list[TopicInfo]:
    """The topics in the order of Java's maps; raises the first error in the order in which Java looks for one."""
    topics = []
    for name in shown_order(described):
        topic = described[name]
        if isinstance(topic, KafkaError):
            raise topic
        topics.append(topic)
    return topics


def shown_order(names: Iterable[str]) -> list[str]:
    """The order in which stock's client has the results of topics: that of a map made for their number.

    Names of one bucket are in the order of the maps before it, of which the first is filled in order of the names.
    """
    ordered = sorted(names)
    for capacity in (len(ordered), copied_capacity(len(ordered)), len(ordered)):
        ordered = hash_order(ordered, capacity)
    return ordered


def copied_capacity(count: int) -> int:
    """The capacity of a HashMap that is made as a copy of a map with this number of keys."""
    return int(count / 0.75 + 1.0)
