"""Values for the fields of requests."""

from __future__ import annotations

from tests.oracle.generate.values import BROKER_KEYS, GROUP_KEYS, METRICS_KEYS, TOPIC_KEYS

TOPICS = ("t", "u", "v", "a.b", "a_b")
BAD_TOPICS = ("", ".", "..", "a b", "ä", "x" * 249, "x" * 250, "__cluster_metadata", "\0", "t\n")
BROKERS = (11, 12, 13)
BAD_BROKERS = (-1, 0, 1, 99, 2147483647, -2147483648)
METADATA_LOG = "__cluster_metadata"
METADATA_LOG_ID = bytes(15) + b"\1"
KEYS = {2: TOPIC_KEYS, 4: BROKER_KEYS, 16: METRICS_KEYS, 32: GROUP_KEYS}
EDGES = {
    "int8": (-128, -1, 0, 1, 127), "int16": (-32768, -1, 0, 1, 32767), "uint16": (0, 1, 65535),
    "int32": (-(1 << 31), -1, 0, 1, 2, (1 << 31) - 1), "int64": (-(1 << 63), -1, 0, 1, (1 << 63) - 1),
    "float64": (0.0, -1.0, 1.5, 1e300, float("nan"), float("inf")), "bool": (False, True),
}  # fmt: skip
STRINGS = ("", "a", "User", "ä€", "x" * 300, "\0", "null", " ", "a,b", "User:ann")
# The quorum's: the effects of greater epochs are those of an election, which the level of the Raft replica compares.
# Loggers of stock; ours has others (`loggers`).
LOGGERS = ("root", "kafka", "org.apache.kafka", "org.apache.kafka.raft.KafkaRaftClient", "no.such", "")
EPOCHS = (-1, 0, 1, 1, 1)
# What ends stock's process, or leaves its client without an answer: see `deliberate/`.
ALONE = ("FetchSnapshotRequest",)
# New partitions without assignments would be placed at random.
NEVER_NULL = (("DescribeUserScramCredentialsRequest", "users"), ("CreatePartitionsRequest", "assignments"))
# Within a few milliseconds either node may be done or not.
NEVER_WILD = ("timeout_ms",)
# Requests of the quorum: their numbers are never wild, so that no node believes that there is another leader.
QUORUM = (
    "FetchRequest", "FetchSnapshotRequest", "VoteRequest", "BeginQuorumEpochRequest", "EndQuorumEpochRequest",
)  # fmt: skip
