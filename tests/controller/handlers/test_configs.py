"""IncrementalAlterConfigs and AlterConfigs: the records they write, the errors, and the texts of the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.handlers.configs import alter_configs, incremental_alter_configs, is_local
from controller.interface.effects import SetLogLevel
from controller.interface.results import NOTHING_PENDING
from records.errors import ApiError, Error
from records.messages.configs import AlterConfigsRequest, IncrementalAlterConfigsRequest
from records.metadata.topics import ClearElrRecord, TopicRecord
from tests.controller.handlers.cluster_of_configs import (
    APPEND,
    BROKER,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    LOGGER,
    SET,
    SUBTRACT,
    TOPIC,
    broker,
    config,
    context,
    controller,
    env,
    level,
    replay,
    state,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.env import Env
    from controller.interface.results import Result
    from controller.state.state import State

Incremental = IncrementalAlterConfigsRequest.AlterConfigsResource
Full = AlterConfigsRequest.AlterConfigsResource

OK = (Error.NONE, None)
CORDON_REFUSED = (
    "When updating cordoned.log.dirs via controllers,  the new value must be a subset of the current configuration "
    "value."
)
NO_LEVEL = (
    "Cannot set the log level of root to loud as it is not a supported log level. Valid log levels are DEBUG, ERROR, "
    "FATAL, INFO, TRACE, WARN"
)
ORDERS = TopicRecord(name="orders", topic_id=bytes(15) + b"\x07")


def resource(kind: int, name: str, *operations: tuple[str, int, str | None]) -> Incremental:
    """Operations as (key, operation, value)."""
    configs = tuple(
        Incremental.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in operations
    )
    return Incremental(resource_type=kind, resource_name=name, configs=configs)


def incremental(
    found: State, *resources: Any, at: Env | None = None, forwarded: bool = False, validate_only: bool = False
) -> Result:
    request = IncrementalAlterConfigsRequest(resources=resources, validate_only=validate_only)
    return incremental_alter_configs(found, context(1, forwarded=forwarded), request, at or env())


def full(found: State, *resources: tuple[int, str, dict[str, str | None]], validate_only: bool = False) -> Result:
    items = tuple(
        Full(
            resource_type=kind,
            resource_name=name,
            configs=tuple(Full.AlterableConfig(name=key, value=value) for key, value in values.items()),
        )
        for kind, name, values in resources
    )
    request = AlterConfigsRequest(resources=items, validate_only=validate_only)
    return alter_configs(found, context(2), request, env())


def answers(result: Result) -> list[tuple[Any, ...]]:
    return [(answer.error_code, answer.error_message) for answer in result.response.responses]


def records(result: Result) -> list[Any]:
    rows: Sequence[Any] = result.records
    assert all(version == 0 for _, version in rows)
    return [record for record, _ in rows]


def one(found: State, *operations: tuple[str, int, str | None], kind: int = TOPIC, name: str = "orders") -> Any:
    """The records of operations on one resource, or the code and text of their refusal."""
    result = incremental(found, resource(kind, name, *operations))
    (answer,) = answers(result)
    return records(result) if answer == OK else answer


def test_each_operation_does_to_a_key_what_its_name_says() -> None:
    found = state(
        ORDERS, config(TOPIC, "orders", "cleanup.policy", "compact"), config(TOPIC, "orders", "segment.ms", "5")
    )

    written = one(
        found,
        ("retention.ms", SET, "1000"),
        ("segment.ms", DELETE, None),
        ("cleanup.policy", APPEND, "delete,compact"),
        ("leader.replication.throttled.replicas", APPEND, "1:2,3:4"),
        ("follower.replication.throttled.replicas", SUBTRACT, "1:2"),
    )

    assert written == [
        config(TOPIC, "orders", "cleanup.policy", "compact,delete"),
        config(TOPIC, "orders", "leader.replication.throttled.replicas", "1:2,3:4"),
        config(TOPIC, "orders", "follower.replication.throttled.replicas", ""),
        config(TOPIC, "orders", "retention.ms", "1000"),
        config(TOPIC, "orders", "segment.ms", None),
    ]


def test_append_and_subtract_start_from_the_default_of_an_unset_key() -> None:
    found = state(ORDERS)

    assert one(found, ("cleanup.policy", APPEND, "compact")) == [
        config(TOPIC, "orders", "cleanup.policy", "delete,compact")
    ]
    assert one(found, ("cleanup.policy", SUBTRACT, "delete")) == [config(TOPIC, "orders", "cleanup.policy", "")]


def test_append_and_subtract_apply_only_to_lists() -> None:
    text = "Can't {} to key {} because its type is not LIST."

    assert one(state(ORDERS), ("segment.ms", APPEND, "1")) == (
        Error.INVALID_CONFIG,
        text.format("APPEND", "segment.ms"),
    )
    assert one(state(ORDERS), ("nope", SUBTRACT, "1")) == (Error.INVALID_CONFIG, text.format("SUBTRACT", "nope"))
    # Stock's schema has no subscriptions of metrics, so their lists are none to it.
    assert one(state(), ("metrics", APPEND, "a"), kind=CLIENT_METRICS, name="c") == (
        Error.INVALID_CONFIG,
        text.format("APPEND", "metrics"),
    )


def test_an_unknown_operation_or_a_missing_value_refuses_only_its_resource() -> None:
    result = incremental(
        state(ORDERS),
        resource(TOPIC, "orders", ("cleanup.policy", APPEND, None)),
        resource(BROKER, "", ("log.roll.ms", 9, "1")),
        resource(BROKER, "1", ("log.roll.ms", SET, "1")),
    )

    assert [code for code, _ in answers(result)] == [Error.INVALID_REQUEST, Error.INVALID_REQUEST, Error.NONE]
    assert records(result) == [config(BROKER, "1", "log.roll.ms", "1")]


def test_an_unchanged_value_is_written_for_a_node_and_not_for_a_topic() -> None:
    # Brokers reload the files that a key names when its value is written again.
    found = state(ORDERS, config(TOPIC, "orders", "segment.ms", "5"), config(BROKER, "", "log.roll.ms", "5"))

    assert one(found, ("segment.ms", SET, "5"), ("flush.ms", DELETE, None)) == []
    assert one(found, ("log.roll.ms", SET, "5"), ("nope", DELETE, None), kind=BROKER, name="") == [
        config(BROKER, "", "nope", None),
        config(BROKER, "", "log.roll.ms", "5"),
    ]


def test_a_refused_resource_writes_nothing_and_does_not_affect_others() -> None:
    result = incremental(
        state(ORDERS),
        resource(TOPIC, "orders", ("segment.ms", SET, "5"), ("max.message.bytes", SET, "many")),
        resource(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")),
    )

    assert answers(result) == [
        (Error.INVALID_CONFIG, "Invalid value many for configuration max.message.bytes: Not a number of type INT"),
        OK,
    ]
    assert records(result) == [config(GROUP, "g", "consumer.session.timeout.ms", "50000")]


def test_unchanged_keys_are_checked_together_with_changed_ones() -> None:
    found = state(ORDERS, config(TOPIC, "orders", "min.compaction.lag.ms", "10"))

    assert one(found, ("max.compaction.lag.ms", SET, "5")) == (
        Error.INVALID_CONFIG,
        "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
    )


def test_a_topic_and_a_node_must_exist_a_group_and_a_subscription_need_not() -> None:
    found = state(broker(5), controller(7))

    assert one(found, ("segment.ms", SET, "5")) == (
        Error.UNKNOWN_TOPIC_OR_PARTITION,
        "The topic 'orders' does not exist.",
    )
    assert one(found, ("a", SET, "5"), kind=BROKER, name="6") == (
        Error.BROKER_ID_NOT_REGISTERED,
        "No node with id 6 found.",
    )
    for node_id in ("1", "5", "7"):
        assert one(found, ("a", SET, "5"), kind=BROKER, name=node_id) == [config(BROKER, node_id, "a", "5")]
    assert one(found, ("interval.ms", SET, "500"), kind=CLIENT_METRICS, name="c") != []


def test_a_resource_named_twice_is_refused_once() -> None:
    same = resource(BROKER, "", ("log.roll.ms", SET, "5"))

    result = incremental(state(), same, resource(BROKER, "1", ("log.roll.ms", SET, "5")), same, same)

    assert [(a.resource_name, a.error_code, a.error_message) for a in result.response.responses] == [
        ("", Error.INVALID_REQUEST, "Duplicate resource."),
        ("1", Error.NONE, None),
    ]


def test_of_a_key_given_twice_the_last_value_counts() -> None:
    assert one(state(ORDERS), ("segment.ms", SET, "5"), ("segment.ms", SET, "6")) == [
        config(TOPIC, "orders", "segment.ms", "6")
    ]


def test_an_unknown_type_refuses_only_its_resource() -> None:
    result = incremental(state(), resource(99, "x", ("a", SET, "b")), resource(BROKER, "", ("a", SET, "b")))

    assert answers(result) == [(Error.UNSUPPORTED_VERSION, "Unknown resource type 99."), OK]


def test_a_dry_run_has_the_same_response_and_writes_nothing() -> None:
    result = incremental(state(ORDERS), resource(TOPIC, "orders", ("segment.ms", SET, "5")), validate_only=True)

    assert (answers(result), records(result)) == ([OK], [])


def test_a_value_that_is_too_long_for_the_wire_is_refused() -> None:
    refused = "The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes."

    assert one(state(), ("a", SET, "x" * 32767), kind=BROKER, name="") != []
    assert one(state(), ("a", SET, "x" * 32768), kind=BROKER, name="") == (Error.INVALID_CONFIG, refused)
    # Stock counts characters and fails over when it writes their bytes.
    assert one(state(), ("a", SET, "é" * 20000), kind=BROKER, name="") == (Error.INVALID_CONFIG, refused)
    long = state(ORDERS, config(TOPIC, "orders", "leader.replication.throttled.replicas", "1:1," * 8000 + "1:1"))
    assert one(long, ("leader.replication.throttled.replicas", APPEND, "2:2," * 9000)) != (
        Error.INVALID_CONFIG,
        refused,
    )
    many = ",".join(f"{number}:1" for number in range(5000))
    assert one(long, ("leader.replication.throttled.replicas", APPEND, many)) == (Error.INVALID_CONFIG, refused)


def test_append_adds_missing_values_and_subtract_removes_the_first_occurrence() -> None:
    found = state(config(BROKER, "", "metric.reporters", "a,b,a"))

    def after(operation: int, value: str) -> str:
        (record,) = one(found, ("metric.reporters", operation, value), kind=BROKER, name="")
        return str(record.value)

    assert [after(APPEND, "c,b,c,d"), after(APPEND, ""), after(APPEND, ","), after(APPEND, " b")] == [
        "a,b,a,c,d",
        "a,b,a,",
        "a,b,a",
        "a,b,a, b",
    ]
    assert [after(SUBTRACT, "a"), after(SUBTRACT, "a,a,a"), after(SUBTRACT, "x"), after(SUBTRACT, "b,a")] == [
        "b,a",
        "b",
        "a,b,a",
        "a",
    ]


def test_too_many_resources_are_refused_before_they_are_checked() -> None:
    many = [resource(TOPIC, f"t{number}", ("segment.ms", SET, "5")) for number in range(10_001)]

    with pytest.raises(ApiError) as error:
        incremental(state(), *many)

    assert error.value.code is Error.POLICY_VIOLATION


def test_more_records_than_one_request_may_write_are_refused_as_a_whole() -> None:
    operations = [(f"key.{number}", SET, "v") for number in range(10_001)]

    with pytest.raises(ApiError) as error:
        incremental(state(), resource(BROKER, "", *operations))

    assert error.value.code is Error.POLICY_VIOLATION


def test_a_change_of_min_insync_replicas_clears_the_elr() -> None:
    found = state(ORDERS, config(BROKER, "", "min.insync.replicas", "1"), elr=1)

    result = incremental(
        found,
        resource(TOPIC, "orders", ("min.insync.replicas", SET, "2")),
        resource(BROKER, "", ("min.insync.replicas", SET, "3")),
    )

    assert records(result) == [
        config(TOPIC, "orders", "min.insync.replicas", "2"),
        config(BROKER, "", "min.insync.replicas", "3"),
        ClearElrRecord(topic_name="orders"),
        ClearElrRecord(topic_name=""),
    ]
    assert one(state(ORDERS), ("min.insync.replicas", SET, "2")) == [
        config(TOPIC, "orders", "min.insync.replicas", "2")
    ]


def test_a_removal_of_min_insync_replicas_clears_the_elr() -> None:
    of_topic = config(TOPIC, "orders", "min.insync.replicas", "1")
    removed = [config(TOPIC, "orders", "min.insync.replicas", None), ClearElrRecord(topic_name="orders")]

    assert one(state(ORDERS, of_topic, elr=1), ("min.insync.replicas", DELETE, None)) == removed
    assert records(full(state(ORDERS, of_topic, elr=1), (TOPIC, "orders", {}))) == removed


def test_with_eligible_replicas_min_insync_replicas_has_one_value_for_all_nodes() -> None:
    found = state(config(BROKER, "", "min.insync.replicas", "1"), elr=1)
    of_a_broker = (Error.INVALID_CONFIG, "Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
    of_all = (Error.INVALID_CONFIG, "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")

    for operation, value in ((SET, "3"), (DELETE, None)):
        assert one(found, ("min.insync.replicas", operation, value), kind=BROKER, name="1") == of_a_broker
    assert one(found, ("min.insync.replicas", DELETE, None), kind=BROKER, name="") == of_all
    assert answers(full(found, (BROKER, "", {}))) == [of_all]


@pytest.mark.parametrize("value", ["", "*", "/a", None])
def test_directories_are_cordoned_from_metadata_version_4_3_on(value: str | None) -> None:
    assert one(state(metadata_version=29), ("cordoned.log.dirs", SET, value), kind=BROKER, name="1") == (
        Error.INVALID_CONFIG,
        "The cordoned.log.dirs configuration value cannot be set because it requires metadata.version >= 4.3-IV0",
    )


@pytest.mark.parametrize(
    ("current", "value", "is_taken"),
    [
        (None, "", True),
        ("some/value", "   ", True),
        ("dir1", "dir1", True),
        ("dir1,dir2", "dir2,dir1", True),
        ("dir1,dir2", " dir2 ", True),
        ("dir2", "dir1", False),
        ("", "dir1", False),
        (None, "dir1", False),
    ],
)
def test_only_a_request_forwarded_by_the_broker_can_cordon_more_directories(
    current: str | None, value: str, is_taken: bool
) -> None:
    found = state()
    if current is not None:
        replay(found, config(BROKER, "1", "cordoned.log.dirs", current))
    target = resource(BROKER, "1", ("cordoned.log.dirs", SET, value))

    directly, forwarded = incremental(found, target), incremental(found, target, forwarded=True)

    refused = (
        Error.INVALID_CONFIG,
        CORDON_REFUSED,
    )
    assert answers(directly) == [OK if is_taken else refused]
    assert answers(forwarded) == [OK]


def test_alter_configs_replaces_the_whole_configuration() -> None:
    found = state(ORDERS, config(TOPIC, "orders", "segment.ms", "5"), config(TOPIC, "orders", "flush.ms", "6"))

    result = full(found, (TOPIC, "orders", {"segment.ms": "5", "retention.ms": "7"}))

    assert answers(result) == [OK]
    assert records(result) == [
        config(TOPIC, "orders", "retention.ms", "7"),
        config(TOPIC, "orders", "flush.ms", None),
    ]


def test_alter_configs_checks_the_whole_configuration() -> None:
    result = full(state(ORDERS), (TOPIC, "orders", {"nope": "1"}), (BROKER, "x", {}), (GROUP, "", {}))

    assert answers(result) == [
        (Error.INVALID_CONFIG, "Unknown topic config name: nope"),
        (Error.INVALID_REQUEST, "Unable to parse broker name as a base 10 number."),
        (Error.INVALID_REQUEST, "Default group resources are not allowed."),
    ]


def test_alter_configs_refuses_loggers() -> None:
    assert answers(full(state(), (LOGGER, "1", {"root": "INFO"}))) == [
        (Error.INVALID_REQUEST, "Unexpected resource type BROKER_LOGGER.")
    ]


def test_levels_of_loggers_are_set_at_once_and_answered_last() -> None:
    result = incremental(
        state(ORDERS),
        resource(LOGGER, "1", ("root", SET, "DEBUG"), ("raft", DELETE, None)),
        resource(TOPIC, "orders", ("segment.ms", SET, "5")),
    )

    assert [answer.resource_type for answer in result.response.responses] == [TOPIC, LOGGER]
    assert result.effects == [SetLogLevel("root", "DEBUG"), SetLogLevel("raft", None)]


def test_levels_are_not_set_in_a_dry_run() -> None:
    result = incremental(state(), resource(LOGGER, "1", ("root", SET, "DEBUG")), validate_only=True)

    assert (answers(result), list(result.effects)) == ([OK], [])


@pytest.mark.parametrize(
    ("name", "operation", "code", "text"),
    [
        ("x", ("root", SET, "INFO"), Error.INVALID_REQUEST, "Node id must be an integer, but it is: x"),
        ("2", ("root", SET, "INFO"), Error.INVALID_REQUEST, "Unexpected node id. Expected 1, but received 2"),
        ("1", ("nope", SET, "INFO"), Error.INVALID_CONFIG, "Logger nope does not exist!"),
        ("1", ("nope", DELETE, None), Error.INVALID_CONFIG, "Logger nope does not exist!"),
        (
            "1",
            ("root", SET, "loud"),
            Error.INVALID_CONFIG,
            NO_LEVEL,
        ),
        (
            "1",
            ("root", SET, None),
            Error.UNKNOWN_SERVER_ERROR,
            "The server experienced an unexpected error when processing the request.",
        ),
        (
            "1",
            ("root", DELETE, None),
            Error.INVALID_REQUEST,
            "Removing the log level of the root logger is not allowed",
        ),
        (
            "1",
            ("root", SUBTRACT, "x"),
            Error.INVALID_REQUEST,
            "SUBTRACT operation is not allowed for the BROKER_LOGGER resource",
        ),
        (
            "1",
            ("root", 9, "x"),
            Error.INVALID_REQUEST,
            "Unknown operation type 9 is not allowed for the BROKER_LOGGER resource",
        ),
    ],
)
def test_a_wrong_level_is_refused_and_none_of_its_resource_is_set(
    name: str, operation: tuple[str, int, str | None], code: Error, text: str
) -> None:
    result = incremental(state(), resource(LOGGER, name, ("raft", SET, "INFO"), operation))

    assert (answers(result), list(result.effects)) == ([(code, text)], [])


def test_any_node_serves_its_own_loggers_and_requests_that_it_refuses() -> None:
    loggers = resource(LOGGER, "1", ("root", SET, "INFO"))
    topic = resource(TOPIC, "orders")

    def alone(*resources: Any) -> bool:
        request = IncrementalAlterConfigsRequest(resources=resources, validate_only=False)
        return is_local(state(), context(), request, env())

    assert (alone(), alone(loggers), alone(topic, topic), alone(resource(99, "x"))) == (True, True, True, True)
    assert (alone(topic), alone(loggers, topic)) == (False, False)


def test_a_response_waits_only_for_uncommitted_changes_of_its_resources() -> None:
    found = state(ORDERS)
    replay(found, config(TOPIC, "orders", "segment.ms", "5"), commit=False)

    touched = incremental(found, resource(TOPIC, "orders", ("segment.ms", SET, "5")))
    untouched = incremental(found, resource(GROUP, "g", ("nope", SET, "5")))

    assert (touched.rests_on, untouched.rests_on) == (found.end_offset - 1, NOTHING_PENDING)


def test_a_refusal_by_a_level_waits_for_the_commit_of_the_level() -> None:
    found = state()
    replay(found, level("eligible.leader.replicas.version", 1), commit=False)

    refused = incremental(found, resource(BROKER, "1", ("min.insync.replicas", SET, "3")))

    assert answers(refused)[0][0] == Error.INVALID_CONFIG
    assert refused.rests_on == found.end_offset - 1


def test_a_handler_leaves_the_state_as_it_was() -> None:
    found = state(ORDERS, config(TOPIC, "orders", "cleanup.policy", "compact"))
    before = found.contents()

    incremental(found, resource(TOPIC, "orders", ("cleanup.policy", APPEND, "delete")))
    full(found, (TOPIC, "orders", {}))

    assert found.contents() == before
