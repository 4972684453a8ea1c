"""Configs are altered and described as by a stock controller (recorded), and by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from controller.config.effective import ConfigSource
from controller.handlers.configs import incremental_alter_configs
from controller.handlers.describe_configs import describe_configs
from records.errors import ApiError, Error, error_text
from records.features.levels import KAFKA_4_3, KAFKA_4_4
from records.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
)
from records.metadata.topics import RemoveTopicRecord, TopicRecord
from tests.controller.handlers.cluster_of_configs import (
    BROKER,
    CLIENT_METRICS,
    GROUP,
    LOGGER,
    SET,
    TOPIC,
    config,
    context,
    env,
    replay,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.env import Env
    from controller.state.state import State
    from records.features.levels import Release

DATA = Path(__file__).parents[2] / "data" / "kafka-configs"

# The file of the stock controller.
FILE = {
    "process.roles": "controller",
    "node.id": "1",
    "listeners": "CONTROLLER://127.0.0.1:34871",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@127.0.0.1:34871",
    "log.dirs": "/data/1",
    "log.roll.hours": "24",
    "log.retention.minutes": "600",
    "num.io.threads": "4",
    "compression.type": "zstd",
    "log.cleanup.policy": "compact, delete",
    "unknown.key": "hidden",
    "internal.metadata.delete.delay.millis": "1000",
    "ssl.keystore.password": "hush",
    "group.share.session.timeout.ms": "46000",
}

# The names of sources and of errors that the stock client has for the codes.
SOURCES = {
    ConfigSource.TOPIC: "DYNAMIC_TOPIC_CONFIG",
    ConfigSource.DYNAMIC_BROKER: "DYNAMIC_BROKER_CONFIG",
    ConfigSource.DYNAMIC_DEFAULT_BROKER: "DYNAMIC_DEFAULT_BROKER_CONFIG",
    ConfigSource.STATIC_BROKER: "STATIC_BROKER_CONFIG",
    ConfigSource.DEFAULT: "DEFAULT_CONFIG",
    ConfigSource.CLIENT_METRICS: "DYNAMIC_CLIENT_METRICS_CONFIG",
    ConfigSource.GROUP: "DYNAMIC_GROUP_CONFIG",
}
TYPES = ("UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD")
EXCEPTIONS = {
    Error.INVALID_REQUEST: "InvalidRequestException",
    Error.INVALID_CONFIG: "InvalidConfigurationException",
    Error.INVALID_TOPIC_EXCEPTION: "InvalidTopicException",
    Error.UNKNOWN_TOPIC_OR_PARTITION: "UnknownTopicOrPartitionException",
}

Request = IncrementalAlterConfigsRequest.AlterConfigsResource

UNDESCRIBED = ((BROKER, "2"), (BROKER, "x"), (BROKER, "4294967297"), (LOGGER, "2"))


def first_state(*records: Any) -> State:
    """The initial records of a cluster of 4.3, and these records."""
    return state(config(BROKER, "", "min.insync.replicas", "1"), *records, elr=1)


def alter(found: State, kind: int, name: str, *operations: tuple[str, int, str | None], at: Env | None = None) -> Any:
    """Request operations (key, operation, value) on one resource, and commit the records."""
    configs = tuple(
        Request.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in operations
    )
    resource = Request(resource_type=kind, resource_name=name, configs=configs)
    request = IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
    result = incremental_alter_configs(found, context(1), request, at or env(FILE))
    rows: Sequence[Any] = result.records
    for record, _ in rows:
        replay(found, record)
    return result.response.responses[0]


def describe(
    found: State, kind: int, name: str, *keys: str, at: Env | None = None, synonyms: bool = True
) -> DescribeConfigsResponse.DescribeConfigsResult:
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys or None
    )
    request = DescribeConfigsRequest(resources=(resource,), include_synonyms=synonyms)
    return describe_configs(found, context(4), request, at or env(FILE)).response.results[0]


def as_stock_prints(entry: Any) -> list[Any]:
    synonyms = [[synonym.name, synonym.value, SOURCES[synonym.source]] for synonym in entry.synonyms]
    return [
        entry.name, entry.value, SOURCES[entry.config_source], entry.is_sensitive, entry.read_only,
        TYPES[entry.config_type], synonyms,
    ]  # fmt: skip


def failure(answer: Any) -> str:
    text = error_text(answer.error_code) if answer.error_message is None else answer.error_message
    return f"{EXCEPTIONS[answer.error_code]}: {text}"


@pytest.mark.parametrize(("release", "name"), [(KAFKA_4_3, "controller.jsonl"), (KAFKA_4_4, "controller-4.4.jsonl")])
def test_a_stock_controller_answers_the_same_to_the_same_requests(release: Release, name: str) -> None:
    found = first_state()
    different = []
    node = env(FILE, release=release)

    for line in (DATA / name).read_text().splitlines():
        step = json.loads(line)
        if "alter" in step:
            kind, resource, operations = step["alter"]
            answer = alter(found, kind, resource, *map(tuple, operations), at=node)
            ours: Any = "ok" if answer.error_code == Error.NONE else failure(answer)
        else:
            described = describe(found, *step["describe"], at=node)
            ours = [as_stock_prints(entry) for entry in described.configs]
            if described.error_code != Error.NONE:
                ours = failure(described)
        if ours != step["answer"]:
            different.append((line[:100], ours, step["answer"]))

    assert different == []


def orders(**values: str) -> State:
    """A cluster with a topic and its configs."""
    configs = [config(TOPIC, "orders", key.replace("_", "."), value) for key, value in values.items()]
    return first_state(TopicRecord(name="orders", topic_id=bytes(15) + b"\x07"), *configs)


def entry(found: State, kind: int, name: str, key: str, at: Env | None = None) -> list[Any]:
    (described,) = describe(found, kind, name, key, at=at).configs
    return as_stock_prints(described)


def test_the_synonyms_of_a_topic_s_key_are_those_that_the_tool_of_4_3_1_printed() -> None:
    found = orders(segment_bytes="1048576", max_message_bytes="2000000", min_insync_replicas="2")
    replay(found, config(BROKER, "", "message.max.bytes", "1500000"))

    assert entry(found, TOPIC, "orders", "max.message.bytes")[6] == [
        ["max.message.bytes", "2000000", "DYNAMIC_TOPIC_CONFIG"],
        ["message.max.bytes", "1500000", "DYNAMIC_DEFAULT_BROKER_CONFIG"],
        ["message.max.bytes", "1048588", "DEFAULT_CONFIG"],
    ]
    assert entry(found, TOPIC, "orders", "min.insync.replicas")[6] == [
        ["min.insync.replicas", "2", "DYNAMIC_TOPIC_CONFIG"],
        ["min.insync.replicas", "1", "DYNAMIC_DEFAULT_BROKER_CONFIG"],
        ["min.insync.replicas", "1", "DEFAULT_CONFIG"],
    ]
    assert entry(found, TOPIC, "orders", "segment.bytes")[6] == [
        ["segment.bytes", "1048576", "DYNAMIC_TOPIC_CONFIG"],
        ["log.segment.bytes", "1073741824", "DEFAULT_CONFIG"],
    ]


def test_the_clusters_value_of_a_nodes_key_is_in_effect_for_a_topic() -> None:
    found = orders()
    replay(found, config(BROKER, "", "log.segment.bytes", "2000000"), config(BROKER, "1", "log.roll.ms", "7"))

    assert entry(found, TOPIC, "orders", "segment.bytes")[1:3] == ["2000000", "DYNAMIC_DEFAULT_BROKER_CONFIG"]
    assert entry(found, TOPIC, "orders", "segment.ms")[1:3] == ["7", "DYNAMIC_BROKER_CONFIG"]


def test_a_key_set_in_hours_is_in_effect_but_has_the_source_default() -> None:
    # The file has log.roll.hours and log.retention.minutes: of other names than the keys that stand for the topic's.
    assert entry(orders(), TOPIC, "orders", "segment.ms")[1:] == [
        "86400000",
        "DEFAULT_CONFIG",
        False,
        False,
        "LONG",
        [],
    ]
    assert entry(orders(), TOPIC, "orders", "retention.ms")[1:3] == ["36000000", "DEFAULT_CONFIG"]


def test_all_keys_of_a_topic_but_internal_ones_are_described() -> None:
    described = describe(orders(), TOPIC, "orders")
    with_internal = describe(orders(internal_segment_bytes="77"), TOPIC, "orders", "internal.segment.bytes")

    assert len(described.configs) == 37
    assert (described.error_code, described.error_message) == (Error.NONE, "")
    assert [(key.name, key.value) for key in with_internal.configs] == [("internal.segment.bytes", "77")]


def test_synonyms_are_described_on_request() -> None:
    described = describe(orders(), TOPIC, "orders", "retention.bytes", synonyms=False)

    assert described.configs[0].synonyms == ()
    assert described.configs[0].documentation is None


def test_an_unknown_topic_gets_an_error_without_a_message() -> None:
    described = describe(first_state(), TOPIC, "nope")

    assert (described.error_code, described.error_message) == (Error.UNKNOWN_TOPIC_OR_PARTITION, "")


def test_an_invalid_stored_value_is_not_described() -> None:
    described = describe(orders(segment_bytes="5"), TOPIC, "orders")

    assert (described.error_code, described.error_message) == (Error.UNKNOWN_SERVER_ERROR, None)
    assert described.configs == ()


def test_a_secret_is_never_described() -> None:
    found = first_state(config(BROKER, "1", "listener.name.x.ssl.keystore.password", "hush"))

    described = describe(found, BROKER, "1")

    assert "hush" not in repr(described.configs)
    secret = next(key for key in described.configs if key.name == "listener.name.x.ssl.keystore.password")
    assert (secret.value, secret.is_sensitive, secret.synonyms[0].value) == (None, True, None)


def test_inconsistent_dynamic_values_leave_those_of_the_file_in_effect() -> None:
    found = first_state(config(BROKER, "", "max.connections.per.ip", "0"), config(BROKER, "", "num.io.threads", "9"))

    assert entry(found, BROKER, "1", "num.io.threads")[1] == "4"


def test_a_node_describes_only_itself() -> None:
    answers = [describe(first_state(), kind, name) for kind, name in UNDESCRIBED]

    assert [(answer.error_code, answer.error_message) for answer in answers] == [
        (Error.INVALID_REQUEST, "Unexpected broker id, expected 1 or empty string, but received 2"),
        (Error.INVALID_REQUEST, "Broker id must be an integer, but it is: x"),
        (Error.INVALID_REQUEST, "Broker id must be an integer, but it is: 4294967297"),
        (Error.INVALID_REQUEST, "Unexpected broker id, expected 1 but received 2"),
    ]
    assert describe(first_state(), LOGGER, "").error_message == "Broker id must not be empty"


def test_an_internal_key_of_a_group_is_described_if_the_node_sets_its_default() -> None:
    at = env(FILE | {"group.streams.num.warmup.replicas": "5", "group.streams.assignors": "a.B,sticky"})

    described = {key.name: as_stock_prints(key)[1:3] for key in describe(first_state(), GROUP, "any", at=at).configs}

    assert described["streams.num.warmup.replicas"] == ["5", "STATIC_BROKER_CONFIG"]
    assert described["streams.assignor.name"] == ["a.B", "STATIC_BROKER_CONFIG"]
    assert "streams.acceptable.recovery.lag" not in described


def test_loggers_are_described_with_their_effective_level() -> None:
    described = describe(first_state(), LOGGER, "1")

    assert [(key.name, key.value, key.config_source) for key in described.configs] == [
        ("controller", "INFO", ConfigSource.DYNAMIC_BROKER_LOGGER),
        ("raft", "DEBUG", ConfigSource.DYNAMIC_BROKER_LOGGER),
        ("raft.storage", "DEBUG", ConfigSource.DYNAMIC_BROKER_LOGGER),
        ("root", "INFO", ConfigSource.DYNAMIC_BROKER_LOGGER),
    ]


@pytest.mark.parametrize(("kind", "keys"), [(GROUP, 21), (CLIENT_METRICS, 3)])
def test_groups_and_subscriptions_need_not_exist(kind: int, keys: int) -> None:
    assert len(describe(first_state(), kind, "any").configs) == keys


def test_an_unknown_type_of_resource_fails_the_whole_request() -> None:
    with pytest.raises(ApiError, match="Unexpected resource type UNKNOWN for resource x") as error:
        describe(first_state(), 77, "x")

    assert error.value.code is Error.INVALID_REQUEST


def test_the_size_of_a_response_is_limited() -> None:
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=BROKER, resource_name="1", configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=(resource,) * 1000)

    with pytest.raises(ApiError) as error:
        describe_configs(first_state(), context(4), request, env())

    assert error.value.code is Error.POLICY_VIOLATION


@pytest.mark.parametrize(("kind", "name"), [(TOPIC, "orders"), (BROKER, ""), (BROKER, "1")])
def test_a_response_waits_for_uncommitted_configs_that_are_in_effect(kind: int, name: str) -> None:
    found = orders()
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=TOPIC, resource_name="orders", configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=(resource,))
    before = describe_configs(found, context(4), request, env()).rests_on
    key = "segment.bytes" if kind == TOPIC else "log.segment.bytes"
    replay(found, config(kind, name, key, "2000000"), commit=False)
    after = describe_configs(found, context(4), request, env()).rests_on

    assert (before, after) == (-1, found.end_offset - 1)


def test_that_a_topic_is_unknown_waits_for_its_uncommitted_deletion() -> None:
    found = orders()
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=TOPIC, resource_name="orders", configuration_keys=None
    )
    replay(found, RemoveTopicRecord(topic_id=found.topic_ids["orders"]), commit=False)

    result = describe_configs(found, context(4), DescribeConfigsRequest(resources=(resource,)), env())

    assert result.response.results[0].error_code == Error.UNKNOWN_TOPIC_OR_PARTITION
    assert result.rests_on == found.end_offset - 1


def test_an_operation_changes_a_key_of_the_node_as_it_is_described_after_that() -> None:
    found = first_state()
    alter(found, BROKER, "1", ("num.io.threads", SET, "8"))

    assert entry(found, BROKER, "1", "num.io.threads")[1:5] == ["8", "DYNAMIC_BROKER_CONFIG", False, False]


def test_a_resource_that_is_named_twice_is_described_by_the_keys_of_each() -> None:
    cls = DescribeConfigsRequest.DescribeConfigsResource
    resources = tuple(
        cls(resource_type=GROUP, resource_name="g", configuration_keys=keys)
        for keys in (("consumer.session.timeout.ms",), ("consumer.heartbeat.interval.ms",))
    )

    response = describe_configs(
        first_state(), context(4), DescribeConfigsRequest(resources=resources), env(FILE)
    ).response

    assert [[entry.name for entry in result.configs] for result in response.results] == [
        ["consumer.session.timeout.ms"],
        ["consumer.heartbeat.interval.ms"],
    ]


def test_an_empty_list_of_keys_asks_for_all_of_them() -> None:
    cls = DescribeConfigsRequest.DescribeConfigsResource
    resources = tuple(cls(resource_type=GROUP, resource_name="g", configuration_keys=keys) for keys in (None, ()))

    response = describe_configs(
        first_state(), context(4), DescribeConfigsRequest(resources=resources), env(FILE)
    ).response

    every, empty = (result.configs for result in response.results)
    assert len(every) > 1
    assert empty == every


def test_a_key_of_our_own_has_its_value_only_when_it_is_named() -> None:
    node = env({**FILE, "kraft.http.listener": "127.0.0.1:8080"})

    (named,) = describe(first_state(), BROKER, "1", "kraft.http.listener", at=node).configs
    found = {entry.name: entry for entry in describe(first_state(), BROKER, "1", at=node).configs}

    assert (named.value, named.is_sensitive, named.read_only) == ("127.0.0.1:8080", False, True)
    # As stock describes a key that it does not know.
    assert (found["kraft.http.listener"].value, found["kraft.http.listener"].is_sensitive) == (None, True)
