"""The names of the metadata log: its topic, and the directory of its one partition (KIP-595)."""

from __future__ import annotations

METADATA_TOPIC = "__cluster_metadata"
PARTITION_DIRECTORY = f"{METADATA_TOPIC}-0"
