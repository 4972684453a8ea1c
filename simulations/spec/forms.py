"""Whether a message is about the quorum's log: it names that one partition, and nothing else."""

from __future__ import annotations

from typing import Any

from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotResponse
from records.uuids import METADATA_TOPIC_ID

LOG = "__cluster_metadata"


def is_of_one(topics: Any) -> bool:
    """Whether there is one partition."""
    return len(topics) == 1 and len(topics[0].partitions) == 1


def is_of_log(message: Any) -> bool:
    """Whether the one partition is that of the log."""
    kind = type(message)
    # Those that change or tell of voters have no partition.
    topics = message.responses if kind is FetchResponse else getattr(message, "topics", [])
    if not is_of_one(topics):
        return False
    topic, said = topics[0], topics[0].partitions[0]
    if kind is FetchRequest:
        return topic.topic_id == METADATA_TOPIC_ID and not said.partition
    if kind is FetchResponse:
        return topic.topic_id == METADATA_TOPIC_ID and not said.partition_index
    if kind is FetchSnapshotResponse:
        return topic.name == LOG and not said.index
    return topic.topic_name == LOG and not said.partition_index
