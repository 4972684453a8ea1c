"""Reassignment of replicas: AlterPartitionReassignments, ListPartitionReassignments (KIP-455, KIP-860)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.handlers.assignments import check_assignment
from controller.interface.results import USER_RECORDS_MAX, Result, at_once, raised_text
from controller.rules.partition_change import PartitionTarget
from controller.rules.partition_elections import PartitionElections
from controller.rules.reassignment import plan_reassignment, revert
from records.errors import ApiError, Error
from records.messages.reassignments import AlterPartitionReassignmentsResponse, ListPartitionReassignmentsResponse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.partitions.partition import Partition
    from controller.state.partitions.topics import Topic
    from controller.state.state import State
    from records.messages.reassignments import AlterPartitionReassignmentsRequest, ListPartitionReassignmentsRequest
    from records.metadata.topics import PartitionChangeRecord

    Change = tuple[PartitionChangeRecord, int]

TopicResult = AlterPartitionReassignmentsResponse.ReassignableTopicResponse
PartitionResult = TopicResult.ReassignablePartitionResponse
OngoingTopic = ListPartitionReassignmentsResponse.OngoingTopicReassignment
OngoingPartition = OngoingTopic.OngoingPartitionReassignment


def idle(
    _state: State, _context: RequestContext, request: AlterPartitionReassignmentsRequest, _env: Env
) -> AlterPartitionReassignmentsResponse | None:
    """The answer to a request that names no topic; None for others."""
    return None if request.topics else alter_response(True, (), text="")


def alter_response(
    allow_factor_change: bool, topics: tuple[TopicResult, ...], text: str | None = None
) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0,
        allow_replication_factor_change=allow_factor_change,
        error_code=Error.NONE,
        error_message=text,
        responses=topics,
    )


def alter_reassignments(
    state: State, context: RequestContext, request: AlterPartitionReassignmentsRequest, env: Env
) -> Result:
    """AlterPartitionReassignments: each partition's reassignment is started, cancelled or refused on its own."""
    nothing = idle(state, context, request, env)
    if nothing is not None:
        return at_once(nothing)
    elections = PartitionElections(state, env)
    allow_factor_change = request.allow_replication_factor_change
    records: list[tuple[Any, int]] = []
    topics = []
    for asked_topic in request.topics:
        topic = state.topic(asked_topic.name)
        results = []
        env.slices.pause()
        for asked in asked_topic.partitions:
            env.slices.pause()
            error, text = Error.NONE, None
            try:
                partition = find_partition(elections, asked_topic.name, topic, asked.partition_index)
                assert topic is not None
                if asked.replicas is None:
                    change = cancel(elections, topic, asked.partition_index, partition)
                else:
                    check_target(state, env, partition, asked.replicas, allow_factor_change)
                    change = reassign(elections, topic, asked.partition_index, partition, asked.replicas)
                if change is not None and len(records) == USER_RECORDS_MAX:
                    raise ApiError(Error.UNKNOWN_SERVER_ERROR)
                records += [] if change is None else [change]
            except ApiError as refused:
                error, text = refused.code, raised_text(refused)
            results.append(PartitionResult(partition_index=asked.partition_index, error_code=error, error_message=text))
        topics.append(TopicResult(name=asked_topic.name, partitions=tuple(results)))
    tables = (state.topic_ids, state.partitions, state.brokers, state.configs)
    rests_on = max(table.last_change() for table in tables)
    return Result(alter_response(allow_factor_change, tuple(topics)), records, rests_on)


def find_partition(elections: PartitionElections, name: str, topic: Topic | None, index: int) -> Partition:
    """The partition; raises ApiError(UNKNOWN_TOPIC_OR_PARTITION) if there is none."""
    if topic is None:
        raise ApiError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    partition = elections.find(topic, index)
    if partition is None:
        raise ApiError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
    return partition


def cancel(elections: PartitionElections, topic: Topic, index: int, partition: Partition) -> Change | None:
    """Restore the replicas from before the running reassignment."""
    if not partition.is_reassigning:
        raise ApiError(Error.NO_REASSIGNMENT_IN_PROGRESS)
    before = revert(partition)
    if before.unclean and not elections.allows_unclean(topic):
        raise ApiError(
            Error.INVALID_REPLICA_ASSIGNMENT,
            f"Unable to revert partition assignment for {topic.name}:{index} because it would require an unclean "
            "leader election.",
        )
    target = PartitionTarget(
        election=elections.election(topic), isr=before.isr, replicas=before.replicas, removing=(), adding=()
    )
    return elections.change(topic, index, target)


def check_target(
    state: State, env: Env, partition: Partition, target: Sequence[int], allow_factor_change: bool
) -> None:
    """Check the target replicas: registered brokers, and the same replication factor unless it may change."""
    check_assignment(state, env, target, None)
    if allow_factor_change:
        return
    # During a reassignment the replication factor is that of its target.
    current = {*partition.replicas, *partition.adding} - set(partition.removing)
    if len(current) != len(target):
        raise ApiError(
            Error.INVALID_REPLICATION_FACTOR, f"The replication factor is changed from {len(current)} to {len(target)}"
        )


def reassign(
    elections: PartitionElections, topic: Topic, index: int, partition: Partition, target: Sequence[int]
) -> Change | None:
    """Start a reassignment; complete it at once if enough replicas are in sync."""
    goal = plan_reassignment(partition.replicas, target)
    # An empty list is left out of the target, as in Kafka: it does not clear the list of a running reassignment.
    change = PartitionTarget(
        replicas=goal.replicas if goal.replicas != partition.replicas else None,
        removing=goal.removing or None,
        adding=goal.adding or None,
    )
    return elections.change(topic, index, change)


def list_response(topics: tuple[OngoingTopic, ...]) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(
        throttle_time_ms=0, error_code=Error.NONE, error_message=None, topics=topics
    )


def list_reassignments(
    state: State, _context: RequestContext, request: ListPartitionReassignmentsRequest, env: Env
) -> Result:
    """ListPartitionReassignments: the running ones, of all partitions or of the named ones."""
    if request.topics is not None and not request.topics:
        return at_once(list_response(()))
    partitions = state.partitions
    requested: list[tuple[str, Iterable[int]]]
    if request.topics is None:
        by_topic: dict[str, list[int]] = {}
        for row in partitions.reassigning().tolist():  # no pause: rows may be given to other partitions in one
            by_topic.setdefault(partitions.topic_at(row).name, []).append(partitions.partition_id_at(row))
        requested = list(by_topic.items())
    else:
        # A topic that the request names twice has two entries.
        requested = [(topic.name, topic.partition_indexes) for topic in request.topics]
    topics = []
    for name, indexes in requested:
        env.slices.pause()
        ongoing = tuple(ongoing_partitions(state, env, state.topic(name), indexes))
        if ongoing:
            topics.append(OngoingTopic(name=name, partitions=ongoing))
    rests_on = max(state.topic_ids.last_change(), partitions.last_change())
    return Result(list_response(tuple(topics)), rests_on=rests_on)


def ongoing_partitions(
    state: State, env: Env, topic: Topic | None, indexes: Iterable[int]
) -> Iterable[OngoingPartition]:
    for index in indexes:
        env.slices.pause()
        partition = state.partitions.find(topic, index)
        if partition is not None and partition.is_reassigning:
            yield OngoingPartition(
                partition_index=index,
                replicas=partition.replicas,
                adding_replicas=partition.adding,
                removing_replicas=partition.removing,
            )
