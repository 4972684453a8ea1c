"""Configs that fuzz clients set: some valid and some invalid values of each key."""

from __future__ import annotations

Values = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
"""By key: values that are taken, and values that are refused."""

LONG_MAX = str((1 << 63) - 1)
NO_NUMBER = "never"

OF_TOPICS: Values = {
    "segment.bytes": (("1048576", "2097152", "2147483647"), ("1048575", "2147483648", NO_NUMBER)),
    "segment.ms": (("1", "1000"), ("0", NO_NUMBER)),
    "segment.index.bytes": (("4",), ("3",)),
    "retention.ms": (("-1", "1000", "60000", LONG_MAX), ("-2", "1" + LONG_MAX, NO_NUMBER)),
    "retention.bytes": (("-1", "1000", "-5"), ("1.5", "")),
    "max.message.bytes": (("0", "1000012"), ("-1",)),
    "min.cleanable.dirty.ratio": (("0", "0.5", "1"), ("1.1", "-0.1", "half")),
    "cleanup.policy": (("compact", "delete", "compact,delete", ""), ("keep", "delete,keep")),
    "unclean.leader.election.enable": (("true", "false"), ("yes",)),
    "min.insync.replicas": (("1", "2", "3"), ("0",)),
    "compression.type": (("zstd", "producer"), ("best", "")),
    "compression.gzip.level": (("-1", "1", "9"), ("0", "10")),
    "compression.zstd.level": (("-131072", "22"), ("23",)),
    "preallocate": (("TRUE", " false "), ("2",)),
    "message.timestamp.type": (("CreateTime", "LogAppendTime"), ("createtime",)),
    "leader.replication.throttled.replicas": (("*", "0:101,1:102", ""), ("0", "a:b", "0:101:1")),
    "local.retention.ms": (("-2", "-1", "500"), ("-3",)),
    "remote.log.copy.disable": (("false",), ("maybe",)),
}
# Of these the list can be added to, or taken from.
LISTS = ("cleanup.policy", "leader.replication.throttled.replicas")

OF_GROUPS: Values = {
    "consumer.session.timeout.ms": (("45000", "50000"), ("0", "44999", "60001")),
    "consumer.heartbeat.interval.ms": (("5000", "15000"), ("4999", "15001")),
    "share.record.lock.duration.ms": (("15000", "60000"), ("999", "60001")),
    "share.delivery.count.limit": (("2", "10"), ("1", "11")),
    "share.auto.offset.reset": (
        ("earliest", "latest", "by_duration:P1DT2H", "by_duration:PT1.5S"),
        ("newest", "by_duration:-PT1S", "by_duration:PT"),
    ),
    "share.isolation.level": (("read_committed",), ("serializable",)),
    "streams.num.standby.replicas": (("0", "2"), ("-1", "3")),
}
OF_CLIENT_METRICS: Values = {
    "metrics": (("", "org.apache.kafka.producer."), ()),
    "interval.ms": (("100", "3600000"), ("99", "3600001")),
    "match": (("client_id=a.*", "client_software_name=x,client_id=y"), ("client_id", "size=1", "client_id=(")),
}
# A controller does not check the values of brokers; the broker itself does (KIP-226).
OF_BROKERS: Values = {
    "log.retention.ms": (("1000", NO_NUMBER), ()),
    "log.retention.hours": (("5",), ()),
    "message.max.bytes": (("1000000",), ()),
    "log.cleanup.policy": (("delete", "compact"), ()),
    "ssl.keystore.password": (("secret",), ()),
    "listener.name.outside.max.connections": (("7",), ()),
    "cordoned.log.dirs": (("", "/one", "/one,/two"), ()),
    "min.insync.replicas": (("1", "2"), ()),
}
# The loggers that a controller has here.
NODE_LOGGERS = ("root", "kafka.controller", "org.apache.kafka.raft")
TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
BY_KIND = {TOPIC: OF_TOPICS, BROKER: OF_BROKERS, CLIENT_METRICS: OF_CLIENT_METRICS, GROUP: OF_GROUPS}


def is_taken(kind: int, key: str, value: str) -> bool | None:
    """Whether a key of a resource accepts a value; None if this module does not know."""
    good, bad = BY_KIND[kind].get(key, ((), ()))
    if kind == BROKER or value in good:
        return True
    return False if value in bad or (key not in BY_KIND[kind] and key.startswith("no.")) else None
