"""When a record is committed (KIP-595; Raft 5.3, 5.4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raft.interface.voters import VoterSet

UNKNOWN = -1


def high_watermark(end_offsets: Mapping[int, int], voters: VoterSet, epoch_start: int) -> int | None:
    """The offset below which a majority of the voters hold the log durably.

    end_offsets: voter id -> durable log end (exclusive); a voter that has not fetched yet is absent, or UNKNOWN.
    Returns None until a majority holds the first record of this epoch. Before that, a later leader may lack records of
    earlier epochs that a majority holds, and overwrite them (Raft 5.4.2).
    """
    ends = sorted((end_offsets.get(voter_id, UNKNOWN) for voter_id in voters.ids), reverse=True)
    held = ends[len(ends) // 2]
    return held if held > epoch_start else None
