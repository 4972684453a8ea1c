"""The configuration of a replica, and the values that name replicas, endpoints and snapshots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from records.uuids import ZERO_UUID, uuid_text


class ReplicaKey(NamedTuple):
    """A replica: its node id, and the id of the directory that holds its log (all zeros where unknown; KIP-853)."""

    id: int
    directory_id: bytes = ZERO_UUID

    def matches(self, other: ReplicaKey) -> bool:
        """Whether this recorded key means the replica `other`: a key without a directory id matches every directory."""
        return self.id == other.id and self.directory_id in (ZERO_UUID, other.directory_id)

    def __str__(self) -> str:
        return f"{self.id}" if self.directory_id == ZERO_UUID else f"{self.id}@{uuid_text(self.directory_id)}"


class Endpoint(NamedTuple):
    """The address of a listener of a node. listener: its name, in upper case; port: 0 to 65535."""

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

    Kafka does not have these nine. first_election_timeout_ms: the election timeout of a voter that starts and knows no
    leader; it is short because a pre-vote cannot disturb a leader. pre_vote_yield_ms: for how long a Prospective waits
    when another one asks for pre-votes at the same time; 0: not at all. high_watermark_delay_ms: for how long the
    leader may leave a voter's parked Fetch unanswered when only the high watermark advanced; 0: not at all, like Kafka.
    backs_off_without_news: whether a peer whose answer has nothing new gets no request for retry_backoff_ms; Kafka asks
    it again at once. counts_parked_fetches: whether a parked Fetch proves again that its sender is alive when records
    or a high watermark answer it, as in Kafka. observers_grant_pre_votes: whether an observer grants pre-votes after a
    fetch timeout without its leader; in Kafka, not before it learns of another epoch. handover_ms: for how long a
    leader that shuts down stays to vote after its last successor could stand, at most, when all voters have
    acknowledged its resignation (`raft/handover.py`); 0: not at all.
    election_quiet_ms: for how long a voter that has given its vote, or whose leader resigned, does not ask other nodes
    for the leader; 0: not at all, like Kafka. finds_moved_voters: whether a candidate asks silent voters at other
    addresses too (`raft/voter_search.py`), and a follower takes another address of a leader that has not answered yet.

    asks_new_endpoints: whether a leader asks a voter at its new endpoint before it takes an update of its entry, as in
    Kafka 4.5 (KAFKA-20661). endpoints: the addresses of this node that it sends to peers. voter_overrides:
    (voter id, address) of voters that may be elsewhere than the voter set says.
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
    backs_off_without_news: bool = True
    counts_parked_fetches: bool = False
    observers_grant_pre_votes: bool = True
    handover_ms: int = 500
    election_quiet_ms: int = 50
    finds_moved_voters: bool = False
    asks_new_endpoints: bool = False
    kraft_versions: tuple[int, int] = (0, 1)
    has_controller_role: bool = True
    auto_join: bool = False
    endpoints: tuple[Endpoint, ...] = ()
    bootstrap_servers: tuple[Endpoint, ...] = field(default=())
    voter_overrides: tuple[tuple[int, Endpoint], ...] = ()

    @property
    def search_after_ms(self) -> int:
        """When an election that is not decided asks for voters at other addresses: a healthy one is over by then."""
        return max(self.election_timeout_ms // 4, 1)

    @property
    def update_period_ms(self) -> int:
        """How often a follower checks whether the voter set has it as it is.

        Where a leader asks at new endpoints, its request times out after a fetch timeout, by default, and until then no
        other change is taken: this leaves room for one.
        """
        return max(self.fetch_timeout_ms, 1) * (2 if self.asks_new_endpoints else 1)
