"""The start of a sequence: the keys of the replicas, and the files in the directory of the tested one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.config import Endpoint, RaftConfig, ReplicaKey, Voter
from raft.interface.voters import VoterSet, voters_record
from raft.storage.names import PARTITION_METADATA, PARTITION_METADATA_TEXT, QUORUM_STATE, segment_name, snapshot_name
from raft.storage.quorum_state import quorum_state_text
from raft.storage.snapshot_file import SnapshotBytes
from records.batch import build_batch
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    from tests.oracle.raft.commands import Start

LISTENER = "CONTROLLER"
CLUSTER = "kraft-oracle-raft-test"
PARTITION = f"{METADATA_TOPIC}-0"
START_MS = 1_000_000
# The records of sequences, their batches, and snapshots that others took have this time.
PAST_MS = 900_000

USUAL: dict[str, int] = {
    "election_timeout_ms": 1000, "fetch_timeout_ms": 2000, "election_backoff_max_ms": 1000, "request_timeout_ms": 2000,
    "retry_backoff_ms": 20, "fetch_wait_max_ms": 500,
}  # fmt: skip


def directory_id(replica_id: int, life: int = 0) -> bytes:
    """The directory id of a replica; life: 1 for the directory that it had before."""
    return bytes((*b"oracle-directory", replica_id & 0x7F, life))[-16:]


def endpoint(replica_id: int) -> Endpoint:
    return Endpoint(LISTENER, f"host{replica_id}", 9000 + replica_id)


def own_endpoint(start: Start) -> Endpoint:
    """The address that the replica has now."""
    found = endpoint(start.id)
    return found._replace(host=f"moved{start.id}") if start.moved else found


def own_key(start: Start) -> ReplicaKey:
    return ReplicaKey(start.id, directory_id(start.id))


def voter_set(start: Start) -> VoterSet:
    """The voters of a sequence: without directory ids where they are static."""
    voters = []
    for voter_id in start.voters:
        life = int(start.old_directory and voter_id == start.id)
        key = ReplicaKey(voter_id, directory_id(voter_id, life)) if start.kraft_version else ReplicaKey(voter_id)
        voters.append(Voter(key, (endpoint(voter_id),), (0, 1) if start.kraft_version else (0, 0)))
    return VoterSet(voters)


def config_of(start: Start) -> RaftConfig:
    """The configuration, without what Kafka does not have."""
    values: dict[str, Any] = {**USUAL, **dict(start.config)}
    values.update({name: bool(values[name]) for name in ("auto_join", "has_controller_role") if name in values})
    servers: tuple[Endpoint, ...] = ()
    if start.kraft_version or start.bootstrap:
        servers = tuple(endpoint(voter_id) for voter_id in start.voters)
    return RaftConfig(
        CLUSTER,
        LISTENER,
        pre_vote_on_lost_connection=False,
        first_election_timeout_ms=values["election_timeout_ms"],
        pre_vote_yield_ms=0,
        backs_off_without_news=False,
        counts_parked_fetches=True,
        observers_grant_pre_votes=False,
        handover_ms=0,
        election_quiet_ms=0,
        endpoints=(own_endpoint(start),),
        bootstrap_servers=servers,
        **values,
    )


def batch(base_offset: int, epoch: int, count: int) -> bytes:
    """A batch of the records of a sequence: each contains its epoch and its offset."""
    values = [record(epoch, base_offset + place) for place in range(count)]
    return build_batch(values, base_offset=base_offset, leader_epoch=epoch, timestamp_ms=PAST_MS)


def record(epoch: int, offset: int) -> bytes:
    return b"%d.%d" % (epoch, offset)


def snapshot_bytes(start: Start, end_offset: int, epoch: int) -> bytes:
    """A snapshot that others took: the voters, and one record."""
    made = SnapshotBytes(epoch, PAST_MS)
    voters = voters_record(voter_set(start)) if start.kraft_version else None
    parts = [made.header(PAST_MS, start.kraft_version, voters)]
    if end_offset:
        parts.append(made.data([b"up to %d" % end_offset]))
    return b"".join((*parts, made.footer()))


def files_of(start: Start) -> dict[str, bytes]:
    """The files of the directory, by name."""
    files = {PARTITION_METADATA: PARTITION_METADATA_TEXT}
    if start.kraft_version and start.snapshot is None:
        files[snapshot_name(0, 0)] = snapshot_bytes(start, 0, 0)
    offset = 0
    if start.snapshot is not None:
        files[snapshot_name(*start.snapshot)] = snapshot_bytes(start, *start.snapshot)
        offset = start.snapshot[0]
    parts = []
    first = offset
    for epoch, count in start.log:
        parts.append(batch(offset, epoch, count))
        offset += count
    files[segment_name(first, ".log")] = b"".join(parts)
    if start.election is not None:
        epoch, leader_id, voted = start.election
        vote = None if voted < 0 else ReplicaKey(voted, directory_id(voted))
        leader = None if leader_id < 0 else leader_id
        files[QUORUM_STATE] = quorum_state_text(epoch, leader, vote, start.kraft_version, voter_set(start).ids)
    return files
