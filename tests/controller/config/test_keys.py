"""The tables of keys equal those of Kafka 4.3.1 and 4.4.0, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.config.group_checks import ASSIGNOR
from controller.config.keys import client_metrics, group, own, server, topic
from controller.config.values.definition import Definition, Key, Required, value_text

DATA = Path(__file__).parents[2] / "data" / "kafka-configs"

DEFINITIONS = {
    "server": server.KEYS,
    "topic": topic.KEYS,
    "group": group.KEYS,
    "client-metrics": client_metrics.KEYS,
}


def stock_rows(*files: str) -> list[tuple[str, ...]]:
    """resource, name, type, default, valid values, importance, internal."""
    lines = [line for file in files for line in (DATA / file).read_text().splitlines()[1:]]
    return [tuple(line.split("\t")) + ("",) * (7 - len(line.split("\t"))) for line in lines]


def our_row(resource: str, key: Key) -> tuple[str, ...]:
    default = "(required)" if isinstance(key.default, Required) else value_text(key.default)
    return (
        resource,
        key.name,
        key.type.name,
        "null" if default is None else default,
        "" if key.check is None else str(key.check),
        key.importance.name,
        "internal" if key.internal else "",
    )


@pytest.mark.parametrize(("release", "files"), [("4.3", ("configs.tsv",)), ("4.4", ("configs.tsv", "configs-4.4.tsv"))])
@pytest.mark.parametrize("resource", DEFINITIONS)
def test_each_key_of_stock_has_stocks_type_default_and_valid_values(
    resource: str, release: str, files: tuple[str, ...]
) -> None:
    ours = sorted(our_row(resource, key) for key in DEFINITIONS[resource].of(release))

    assert ours == sorted(row for row in stock_rows(*files) if row[0] == resource)


def test_each_default_is_valid() -> None:
    definitions = [*DEFINITIONS.values(), server.BROKER_QUOTA_KEYS, own.KEYS]

    for key in (key for definition in definitions for key in definition if not isinstance(key.default, Required)):
        assert key.parse(key.default) == key.default
        assert key.parse(value_text(key.default)) == key.default


def test_a_topic_key_has_its_default_from_a_node_key_of_the_same_type() -> None:
    for name, synonyms in topic.SYNONYMS.items():
        for synonym, unit_ms in synonyms:
            of_topic, of_node = topic.KEYS.get(name), server.KEYS.get(synonym)
            assert of_topic is not None
            assert of_node is not None
            assert of_node.type is of_topic.type or unit_ms > 1


def test_a_group_takes_its_defaults_from_keys_of_the_node() -> None:
    for name, synonym in group.SYNONYMS.items():
        if name == ASSIGNOR:  # the first one of a node's list
            continue
        assert group.KEYS.type_of(name) is server.KEYS.type_of(synonym)


def test_stock_ignores_our_own_keys() -> None:
    assert all(key.name.startswith(own.PREFIX) for key in own.KEYS)


def test_no_key_is_defined_twice_in_a_table() -> None:
    with pytest.raises(AssertionError):
        Definition(*topic.KEYS, *topic.KEYS)


def test_each_key_of_a_class_has_its_full_name() -> None:
    for key in server.KEYS:
        if key.type.name == "CLASS" and key.default is not None:
            assert re.fullmatch(r"[a-z.]+\.[A-Z][A-Za-z]+", str(key.default))
