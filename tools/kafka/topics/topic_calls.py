"""Calls about topics: create, add partitions, delete, list reassignments (KIP-4, KIP-195, KIP-455)."""

from __future__ import annotations

from typing import NamedTuple

from records.errors import Error
from records.java.java_order import hash_order
from records.messages.reassignments import ListPartitionReassignmentsRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from tools.client.admin import CONTROLLER, Call
from tools.client.exceptions import KafkaError, no_result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from tools.client.admin import Admin
    from tools.kafka.topics.topic_arguments import NewTopic


class Reassignment(NamedTuple):
    """replicas: all present ones, those that are added and removed too."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


def create_topic(admin: Admin, topic: NewTopic) -> None:
    """Create a topic. Raises Uncaught where the node refuses it."""
    if not topic.name:
        text = "The given topic name '' cannot be represented in a request."
        raise KafkaError(Error.INVALID_TOPIC_EXCEPTION, text)
    kind = CreateTopicsRequest.CreatableTopic
    is_placed = bool(topic.assignment)
    wanted = kind(
        name=topic.name,
        num_partitions=-1 if is_placed or topic.partitions is None else topic.partitions,
        replication_factor=-1 if is_placed or topic.replication_factor is None else topic.replication_factor,
        assignments=tuple(
            kind.CreatableReplicaAssignment(partition_index=index, broker_ids=tuple(brokers))
            for index, brokers in topic.assignment.items()
        ),
        configs=tuple(kind.CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()),
    )

    def request(timeout_ms: int) -> CreateTopicsRequest:
        return CreateTopicsRequest(topics=(wanted,), timeout_ms=timeout_ms)

    _raise_first([topic.name], _call(admin, "createTopics", request, lambda response: response.topics))


def create_partitions(admin: Admin, count: int, added: Mapping[str, list[list[int]] | None]) -> None:
    """Raise the number of partitions of topics to `count`.

    added: topic -> the brokers of each new partition, None to leave them to the controller. Raises Uncaught.
    """
    kind = CreatePartitionsRequest.CreatePartitionsTopic
    topics = tuple(
        kind(
            name=name,
            count=count,
            assignments=None
            if brokers is None
            else tuple(kind.CreatePartitionsAssignment(broker_ids=tuple(each)) for each in brokers),
        )
        for name, brokers in added.items()
    )

    def request(timeout_ms: int) -> CreatePartitionsRequest:
        return CreatePartitionsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=False)

    _raise_first(added, _call(admin, "createPartitions", request, lambda response: response.results))


def delete_topics(admin: Admin, names: Sequence[str]) -> None:
    """Delete topics. Raises Uncaught for the first that the node refuses."""
    topics = tuple(DeleteTopicsRequest.DeleteTopicState(name=name) for name in names)

    def request(timeout_ms: int) -> DeleteTopicsRequest:
        return DeleteTopicsRequest(topics=topics, timeout_ms=timeout_ms)

    _raise_first(names, _call(admin, "deleteTopics", request, lambda response: response.responses))


def list_reassignments(
    admin: Admin, partitions: Mapping[str, Sequence[int]] | None
) -> dict[tuple[str, int], Reassignment]:
    """The reassignments in progress of these partitions, of all if None, by topic and index. Raises Uncaught."""
    kind = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
    topics = None
    if partitions is not None:
        topics = tuple(kind(name=name, partition_indexes=tuple(indexes)) for name, indexes in partitions.items())

    def request(timeout_ms: int) -> ListPartitionReassignmentsRequest:
        return ListPartitionReassignmentsRequest(timeout_ms=timeout_ms, topics=topics)

    def outcome(response: Any) -> dict[tuple[str, int], Reassignment]:
        if response.error_code:
            is_moved = response.error_code == Error.NOT_CONTROLLER
            raise KafkaError(response.error_code, response.error_message, is_final=not is_moved)
        return {
            (topic.name, partition.partition_index): Reassignment(
                tuple(partition.replicas), tuple(partition.adding_replicas), tuple(partition.removing_replicas)
            )
            for topic in response.topics
            for partition in topic.partitions
        }

    reassignments: dict[tuple[str, int], Reassignment] = admin.call(
        Call("listPartitionReassignments", request, outcome, CONTROLLER)
    )
    return reassignments


def _call(admin: Admin, name: str, request: Any, results: Any) -> dict[str, KafkaError | None]:
    """The outcome of each topic. Raises Uncaught."""

    def outcome(response: Any) -> dict[str, KafkaError | None]:
        listed = results(response)
        moved = {Error.NOT_CONTROLLER}
        if admin.settings.at_controllers:
            moved.add(Error.NOT_LEADER_OR_FOLLOWER)
        for each in listed:
            if each.error_code in moved:
                raise KafkaError(each.error_code, is_final=False)
        return {
            str(each.name): KafkaError(each.error_code, each.error_message) if each.error_code else None
            for each in listed
        }

    outcomes: dict[str, KafkaError | None] = admin.call(Call(name, request, outcome, CONTROLLER))
    return outcomes


def _raise_first(names: Iterable[str], outcomes: Mapping[str, KafkaError | None]) -> None:
    """Check the outcomes. Raises Uncaught for the first topic that failed, in the order of the map that stock's client
    returns.
    """
    from tools.kafka.topics.topic_reader import copied_capacity

    wanted = hash_order(names)
    for name in hash_order(wanted, copied_capacity(len(wanted))):
        if name not in outcomes:
            text = f"The controller response did not contain a result for topic {name}"
            raise no_result(text)
        error = outcomes[name]
        if error is not None:
            raise error
