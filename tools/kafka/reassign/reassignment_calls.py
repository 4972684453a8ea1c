"""Calls about reassignments, and about where replicas are: on brokers (KIP-455), in log directories (KIP-113)."""

from __future__ import annotations

import time
from typing import NamedTuple

from records.errors import Error
from records.java.java_order import DEFAULT_CAPACITY, bucket_order, hash_code
from records.messages.configs import IncrementalAlterConfigsRequest
from records.messages.log_dirs import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest
from records.resource_types import ConfigOperation, ResourceType
from tools.client.admin import ANY_OR_ACTIVE, CONTROLLER, Call
from tools.client.exceptions import KafkaError, execution_exception, in_message, no_result
from tools.command_line.java_texts import Uncaught
from tools.kafka.topics.topic_calls import list_reassignments
from tools.kafka.topics.topic_reader import BrokerReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from tools.client.admin import Admin, Where
    from tools.kafka.topics.topic_calls import Reassignment

    Partition = tuple[str, int]

# Of brokers before 4.1 (KIP-860).
NO_FIXED_FACTOR = (
    "The broker does not support the AllowReplicationFactorChange option for the AlterPartitionReassignments API. "
    "Consider re-sending the request without the option or updating the server version"
)


class Replica(NamedTuple):
    """A replica; its text is that of Java's `TopicPartitionReplica`."""

    topic: str
    partition: int
    broker: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.broker}"

    @property
    def place(self) -> tuple[int, str, int]:
        """What the tool orders replicas by."""
        return self.broker, self.topic, self.partition


class Directories(NamedTuple):
    """Where a replica is, and where it is being moved to; None for nowhere."""

    current: str | None = None
    future: str | None = None


def replica_order(replicas: Iterable[Replica]) -> list[Replica]:
    """The distinct replicas in the order of a HashMap of Java."""
    distinct = list(dict.fromkeys(replicas))
    codes = []
    for replica in distinct:
        code = 31 + hash_code(replica.topic)
        code = 31 * code + replica.partition
        codes.append((31 * code + replica.broker) & 0xFFFFFFFF)
    return bucket_order(distinct, codes, DEFAULT_CAPACITY)


def reassignments_in_progress(
    admin: Admin, partitions: Collection[Partition] | None = None
) -> dict[Partition, Reassignment]:
    """The reassignments of these partitions; of all if None. Raises Uncaught."""
    by_topic = None
    if partitions is not None:
        for partition in partitions:
            refused = _refusal(partition)
            if refused is not None:
                raise execution_exception(refused)
        by_topic = {name: [index for _, index in indexes] for name, indexes in _by_topic(partitions).items()}
    try:
        return list_reassignments(admin, by_topic)
    except Uncaught as error:
        raise execution_exception(error) from None


def alter_reassignments(
    admin: Admin, wanted: Mapping[Partition, tuple[int, ...] | None], *, fixed_factor: bool = False
) -> dict[Partition, str | None]:
    """Start reassignments to these replicas, or cancel them (None); the message of the exception where one fails.

    fixed_factor: whether a change of the number of replicas is refused.
    """
    refused = {partition: _refusal(partition) for partition in wanted}
    failed = {partition: error.message for partition, error in refused.items() if error is not None}
    sent = sorted(partition for partition in wanted if partition not in failed)
    if not sent:
        return failed
    named = AlterPartitionReassignmentsRequest.ReassignableTopic
    topics = tuple(
        named(
            name=name,
            partitions=tuple(
                named.ReassignablePartition(partition_index=index, replicas=wanted[name, index])
                for _, index in partitions
            ),
        )
        for name, partitions in _by_topic(sent).items()
    )

    def request(timeout_ms: int) -> AlterPartitionReassignmentsRequest:
        return AlterPartitionReassignmentsRequest(
            timeout_ms=timeout_ms, allow_replication_factor_change=not fixed_factor, topics=topics
        )

    def outcome(response: Any) -> dict[Partition, str | None]:
        _check_top(response)
        errors = {
            (topic.name, each.partition_index): KafkaError(each.error_code, each.error_message).message
            for topic in response.responses
            for each in topic.partitions
            if each.error_code
        }
        count = sum(len(topic.partitions) for topic in response.responses)
        if not errors and count != len(sent):
            quantifier = "many" if count > len(sent) else "less"
            text = f"The server returned too {quantifier} results.Expected {len(sent)} but received {count}"
            raise KafkaError(Error.UNKNOWN_SERVER_ERROR, text)
        return errors

    try:
        errors: dict[Partition, str | None] = admin.call(
            Call("alterPartitionReassignments", request, outcome, CONTROLLER)
        )
    except Uncaught as error:
        is_too_old = fixed_factor and isinstance(error, KafkaError) and error.code == Error.UNSUPPORTED_VERSION
        errors = dict.fromkeys(sent, NO_FIXED_FACTOR if is_too_old else error.message)
    return failed | errors


