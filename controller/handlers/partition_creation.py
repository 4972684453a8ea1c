"""CreatePartitions: more partitions for existing topics (KIP-195)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.handlers.assignments import (
    NONE_ACTIVE,
    all_have_an_active_replica,
    check_manual_replicas,
    new_partitions,
    placed_replicas,
)
from controller.interface.results import Result, at_once, check_record_count, raised_text
from controller.interface.slices import EVERYTHING
from controller.rules.hash_order import first_partition
from controller.rules.mutation_quotas import charge, quotas_change
from controller.rules.permissions import permission_on
from controller.state.partitions.reads import partitions_of
from controller.state.tables.acl import AclOperation, AclResourceType
from records.errors import ApiError, Error
from records.java.java_order import hash_order
from records.messages.topics import CreatePartitionsResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.partitions.topics import Topic
    from controller.state.state import State
    from records.messages.topics import CreatePartitionsRequest

    Records = list[tuple[Any, int]]

TopicResult = CreatePartitionsResponse.CreatePartitionsTopicResult


def idle(
    state: State, context: RequestContext, request: CreatePartitionsRequest, env: Env
) -> CreatePartitionsResponse | None:
    """The response if the request names no valid topic that may be altered; None for other requests."""
    wanted, refused = filter_topics(state, context, request, env)
    return None if wanted else CreatePartitionsResponse(throttle_time_ms=0, results=tuple(refused))


def filter_topics(
    state: State, context: RequestContext, request: CreatePartitionsRequest, env: Env
) -> tuple[list[Any], list[TopicResult]]:
    """The topics that are named once and may be altered, in Kafka's order, and the results for the others."""
    spread = env.slices.spread
    counts: dict[str, int] = {}
    for topic in spread(request.topics):
        counts[topic.name] = counts.get(topic.name, 0) + 1
    refused = [
        TopicResult(name=name, error_code=Error.INVALID_REQUEST, error_message="Duplicate topic name.")
        for name, count in counts.items()
        if count > 1
    ]
    once = {topic.name: topic for topic in spread(request.topics) if counts[topic.name] == 1}
    may_alter = permission_on(state, context, env, AclOperation.ALTER, AclResourceType.TOPIC, once)
    wanted = []
    for name in spread(hash_order(counts, pause=env.slices.pause)):
        if name not in once:
            continue
        if may_alter(name):
            wanted.append(once[name])
        else:
            refused.append(TopicResult(name=name, error_code=Error.TOPIC_AUTHORIZATION_FAILED))
    return wanted, refused


def create_partitions(state: State, context: RequestContext, request: CreatePartitionsRequest, env: Env) -> Result:
    """CreatePartitions: each topic is changed or refused on its own; all changes are one batch."""
    wanted, results = filter_topics(state, context, request, env)
    if not wanted:
        return at_once(CreatePartitionsResponse(throttle_time_ms=0, results=tuple(results)))
    names = {topic.name for topic in wanted}
    env.slices.hold(lambda: {
        state.topic_ids.log: names,
        state.brokers.log: EVERYTHING,
        state.quotas.log: EVERYTHING,
        **partitions_of(state, names),
    })  # fmt: skip
    records: Records = []
    changes = [state.brokers.last_change()]
    for topic in wanted:
        env.slices.pause()
        changes.append(state.topic_ids.change_offset(topic.name))
        error, text = Error.NONE, None
        try:
            records += create_partition_records(state, context, env, topic)
        except ApiError as refused:
            error, text = refused.code, raised_text(refused)
        results.append(TopicResult(name=topic.name, error_code=error, error_message=text))
        check_record_count(len(records))
    # The present partitions of a topic may not be committed yet.
    changes += (state.partitions.last_change(), quotas_change(state, context))
    response = CreatePartitionsResponse(throttle_time_ms=0, results=tuple(results))
    return Result(response, () if request.validate_only else records, max(changes))


def create_partition_records(state: State, context: RequestContext, env: Env, asked: Any) -> Records:
    """The records of a topic's new partitions; raises ApiError if it cannot have them."""
    topic = state.topic(asked.name)
    if topic is None:
        raise ApiError(Error.UNKNOWN_TOPIC_OR_PARTITION)
    current = topic.partition_count()
    if asked.count == current:
        raise ApiError(Error.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
    if asked.count < current:
        raise ApiError(
            Error.INVALID_PARTITIONS,
            f"The topic {asked.name} currently has {current} partition(s); {asked.count} would not be an increase.",
        )
    additional = asked.count - current
    if asked.assignments is not None and len(asked.assignments) != additional:
        raise ApiError(
            Error.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only {len(asked.assignments)} assignment(s) "
            "were specified.",
        )
    charge(state, context, env, additional)
    # Too many records would make the whole request fail; it is refused before they are built.
    check_record_count(additional)
    replica_count = replication_factor(state, topic)
    replicas: list[Sequence[int]] = []
    if asked.assignments is None:
        replicas += placed_replicas(state, env, additional, replica_count)
        if not all_have_an_active_replica(state, replicas):
            text = f"Unable to replicate the partition {replica_count} time(s): {NONE_ACTIVE}"
            raise ApiError(Error.INVALID_REPLICATION_FACTOR, text)
    else:
        for index, assignment in enumerate(asked.assignments, start=current):
            check_manual_replicas(state, env, index, assignment.broker_ids, replica_count)
            replicas.append(assignment.broker_ids)
    return new_partitions(state, env, topic.topic_id, replicas, current)


def replication_factor(state: State, topic: Topic) -> int:
    """The number of replicas that new partitions of a topic get: that of the partition which Kafka's table gives first.

    Partitions differ in it while one of them is being reassigned. Raises ApiError(UNKNOWN_SERVER_ERROR) for a topic
    without partitions.
    """
    index = first_partition(topic.partition_ids())
    first = None if index is None else state.partitions.find(topic, index)
    if first is None:
        text = f"Invalid state: topic {topic.name} appears to have no partitions."
        raise ApiError(Error.UNKNOWN_SERVER_ERROR, text)
    return len(first.replicas)
