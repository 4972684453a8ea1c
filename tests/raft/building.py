"""Values for the tests of raft: voters, messages, and one replica whose disk is controlled by the test."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from raft.interface.config import Endpoint, RaftConfig, ReplicaKey, SnapshotId, Voter
from raft.interface.effects import (
    AdvanceLogStart,
    Append,
    Noted,
    Reply,
    ReplyRecords,
    ReplySnapshot,
    ResetLog,
    SaveElection,
    Send,
    Truncate,
)
from raft.interface.inputs import Answered, Flushed, Requested, Saved, Source, Ticked
from raft.interface.recovered import Election, Recovered, StoredSnapshot
from raft.interface.voters import VoterSet
from raft.state.replica import Replica
from raft.step import start, step
from records.batch import build_batch
from records.messages.elections import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    VoteRequest,
    VoteResponse,
)
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from records.messages.quorum import DescribeQuorumRequest
from records.schema import schema_of
from records.uuids import METADATA_TOPIC_ID

CLUSTER = "cluster-of-the-test"
TOPIC = "__cluster_metadata"
ANYBODY = ReplicaKey(-1)
NO_SNAPSHOT = SnapshotId(0, 0)


def directory(replica_id: int) -> bytes:
    return bytes([replica_id % 256]) * 16


def key(replica_id: int) -> ReplicaKey:
    """A replica with the directory id that its number gives."""
    return ReplicaKey(replica_id, directory(replica_id))


def endpoint(replica_id: int) -> Endpoint:
    return Endpoint("CONTROLLER", f"host-{replica_id}", 9000 + replica_id)


def static_voters(*ids: int) -> VoterSet:
    """Voters as `controller.quorum.voters` names them: without directory ids."""
    return VoterSet(Voter(ReplicaKey(each), (endpoint(each),)) for each in ids)


def dynamic_voters(*ids: int) -> VoterSet:
    """Voters as a record of kraft.version 1 names them."""
    return VoterSet(Voter(key(each), (endpoint(each),), (0, 1)) for each in ids)


def batch(base_offset: int, epoch: int, count: int = 1, size: int = 1) -> bytes:
    """A batch of `count` records that say their offsets."""
    values = [str(base_offset + delta).encode().ljust(size, b".") for delta in range(count)]
    return build_batch(values, base_offset=base_offset, leader_epoch=epoch, timestamp_ms=0)


def snapshot(end_offset: int, epoch: int, size: int = 100, timestamp_ms: int = 0) -> StoredSnapshot:
    return StoredSnapshot(SnapshotId(end_offset, epoch), size, timestamp_ms)


def log(end: int, *epochs: tuple[int, int], start: int = 0, snapshots: tuple[StoredSnapshot, ...] = ()) -> Recovered:
    """A directory without quorum-state, whose log ends at `end`; epochs: (epoch, start offset)."""
    return Recovered(None, start, end, epochs, snapshots)


def voted(epoch: int, leader_id: int | None = None, vote: ReplicaKey | None = None) -> Election:
    return Election(epoch, leader_id, vote)


# Requests


def vote_request(
    epoch: int,
    candidate: int,
    *,
    last_epoch: int = 0,
    last_offset: int = 0,
    pre_vote: bool = False,
    voter: ReplicaKey = ANYBODY,
    cluster_id: str | None = CLUSTER,
    candidate_key: ReplicaKey | None = None,
) -> VoteRequest:
    asking = candidate_key or key(candidate)
    partition = VoteRequest.TopicData.PartitionData(
        partition_index=0,
        replica_epoch=epoch,
        replica_id=asking.id,
        replica_directory_id=asking.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=last_epoch,
        last_offset=last_offset,
        pre_vote=pre_vote,
    )
    topic = VoteRequest.TopicData(topic_name=TOPIC, partitions=(partition,))
    return VoteRequest(cluster_id=cluster_id, voter_id=voter.id, topics=(topic,))


def begin_request(
    epoch: int,
    leader: int,
    *,
    voter: ReplicaKey = ANYBODY,
    endpoints: tuple[Endpoint, ...] = (),
    cluster_id: str | None = CLUSTER,
) -> BeginQuorumEpochRequest:
    partition = BeginQuorumEpochRequest.TopicData.PartitionData(
        partition_index=0, voter_directory_id=voter.directory_id, leader_id=leader, leader_epoch=epoch
    )
    return BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=voter.id,
        topics=(BeginQuorumEpochRequest.TopicData(topic_name=TOPIC, partitions=(partition,)),),
        leader_endpoints=tuple(
            BeginQuorumEpochRequest.LeaderEndpoint(name=each.listener, host=each.host, port=each.port)
            for each in endpoints
        ),
    )


def end_request(
    epoch: int,
    leader: int,
    successors: tuple[ReplicaKey, ...] = (),
    *,
    version: int = 1,
    cluster_id: str | None = CLUSTER,
) -> EndQuorumEpochRequest:
    data = EndQuorumEpochRequest.TopicData
    partition = data.PartitionData(
        partition_index=0,
        leader_id=leader,
        leader_epoch=epoch,
        preferred_successors=tuple(each.id for each in successors) if version == 0 else (),
        preferred_candidates=tuple(
            data.PartitionData.ReplicaInfo(candidate_id=each.id, candidate_directory_id=each.directory_id)
            for each in successors
        )
        if version > 0
        else (),
    )
    return EndQuorumEpochRequest(cluster_id=cluster_id, topics=(data(topic_name=TOPIC, partitions=(partition,)),))


def fetch_request(
    epoch: int,
    replica: int,
    offset: int,
    last_epoch: int,
    *,
    max_wait_ms: int = 500,
    high_watermark: int = (1 << 63) - 1,
    directory_id: bytes | None = None,
    cluster_id: str | None = CLUSTER,
    max_bytes: int = 1 << 20,
) -> FetchRequest:
    partition = FetchRequest.FetchTopic.FetchPartition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        partition_max_bytes=0,
        replica_directory_id=directory(replica) if directory_id is None else directory_id,
        high_watermark=high_watermark,
    )
    return FetchRequest(
        cluster_id=cluster_id,
        replica_state=FetchRequest.ReplicaState(replica_id=replica, replica_epoch=-1),
        max_wait_ms=max_wait_ms,
        min_bytes=0,
        max_bytes=max_bytes,
        topics=(FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=(partition,)),),
    )


def fetch_snapshot_request(
    epoch: int,
    replica: int,
    wanted: SnapshotId,
    position: int,
    *,
    max_bytes: int = 1 << 20,
    topic: str = TOPIC,
    cluster_id: str | None = CLUSTER,
) -> FetchSnapshotRequest:
    data = FetchSnapshotRequest.TopicSnapshot
    partition = data.PartitionSnapshot(
        partition=0,
        current_leader_epoch=epoch,
        snapshot_id=data.PartitionSnapshot.SnapshotId(end_offset=wanted.end_offset, epoch=wanted.epoch),
        position=position,
        replica_directory_id=directory(replica),
    )
    return FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=replica,
        max_bytes=max_bytes,
        topics=(data(name=topic, partitions=(partition,)),),
    )


def describe_request(topic: str = TOPIC, partition: int = 0) -> DescribeQuorumRequest:
    data = DescribeQuorumRequest.TopicData
    return DescribeQuorumRequest(
        topics=(data(topic_name=topic, partitions=(data.PartitionData(partition_index=partition),)),)
    )


# Responses


def vote_response(
    epoch: int, *, granted: bool = False, leader: int = -1, error: int = 0, node: int | None = None
) -> VoteResponse:
    """node: the leader whose address is given with the answer."""
    data = VoteResponse.TopicData
    partition = data.PartitionData(
        partition_index=0, error_code=error, leader_id=leader, leader_epoch=epoch, vote_granted=granted
    )
    return VoteResponse(
        error_code=0,
        topics=(data(topic_name=TOPIC, partitions=(partition,)),),
        node_endpoints=_nodes(VoteResponse.NodeEndpoint, node),
    )


def begin_response(
    epoch: int, *, leader: int = -1, error: int = 0, node: int | None = None
) -> BeginQuorumEpochResponse:
    return _epoch_response(BeginQuorumEpochResponse, epoch, leader, error, node)


def end_response(epoch: int, *, leader: int = -1, error: int = 0, node: int | None = None) -> EndQuorumEpochResponse:
    return _epoch_response(EndQuorumEpochResponse, epoch, leader, error, node)


def _epoch_response(cls: Any, epoch: int, leader: int, error: int, node: int | None) -> Any:
    partition = cls.TopicData.PartitionData(partition_index=0, error_code=error, leader_id=leader, leader_epoch=epoch)
    return cls(
        error_code=0,
        topics=(cls.TopicData(topic_name=TOPIC, partitions=(partition,)),),
        node_endpoints=_nodes(cls.NodeEndpoint, node),
    )


def fetch_response(
    epoch: int,
    leader: int,
    *,
    records: bytes = b"",
    high_watermark: int = -1,
    diverging: tuple[int, int] | None = None,
    snapshot_id: SnapshotId | None = None,
    log_start: int = 0,
    error: int = 0,
    node: int | None = None,
) -> FetchResponse:
    """diverging: (epoch, end offset)."""
    data = FetchResponse.FetchableTopicResponse
    part = data.PartitionData
    end_epoch, end_offset = diverging or (-1, -1)
    wanted = snapshot_id or SnapshotId(-1, -1)
    partition = part(
        partition_index=0,
        error_code=error,
        high_watermark=high_watermark,
        log_start_offset=log_start,
        diverging_epoch=part.EpochEndOffset(epoch=end_epoch, end_offset=end_offset),
        current_leader=part.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch),
        snapshot_id=part.SnapshotId(end_offset=wanted.end_offset, epoch=wanted.epoch),
        records=records,
    )
    return FetchResponse(
        error_code=0,
        responses=(data(topic_id=METADATA_TOPIC_ID, partitions=(partition,)),),
        node_endpoints=_nodes(FetchResponse.NodeEndpoint, node),
    )


def fetch_snapshot_response(
    epoch: int,
    leader: int,
    part_of: SnapshotId = NO_SNAPSHOT,
    *,
    size: int = 0,
    position: int = 0,
    data: bytes = b"",
    error: int = 0,
    node: int | None = None,
) -> FetchSnapshotResponse:
    part = FetchSnapshotResponse.TopicSnapshot.PartitionSnapshot
    partition = part(
        index=0,
        error_code=error,
        snapshot_id=part.SnapshotId(end_offset=part_of.end_offset, epoch=part_of.epoch),
        current_leader=part.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch),
        size=size,
        position=position,
        unaligned_records=data,
    )
    return FetchSnapshotResponse(
        throttle_time_ms=0,
        error_code=0,
        topics=(FetchSnapshotResponse.TopicSnapshot(name=TOPIC, partitions=(partition,)),),
        node_endpoints=_nodes(FetchSnapshotResponse.NodeEndpoint, node),
    )


def _nodes(cls: Any, node: int | None) -> tuple[Any, ...]:
    return () if node is None else (cls(node_id=node, host=endpoint(node).host, port=endpoint(node).port),)


def snake(name: str) -> str:
    """The name of a class as that of a method: SaveElection, save_election."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def latest(message: object) -> int:
    """The newest version of a message."""
    return schema_of(type(message)).versions[1]