def describe_replicas(admin: Admin, topics: Collection[str]) -> dict[str, list[tuple[int, ...]] | KafkaError]:
    """The replicas of each partition of each topic, or why the topic is not described. Raises Uncaught."""
    if not topics:
        return {}
    _check_brokers(admin)
    try:
        outcomes = BrokerReader(admin).outcomes(list(topics))
    except Uncaught as error:
        raise execution_exception(error) from None
    return {
        name: topic if isinstance(topic, KafkaError) else [partition.replicas for partition in topic.partitions]
        for name, topic in outcomes.items()
    }


def describe_directories(admin: Admin, replicas: Collection[Replica]) -> dict[Replica, Directories]:
    """Where each replica is on its broker. Raises Uncaught if a broker is not reached in time."""
    if replicas:
        _check_brokers(admin)
    named = DescribeLogDirsRequest.DescribableLogDirTopic
    directories: dict[Replica, Directories] = {}
    by_broker, end = _by_broker(replicas), _end(admin)
    for broker in _live_first(admin, by_broker):
        on_broker = [(replica.topic, replica.partition) for replica in by_broker[broker]]
        request = DescribeLogDirsRequest(
            topics=tuple(
                named(topic=name, partitions=tuple(index for _, index in indexes))
                for name, indexes in _by_topic(on_broker).items()
            )
        )
        response = admin.result(_at(broker, "describeReplicaLogDirs", request), _remaining_s(end))
        directories.update((Replica(topic, index, broker), Directories()) for topic, index in on_broker)
        for directory in response.results:
            _note(directories, directory, broker)
    return directories


def _note(directories: dict[Replica, Directories], directory: Any, broker: int) -> None:
    """Note the replicas of a directory. Raises Uncaught for a directory that the broker could not describe; one that is
    offline has no replicas.
    """
    if directory.error_code == Error.KAFKA_STORAGE_ERROR:
        return
    if directory.error_code:
        kind = KafkaError(directory.error_code).java_class
        where = f"log directory {in_message(directory.log_dir)} in the response from broker {broker}"
        raise execution_exception(
            Uncaught("java.lang.IllegalStateException", f"The error {kind} for {where} is illegal")
        )
    for topic in directory.topics:
        for partition in topic.partitions:
            replica = Replica(topic.name, partition.partition_index, broker)
            if replica in directories:
                name = "future" if partition.is_future_key else "current"
                directories[replica] = directories[replica]._replace(**{name: directory.log_dir})


def alter_directories(admin: Admin, wanted: Mapping[Replica, str]) -> dict[Replica, Uncaught | None]:
    """Move replicas to these directories of their brokers; the exception for each that cannot be moved."""
    request = AlterReplicaLogDirsRequest
    outcomes: dict[Replica, Uncaught | None] = {}
    by_broker, end = _by_broker(wanted), _end(admin)
    for broker in _live_first(admin, by_broker):
        here = {replica: wanted[replica] for replica in by_broker[broker]}
        dirs = tuple(
            request.AlterReplicaLogDir(path=path, topics=_topics_in(path, here))
            for path in dict.fromkeys(here.values())
        )
        try:
            response = admin.call(_at(broker, "alterReplicaLogDirs", request(dirs=dirs)), _remaining_s(end))
        except Uncaught as error:
            outcomes.update(dict.fromkeys(here, error))
            continue
        codes = {
            Replica(topic.topic_name, each.partition_index, broker): each.error_code
            for topic in response.results
            for each in topic.partitions
        }
        for replica in here:
            if replica not in codes:
                text = f"The response from broker {broker} did not contain a result for replica {replica}"
                outcomes[replica] = no_result(text)
            else:
                outcomes[replica] = KafkaError(codes[replica]) if codes[replica] else None
    return outcomes


