"""The keys of TOPIC resources, and the keys of a node that give their defaults (Kafka 4.4.0)."""

from __future__ import annotations

from controller.config.values.definition import Definition, Importance, Key, Type
from controller.config.values.valid import GzipLevel, ListOf, OneOf, ThrottledReplicas, at_least, between

BOOLEAN = Type.BOOLEAN
DOUBLE = Type.DOUBLE
INT = Type.INT
LIST = Type.LIST
LONG = Type.LONG
STRING = Type.STRING
MEDIUM = Importance.MEDIUM

LONG_MAX = (1 << 63) - 1

# fmt: off
KEYS = Definition(
    Key("segment.bytes", INT, 1073741824, at_least(1048576), MEDIUM),
    Key("segment.ms", LONG, 604800000, at_least(1), MEDIUM),
    Key("segment.jitter.ms", LONG, 0, at_least(0), MEDIUM),
    Key("segment.index.bytes", INT, 10485760, at_least(4), MEDIUM),
    Key("flush.messages", LONG, LONG_MAX, at_least(1), MEDIUM),
    Key("flush.ms", LONG, LONG_MAX, at_least(0), MEDIUM),
    Key("retention.bytes", LONG, -1, None, MEDIUM),
    Key("retention.ms", LONG, 604800000, at_least(-1), MEDIUM),
    Key("max.message.bytes", INT, 1048588, at_least(0), MEDIUM),
    Key("max.decompressed.message.bytes", INT, 2147483639, between(1, 2147483639), MEDIUM, since="4.4"),
    Key("index.interval.bytes", INT, 4096, at_least(0), MEDIUM),
    Key("delete.retention.ms", LONG, 86400000, at_least(0), MEDIUM),
    Key("min.compaction.lag.ms", LONG, 0, at_least(0), MEDIUM),
    Key("max.compaction.lag.ms", LONG, LONG_MAX, at_least(1), MEDIUM),
    Key("file.delete.delay.ms", LONG, 60000, at_least(0), MEDIUM),
    Key("min.cleanable.dirty.ratio", DOUBLE, 0.5, between(0, 1), MEDIUM),
    Key("cleanup.policy", LIST, ("delete",), ListOf("compact", "delete"), MEDIUM),
    Key("unclean.leader.election.enable", BOOLEAN, False, None, MEDIUM),
    Key("min.insync.replicas", INT, 1, at_least(1), MEDIUM),
    Key("compression.type", STRING,
        "producer", OneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), MEDIUM),
    Key("compression.gzip.level", INT, -1, GzipLevel(), MEDIUM),
    Key("compression.lz4.level", INT, 9, between(1, 17), MEDIUM),
    Key("compression.zstd.level", INT, 3, between(-131072, 22), MEDIUM),
    Key("preallocate", BOOLEAN, False, None, MEDIUM),
    Key("message.timestamp.type", STRING, "CreateTime", OneOf("CreateTime", "LogAppendTime"), MEDIUM),
    Key("message.timestamp.before.max.ms", LONG, LONG_MAX, at_least(0), MEDIUM),
    Key("message.timestamp.after.max.ms", LONG, 3600000, at_least(0), MEDIUM),
    Key("leader.replication.throttled.replicas", LIST, (), ThrottledReplicas(), MEDIUM),
    Key("follower.replication.throttled.replicas", LIST, (), ThrottledReplicas(), MEDIUM),
    Key("remote.storage.enable", BOOLEAN, False, None, MEDIUM),
    Key("local.retention.ms", LONG, -2, at_least(-2), MEDIUM),
    Key("local.retention.bytes", LONG, -2, at_least(-2), MEDIUM),
    Key("remote.log.copy.disable", BOOLEAN, False, None, MEDIUM),
    Key("remote.copy.lag.ms", LONG, 0, at_least(-1), MEDIUM, since="4.4"),
    Key("remote.copy.lag.bytes", LONG, -1, at_least(-1), MEDIUM, since="4.4"),
    Key("remote.log.delete.on.disable", BOOLEAN, False, None, MEDIUM),
    Key("errors.deadletterqueue.group.enable", BOOLEAN, False, None, MEDIUM, since="4.4"),
    Key("internal.segment.bytes", INT, None, None, MEDIUM, internal=True),
)
# fmt: on

# Topic key -> the keys of a node that give its default, the first that is set wins; with the milliseconds of one unit.
HOURS = 3600000
MINUTES = 60000
SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", HOURS)),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOURS)),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (("log.retention.ms", 1), ("log.retention.minutes", MINUTES), ("log.retention.hours", HOURS)),
    "max.message.bytes": (("message.max.bytes", 1),),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "preallocate": (("log.preallocate", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "max.decompressed.message.bytes": (("max.decompressed.message.bytes", 1),),
    "remote.copy.lag.ms": (("log.remote.copy.lag.ms", 1),),
    "remote.copy.lag.bytes": (("log.remote.copy.lag.bytes", 1),),
}

# Keys of a node that are synonyms, highest precedence first; all other keys have none.
_SAME: tuple[tuple[str, ...], ...] = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
NODE_SYNONYMS: dict[str, tuple[str, ...]] = {name: names for names in _SAME for name in names} | {
    "log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")
}
