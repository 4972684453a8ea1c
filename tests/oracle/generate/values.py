"""Keys and values of configs, valid and invalid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.features.levels import CURRENT
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from tests.oracle.generate.world import World

BOOLEANS = ("true", "false", "TRUE", " true", "yes", "", None)
NUMBERS = ("1", "2", "3", "1000", " 2", "-1", "0", "x", "", None, "9223372036854775807", "2147483648")
TOPIC_KEYS: dict[str, tuple[str | None, ...]] = {
    "min.insync.replicas": ("1", "2", "3", "2", "0", "20", "x", None),
    "unclean.leader.election.enable": BOOLEANS,
    "retention.ms": NUMBERS,
    "cleanup.policy": ("delete", "compact", "compact,delete", "delete,compact", "", "none", None),
    "segment.bytes": NUMBERS,
    "max.message.bytes": NUMBERS,
    "compression.type": ("gzip", "zstd", "producer", "x", None),
    "remote.storage.enable": BOOLEANS,
    "leader.replication.throttled.replicas": ("*", "0:1,1:2", "", "x", None),
    "message.timestamp.type": ("CreateTime", "LogAppendTime", "x"),
    "min.cleanable.dirty.ratio": ("0.5", "0", "1.5", "x", None),
    "remote.copy.lag.ms": ("-1", "0", "-2", "1000", "9223372036854775807", None),
    "max.decompressed.message.bytes": ("1", "2147483639", "2147483640", "0", None),
    "errors.deadletterqueue.group.enable": BOOLEANS,
    "no.such.key": ("1", None),
    "": ("1",),
    "follower.replication.throttled.replicas": (
        "0:1",
        "x" * 32_767,
        "0:1" + ",0:1" * 8191,
        "0:1" + ",0:1" * 8192,
        None,
    ),
}
BROKER_KEYS: dict[str, tuple[str | None, ...]] = {
    "min.insync.replicas": ("1", "2", "3", "x", None),
    "unclean.leader.election.enable": BOOLEANS,
    "log.cleaner.threads": ("1", "2", "x", None),
    "num.io.threads": ("8", "9", "0", None),
    "max.connections": NUMBERS,
    "background.threads": ("10", "11", None),
    "log.retention.ms": NUMBERS,
    "cordoned.log.dirs": ("oracle-logs", "", "/x", "*", None),
    "no.such.key": ("1", None),
    "listeners": ("PLAINTEXT://:9092", None),
    "node.id": ("1", None),
}
# A node of ours knows them with kraft.release=4.3 too.
if KAFKA is CURRENT:
    BROKER_KEYS |= {
        "log.remote.copy.lag.bytes": ("-1", "5", "x", None),
        "max.decompressed.message.bytes": ("1000", "0", None),
        "errors.deadletterqueue.topic.name.prefix": ("dlq.", "", None),
    }
GROUP_KEYS: dict[str, tuple[str | None, ...]] = {
    "consumer.session.timeout.ms": ("45000", "50000", "1", "x", None),
    "consumer.heartbeat.interval.ms": ("5000", "6000", "x", None),
    "share.session.timeout.ms": ("45000", "x", None),
    "streams.num.standby.replicas": ("1", "3", None),
    "streams.num.warmup.replicas": ("2", "20", "21", "-1", None),
    "streams.task.offset.interval.ms": ("60000", "1000", None),
    "streams.rack.aware.assignment.tags": ("", "a", "a,b", "a, a", "a,,b", None),
    "streams.assignor.name": ("sticky", " sticky", "other", "", None),
    "consumer.assignor.offload.enable": BOOLEANS,
    "errors.deadletterqueue.topic.name": ("dlq", "__dlq", "", None),
    "no.such.key": ("1", None),
}
METRICS_KEYS: dict[str, tuple[str | None, ...]] = {
    "interval.ms": ("1000", "99", "x", None),
    "metrics": ("a.b", "*", "", None),
    "match": ("client_id=a", "x", "", None),
    "no.such.key": ("1", None),
}
KEYS = {2: TOPIC_KEYS, 4: BROKER_KEYS, 32: GROUP_KEYS, 16: METRICS_KEYS}


def topic_config(world: World) -> tuple[str, str | None]:
    return config(world, 2)


def config(world: World, kind: int) -> tuple[str, str | None]:
    """A key of such resources and a value, which may be null or invalid. Keys that affect elections are frequent."""
    keys = KEYS.get(kind, TOPIC_KEYS)
    often = [key for key in ("min.insync.replicas", "unclean.leader.election.enable") if key in keys]
    key = world.pick(often) if often and world.chance(0.6) else world.pick(list(keys))
    value = world.pick(keys[key])
    return key, value.strip() if world.careful and value else value
