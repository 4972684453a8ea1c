"""Which value of a topic's key is in effect: the topic's, the node's, the cluster's, the file's, the default."""

from __future__ import annotations

import pytest

from controller.config.effective import ConfigSource, Layers
from controller.handlers.topic_configs import layers, new_topic_configs
from records.errors import ApiError, Error
from records.metadata.topics import ClearElrRecord
from tests.controller.handlers.cluster_of_configs import BROKER, TOPIC, config, env, state


def value_and_source(layers: Layers, name: str) -> tuple[str | None, ConfigSource]:
    found = layers.find(name)
    return found.value, found.source


def test_the_layer_with_the_higher_precedence_wins() -> None:
    own, node, cluster, static = {"segment.ms": "1"}, {"log.roll.ms": "2"}, {"log.roll.ms": "3"}, {"log.roll.ms": "4"}

    assert [
        value_and_source(Layers(own, node, cluster, static), "segment.ms"),
        value_and_source(Layers({}, node, cluster, static), "segment.ms"),
        value_and_source(Layers({}, {}, cluster, static), "segment.ms"),
        value_and_source(Layers({}, {}, {}, static), "segment.ms"),
        value_and_source(Layers({}, {}, {}, {}), "segment.ms"),
    ] == [
        ("1", ConfigSource.TOPIC),
        ("2", ConfigSource.DYNAMIC_BROKER),
        ("3", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ("4", ConfigSource.STATIC_BROKER),
        ("604800000", ConfigSource.DEFAULT),
    ]


@pytest.mark.parametrize(
    ("static", "name", "value"),
    [
        ({"log.roll.hours": "2", "log.roll.ms": "5"}, "segment.ms", "5"),
        ({"log.roll.hours": " 2 "}, "segment.ms", "7200000"),
        ({"log.retention.minutes": "3", "log.retention.hours": "1"}, "retention.ms", "180000"),
        ({"log.retention.hours": "many"}, "retention.ms", "0"),
        ({"log.retention.hours": "99999999999"}, "retention.ms", "0"),
        ({"message.max.bytes": "7"}, "max.message.bytes", "7"),
        ({"segment.bytes": "7"}, "segment.bytes", "1073741824"),
    ],
)
def test_a_key_of_the_node_gives_the_default_of_a_topic_key(static: dict[str, str], name: str, value: str) -> None:
    assert Layers({}, {}, {}, static).find(name).value == value


def test_all_keys_are_listed_by_name_and_internal_ones_only_if_set() -> None:
    names = [found.name for found in Layers({}, {}, {}, {}).all()]
    with_internal = [found.name for found in Layers({"internal.segment.bytes": "5"}, {}, {}, {}).all()]

    assert names == sorted(names)
    assert len(names) == 37
    assert set(with_internal) - set(names) == {"internal.segment.bytes"}


def test_a_handler_sees_the_file_and_the_dynamic_configs() -> None:
    found = state(
        config(BROKER, "", "min.insync.replicas", "2"),
        config(BROKER, "1", "log.roll.ms", "7"),
        config(BROKER, "2", "log.segment.bytes", "9"),
    )
    node = env({"compression.type": "zstd"})

    values = {entry.name: (entry.value, entry.source) for entry in layers(found, node, {}).all()}

    assert values["min.insync.replicas"] == ("2", ConfigSource.DYNAMIC_DEFAULT_BROKER)
    assert values["segment.ms"] == ("7", ConfigSource.DYNAMIC_BROKER)
    assert values["segment.bytes"] == ("1073741824", ConfigSource.DEFAULT)
    assert values["compression.type"] == ("zstd", ConfigSource.STATIC_BROKER)
    assert layers(found, node, {"segment.ms": "8"}).find("segment.ms").value == "8"


def test_a_new_topic_s_configs_are_checked_and_written() -> None:
    found = state(config(BROKER, "", "min.insync.replicas", "1"), elr=1)
    wished = {"segment.ms": "5", "min.insync.replicas": "2"}

    records = new_topic_configs(found, env(), "orders", wished, forwarded=True)

    assert [record for record, _ in records] == [
        config(TOPIC, "orders", "min.insync.replicas", "2"),
        config(TOPIC, "orders", "segment.ms", "5"),
        ClearElrRecord(topic_name="orders"),
    ]
    assert new_topic_configs(found, env(), "orders", {}, forwarded=True) == []
    with pytest.raises(ApiError) as error:
        new_topic_configs(found, env(), "orders", {"segment.ms": "0"}, forwarded=True)
    assert error.value.code is Error.INVALID_CONFIG
    assert error.value.text == "Invalid value 0 for configuration segment.ms: Value must be at least 1"
