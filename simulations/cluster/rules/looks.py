"""What an answer that writes nothing rests on, an error as well: the subjects of the log that the request looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from simulations.cluster.rules.case import find_repeated, is_topic_name
from simulations.nodes.config_values import BROKER, TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulations.cluster.metadata.image import Image

Subject = tuple[Any, ...]
BROKERS, CONTROLLERS, FEATURES, PARTITIONS, NAMES = (
    (name,) for name in ("brokers", "controllers", "features", "partitions", "names")
)


def similar(name: str) -> str:
    """Two topics may not have names that differ only in dots (KAFKA-1481)."""
    return name.replace(".", "_")


def subjects_of(image: Image, record: Any) -> Iterator[Subject]:
    """The subjects that a record changes. image: before it."""
    kind = type(record)
    if kind in (RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord):
        if kind is not BrokerRegistrationChangeRecord or not _fences_again(image, record):
            yield from (BROKERS, ("broker", record.broker_id))
    elif kind is RegisterControllerRecord:
        yield CONTROLLERS
    elif kind is FeatureLevelRecord:
        if image.features.get(record.name, 0) != record.feature_level:  # it is written again as well
            yield FEATURES
    elif kind is ConfigRecord:
        of = record.resource_type, record.resource_name
        if image.configs.get(of, {}).get(record.name) != record.value:
            yield ("config", *of)
    elif kind is TopicRecord:
        yield from _of_topic(record.name, bytes(record.topic_id))
    elif kind is RemoveTopicRecord:
        name = image.topics.get(bytes(record.topic_id), "")
        yield from (*_of_topic(name, bytes(record.topic_id)), ("config", TOPIC, name))
    elif kind in (PartitionRecord, PartitionChangeRecord):
        yield from (PARTITIONS, ("partition", bytes(record.topic_id), record.partition_id))
        if kind is PartitionRecord:
            yield "count", bytes(record.topic_id)
    elif kind is ClearElrRecord and image.with_elr(record.topic_name):
        yield PARTITIONS


def _fences_again(image: Image, record: BrokerRegistrationChangeRecord) -> bool:
    """Whether the session of a fenced broker has ended, which is written as that of others, and changes nothing."""
    broker = image.brokers.get(record.broker_id)
    has_more = record.in_controlled_shutdown or record.log_dirs or record.cordoned_log_dirs is not None
    return broker is not None and broker.fenced and record.fenced > 0 and not has_more


def _of_topic(name: str, topic_id: bytes) -> tuple[Subject, ...]:
    return NAMES, ("name", name), ("similar", similar(name)), ("topic", topic_id)


def _names_once(names: list[str]) -> list[Subject]:
    """Names that a request has twice are refused without a look at the state."""
    return [("name", name) for name in names if names.count(name) == 1]


def _to_create(image: Image, request: Any) -> Iterable[Subject]:
    names = [topic.name for topic in request.topics]
    subjects = _names_once(names)
    new = [name for kind, name in subjects if is_topic_name(name) and name not in image.names]
    return [*subjects, *(("similar", similar(name)) for name in new), *([BROKERS] if new else [])]


def _to_grow(image: Image, request: Any) -> Iterable[Subject]:
    subjects = _names_once([topic.name for topic in request.topics])
    return [
        *subjects,
        *(("count", image.names.get(name, b"")) for _, name in subjects),
        *([BROKERS] if subjects else []),
    ]


def _to_delete(_image: Image, request: Any) -> Iterable[Subject]:
    """Topics that the request names once, and not by an id too, which is refused without a look at the state."""
    zero = bytes(16)
    names = [*request.topic_names, *(each.name for each in request.topics if each.name and each.topic_id == zero)]
    ids = [bytes(each.topic_id) for each in request.topics if each.name is None and each.topic_id != zero]
    return [*_names_once(names), *(("topic", each) for each in ids if ids.count(each) == 1)]


def _to_configure(_image: Image, request: Any) -> Iterable[Subject]:
    keys = [(each.resource_type, each.resource_name) for each in request.resources]
    for kind, name in set(keys) - find_repeated(keys):
        yield "config", kind, name
        if kind == TOPIC:
            yield "name", name
        elif kind == BROKER and not isinstance(request, DescribeConfigsRequest):
            yield from (BROKERS, CONTROLLERS)


def _of_partitions(_image: Image, request: Any) -> Iterable[Subject]:
    """Of AlterPartition: the sender, its partitions and the members that it wants."""
    yield "broker", request.broker_id
    for topic in request.topics:
        yield "topic", bytes(topic.topic_id)
        for each in topic.partitions:
            yield "partition", bytes(topic.topic_id), each.partition_index
            yield from (("broker", member.broker_id) for member in each.new_isr_with_epochs)


LOOKS: dict[type, Callable[[Image, Any], Iterable[Subject]]] = {
    DescribeConfigsRequest: _to_configure,
    IncrementalAlterConfigsRequest: _to_configure,
    AlterConfigsRequest: _to_configure,
    CreateTopicsRequest: _to_create,
    DeleteTopicsRequest: _to_delete,
    CreatePartitionsRequest: _to_grow,
    ListPartitionReassignmentsRequest: lambda _image, _request: (NAMES, PARTITIONS),
    AlterPartitionReassignmentsRequest: lambda _image, _request: (NAMES, PARTITIONS, BROKERS),
    ElectLeadersRequest: lambda _image, _request: (NAMES, PARTITIONS, BROKERS),
    AlterPartitionRequest: _of_partitions,
    AssignReplicasToDirsRequest: lambda _image, request: (PARTITIONS, NAMES, ("broker", request.broker_id)),
    UpdateFeaturesRequest: lambda _image, _request: (FEATURES, BROKERS, CONTROLLERS),
    UnregisterBrokerRequest: lambda _image, request: [("broker", request.broker_id)],
    BrokerRegistrationRequest: lambda _image, _request: (BROKERS, FEATURES),
    BrokerHeartbeatRequest: lambda _image, request: [("broker", request.broker_id)],
    AllocateProducerIdsRequest: lambda _image, request: [("broker", request.broker_id)],
    DescribeClusterRequest: lambda _image, _request: (CONTROLLERS, FEATURES),
}  # fmt: skip


class Changes:
    """The offset of the last change of each subject under one active controller."""

    def __init__(self) -> None:
        self._last: dict[Subject, int] = {}

    def on_written(self, image: Image, record: Any, offset: int) -> None:
        """A record is written. image: before it."""
        for subject in subjects_of(image, record):
            self._last[subject] = offset

    def end_offset(self, image: Image, request: Any) -> int:
        """The end of the log on which an answer without records rests; 0 for one that rests on nothing."""
        looks = LOOKS.get(type(request))
        return 0 if looks is None else max((self._last.get(each, -1) for each in looks(image, request)), default=-1) + 1