class Bench:
    """One replica, stepped by the test. Saves and flushes end when `settle` is called; `tell` calls it.

    notes: names of the notes since the bench was made; seen: all effects but notes.
    """

    def __init__(
        self,
        replica_id: int = 1,
        voters: VoterSet | None = None,
        recovered: Recovered | None = None,
        *,
        election: Election | None = None,
        now_ms: int = 0,
        seed: int = 7,
        settled: bool = True,
        **config: Any,
    ) -> None:
        recovered = recovered or Recovered()
        recovered.election = election or recovered.election
        settings = {"endpoints": (endpoint(replica_id),), **config}
        self.now = now_ms
        self.notes: list[str] = []
        self.seen: list[Any] = []
        self.open: list[Any] = []
        self.connections = 100
        self.replica = Replica(
            RaftConfig(CLUSTER, **settings),
            key(replica_id),
            static_voters(1, 2, 3) if voters is None else voters,
            recovered,
            Random(seed),
        )
        self.first = self._took(start(self.replica, now_ms))
        if settled:
            self.first += self.settle()

    @property
    def role(self) -> Any:
        return self.replica.role

    def step(self, event: Any) -> list[Any]:
        """One input; returns the effects but notes. Disk operations wait for `settle`."""
        return self._took(step(self.replica, event, self.now))

    def settle(self) -> list[Any]:
        """Complete all pending disk operations; returns the effects of the reports."""
        effects = []
        while self.open:
            opened, self.open = self.open, []
            for order in opened:
                done = Saved(order.number) if isinstance(order, SaveElection) else Flushed(order.number)
                effects += self.step(done)
        return effects

    def tell(self, event: Any) -> list[Any]:
        """One input, and complete all disk operations."""
        return self.step(event) + self.settle()

    def wait(self, ms: int) -> list[Any]:
        """Let time pass; the replica is stepped at each of its deadlines."""
        effects = []
        end = self.now + ms
        while self.now < end:
            self.now = min(end, max(self.replica.deadline_ms, self.now + 1))
            effects += self.tell(Ticked())
        return effects

    def ask(self, request: Any, version: int | None = None, connection: int | None = None) -> Any:
        """A request of a peer; the response, or None while it waits. Without a connection, on one of its own."""
        if connection is None:
            self.connections += 1
            connection = self.connections
        source = Source(connection, 0)
        version = latest(request) if version is None else version
        effects = self.tell(Requested(source, request, version, "CONTROLLER"))
        return next((each.response for each in effects if is_reply(each) and each.source == source), None)

    def answer(self, send: Send, response: Any) -> list[Any]:
        return self.tell(Answered(send.peer, send.number, response))

    def sends(self, effects: list[Any] | None = None, kind: type | None = None) -> list[Send]:
        """The requests among some effects, or among all seen so far."""
        found = [each for each in (self.seen if effects is None else effects) if isinstance(each, Send)]
        return [each for each in found if kind is None or isinstance(each.request, kind)]

    def last_send(self, kind: type | None = None) -> Send:
        return self.sends(kind=kind)[-1]

    def _took(self, effects: list[Any]) -> list[Any]:
        self.notes += [each.name for each in effects if isinstance(each, Noted)]
        found = [each for each in effects if not isinstance(each, Noted)]
        self.seen += found
        on_disk = (SaveElection, Append, Truncate, ResetLog, AdvanceLogStart)
        self.open += [each for each in found if isinstance(each, on_disk)]
        assert self.replica.deadline_ms > self.now or self.replica.stopped, "it asks to be woken in the past"
        return found