def _topics_in(path: str, wanted: Mapping[Replica, str]) -> tuple[Any, ...]:
    named = AlterReplicaLogDirsRequest.AlterReplicaLogDir.AlterReplicaLogDirTopic
    partitions = [(replica.topic, replica.partition) for replica, each in wanted.items() if each == path]
    return tuple(
        named(name=name, partitions=tuple(index for _, index in indexes))
        for name, indexes in _by_topic(partitions).items()
    )


def alter_configs(admin: Admin, kind: int, changes: Mapping[str, Mapping[str, str | None]]) -> None:
    """Set configs of resources of one kind; None deletes. Raises Uncaught.

    Those of a broker are sent to this broker, as by stock, unless the client has addresses of controllers. All are
    sent, then the first error is raised.
    """
    if kind == ResourceType.BROKER and not admin.settings.at_controllers:
        places: list[tuple[Where, list[str]]] = [
            (broker, [str(broker)]) for broker in _live_first(admin, map(int, changes))
        ]
    else:
        places = [(ANY_OR_ACTIVE, list(changes))] if changes else []
    failed, end = None, _end(admin)
    for where, names in places:
        request = _config_request(kind, {name: changes[name] for name in names})
        try:
            admin.call(_altering(request, where), _remaining_s(end))
        except Uncaught as error:
            failed = failed or error
    if failed is not None:
        raise execution_exception(failed)


def _altering(request: IncrementalAlterConfigsRequest, where: Where) -> Call:
    return Call("incrementalAlterConfigs", lambda _: request, _check_configs, where)


def _config_request(kind: int, changes: Mapping[str, Mapping[str, str | None]]) -> IncrementalAlterConfigsRequest:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    return IncrementalAlterConfigsRequest(
        validate_only=False,
        resources=tuple(
            resource(
                resource_type=kind,
                resource_name=name,
                configs=tuple(
                    resource.AlterableConfig(
                        name=key,
                        config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET,
                        value=value,
                    )
                    for key, value in configs.items()
                ),
            )
            for name, configs in changes.items()
        ),
    )


def _check_configs(response: Any) -> None:
    failed = [each for each in response.responses if each.error_code]
    for each in failed:
        if each.error_code in (Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER):
            raise KafkaError(each.error_code, each.error_message, is_final=False)
    if failed:
        raise KafkaError(failed[0].error_code, failed[0].error_message)


def _check_top(response: Any) -> None:
    if response.error_code:
        is_final = response.error_code != Error.NOT_CONTROLLER
        raise KafkaError(response.error_code, response.error_message, is_final=is_final)


def _at(broker: int, name: str, request: Any) -> Call:
    return Call(name, lambda _: request, lambda response: response, broker)


def _check_brokers(admin: Admin) -> None:
    """Check that brokers are asked. Raises Uncaught if only brokers serve a call, and the client has addresses of
    controllers.
    """
    if admin.settings.at_controllers:
        text = "This Admin API is not yet supported when communicating directly with the controller quorum."
        raise execution_exception(KafkaError(Error.UNSUPPORTED_ENDPOINT_TYPE, text))


def _end(admin: Admin) -> float:
    """When calls of several brokers that begin now are given up: stock makes them all at once."""
    return time.monotonic() + admin.settings.api_timeout


def _remaining_s(end: float) -> float:
    return max(0.0, end - time.monotonic())


def _live_first(admin: Admin, brokers: Iterable[int]) -> list[int]:
    """The distinct brokers, those that are known to live first, so that the others do not use up their time."""
    return sorted(set(brokers), key=lambda broker: (broker not in admin.nodes, broker))


def _by_broker(replicas: Iterable[Replica]) -> dict[int, list[Replica]]:
    by_broker: dict[int, list[Replica]] = {}
    for replica in replicas:
        by_broker.setdefault(replica.broker, []).append(replica)
    return by_broker


def _by_topic(partitions: Iterable[Partition]) -> dict[str, list[Partition]]:
    by_topic: dict[str, list[Partition]] = {}
    for partition in partitions:
        by_topic.setdefault(partition[0], []).append(partition)
    return by_topic


def _refusal(partition: Partition) -> KafkaError | None:
    """What is wrong with the name of a partition, which no request is sent for."""
    topic, index = partition
    if not topic:
        text = f"The given topic name '{topic}' cannot be represented in a request."
        return KafkaError(Error.INVALID_TOPIC_EXCEPTION, text)
    if index < 0:
        return KafkaError(Error.INVALID_TOPIC_EXCEPTION, f"The given partition index {index} is not valid.")
    return None
