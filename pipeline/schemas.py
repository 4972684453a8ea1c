"""The schema of each table: its columns, their types in Spark's DDL, and their meaning. Nothing here imports Spark.

Columns with the same name have the same type in all tables. Times are the append times of batches, by the clock of the
leader. An interval has a start, which is the record that began it, and an end, which is the record that ended it; if
the end is null, the interval is open. An offset is that of a record in the log of its cluster; a record of a checkpoint
has the last offset that the checkpoint contains.
"""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """A column of a table. type: as in Spark's DDL."""

    name: str
    type: str
    meaning: str


class Table(NamedTuple):
    """A table: `meaning` describes one row. key: the columns that identify a row."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def ddl(self) -> str:
        """The schema in Spark's DDL."""
        return ", ".join(f"`{column.name}` {column.type}" for column in self.columns)


CLUSTER = Column("cluster", "string", "the cluster id")
OFFSET = Column("offset", "bigint", "the record's offset")
TIME = Column("time", "timestamp", "when its batch was appended")
PARTITION_KEY = (
    CLUSTER,
    Column("topic_id", "string", "the topic's id, as Kafka writes it"),
    Column("topic", "string", "the topic's name; null where no record names it"),
    Column("partition", "int", "the partition's number"),
)
INTERVAL = (
    Column("start_offset", "bigint", "the record that began it"),
    Column("start_time", "timestamp", "when it began"),
    Column("end_offset", "bigint", "the record that ended it; null while it lasts"),
    Column("end_time", "timestamp", "when it ended; null while it lasts"),
    Column("duration_ms", "bigint", "from start to end; null while it lasts"),
)
END_REASON = "end_reason"

# The fields of a partition record; null for fields that it does not have.
PARTITION_FIELDS = (
    Column("replicas", "array<int>", "the brokers that hold the partition, the preferred leader first"),
    Column("isr", "array<int>", "the in-sync replicas"),
    Column("leader", "int", "the leader's broker id, -1 for none"),
    Column("leader_epoch", "int", "rises with each election"),
    Column("partition_epoch", "int", "rises with each change"),
    Column("removing", "array<int>", "replicas that a reassignment removes"),
    Column("adding", "array<int>", "replicas that a reassignment adds"),
    Column("elr", "array<int>", "eligible leader replicas (KIP-966)"),
    Column("last_known_elr", "array<int>", "the last known leader, if any (KIP-966)"),
    Column("recovery", "int", "1 while the leader recovers from an unclean election, else 0"),
    Column("directories", "array<string>", "the log directory of each replica, in the order of `replicas`"),
)

RECORDS = Table(
    "records",
    "a record of a metadata log, or a part of a log that is not a valid record",
    ("cluster", "origin", "offset", "place", "kind", "position"),
    (
        CLUSTER,
        Column("node", "int", "the node whose copy of the log was read; null for a live quorum"),
        Column("origin", "string", "log, or checkpoint"),
        Column("file", "string", "the file it was read from; null for a live quorum"),
        Column("position", "bigint", "the byte of the file at which its batch starts"),
        OFFSET,
        Column("place", "bigint", "its own offset within a checkpoint; 0 for a record of the log"),
        Column("epoch", "int", "the epoch of the leader that appended it"),
        TIME,
        Column(
            "kind",
            "string",
            "record: of the metadata; control: of the quorum; unknown: of a type or version that is not known, or "
            "malformed; corrupt: a batch that cannot be read; gap: offsets that are missing; torn: a file that ends "
            "within a batch; truncated: records delivered before are no longer there; changed: a file that "
            "changed while it was read; skipped: a directory that was not read",
        ),
        Column("type", "int", "the record type; null where there is none"),
        Column("name", "string", "the record type by name, as Kafka has it"),
        Column("version", "int", "the version of the record"),
        Column("topic_id", "string", "of records of partitions: the topic's id"),
        Column("partition", "int", "of records of partitions: the partition's number"),
        *PARTITION_FIELDS,
        Column("json", "string", "of all other records: the fields, as Kafka's converters print them; without secrets"),
        Column("value", "binary", "of all other records: the bytes, with secrets taken out"),
        Column("problem", "string", "the problem, in one line; null if there is none"),
    ),
)

LEADERSHIP = Table(
    "leadership",
    "the time under one leader epoch of a partition: the leader, from when to when",
    ("cluster", "topic_id", "partition", "start_offset"),
    (
        *PARTITION_KEY,
        Column("leader", "int", "the leader; -1: none"),
        Column("leader_epoch", "int", "the epoch"),
        Column("previous_leader", "int", "the leader before; null for the first"),
        Column("preferred", "boolean", "whether the leader was the first of the replicas when it was elected"),
        Column("unclean", "boolean", "whether the leader was elected from outside the ISR"),
        *INTERVAL,
        Column(END_REASON, "string", "elected: another epoch came; deleted: the topic went; null while it lasts"),
    ),
)

ISR_CHANGES = Table(
    "isr_changes",
    "a change of the in-sync replicas of a partition",
    ("cluster", "topic_id", "partition", "offset"),
    (
        *PARTITION_KEY,
        OFFSET,
        TIME,
        Column("leader", "int", "the leader after the change"),
        Column("leader_epoch", "int", "its epoch"),
        Column("partition_epoch", "int", "the partition's epoch after the change"),
        Column("replica_count", "int", "how many replicas there are after the change"),
        Column("isr_before", "array<int>", "the ISR before"),
        Column("isr", "array<int>", "the ISR after"),
        Column("shrunk", "array<int>", "the brokers that left it, ascending"),
        Column("grown", "array<int>", "the brokers that joined it, ascending"),
    ),
)

