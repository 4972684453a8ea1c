"""Which versions of the quorum's messages a release speaks; two nodes take the highest that both have."""

from __future__ import annotations

from records.messages.elections import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    VoteRequest,
)
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest

Versions = dict[type, int]


def _versions(fetch: int, vote: int) -> Versions:
    return {
        FetchRequest: fetch,
        VoteRequest: vote,
        BeginQuorumEpochRequest: 1,
        EndQuorumEpochRequest: 1,
        FetchSnapshotRequest: 1,
    }


NEWEST = "4.4"

# 3.9 knows no pre-vote (KIP-996), 4.0 no high watermark in a Fetch (KIP-1166).
RELEASES: dict[str, Versions] = {
    "3.9": _versions(17, 1),
    "4.0": _versions(17, 2),
    NEWEST: _versions(18, 2),
}


def common_versions(one: str, other: str) -> Versions:
    """By request class, the version that two releases speak with each other."""
    return {cls: min(version, RELEASES[other][cls]) for cls, version in RELEASES[one].items()}
