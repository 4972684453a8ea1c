"""The configuration of topics, groups and client metrics is accepted or refused as by a stock controller."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.config.group_checks import _BETWEEN_NODE_KEYS, _BOUNDED
from controller.config.keys import group, server
from controller.config.node import NodeConfig
from controller.config.resources import DEFINITIONS, check_resource, check_topic_name, resource_type
from controller.config.topic_values import topic_defaults
from records.errors import ApiError
from records.features.levels import KAFKA_4_3, KAFKA_4_4, Release
from records.java.config_error import ConfigError
from records.java.java_pattern import is_java_pattern
from records.resource_types import ResourceType
from tests.controller.config.test_node import DATA, NODE, node

if TYPE_CHECKING:
    from controller.config.values.definition import Key

assert isinstance(DATA, Path)

# Well formed, but Java refuses them because of the character that an escape means.
PATTERNS_LET_THROUGH = {r"[a-\d]", r"\x{110000}", r"[\u0062-a]"}


def is_newer(case: dict[str, Any]) -> bool:
    """Whether keys are given that 4.3.1 does not know: it refuses them."""
    keys = DEFINITIONS.get(ResourceType[case["type"]], ())
    return any(key.since and key.name in case["given"] for key in keys)


@pytest.mark.parametrize("release", [KAFKA_4_3, KAFKA_4_4], ids=lambda release: release.name)
def test_stock_accepts_and_refuses_the_same_configurations_with_the_same_texts(release: Release) -> None:
    nodes = {
        remote: NodeConfig(NODE | {"remote.log.storage.system.enable": str(remote)}).values for remote in (False, True)
    }
    different = []
    for line in (DATA / "resources.jsonl").read_text().splitlines():
        case = json.loads(line)
        if is_newer(case) and release is KAFKA_4_3:
            continue
        ours = ["ok"]
        try:
            kind = ResourceType[case["type"]]
            check_resource(kind, case["name"], case["given"], case["existing"], nodes[case["remote"]], release)
        except ApiError as error:
            ours = [error.code.name, error.text]
        if ours != (case.get("answer_4_3", case["answer"]) if release is KAFKA_4_3 else case["answer"]):
            different.append((line, ours))

    assert different == []


def test_a_text_is_a_pattern_if_java_compiles_it() -> None:
    rows = [line.partition("\t") for line in (DATA / "patterns.tsv").read_text().splitlines()]

    different = {text: verdict for verdict, _, text in rows if is_java_pattern(text) != (verdict == "true")}

    assert different == dict.fromkeys(PATTERNS_LET_THROUGH, "false")


@given(st.text(alphabet=r"\ab1[](){}?*+,^$|&<>:-QEpLd", max_size=30))
def test_any_text_is_checked_without_a_crash(text: str) -> None:
    is_java_pattern(text)


def test_a_topic_has_its_defaults_from_the_node_with_milliseconds_first() -> None:
    defaults = topic_defaults(
        node(log_retention_hours="2", log_retention_minutes="3", log_roll_hours="1", log_flush_interval_ms="7").values
    )

    assert defaults["retention.ms"] == 180_000
    assert defaults["segment.ms"] == 3_600_000
    assert defaults["flush.ms"] == 7
    assert defaults["segment.jitter.ms"] == 0
    assert topic_defaults(node(log_retention_ms="-5").values)["retention.ms"] == -1


def test_an_unknown_code_is_the_resource_type_unknown() -> None:
    assert resource_type(2) is ResourceType.TOPIC
    assert resource_type(77) is ResourceType.UNKNOWN


def test_a_topics_name_may_have_all_that_kafka_allows() -> None:
    check_topic_name("azAZ09._-" + "x" * 240)

    for name in ("", ".", "..", "a b", "x" * 250):
        with pytest.raises(ApiError, match="Topic name is invalid: "):
            check_topic_name(name)


def test_a_value_that_a_node_may_have_is_valid_for_a_group() -> None:
    numbers = {edge + by for edge in (0, 2, 5, 10, 100, 1000, 10_000, 3_600_000, 2**31 - 2) for by in (-1, 0, 1)}

    def accepts(key: Key | None, number: int) -> bool:
        assert key is not None
        try:
            key.parse(str(number))
        except ConfigError:
            return False
        return True

    for name, of_node in group.SYNONYMS.items():
        for number in numbers:
            assert accepts(group.KEYS.get(name), number) or not accepts(server.KEYS.get(of_node), number), name


def test_each_bound_of_a_group_is_one_that_its_node_is_held_to() -> None:
    node_keys = {frozenset((left, right)) for left, _, right in _BETWEEN_NODE_KEYS}

    assert {frozenset((group.SYNONYMS[key], bound)) for key, _, bound in _BOUNDED} <= node_keys


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"consumer.session.timeout.ms": "1"},
            "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
        ),
        ({"streams.num.standby.replicas": "3"}, "streams.num.standby.replicas must be less than or equal to 2"),
        (
            {"streams.task.offset.interval.ms": "1"},
            "streams.task.offset.interval.ms must be greater than or equal to 15000",
        ),
        (
            {"streams.assignor.name": " other"},
            "streams.assignor.name 'other' is not a registered task assignor. Registered assignors are: [sticky].",
        ),
        (
            {"streams.rack.aware.assignment.tags": "a, a"},
            "streams.rack.aware.assignment.tags must not contain duplicate tag keys.",
        ),
        (
            {"errors.deadletterqueue.topic.name": "__x"},
            "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'",
        ),
    ],
)
def test_a_group_is_checked_as_by_4_4(given: dict[str, str], text: str) -> None:
    with pytest.raises(ApiError) as error:
        check_resource(ResourceType.GROUP, "g", given, {}, NodeConfig(NODE).values)

    assert (error.value.code.name, error.value.text) == ("INVALID_CONFIG", text)


@pytest.mark.parametrize("unit", ["ms", "bytes"])
def test_the_lag_of_copies_to_remote_storage_stays_below_the_local_retention(unit: str) -> None:
    node = NodeConfig(NODE | {"remote.log.storage.system.enable": "true"}).values
    given = {"remote.storage.enable": "true", f"retention.{unit}": "100", f"remote.copy.lag.{unit}": "101"}

    with pytest.raises(ApiError) as error:
        check_resource(ResourceType.TOPIC, "t", given, {}, node)

    assert error.value.text == (
        f"Invalid value 101 for configuration remote.copy.lag.{unit}: Value must not exceed local.retention.{unit} "
        "(effective value: 100)"
    )


def test_a_key_that_4_4_added_is_unknown_to_a_node_of_4_3() -> None:
    node = NodeConfig(NODE).values
    given = {"max.decompressed.message.bytes": "5"}

    check_resource(ResourceType.TOPIC, "t", given, {}, node)

    with pytest.raises(ApiError, match=r"Unknown topic config name: max\.decompressed\.message\.bytes"):
        check_resource(ResourceType.TOPIC, "t", given, {}, node, KAFKA_4_3)


def test_a_node_does_not_start_with_a_tag_twice() -> None:
    with pytest.raises(ConfigError, match="must not contain duplicate tag keys"):
        NodeConfig(NODE | {"group.streams.rack.aware.assignment.tags": "zone,zone"})