UNAVAILABILITY = Table(
    "unavailability",
    "a time in which a partition had no leader",
    ("cluster", "topic_id", "partition", "start_offset"),
    (
        *PARTITION_KEY,
        *INTERVAL,
        Column("last_leader", "int", "the leader before; null if there never was one"),
        Column("next_leader", "int", "the leader after; null if there was none"),
        Column("unclean", "boolean", "whether it ended by an unclean election; null while it lasts"),
        Column(END_REASON, "string", "elected, deleted, or null while it lasts"),
    ),
)

UNDER_REPLICATION = Table(
    "under_replication",
    "a time in which a partition's ISR was smaller than its replicas, those not counted that were being added",
    ("cluster", "topic_id", "partition", "start_offset"),
    (
        *PARTITION_KEY,
        *INTERVAL,
        Column("replica_count", "int", "how many replicas were due when it began"),
        Column("isr_min", "int", "the smallest size of the ISR in that time"),
        Column(END_REASON, "string", "replicated, deleted, or null while it lasts"),
    ),
)

REASSIGNMENTS = Table(
    "reassignments",
    "a reassignment of a partition's replicas",
    ("cluster", "topic_id", "partition", "start_offset"),
    (
        *PARTITION_KEY,
        *INTERVAL,
        Column("replicas_before", "array<int>", "the replicas before it began"),
        Column("target", "array<int>", "the replicas that were requested last"),
        Column("replicas_after", "array<int>", "the replicas at its end; null while it is open"),
        Column("outcome", "string", "completed, cancelled, deleted, or null while it lasts"),
    ),
)

BROKER_SESSIONS = Table(
    "broker_sessions",
    "a time in which a registered broker was in one state",
    ("cluster", "broker", "start_offset"),
    (
        CLUSTER,
        Column("broker", "int", "the broker's id"),
        Column("broker_epoch", "bigint", "of its registration"),
        Column("incarnation", "string", "the id of its process"),
        Column("rack", "string", "its rack, or null"),
        Column("state", "string", "fenced, active, or shutting_down (in a controlled shutdown)"),
        *INTERVAL,
        Column(
            END_REASON,
            "string",
            "fenced, unfenced, shutdown, registered (again: it was restarted), unregistered; null while it lasts",
        ),
    ),
)

CONFIG_CHANGES = Table(
    "config_changes",
    "a change of a config, quota or feature level",
    ("cluster", "offset", "resource_type", "resource", "config"),
    (
        CLUSTER,
        OFFSET,
        TIME,
        Column("resource_type", "string", "TOPIC, BROKER, CLIENT_METRICS, GROUP, QUOTA, or FEATURE"),
        Column(
            "resource", "string", "its name; empty for the default of all brokers; entities of a quota as type=name"
        ),
        Column("config", "string", "the key"),
        Column("value_before", "string", "the value before; null where it was not set"),
        Column("value_after", "string", "the value after; null where it was removed"),
        Column("sensitive", "boolean", "whether the value is secret and replaced by [hidden]"),
        Column("cause", "string", "set, removed, or topic_deleted"),
    ),
)

ACL_CHANGES = Table(
    "acl_changes",
    "an ACL that was added or removed",
    ("cluster", "offset", "acl_id"),
    (
        CLUSTER,
        OFFSET,
        TIME,
        Column("action", "string", "added, or removed"),
        Column("acl_id", "string", "the ACL's id"),
        Column("resource_type", "string", "TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, or USER"),
        Column("resource", "string", "its name or prefix"),
        Column("pattern_type", "string", "LITERAL, or PREFIXED"),
        Column("principal", "string", "the principal that it applies to"),
        Column("host", "string", "from where, * for everywhere"),
        Column("operation", "string", "READ, WRITE, ALTER …"),
        Column("permission", "string", "ALLOW, or DENY"),
    ),
)

ELECTIONS = Table(
    "elections",
    "an election of an active controller",
    ("cluster", "offset"),
    (
        CLUSTER,
        OFFSET,
        TIME,
        Column("epoch", "int", "the quorum's epoch that it began"),
        Column("leader", "int", "the node that won"),
        Column("voters", "array<int>", "the voters, ascending"),
        Column("granting", "array<int>", "the voters that granted their vote, ascending"),
        Column("previous_epoch", "int", "the epoch before that has records; null for the first"),
        Column("previous_leader", "int", "the leader of the election before; null for the first"),
        Column("silence_ms", "bigint", "the time since the last record of the epoch before"),
    ),
)

IMAGE_AT = Table(
    "image_at",
    "an entry of the image: the metadata as of an offset",
    ("cluster", "section", "key"),
    (
        CLUSTER,
        Column("image_offset", "bigint", "the last offset that the image contains"),
        Column(
            "section",
            "string",
            "features, brokers, controllers, topics, partitions, configs, quotas, producer_ids, acls, scram, tokens",
        ),
        Column("key", "string", "unique within its section"),
        Column("topic_id", "string", "of topics and partitions"),
        Column("topic", "string", "of topics and partitions"),
        Column("partition", "int", "of partitions"),
        *PARTITION_FIELDS,
        Column("json", "string", "of all but partitions: the entry's fields; without secrets"),
    ),
)

TABLES = (
    RECORDS,
    LEADERSHIP,
    ISR_CHANGES,
    BROKER_SESSIONS,
    UNAVAILABILITY,
    UNDER_REPLICATION,
    REASSIGNMENTS,
    CONFIG_CHANGES,
    ACL_CHANGES,
    ELECTIONS,
    IMAGE_AT,
)
BY_NAME = {table.name: table for table in TABLES}
# Tables of intervals: ended ones are appended, open ones are rewritten each time.
INTERVALS = (LEADERSHIP, UNAVAILABILITY, UNDER_REPLICATION, REASSIGNMENTS, BROKER_SESSIONS)
