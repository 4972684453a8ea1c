"""CreateTopics (KIP-4, KIP-464, KIP-516, KIP-525)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.config.resources import check_topic_name
from controller.handlers.assignments import (
    NONE_ACTIVE,
    all_have_an_active_replica,
    check_manual_replicas,
    first_partitions,
    placed_replicas,
)
from controller.handlers.topic_configs import ConfigsOf, layers, new_topic_configs
from controller.interface.policies import NewTopic
from controller.interface.results import NOTHING_PENDING, Result, at_once, check_record_count, raised_text
from controller.interface.slices import EVERYTHING
from controller.rules.mutation_quotas import charge, quotas_change
from controller.rules.permissions import allows, permission_on
from controller.state.partitions.topics import has_similar, similar_name
from controller.state.tables.acl import CLUSTER_NAME, AclOperation, AclResourceType
from records.errors import ApiError, Error
from records.java.java_order import hash_order
from records.messages.topics import CreateTopicsResponse
from records.metadata.topics import TopicRecord
from records.metadata_log import METADATA_TOPIC
from records.schema import Shared
from records.uuids import is_reserved, uuid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from controller.config.effective import Effective
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.interface.results import Item
    from controller.interface.slices import Reads
    from controller.state.state import State
    from records.messages.topics import CreateTopicsRequest

TopicResult = CreateTopicsResponse.CreatableTopicResult
ConfigResult = TopicResult.CreatableTopicConfigs

# Kafka's limit on the partitions of one request.
PARTITIONS_MAX = 10_000
DEFAULT = -1


def idle(state: State, context: RequestContext, request: CreateTopicsRequest, env: Env) -> CreateTopicsResponse | None:
    """The response if the request names no valid topic that may be created; None for other requests."""
    wanted, refused = filter_topics(state, context, request, env)
    return None if wanted else CreateTopicsResponse(throttle_time_ms=0, topics=tuple(refused))


def filter_topics(
    state: State, context: RequestContext, request: CreateTopicsRequest, env: Env
) -> tuple[list[Any], list[TopicResult]]:
    """The topics that may be created and that the request alone does not show to be wrong; results for the others.

    A sender that may CREATE on the cluster may create every topic.
    """
    spread = env.slices.spread
    counts: dict[str, int] = {}
    for topic in spread(request.topics):
        counts[topic.name] = counts.get(topic.name, 0) + 1
    may_create = rights(state, context, env, counts)
    denied = Error.TOPIC_AUTHORIZATION_FAILED, "Authorization failed."
    errors: dict[str, tuple[Error, str]] = {}
    for name, count in spread(counts.items()):
        if count > 1:
            errors[name] = Error.INVALID_REQUEST, "Duplicate topic name."
        elif name == METADATA_TOPIC:
            errors[name] = Error.INVALID_REQUEST, f"Creation of internal topic {METADATA_TOPIC} is prohibited."
        elif not may_create(name):
            errors[name] = denied
    if not errors:
        return list(request.topics), []
    # Results stand in the order of Kafka's sets of names: those that are given twice, and then the others.
    ordered = hash_order(counts, pause=env.slices.pause)
    twice = [name for name in ordered if counts[name] > 1]
    once = [name for name in spread(ordered) if counts[name] == 1 and name in errors]
    refused = []
    for name in spread((*twice, *once)):
        code, text = errors[name]
        refused.append(TopicResult(name=name, error_code=code, error_message=text))
    return [topic for topic in spread(request.topics) if topic.name not in errors], refused


def rights(state: State, context: RequestContext, env: Env, names: Collection[str]) -> Callable[[str], bool]:
    """Whether the sender of a request may create a topic of a name, one of these."""
    cluster, topic_type = AclResourceType.CLUSTER, AclResourceType.TOPIC
    if allows(state, context, env, AclOperation.CREATE, cluster, CLUSTER_NAME, log_denied=False):
        return lambda _name: True
    return permission_on(state, context, env, AclOperation.CREATE, topic_type, names)


def failed_result(name: str, error: ApiError) -> TopicResult:
    return TopicResult(name=name, error_code=error.code, error_message=raised_text(error))


def create_topics(state: State, context: RequestContext, request: CreateTopicsRequest, env: Env) -> Result:
    """CreateTopics: each topic is created or refused on its own; all created topics are one batch."""
    wanted, refused = filter_topics(state, context, request, env)
    if not wanted:
        return at_once(CreateTopicsResponse(throttle_time_ms=0, topics=tuple(refused)))
    check_partition_count(wanted, env.settings.num_partitions)
    env.slices.hold(lambda: read_by(state, wanted, env))
    records: list[Item] = []
    count = 0
    results = []
    for topic in wanted:
        env.slices.pause()
        try:
            new, result = create_topic_records(state, context, topic, env)
            records += new
            count += count_records(new)
        except ApiError as error:
            result = failed_result(topic.name, error)
        results.append(result)
        check_record_count(count)
    response = CreateTopicsResponse(throttle_time_ms=0, topics=(*results, *refused))
    written = () if request.validate_only else records
    # A response with records leaves when they are committed, and so after all that is written now.
    return Result(response, written, NOTHING_PENDING if written else rests_on(state, context, wanted, env))


def count_records(items: Iterable[Item]) -> int:
    """The number of records, with those of items that stand for many."""
    return sum([1 if item.__class__ is tuple else len(item) for item in items])


def read_by(state: State, wanted: Sequence[Any], env: Env) -> Reads:
    """What is read to create topics; the partitions of others, and the configs of topics that exist, are not."""
    names = {topic.name for topic in wanted}
    return {
        state.topic_ids.log: names,
        state.similar_names.log: {similar_name(name) for name in env.slices.spread(names)},
        state.configs.log: ConfigsOf(names),
        state.brokers.log: EVERYTHING,
        state.quotas.log: EVERYTHING,
    }


def rests_on(state: State, context: RequestContext, wanted: Sequence[Any], env: Env) -> int:
    """The offset that refusals, and the results of a dry run, depend on."""
    changes = [state.brokers.last_change(), state.configs.last_change(), state.features.last_change()]
    changes.append(quotas_change(state, context))
    for topic in env.slices.spread(wanted):
        changes.append(state.topic_ids.change_offset(topic.name))
        changes.append(state.similar_names.change_offset(similar_name(topic.name)))
    return max(changes)


def check_partition_count(wanted: Sequence[Any], default_count: int) -> None:
    """Raises ApiError(POLICY_VIOLATION), for the whole request, if it has too many partitions."""
    total = 0
    for topic in wanted:
        if topic.assignments:
            total += len(topic.assignments)
        elif topic.num_partitions == DEFAULT:
            total += default_count
        else:
            total += max(topic.num_partitions, 0)
    if total > PARTITIONS_MAX:
        raise ApiError(Error.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def create_topic_records(state: State, context: RequestContext, topic: Any, env: Env) -> tuple[list[Item], TopicResult]:
    """The records of one topic, in Kafka's order, and its result."""
    check_new_name(state, topic.name)
    values = given_configs(topic)
    configs = new_topic_configs(state, env, topic.name, values, forwarded=context.forwarded)
    assignments = assigned_replicas(state, topic, env) if topic.assignments else place_replicas(state, topic, env)
    check_policy(env, topic, values, assignments)
    charge(state, context, env, len(assignments))
    topic_id = random_topic_id(env)
    records: list[Item] = [(TopicRecord(name=topic.name, topic_id=topic_id), 0), *configs]
    records += first_partitions(state, env, topic_id, assignments)
    if not allows(
        state, context, env, AclOperation.DESCRIBE_CONFIGS, AclResourceType.TOPIC, topic.name, log_denied=False
    ):
        hidden = Error.TOPIC_AUTHORIZATION_FAILED
        return records, TopicResult(
            name=topic.name,
            topic_id=topic_id,
            error_code=Error.NONE,
            error_message=None,
            topic_config_error_code=hidden,
            configs=(),
        )
    result = TopicResult(
        name=topic.name,
        topic_id=topic_id,
        error_code=Error.NONE,
        error_message=None,
        num_partitions=len(assignments),
        replication_factor=len(assignments[0]),
        configs=described_configs(state, env, values),
    )
    return records, result


