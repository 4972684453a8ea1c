"""The checksums of committed batches as this node's log holds them, for `kraftctl quorum hash`.

A client that knows the other bytes of a batch can test guesses of a password in it against the checksum, so only
clients that may read everything get checksums: see `HttpPort`. Nothing is kept for them; a request reads a bounded
piece of the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.storage.errors import CorruptLog
from records.batch import CorruptBatch, batches

if TYPE_CHECKING:
    from controller.node.node import Node

PREFIX = "/log/"
# Of the log in one answer: its reading and checking take half a millisecond of the event loop.
PIECE_BYTES = 64 << 10
_DIGITS_MAX = 18


def parse_offset(path: str) -> int | None:
    """The offset in `/log/OFFSET`; None for any other path."""
    text = path.removeprefix(PREFIX)
    is_offset = path.startswith(PREFIX) and text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    return int(text) if is_offset else None


def log_checksums(node: Node, offset: int) -> dict[str, Any]:
    """The batches from the one that holds `offset` on: (base offset, last offset, epoch, CRC-32C) of each, as many as a
    piece has; none at the end, and none below the start of the log.

    end_offset: of what is committed, exclusive. fault: why the log cannot be read here, else null.
    """
    replica = node.replica
    end_offset = min(replica.high_watermark or 0, replica.log.end)
    answer: dict[str, Any] = {
        "node_id": replica.key.id, "cluster_id": node.controller.env.cluster_id, "epoch": replica.epoch,
        "start_offset": replica.log.start, "end_offset": end_offset, "batches": [], "fault": None,
    }  # fmt: skip
    if not replica.log.start <= offset < end_offset:
        return answer
    try:
        data = node.storage.read(offset, end_offset, PIECE_BYTES)
        answer["batches"] = [
            [batch.base_offset, batch.last_offset, batch.leader_epoch, batch.crc] for batch in batches(data)
        ]
    except (CorruptLog, CorruptBatch, OSError, ValueError) as error:
        answer["fault"] = str(error) or type(error).__name__
    return answer
