"""Names of the files in the directory of the metadata partition, as Kafka gives them (KIP-630 for the snapshots)."""

from __future__ import annotations

QUORUM_STATE = "quorum-state"
# The same file under a name of ours: Strimzi's images remove quorum-state at each start. Stock Kafka ignores it.
KEPT_QUORUM_STATE = "quorum-state-kept"
EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
# Only this node writes it; stock Kafka ignores a file of this name.
COMMITTED_PREFIX = "committed-prefix-checkpoint"

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
PRODUCER_SNAPSHOT = ".snapshot"
CHECKPOINT = ".checkpoint"
PART = ".checkpoint.part"
DELETED = ".deleted"
TEMPORARY = ".tmp"

OFFSET_DIGITS = 20
EPOCH_DIGITS = 10

# Files that are replaced by renaming a temporary one.
_REPLACED = frozenset((QUORUM_STATE, KEPT_QUORUM_STATE, EPOCH_CHECKPOINT, PARTITION_METADATA, COMMITTED_PREFIX))

# An empty producer state: version 1, CRC-32C of what follows, no entries. The metadata log has no producers.
EMPTY_PRODUCER_STATE = bytes.fromhex("000148674bc700000000")
PARTITION_METADATA_TEXT = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"


def segment_name(base_offset: int, suffix: str) -> str:
    """`00000000000000000000.log`, or another file of the segment."""
    return f"{base_offset:0{OFFSET_DIGITS}d}{suffix}"


def segment_offset(name: str, suffix: str) -> int | None:
    """The base offset in the name of a segment's file; None for other names."""
    stem = name.removesuffix(suffix)
    if stem == name or len(stem) != OFFSET_DIGITS or not _is_number(stem):
        return None
    return int(stem)


def snapshot_name(end_offset: int, epoch: int, suffix: str = CHECKPOINT) -> str:
    """`00000000000000000257-0000000001.checkpoint`."""
    return f"{end_offset:0{OFFSET_DIGITS}d}-{epoch:0{EPOCH_DIGITS}d}{suffix}"


def snapshot_id(name: str) -> tuple[int, int] | None:
    """End offset and epoch in the name of a complete snapshot; None for other names."""
    stem = name.removesuffix(CHECKPOINT)
    if stem == name or len(stem) != OFFSET_DIGITS + 1 + EPOCH_DIGITS or stem[OFFSET_DIGITS] != "-":
        return None
    offset, epoch = stem[:OFFSET_DIGITS], stem[OFFSET_DIGITS + 1 :]
    if not _is_number(offset) or not _is_number(epoch):
        return None
    return int(offset), int(epoch)


def is_leftover(name: str) -> bool:
    """Whether an interrupted write or delete left this file; a start removes it."""
    if name.endswith(TEMPORARY):
        return name.removesuffix(TEMPORARY) in _REPLACED
    return name.endswith((PART, DELETED))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
