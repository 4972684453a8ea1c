"""What a replica is configured with, and how replicas are named."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from records.uuids import ZERO_UUID, uuid_text

METADATA_TOPIC = "__cluster_metadata"


class ReplicaKey(NamedTuple):
    """A replica: its node id, and the id of the directory that holds its log (all zeros where unknown; KIP-853)."""

    id: int
    directory_id: bytes = ZERO_UUID

    def matches(self, other: ReplicaKey) -> bool:
        """Whether this key, as recorded, means the replica `other`: without a directory id it means any of that id."""
        return self.id == other.id and self.directory_id in (ZERO_UUID, other.directory_id)

    def __str__(self) -> str:
        return f"{self.id}" if self.directory_id == ZERO_UUID else f"{self.id}@{uuid_text(self.directory_id)}"


class Endpoint(NamedTuple):
    """Where a listener of a node is reached. listener: name, upper case; port: 0 to 65535."""

    listener: str
    host: str
    port: int


class SnapshotId(NamedTuple):
    """A snapshot: the offset after its last record, and the epoch of that record (KIP-630)."""

    end_offset: int
    epoch: int


@dataclass(slots=True)
class Voter:
    """One voter of a voter set. endpoints: in the order of the record or config; versions: of kraft.version."""

    key: ReplicaKey
    endpoints: tuple[Endpoint, ...]
    kraft_versions: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class RaftConfig:
    """Settings of the core; times in milliseconds, sizes in bytes. Names follow `controller.quorum.*`.

    Our own: first_election_timeout_ms is the election timeout of a voter that starts and knows of no leader (a pre-vote
    cannot disturb one, so there is no need to wait for long); pre_vote_yield_ms is for how long one of several
    Prospectives holds back for another; high_watermark_delay_ms is how long a voter whose Fetch waits may go without
    news of the high watermark alone, 0 as in Kafka: at once. endpoints: where this node is reached, for peers that must
    be told.
    """

    cluster_id: str
    listener: str = "CONTROLLER"
    election_timeout_ms: int = 1000
    fetch_timeout_ms: int = 2000
    election_backoff_max_ms: int = 1000
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    append_linger_ms: int = 0
    fetch_bytes_max: int = 1048576
    fetch_snapshot_bytes_max: int = 1048576
    retention_bytes_max: int = 104857600
    retention_ms: int = 604800000
    fetch_wait_max_ms: int = 500
    high_watermark_delay_ms: int = 0
    clean_interval_ms: int = 60000
    observer_session_ms: int = 300000
    pre_vote_on_lost_connection: bool = True
    first_election_timeout_ms: int = 50
    pre_vote_yield_ms: int = 200
    kraft_versions: tuple[int, int] = (0, 1)
    has_controller_role: bool = True
    endpoints: tuple[Endpoint, ...] = ()
    bootstrap_servers: tuple[Endpoint, ...] = field(default=())
