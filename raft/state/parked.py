"""Fetch requests that the leader has not answered yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from records.messages.fetch import FetchRequest

if TYPE_CHECKING:
    from raft.interface.inputs import Requested

Partition = FetchRequest.FetchTopic.FetchPartition


@dataclass(slots=True)
class Parked:
    """A Fetch that waits for records or for a higher high watermark. is_voter: whether its sender is a voter."""

    requested: Requested
    partition: Partition
    deadline_ms: int
    is_voter: bool
