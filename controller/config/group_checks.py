"""Checks between keys of groups, on a node and on a GROUP resource (KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

import operator
import re

from controller.config.values.definition import ILLEGAL_ARGUMENT, Value
from records.java.config_error import CONFIG_EXCEPTION, ConfigError
from records.java.java_values import java_text, java_trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
}
_RELATIONS = {
    ">=": "must be greater than or equal to",
    "<=": "must be less than or equal to",
    "<": "must be less than",
    ">": "must be greater than",
}

# Key of the node, relation, key of the node; in stock's order.
_BETWEEN_NODE_KEYS = (
    *(
        (f"group.{kind}.{left}", relation, f"group.{kind}.{right}")
        for kind in ("consumer", "share", "streams")
        for left, relation, right in (
            ("max.heartbeat.interval.ms", ">=", "min.heartbeat.interval.ms"),
            ("heartbeat.interval.ms", ">=", "min.heartbeat.interval.ms"),
            ("heartbeat.interval.ms", "<=", "max.heartbeat.interval.ms"),
            ("max.session.timeout.ms", ">=", "min.session.timeout.ms"),
            ("session.timeout.ms", ">=", "min.session.timeout.ms"),
            ("session.timeout.ms", "<=", "max.session.timeout.ms"),
            ("heartbeat.interval.ms", "<", "session.timeout.ms"),
            ("max.assignment.interval.ms", ">=", "min.assignment.interval.ms"),
            ("assignment.interval.ms", ">=", "min.assignment.interval.ms"),
            ("assignment.interval.ms", "<=", "max.assignment.interval.ms"),
        )
    ),
    ("group.streams.num.standby.replicas", "<=", "group.streams.max.standby.replicas"),
    ("group.streams.task.offset.interval.ms", ">=", "group.streams.min.task.offset.interval.ms"),
    ("group.streams.num.warmup.replicas", "<=", "group.streams.max.warmup.replicas"),
    ("group.share.max.delivery.count.limit", ">=", "group.share.delivery.count.limit"),
    ("group.share.delivery.count.limit", ">=", "group.share.min.delivery.count.limit"),
    ("group.share.max.partition.max.record.locks", ">=", "group.share.partition.max.record.locks"),
    ("group.share.partition.max.record.locks", ">=", "group.share.min.partition.max.record.locks"),
    ("group.share.record.lock.duration.ms", ">=", "group.share.min.record.lock.duration.ms"),
    ("group.share.max.record.lock.duration.ms", ">=", "group.share.record.lock.duration.ms"),
    ("group.share.max.share.sessions", ">=", "group.share.max.size"),
)

# Stock checks the number of assignors between these checks of share groups, and tags after those of streams groups.
_ASSIGNORS_BEFORE = "group.share.max.assignment.interval.ms"
_TAGS_BEFORE = "group.share.max.delivery.count.limit"

# Key of the group, relation, key of the node that bounds it.
_BOUNDED = (
    ("consumer.heartbeat.interval.ms", ">=", "group.consumer.min.heartbeat.interval.ms"),
    ("consumer.heartbeat.interval.ms", "<=", "group.consumer.max.heartbeat.interval.ms"),
    ("consumer.session.timeout.ms", ">=", "group.consumer.min.session.timeout.ms"),
    ("consumer.session.timeout.ms", "<=", "group.consumer.max.session.timeout.ms"),
    ("consumer.assignment.interval.ms", ">=", "group.consumer.min.assignment.interval.ms"),
    ("consumer.assignment.interval.ms", "<=", "group.consumer.max.assignment.interval.ms"),
    ("share.heartbeat.interval.ms", ">=", "group.share.min.heartbeat.interval.ms"),
    ("share.heartbeat.interval.ms", "<=", "group.share.max.heartbeat.interval.ms"),
    ("share.session.timeout.ms", ">=", "group.share.min.session.timeout.ms"),
    ("share.session.timeout.ms", "<=", "group.share.max.session.timeout.ms"),
    ("share.record.lock.duration.ms", ">=", "group.share.min.record.lock.duration.ms"),
    ("share.record.lock.duration.ms", "<=", "group.share.max.record.lock.duration.ms"),
    ("share.delivery.count.limit", ">=", "group.share.min.delivery.count.limit"),
    ("share.delivery.count.limit", "<=", "group.share.max.delivery.count.limit"),
    ("share.partition.max.record.locks", ">=", "group.share.min.partition.max.record.locks"),
    ("share.partition.max.record.locks", "<=", "group.share.max.partition.max.record.locks"),
    ("share.assignment.interval.ms", ">=", "group.share.min.assignment.interval.ms"),
    ("share.assignment.interval.ms", "<=", "group.share.max.assignment.interval.ms"),
    ("streams.heartbeat.interval.ms", ">=", "group.streams.min.heartbeat.interval.ms"),
    ("streams.heartbeat.interval.ms", "<=", "group.streams.max.heartbeat.interval.ms"),
    ("streams.session.timeout.ms", ">=", "group.streams.min.session.timeout.ms"),
    ("streams.session.timeout.ms", "<=", "group.streams.max.session.timeout.ms"),
    ("streams.num.standby.replicas", "<=", "group.streams.max.standby.replicas"),
    ("streams.assignment.interval.ms", ">=", "group.streams.min.assignment.interval.ms"),
    ("streams.assignment.interval.ms", "<=", "group.streams.max.assignment.interval.ms"),
    ("streams.task.offset.interval.ms", ">=", "group.streams.min.task.offset.interval.ms"),
    ("streams.num.warmup.replicas", "<=", "group.streams.max.warmup.replicas"),
)
ASSIGNOR = "streams.assignor.name"
TAGS, NODE_TAGS = "streams.rack.aware.assignment.tags", "group.streams.rack.aware.assignment.tags"
DEAD_LETTERS = "errors.deadletterqueue.topic.name"
_STICKY, _STICKY_CLASS = "sticky", "org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor"
_BETWEEN_GROUP_KEYS = (
    ("consumer.session.timeout.ms", ">", "consumer.heartbeat.interval.ms"),
    ("share.session.timeout.ms", ">", "share.heartbeat.interval.ms"),
    ("streams.session.timeout.ms", ">", "streams.heartbeat.interval.ms"),
)


def check_node(values: Mapping[str, Value], originals: Mapping[str, str]) -> None:
    """Check the group keys of a node against each other. Raises ConfigError for the first violation.

    originals: the texts of the node's file.
    """
    for left, relation, right in _BETWEEN_NODE_KEYS:
        if left == _ASSIGNORS_BEFORE:
            assignors = values["group.share.assignors"]
            assert isinstance(assignors, tuple), assignors
            if len(assignors) != 1:
                text = f"group.share.assignors must contain exactly one assignor, but found {len(assignors)}"
                raise ConfigError(text, ILLEGAL_ARGUMENT)
        elif left == _TAGS_BEFORE:
            check_tags(NODE_TAGS, originals.get(NODE_TAGS), ILLEGAL_ARGUMENT)
        if not _holds(values[left], relation, values[right]):
            raise ConfigError(f"{left} {_RELATIONS[relation]} {right}", ILLEGAL_ARGUMENT)


def check_group(
    group: Mapping[str, Value], given: Mapping[str, str], node: Mapping[str, Value], *, names_bounds: bool = False
) -> None:
    """Check all parsed keys of a group against the node's bounds and each other. Raises ConfigError.

    given: the keys that the group sets. The others have the node's values, which check_node has held to each other.
    names_bounds: whether an error names the key of the node that bounds a value, as before 4.4, or the bound.
    """
    for key, relation, bound in _BOUNDED:
        if key in given and not _holds(group[key], relation, node[bound]):
            raise ConfigError(f"{key} {_RELATIONS[relation]} {bound}" if names_bounds else _bounds_text(key, node))
    _check_assignor(given, node)
    for left, relation, right in _BETWEEN_GROUP_KEYS:
        if not _holds(group[left], relation, group[right]):
            raise ConfigError(f"{left} {_RELATIONS[relation]} {right}")
    if DEAD_LETTERS in given and str(group[DEAD_LETTERS]).startswith("__"):
        raise ConfigError(f"{DEAD_LETTERS}: DLQ topic name must not start with '__'")


def check_tags(name: str, text: str | None, exception: str = CONFIG_EXCEPTION) -> None:
    """Raises ConfigError for a list of tags that names one twice, which a list of other keys may (KIP-1071)."""
    tags = re.split(r"\s*,\s*", java_trim(text)) if text else []
    if len(set(tags)) != len(tags):
        raise ConfigError(f"{name} must not contain duplicate tag keys.", exception)


def _bounds_text(key: str, node: Mapping[str, Value]) -> str:
    bounds = [(relation, node[bound]) for bounded, relation, bound in _BOUNDED if bounded == key]
    if len(bounds) == 1:
        return f"{key} {_RELATIONS[bounds[0][0]]} {bounds[0][1]}"
    return f"{key} must be in the range {bounds[0][1]} to {bounds[1][1]} inclusive."


def first_assignor(assignors: Value) -> str:
    """The name of the first task assignor of a node."""
    return _assignors(assignors)[0]


def _assignors(value: Value) -> tuple[str, ...]:
    """The names of a node's task assignors; a class of Java, of which the name is not known, as it is given."""
    assert isinstance(value, tuple), value
    return tuple(_STICKY if name == _STICKY_CLASS else name for name in value)


def _check_assignor(given: Mapping[str, str], node: Mapping[str, Value]) -> None:
    """The assignor of a streams group is one of the brokers'; any name may be that of a class of Java."""
    known = _assignors(node["group.streams.assignors"])
    name = java_trim(given.get(ASSIGNOR, _STICKY))
    if name not in known and known == (_STICKY,):
        raise ConfigError(
            f"{ASSIGNOR} '{name}' is not a registered task assignor. Registered assignors are: {java_text(known)}."
        )


def _holds(left: Value, relation: str, right: Value) -> bool:
    """Whether a relation holds between two numbers."""
    return _COMPARISONS[relation](left, right)
