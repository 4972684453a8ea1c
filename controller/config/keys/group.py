"""The keys of GROUP resources, and the keys of a node that give their defaults (KIP-848, KIP-932, KIP-1071; 4.4.0)."""

from __future__ import annotations

from controller.config.values.definition import Definition, Importance, Key, Type
from controller.config.values.group_values import OffsetReset
from controller.config.values.valid import ListOf, OneOf, at_least

BOOLEAN = Type.BOOLEAN
INT = Type.INT
LIST = Type.LIST
LONG = Type.LONG
STRING = Type.STRING
LOW = Importance.LOW
MEDIUM = Importance.MEDIUM

# fmt: off
KEYS = Definition(
    Key("consumer.session.timeout.ms", INT, 45000, at_least(1), MEDIUM),
    Key("consumer.heartbeat.interval.ms", INT, 5000, at_least(1), MEDIUM),
    Key("consumer.assignment.interval.ms", INT, 1000, at_least(0), MEDIUM),
    Key("consumer.assignor.offload.enable", BOOLEAN, True, None, MEDIUM, internal=True, since="4.4"),
    Key("share.session.timeout.ms", INT, 45000, at_least(1), MEDIUM),
    Key("share.heartbeat.interval.ms", INT, 5000, at_least(1), MEDIUM),
    Key("share.record.lock.duration.ms", INT, 30000, at_least(1000), MEDIUM),
    Key("share.delivery.count.limit", INT, 5, at_least(2), MEDIUM),
    Key("share.partition.max.record.locks", INT, 2000, at_least(100), MEDIUM),
    Key("share.auto.offset.reset", STRING, "latest", OffsetReset(), MEDIUM),
    Key("share.isolation.level", STRING, "read_uncommitted", OneOf("read_committed", "read_uncommitted"), MEDIUM),
    Key("share.renew.acknowledge.enable", BOOLEAN, True, None, MEDIUM),
    Key("share.assignment.interval.ms", INT, 1000, at_least(0), MEDIUM),
    Key("share.assignor.offload.enable", BOOLEAN, True, None, MEDIUM, internal=True, since="4.4"),
    Key("streams.session.timeout.ms", INT, 45000, at_least(1), MEDIUM),
    Key("streams.heartbeat.interval.ms", INT, 5000, at_least(1), MEDIUM),
    Key("streams.num.standby.replicas", INT, 0, at_least(0), MEDIUM),
    Key("streams.initial.rebalance.delay.ms", INT, 3000, at_least(0), MEDIUM),
    Key("streams.assignment.interval.ms", INT, 1000, at_least(0), MEDIUM),
    Key("streams.assignor.offload.enable", BOOLEAN, True, None, MEDIUM, internal=True, since="4.4"),
    Key("streams.task.offset.interval.ms", INT, 60000, at_least(1), MEDIUM, internal=True, since="4.4"),
    Key("streams.num.warmup.replicas", INT, 2, at_least(0), MEDIUM, internal=True, since="4.4"),
    Key("streams.rack.aware.assignment.tags", LIST, (), ListOf(), LOW, since="4.4"),
    Key("streams.acceptable.recovery.lag", LONG, 10000, at_least(0), MEDIUM, internal=True, since="4.4"),
    Key("streams.assignor.name", STRING, None, None, MEDIUM, since="4.4"),
    Key("errors.deadletterqueue.topic.name", STRING, "", None, MEDIUM, since="4.4"),
    Key("errors.deadletterqueue.copy.record.enable", BOOLEAN, False, None, MEDIUM, since="4.4"),
)
# fmt: on

# Group key -> the key of a node that gives its default.
SYNONYMS: dict[str, str] = {
    "consumer.session.timeout.ms": "group.consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms": "group.consumer.heartbeat.interval.ms",
    "consumer.assignment.interval.ms": "group.consumer.assignment.interval.ms",
    "share.session.timeout.ms": "group.share.session.timeout.ms",
    "share.heartbeat.interval.ms": "group.share.heartbeat.interval.ms",
    "share.record.lock.duration.ms": "group.share.record.lock.duration.ms",
    "share.delivery.count.limit": "group.share.delivery.count.limit",
    "share.partition.max.record.locks": "group.share.partition.max.record.locks",
    "share.assignment.interval.ms": "group.share.assignment.interval.ms",
    "streams.session.timeout.ms": "group.streams.session.timeout.ms",
    "streams.heartbeat.interval.ms": "group.streams.heartbeat.interval.ms",
    "streams.num.standby.replicas": "group.streams.num.standby.replicas",
    "streams.initial.rebalance.delay.ms": "group.streams.initial.rebalance.delay.ms",
    "streams.assignment.interval.ms": "group.streams.assignment.interval.ms",
    "consumer.assignor.offload.enable": "group.consumer.assignor.offload.enable",
    "share.assignor.offload.enable": "group.share.assignor.offload.enable",
    "streams.assignor.offload.enable": "group.streams.assignor.offload.enable",
    "streams.task.offset.interval.ms": "group.streams.task.offset.interval.ms",
    "streams.num.warmup.replicas": "group.streams.num.warmup.replicas",
    "streams.rack.aware.assignment.tags": "group.streams.rack.aware.assignment.tags",
    "streams.acceptable.recovery.lag": "group.streams.acceptable.recovery.lag",
    "streams.assignor.name": "group.streams.assignors",
}
