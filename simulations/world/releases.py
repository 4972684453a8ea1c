"""What a release supports: message versions, of which two nodes use the highest common one, and feature levels."""

from __future__ import annotations

from raft.interface.voters import KRAFT_VERSION_MAX
from records.features.levels import KAFKA_4_3, METADATA_VERSION, supported_features
from records.messages.brokers import BrokerHeartbeatRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.elections import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    VoteRequest,
)
from records.messages.features import UpdateFeaturesRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest, UpdateRaftVoterRequest

Versions = dict[type, int]
Levels = dict[str, tuple[int, int]]


def _versions(fetch: int, vote: int, add: int = 1) -> Versions:
    return {
        FetchRequest: fetch,
        VoteRequest: vote,
        BeginQuorumEpochRequest: 1,
        EndQuorumEpochRequest: 1,
        FetchSnapshotRequest: 1,
        UpdateRaftVoterRequest: 0,
        AddRaftVoterRequest: add,
        RemoveRaftVoterRequest: 0,
        ApiVersionsRequest: 4,
    }


NEWEST = "4.4"

# What a node says of itself to a leader that is to add it.
VERSIONS = ApiVersionsResponse(
    error_code=0, api_keys=(), throttle_time_ms=0, finalized_features=(), finalized_features_epoch=-1,
    supported_features=(
        ApiVersionsResponse.SupportedFeatureKey(name="kraft.version", min_version=0, max_version=KRAFT_VERSION_MAX),
    ),
)  # fmt: skip

# 3.9 knows no pre-vote (KIP-996), 4.0 no high watermark in a Fetch (KIP-1166), 4.1 no AddRaftVoter that is answered
# before the commit (KIP-1186).
RELEASES: dict[str, Versions] = {
    "3.9": _versions(17, 1, 0),
    "4.0": _versions(17, 2, 0),
    "4.1": _versions(18, 2, 0),
    "4.2": _versions(18, 2),
    "4.3": _versions(18, 2),
    NEWEST: _versions(18, 2),
}

# The versions of the controller's own APIs that a release supports, where they are lower than the newest ones.
_LESS: dict[str, Versions] = {
    "3.9": {BrokerHeartbeatRequest: 1, AlterPartitionReassignmentsRequest: 0, UpdateFeaturesRequest: 1},
    "4.0": {BrokerHeartbeatRequest: 1, AlterPartitionReassignmentsRequest: 0},
    "4.1": {BrokerHeartbeatRequest: 1},
    "4.2": {BrokerHeartbeatRequest: 1},
}

# Features that are not for production do not count.
_ALL_OF_4_0 = ("kraft.version", "transaction.version", "group.version", "eligible.leader.replicas.version")
_FEATURES: dict[str, tuple[int, tuple[str, ...]]] = {
    "3.9": (21, ("kraft.version",)),
    "4.0": (25, _ALL_OF_4_0),
    "4.1": (27, (*_ALL_OF_4_0, "share.version")),
    "4.2": (29, (*_ALL_OF_4_0, "share.version", "streams.version")),
    "4.3": (30, (*_ALL_OF_4_0, "share.version", "streams.version")),
}


# An admin client may be older than any node of its cluster; it sends no requests of the quorum.
OLD_CLIENT = "3.6"
_LESS[OLD_CLIENT] = {ApiVersionsRequest: 3, DescribeClusterRequest: 0, UpdateFeaturesRequest: 1}


def common_versions(one: str, other: str) -> Versions:
    """By request class, the version that two releases use with each other."""
    least = RELEASES["3.9"]
    theirs = RELEASES.get(other, least)
    return {cls: min(version, theirs[cls]) for cls, version in RELEASES.get(one, least).items()}


def common_controller_versions(newest: Versions, one: str, other: str) -> Versions:
    """The same for the controller's own APIs; `newest` has the versions of the newest release."""
    versions = dict(newest)
    for less in (_LESS.get(one, {}), _LESS.get(other, {})):
        for cls, version in less.items():
            versions[cls] = min(versions[cls], version)
    return versions


def levels_of(release: str) -> Levels:
    """The levels of each feature that a release supports."""
    if release not in _FEATURES:
        return supported_features()
    known = supported_features(release=KAFKA_4_3)
    newest, names = _FEATURES[release]
    return {METADATA_VERSION: (known[METADATA_VERSION][0], newest), **{name: known[name] for name in names}}
