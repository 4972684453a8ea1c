"""The arguments of kafka-topics that describe a topic: partitions, replicas and configs, as stock reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from records.java.java_values import java_trim
from tools.command_line.java_texts import Uncaught, parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tools.command_line.options import Options

_EQUALS = re.compile(r"\s*=\s*", re.ASCII)


class NewTopic(NamedTuple):
    """A topic to create, or to add partitions to. partitions, replication_factor: None for the default.

    assignment: partition -> brokers, the preferred leader first; empty to leave it to the controller.
    """

    name: str
    partitions: int | None
    replication_factor: int | None
    assignment: Mapping[int, list[int]]
    configs: Mapping[str, str]


def new_topic(options: Options) -> NewTopic:
    """The topic that the options describe. Raises OptionError, Uncaught."""
    return NewTopic(
        options.value("topic"),
        options.value("partitions"),
        options.value("replication-factor"),
        _assignment(options.value("replica-assignment") or ""),
        _configs(options.given.get("config", ())),
    )


def java_split(text: str, separator: str) -> list[str]:
    """`String.split`: without empty parts at the end."""
    parts = text.split(separator)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return [] if parts == [""] and text else parts


def _assignment(text: str) -> dict[int, list[int]]:
    """Partition -> brokers, of a text such as `1:2,2:3`. Raises Uncaught."""
    assignment: dict[int, list[int]] = {}
    for index, part in enumerate(java_split(text, ",") if text else ()):
        brokers = [parse_integer(java_trim(broker)) for broker in java_split(part, ":")]
        repeated = {broker for broker in brokers if brokers.count(broker) > 1}
        if repeated:
            from records.java.java_order import integer_order

            shown = ",".join(map(str, integer_order(repeated)))
            raise Uncaught(
                "org.apache.kafka.tools.AdminCommandFailedException",
                f"Partition replica lists may not contain duplicate entries: {shown}",
            )
        assignment[index] = brokers
        if len(brokers) != len(assignment[0]):
            text = f"Partition {index} has different replication factor: [{', '.join(map(str, brokers))}]"
            raise Uncaught("org.apache.kafka.server.common.AdminOperationException", text)
    return assignment


def _configs(texts: Sequence[str]) -> dict[str, str]:
    """The configs in the options. Raises Uncaught for what stock's tool refuses by itself: a malformed text, an unknown
    key, an invalid value.
    """
    configs: dict[str, str] = {}
    for text in texts:
        parts = _EQUALS.split(text)
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
        if len(parts) != 2:
            raise Uncaught(
                "java.lang.IllegalArgumentException",
                'requirement failed: Invalid topic config: all configs to be added must be in the format "key=val".',
            )
        configs[java_trim(parts[0])] = java_trim(parts[1])
    if not configs:
        return configs
    from controller.config.topic_values import parse_topic
    from records.java.config_error import ConfigError
    from records.java.java_order import hash_order

    ordered = {name: configs[name] for name in hash_order(configs)}
    try:
        parse_topic(ordered, {})
    except ConfigError as error:
        raise Uncaught(error.exception, error.text) from None
    return ordered