def is_reply(effect: object) -> bool:
    return isinstance(effect, (Reply, ReplyRecords, ReplySnapshot))


def follower(replica_id: int = 1, leader: int = 2, epoch: int = 1, **options: Any) -> Bench:
    """A replica that follows, and whose first Fetch is in flight."""
    bench = Bench(replica_id, election=voted(epoch, leader), **options)
    assert type(bench.role).__name__ == "Follower", bench.role
    return bench


def unattached(replica_id: int = 1, epoch: int = 1, **options: Any) -> Bench:
    return Bench(replica_id, election=voted(epoch), **options)


def prospective(replica_id: int = 1, epoch: int = 1, **options: Any) -> Bench:
    """A voter without a leader after its election timeout: its pre-vote requests are in flight."""
    bench = unattached(replica_id, epoch, **options)
    bench.wait(bench.role.election_deadline_ms - bench.now)
    assert type(bench.role).__name__ == "Prospective", bench.role
    return bench


def candidate(replica_id: int = 1, epoch: int = 2, **options: Any) -> Bench:
    """A voter that won its pre-vote: its vote requests are in flight. epoch: of the election."""
    bench = prospective(replica_id, epoch - 1, **options)
    for send in bench.sends(kind=VoteRequest):
        if type(bench.role).__name__ == "Prospective":
            bench.answer(send, vote_response(epoch - 1, granted=True))
    assert type(bench.role).__name__ == "Candidate", bench.role
    return bench


def leader(replica_id: int = 1, epoch: int = 2, **options: Any) -> Bench:
    """An elected voter, whose control batch is on its disk, and not committed where there are others."""
    bench = candidate(replica_id, epoch, **options)
    for send in bench.sends(kind=VoteRequest):
        if type(bench.role).__name__ == "Candidate":
            bench.answer(send, vote_response(epoch, granted=True))
    assert type(bench.role).__name__ == "Leader", bench.role
    return bench


def active(replica_id: int = 1, epoch: int = 2, **options: Any) -> Bench:
    """A leader whose first record is committed: the next Fetch of each other voter is parked."""
    bench = leader(replica_id, epoch, **options)
    end = bench.replica.log.end
    for other in bench.replica.voters.ids:
        if other != replica_id:
            bench.ask(fetch_request(epoch, other, end, epoch, high_watermark=-1), connection=other)
            bench.ask(fetch_request(epoch, other, end, epoch, high_watermark=end), connection=other)
    assert bench.replica.high_watermark == end, bench.replica.high_watermark
    return bench
