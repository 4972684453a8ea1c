"""Invalid requests of admin clients: each is refused, with Kafka's error for it (C18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from records.errors import Error, error_name
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import AlterConfigsRequest, DescribeConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.quorum import DescribeQuorumRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.messages.versions import ApiVersionsRequest
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulations.cluster.clients.admins import Admin

# No broker has this id, and no topic this name.
NO_BROKER = 9999
NOWHERE = "nowhere"
TOO_MANY = 20_000
SECOND_MS = 1000
TOPIC, BROKER = 2, 4

# These errors are about the node, not about the request.
ELSEWHERE = {Error.NOT_CONTROLLER, Error.REQUEST_TIMED_OUT, Error.NOT_LEADER_OR_FOLLOWER}


class Mistake(NamedTuple):
    """request: made from a cluster and the name of a topic that may exist. refused: with one of these errors."""

    request: Callable[[str, str], Any]
    refused: tuple[Error, ...]


def make_a_mistake(admin: Admin) -> None:
    """Send one invalid request."""
    mistake = admin.one_of(MISTAKES)
    admin.run.count("mistake")
    request = mistake.request(admin.run.cluster_id, admin.topic())
    refused = mistake.refused
    if isinstance(request, DeleteTopicsRequest) and admin.run.plan.properties.get("delete.topic.enable") == "false":
        refused = (Error.TOPIC_DELETION_DISABLED, Error.INVALID_REQUEST)  # by version; nothing else is looked at

    def read(response: Any) -> list[Any]:
        codes = set(error_codes(response)) - {Error.NONE}
        if not codes & ELSEWHERE and (not codes or not codes <= set(refused)):
            expected = " or ".join(each.name for each in refused)
            answered = ", ".join(error_name(code) for code in sorted(codes)) or "with success"
            raise Violation("C18", f"{admin.name} asks {request}, and is answered {answered}, not {expected}")
        return []

    admin.ask(request, [], read)


def error_codes(value: Any) -> Iterator[int]:
    """All error codes anywhere in an answer."""
    for name in getattr(value, "__slots__", ()):
        part = getattr(value, name)
        if name == "error_code":
            yield int(part)
        elif isinstance(part, tuple):
            for each in part:
                yield from error_codes(each)


def _create(*names: str, partitions: int = 1, replicas: int = 1, config: str | None = None) -> Any:
    wanted = CreateTopicsRequest.CreatableTopic
    configs = () if config is None else (wanted.CreatableTopicConfig(name="retention.ms", value=config),)
    topics = tuple(
        wanted(name=name, num_partitions=partitions, replication_factor=replicas, assignments=(), configs=configs)
        for name in names
    )
    return CreateTopicsRequest(topics=topics, timeout_ms=SECOND_MS)


def _create_on_stranger(_cluster: str, _topic: str) -> Any:
    wanted = CreateTopicsRequest.CreatableTopic
    assignment = wanted.CreatableReplicaAssignment(partition_index=0, broker_ids=(NO_BROKER,))
    topic = wanted(name=NOWHERE, num_partitions=-1, replication_factor=-1, assignments=(assignment,), configs=())
    return CreateTopicsRequest(topics=(topic,), timeout_ms=SECOND_MS)


def _delete(name: str | None, topic_id: bytes) -> Any:
    topic = DeleteTopicsRequest.DeleteTopicState(name=name, topic_id=topic_id)
    return DeleteTopicsRequest(topics=(topic,), timeout_ms=SECOND_MS)


def _grow(*names: str, count: int) -> Any:
    wanted = CreatePartitionsRequest.CreatePartitionsTopic
    topics = tuple(wanted(name=name, count=count, assignments=None) for name in names)
    return CreatePartitionsRequest(topics=topics, timeout_ms=SECOND_MS, validate_only=False)


def _reassign(name: str, replicas: tuple[int, ...]) -> Any:
    wanted = AlterPartitionReassignmentsRequest.ReassignableTopic
    partition = wanted.ReassignablePartition(partition_index=0, replicas=replicas)
    topic = wanted(name=name, partitions=(partition,))
    return AlterPartitionReassignmentsRequest(topics=(topic,), timeout_ms=SECOND_MS)


def _elect(name: str, kind: int) -> Any:
    topic = ElectLeadersRequest.TopicPartitions(topic=name, partitions=(0,))
    return ElectLeadersRequest(election_type=kind, topic_partitions=(topic,), timeout_ms=SECOND_MS)


def _configure(kind: int, *names: str, operation: int = 0, value: str = "1000") -> Any:
    wanted = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = wanted.AlterableConfig(name="retention.ms", config_operation=operation, value=value)
    resources = tuple(wanted(resource_type=kind, resource_name=name, configs=(config,)) for name in names)
    return IncrementalAlterConfigsRequest(resources=resources, validate_only=False)


def _replace(*names: str) -> Any:
    wanted = AlterConfigsRequest.AlterConfigsResource
    resources = tuple(wanted(resource_type=TOPIC, resource_name=name, configs=()) for name in names)
    return AlterConfigsRequest(resources=resources, validate_only=False)


def _describe_configs(kind: int, name: str) -> Any:
    wanted = DescribeConfigsRequest.DescribeConfigsResource
    resource = wanted(resource_type=kind, resource_name=name, configuration_keys=None)
    return DescribeConfigsRequest(resources=(resource,))


def _describe(kind: int) -> Any:
    return DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=kind)


def _describe_quorum(_cluster: str, topic: str) -> Any:
    wanted = DescribeQuorumRequest.TopicData
    return DescribeQuorumRequest(
        topics=(wanted(topic_name=topic, partitions=(wanted.PartitionData(partition_index=0),)),)
    )


def _set_level(name: str, level: int, kind: int = 1) -> Any:
    update = UpdateFeaturesRequest.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
    return UpdateFeaturesRequest(feature_updates=(update,))


def _register(cluster: str, *levels: tuple[str, int, int]) -> Any:
    feature = BrokerRegistrationRequest.Feature
    return BrokerRegistrationRequest(
        broker_id=NO_BROKER,
        cluster_id=cluster,
        incarnation_id=b"i" * 16,
        listeners=(),
        features=tuple(
            feature(name=name, min_supported_version=low, max_supported_version=high) for name, low, high in levels
        ),
        rack=None,
        log_dirs=(b"d" * 16,),
    )


def _alter_partition() -> Any:
    wanted = AlterPartitionRequest.TopicData
    member = wanted.PartitionData.BrokerState(broker_id=NO_BROKER)
    partition = wanted.PartitionData(
        partition_index=0, leader_epoch=1, new_isr_with_epochs=(member,), partition_epoch=1
    )
    topic = wanted(topic_id=b"t" * 16, partitions=(partition,))
    return AlterPartitionRequest(broker_id=NO_BROKER, broker_epoch=1, topics=(topic,))


def _heartbeat() -> Any:
    return BrokerHeartbeatRequest(
        broker_id=NO_BROKER, broker_epoch=1, current_metadata_offset=1, want_fence=False, want_shut_down=False
    )


MISSING = Error.UNKNOWN_TOPIC_OR_PARTITION

MISTAKES = (
    Mistake(lambda _, __: _create("a/b"), (Error.INVALID_TOPIC_EXCEPTION,)),
    Mistake(lambda _, __: _create("x" * 250), (Error.INVALID_TOPIC_EXCEPTION,)),
    Mistake(lambda _, __: _create(NOWHERE, replicas=20), (Error.INVALID_REPLICATION_FACTOR,)),
    Mistake(lambda _, __: _create(NOWHERE, partitions=0), (Error.INVALID_PARTITIONS,)),
    Mistake(lambda _, __: _create(NOWHERE, partitions=TOO_MANY), (Error.POLICY_VIOLATION,)),
    Mistake(lambda _, __: _create(NOWHERE, config="never"), (Error.INVALID_CONFIG,)),
    Mistake(lambda _, __: _create(NOWHERE, NOWHERE), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _create("__cluster_metadata"), (Error.INVALID_REQUEST,)),
    Mistake(_create_on_stranger, (Error.INVALID_REPLICA_ASSIGNMENT,)),
    Mistake(lambda _, __: _delete(NOWHERE, bytes(16)), (MISSING,)),
    Mistake(lambda _, __: _delete(None, b"t" * 16), (Error.UNKNOWN_TOPIC_ID,)),
    Mistake(lambda _, topic: _delete(topic, b"t" * 16), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _delete(None, bytes(16)), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _grow(NOWHERE, count=3), (MISSING,)),
    Mistake(lambda _, topic: _grow(topic, topic, count=3), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, topic: _grow(topic, count=-1), (MISSING, Error.INVALID_PARTITIONS)),
    Mistake(lambda _, topic: _grow(topic, count=TOO_MANY), (MISSING, Error.POLICY_VIOLATION)),
    Mistake(lambda _, __: _reassign(NOWHERE, (101,)), (MISSING,)),
    Mistake(lambda _, topic: _reassign(topic, (NO_BROKER,)), (MISSING, Error.INVALID_REPLICA_ASSIGNMENT)),
    Mistake(lambda _, topic: _reassign(topic, (101, 101)), (MISSING, Error.INVALID_REPLICA_ASSIGNMENT)),
    Mistake(lambda _, topic: _reassign(topic, ()), (MISSING, Error.INVALID_REPLICA_ASSIGNMENT)),
    Mistake(lambda _, topic: _elect(topic, 7), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _elect(NOWHERE, 0), (MISSING,)),
    Mistake(lambda _, __: _configure(TOPIC, NOWHERE), (MISSING,)),
    Mistake(lambda _, topic: _configure(TOPIC, topic, value="never"), (MISSING, Error.INVALID_CONFIG)),
    Mistake(lambda _, topic: _configure(TOPIC, topic, operation=2), (Error.INVALID_CONFIG,)),
    Mistake(lambda _, topic: _configure(TOPIC, topic, operation=9), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, topic: _configure(TOPIC, topic, topic), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _configure(BROKER, str(NO_BROKER)), (Error.BROKER_ID_NOT_REGISTERED,)),
    Mistake(lambda _, __: _configure(BROKER, "me"), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, topic: _configure(99, topic), (Error.UNSUPPORTED_VERSION,)),
    Mistake(lambda _, __: _replace(NOWHERE), (MISSING,)),
    Mistake(lambda _, topic: _replace(topic, topic), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _describe_configs(TOPIC, NOWHERE), (MISSING,)),
    Mistake(lambda _, __: _describe_configs(BROKER, str(NO_BROKER)), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _describe_configs(99, NOWHERE), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _describe(1), (Error.MISMATCHED_ENDPOINT_TYPE, Error.UNSUPPORTED_VERSION)),
    Mistake(lambda _, __: _describe(9), (Error.UNSUPPORTED_ENDPOINT_TYPE, Error.UNSUPPORTED_VERSION)),
    Mistake(_describe_quorum, (MISSING,)),
    Mistake(lambda _, __: ApiVersionsRequest(), (Error.INVALID_REQUEST,)),
    Mistake(lambda _, __: _set_level("no.version", 1), (Error.INVALID_UPDATE_VERSION,)),
    Mistake(lambda _, __: _set_level("metadata.version", 99), (Error.INVALID_UPDATE_VERSION,)),
    Mistake(lambda _, __: _set_level("metadata.version", 6, kind=3), (Error.INVALID_UPDATE_VERSION,)),
    Mistake(lambda _, __: _set_level("group.version", 1, kind=0), (Error.INVALID_UPDATE_VERSION,)),
    Mistake(lambda _, __: _set_level("group.version", -1, kind=2), (Error.INVALID_UPDATE_VERSION,)),
    Mistake(lambda _, __: UnregisterBrokerRequest(broker_id=NO_BROKER), (Error.BROKER_ID_NOT_REGISTERED,)),
    Mistake(lambda _, __: _register("another", ("metadata.version", 7, 30)), (Error.INCONSISTENT_CLUSTER_ID,)),
    Mistake(lambda cluster, _: _register(cluster), (Error.INVALID_REGISTRATION,)),
    Mistake(lambda cluster, _: _register(cluster, ("metadata.version", 1, 3)), (Error.UNSUPPORTED_VERSION,)),
    Mistake(lambda _, __: _heartbeat(), (Error.STALE_BROKER_EPOCH,)),
    Mistake(lambda _, __: AllocateProducerIdsRequest(broker_id=NO_BROKER, broker_epoch=1), (Error.STALE_BROKER_EPOCH,)),
    Mistake(lambda _, __: _alter_partition(), (Error.STALE_BROKER_EPOCH,)),
    Mistake(
        lambda _, __: AssignReplicasToDirsRequest(broker_id=NO_BROKER, broker_epoch=1, directories=()),
        (Error.STALE_BROKER_EPOCH, Error.UNSUPPORTED_VERSION),
    ),
)  # fmt: skip

ASKS: dict[str, Callable[[Admin], None]] = {"make_a_mistake": make_a_mistake}