def check_policy(env: Env, topic: Any, configs: Mapping[str, str], assignments: Sequence[Sequence[int]]) -> None:
    """Raises ApiError where the operator's own policy refuses the topic."""
    policy = env.policies.create_topic
    if policy is None:
        return
    if topic.assignments:
        policy(NewTopic(topic.name, None, None, {i: list(each) for i, each in enumerate(assignments)}, configs))
    else:
        policy(NewTopic(topic.name, len(assignments), len(assignments[0]), None, configs))


def check_new_name(state: State, name: str) -> None:
    """Raises ApiError if the name is not valid, is taken, or collides with that of another topic."""
    if name in state.topic_ids:
        raise ApiError(Error.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    similar = state.similar_names.get(similar_name(name), ()) if has_similar(name) else ()
    if similar:
        raise ApiError(Error.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {similar[0]}")
    check_topic_name(name)


def given_configs(topic: Any) -> dict[str, str]:
    """The requested configs; raises ApiError(INVALID_CONFIG) if one has no value."""
    without = [config.name for config in topic.configs if config.value is None]
    if without:
        raise ApiError(Error.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(without)}")
    return {config.name: config.value for config in topic.configs}


def assigned_replicas(state: State, topic: Any, env: Env) -> list[Sequence[int]]:
    """The replicas of each partition by the manual assignment; raises ApiError for the first invalid one."""
    if topic.replication_factor != DEFAULT:
        raise ApiError(
            Error.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        )
    if topic.num_partitions != DEFAULT:
        raise ApiError(
            Error.INVALID_REQUEST, "A manual partition assignment was specified, but numPartitions was not set to -1."
        )
    assignments: dict[int, Sequence[int]] = {}
    replica_count = None
    for assignment in topic.assignments:
        env.slices.pause()
        index, replicas = assignment.partition_index, assignment.broker_ids
        if index in assignments:
            raise ApiError(
                Error.INVALID_REPLICA_ASSIGNMENT, f"Found multiple manual partition assignments for partition {index}"
            )
        check_manual_replicas(state, env, index, replicas, replica_count)
        replica_count = len(replicas)
        assignments[index] = replicas
    if any(index not in assignments for index in range(len(assignments))):
        raise ApiError(Error.INVALID_REPLICA_ASSIGNMENT, "partitions should be a consecutive 0-based integer sequence")
    return [assignments[index] for index in range(len(assignments))]


def place_replicas(state: State, topic: Any, env: Env) -> list[list[int]]:
    """The replicas of each partition, chosen by the controller; raises ApiError if there are too few brokers."""
    replication_factor, partition_count = topic.replication_factor, topic.num_partitions
    if replication_factor < DEFAULT or replication_factor == 0:
        raise ApiError(
            Error.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if partition_count < DEFAULT or partition_count == 0:
        raise ApiError(Error.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value.")
    if partition_count == DEFAULT:
        partition_count = env.settings.num_partitions
    if replication_factor == DEFAULT:
        replication_factor = env.settings.default_replication_factor
    try:
        assignments = placed_replicas(state, env, partition_count, replication_factor)
        if not all_have_an_active_replica(state, assignments):
            raise ApiError(Error.INVALID_REPLICATION_FACTOR, NONE_ACTIVE)
        return assignments
    except ApiError as error:
        text = f"Unable to replicate the partition {replication_factor} time(s): {error.text}"
        raise ApiError(error.code, text) from None


def random_topic_id(env: Env) -> bytes:
    """A random uuid (version 4), but none that Kafka reserves, and none whose text has a dash.

    Before 4.4 it only did not begin with one.
    """
    while True:
        bits = env.random.getrandbits(128) & ~(0xF000 << 64) | 0x4000 << 64
        value = (bits & ~(0b11 << 62) | 0b10 << 62).to_bytes(16, "big")
        if not is_reserved(value) and "-" not in uuid_text(value)[: 1 if env.release.ids_have_dashes else None]:
            return value


def described_configs(state: State, env: Env, values: Mapping[str, str]) -> tuple[ConfigResult, ...]:
    """All effective configs of the new topic, by name (KIP-525)."""
    common = described_defaults(state, env)
    if not values:
        return common
    own = layers(state, env, values)
    results = {config.name: config for config in common}
    results.update((name, config_result(own.find(name))) for name in values)
    return tuple(results[name] for name in sorted(results))


def described_defaults(state: State, env: Env) -> Shared:
    """The effective configs of a topic without its own, by name: equal for all topics, and cached until they change."""
    made_from = layers(state, env, {})
    kept = env.topic_defaults
    if kept is None or kept[0] != made_from.node or kept[1] != made_from.cluster:
        results = Shared(config_result(config) for config in made_from.all(env.release))
        kept = env.topic_defaults = (made_from.node, made_from.cluster, results)
    return kept[2]


def config_result(config: Effective) -> ConfigResult:
    return ConfigResult(
        name=config.name,
        value=None if config.is_sensitive else config.value,
        read_only=config.read_only,
        config_source=config.source,
        is_sensitive=config.is_sensitive,
    )
