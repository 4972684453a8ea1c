"""Rogue clients: they send any request to any node at any time, and half of the requests are invalid.

`properties.answers` checks the answers; none of the requests may change what the quorum does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.inputs import Requested, Source
from raft.state.roles import Leader
from records.codec import decode, encode
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.quorum import DescribeQuorumRequest
from records.metadata_log import METADATA_TOPIC
from records.schema import replace
from records.uuids import METADATA_TOPIC_ID
from simulations.world.machine import endpoint
from simulations.world.streams import between
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.properties.answers import Answers
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process
    from simulations.world.world import World

FIRST_ID = 900
"""The first replica id that rogue clients send; one sends 0, the lowest valid id."""

Fetched = FetchRequest.FetchTopic.FetchPartition
Part = FetchSnapshotRequest.TopicSnapshot.PartitionSnapshot

VERSIONS: dict[type, int] = {
    VoteRequest: 2, BeginQuorumEpochRequest: 1, EndQuorumEpochRequest: 1, FetchRequest: 18, FetchSnapshotRequest: 1,
    DescribeQuorumRequest: 2,
}  # fmt: skip


class RogueClients:
    """Clients that send a request about every `every_ms`, 0 for never. asked: the number of requests sent."""

    def __init__(self, world: World, ledger: Ledger, answers: Answers, every_ms: int, rng: Random) -> None:
        self._world = world
        self._ledger = ledger
        self._answers = answers
        self._every_ms = every_ms
        self._rng = rng
        self.asked = 0
        if every_ms:
            self._later()

    def _later(self) -> None:
        self._world.after(between(self._rng, 1, 2 * self._every_ms * MS), self._act)

    def _act(self) -> None:
        self._later()
        processes = [each for each in self._ledger.running() if each.is_listening and each.is_awake]
        if not processes:
            return
        leaders = [each for each in processes if isinstance(each.replica.role, Leader)]
        if leaders and self._rng.random() < 0.5:
            processes = leaders
        process = processes[int(self._rng.random() * len(processes))]
        request = draw(self._rng, process)
        newest = VERSIONS[type(request)]
        self.asked += 1
        source = Source(-self.asked, self.asked)  # the kernel gives no connection such a number
        request = decode(type(request), newest, encode(request, newest))
        version = newest if self._rng.random() < 0.7 else 0
        requested = Requested(source, request, version, "CONTROLLER")
        self._answers.asks(process, requested)
        self._answers.wait()
        process.handle(requested)
        self._answers.has_taken()


def draw(rng: Random, process: Process) -> Any:
    """A request for a node: a valid one, or one with a single wrong field."""
    draws: tuple[Callable[[Random, Process], Any], ...] = (
        _vote,
        _begin,
        _end,
        _fetch,
        _fetch,
        _fetch,
        _part,
        _describe,
    )
    request = draws[int(rng.random() * len(draws))](rng, process)
    return _spoil(rng, request) if rng.random() < 0.3 else request


def _choose(rng: Random, *choices: Any) -> Any:
    return choices[int(rng.random() * len(choices))]


def _spoil(rng: Random, request: Any) -> Any:
    """The request with another cluster, topic or partition, or with several of them."""
    if type(request) is not DescribeQuorumRequest and rng.random() < 0.3:
        return replace(request, cluster_id="another")
    topic = request.topics[0]
    part = topic.partitions[0]
    what = rng.random()
    if what < 0.3:
        wrong: dict[str, Any] = {"topic_name": "other"}
        if isinstance(request, FetchRequest):
            wrong = {"topic_id": bytes(15) + b"\7"}
        elif isinstance(request, FetchSnapshotRequest):
            wrong = {"name": "other"}
        return replace(request, topics=(replace(topic, **wrong),))
    if what < 0.6:
        index = "partition" if isinstance(request, (FetchRequest, FetchSnapshotRequest)) else "partition_index"
        return replace(request, topics=(replace(topic, partitions=(replace(part, **{index: 1}),)),))
    if what < 0.8:
        return replace(request, topics=(replace(topic, partitions=(part, part)),))
    return replace(request, topics=(topic, topic))


def _epoch(rng: Random, process: Process) -> int:
    """The node's epoch or the one before; a later one would change the node's epoch."""
    epoch = process.replica.role.epoch
    return max(epoch - (rng.random() < 0.2), 0)


def _whom(rng: Random, process: Process) -> int:
    """The voter id in the request: the receiver's, -1 for none, or another."""
    return int(_choose(rng, process.node.id, process.node.id, -1, FIRST_ID))


def _vote(rng: Random, process: Process) -> VoteRequest:
    """A pre-vote, or a vote of a former epoch: a vote of the next epoch could be granted."""
    log, epoch = process.replica.log, process.replica.role.epoch
    pre_vote = epoch == 0 or rng.random() < 0.7
    asked = VoteRequest.TopicData.PartitionData(
        partition_index=0,
        replica_epoch=epoch if pre_vote else epoch - 1,
        replica_id=int(_choose(rng, FIRST_ID, FIRST_ID, -1, process.node.id)),
        replica_directory_id=bytes(16),
        voter_directory_id=bytes(16),
        last_offset_epoch=min(log.last_epoch + int(_choose(rng, 0, 0, 1, -1)), int(_choose(rng, epoch, epoch + 1))),
        last_offset=log.end + int(_choose(rng, 0, 0, -1, 1, -log.end - 1)),
        pre_vote=pre_vote,
    )
    topic = VoteRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(asked,))
    return VoteRequest(cluster_id=_cluster(process), voter_id=_whom(rng, process), topics=(topic,))


def _cluster(process: Process) -> str:
    return process.replica.config.cluster_id


def _leader(rng: Random, process: Process) -> tuple[int, int]:
    """An epoch and its leader that the node knows already, or that cannot be true."""
    role = process.replica.role
    if role.leader_id is None or rng.random() < 0.2:
        return role.epoch, int(_choose(rng, -1, process.node.id)) if role.epoch else -1
    if rng.random() < 0.3:
        return role.epoch, role.leader_id % 3 + 1 if rng.random() < 0.5 else FIRST_ID
    return _epoch(rng, process), role.leader_id


def _begin(rng: Random, process: Process) -> BeginQuorumEpochRequest:
    epoch, leader_id = _leader(rng, process)
    asked = BeginQuorumEpochRequest.TopicData.PartitionData(
        partition_index=0, voter_directory_id=bytes(16), leader_id=leader_id, leader_epoch=epoch
    )
    where = BeginQuorumEpochRequest.LeaderEndpoint(name="CONTROLLER", host=endpoint(leader_id).host, port=9093)
    topic = BeginQuorumEpochRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(asked,))
    return BeginQuorumEpochRequest(
        cluster_id=_cluster(process), voter_id=_whom(rng, process), topics=(topic,), leader_endpoints=(where,)
    )


def _end(rng: Random, process: Process) -> EndQuorumEpochRequest:
    """Of a former epoch, or of a node that cannot be the leader: a valid one would end the leadership."""
    epoch, leader_id = _leader(rng, process)
    if leader_id == process.replica.role.leader_id and epoch == process.replica.role.epoch:
        epoch -= 1
    asked = EndQuorumEpochRequest.TopicData.PartitionData(
        partition_index=0, leader_id=leader_id, leader_epoch=epoch, preferred_successors=(), preferred_candidates=()
    )
    topic = EndQuorumEpochRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(asked,))
    return EndQuorumEpochRequest(cluster_id=_cluster(process), topics=(topic,), leader_endpoints=())


def _fetch(rng: Random, process: Process) -> FetchRequest:
    """A Fetch as a consumer or an observer sends it; sometimes with the receiver's own id."""
    replica = process.replica
    log = replica.log
    epoch = max(replica.role.epoch + int(_choose(rng, 0, 0, 0, 0, 0, 0, -1, 1)), 0)
    starts = [start for _, start in log.epochs]
    offset = int(_choose(rng, log.end, log.end, log.end, log.start, 0, between(rng, 0, log.end + 2), *starts))
    last = max((other for other, start in log.epochs if start < offset), default=log.last_epoch if offset else 0)
    watermark = -1 if replica.high_watermark is None else replica.high_watermark
    sender = int(_choose(rng, -1, -1, 0, FIRST_ID, FIRST_ID + 1, process.node.id))
    asked = Fetched(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=offset if rng.random() < 0.95 else -1,
        last_fetched_epoch=last + int(_choose(rng, 0, 0, 0, 0, 0, 0, 1, -1)),
        log_start_offset=-1,
        partition_max_bytes=1 << 20,
        high_watermark=max(watermark - (rng.random() < 0.2), -1),
    )
    return FetchRequest(
        cluster_id=_cluster(process),
        replica_state=FetchRequest.ReplicaState(replica_id=sender),
        max_wait_ms=int(_choose(rng, 0, 20, 100, 400, -1 if rng.random() < 0.2 else 0)),
        min_bytes=1,
        max_bytes=int(_choose(rng, 1 << 20, 100, 0, -1)),
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=(FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=(asked,)),),
        forgotten_topics_data=(),
        rack_id="",
    )


def _part(rng: Random, process: Process) -> FetchSnapshotRequest:
    replica = process.replica
    stored = [(*each.id, each.size) for each in replica.log.snapshots]
    end_offset, epoch, size = _choose(rng, *(stored or [(7, 1, 100)]))
    asked = Part(
        partition=0,
        current_leader_epoch=max(replica.role.epoch + int(_choose(rng, 0, 0, 0, 0, -1, 1)), 0),
        snapshot_id=Part.SnapshotId(end_offset=end_offset + (rng.random() < 0.1), epoch=epoch),
        position=int(_choose(rng, 0, 0, size // 2, size - 1, size, -1)),
    )
    topic = FetchSnapshotRequest.TopicSnapshot(name=METADATA_TOPIC, partitions=(asked,))
    return FetchSnapshotRequest(
        cluster_id=_cluster(process),
        replica_id=int(_choose(rng, -1, FIRST_ID, process.node.id)),
        max_bytes=int(_choose(rng, 1 << 20, 100, -1)),
        topics=(topic,),
    )


def _describe(_rng: Random, _process: Process) -> DescribeQuorumRequest:
    asked = DescribeQuorumRequest.TopicData.PartitionData(partition_index=0)
    return DescribeQuorumRequest(
        topics=(DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=(asked,)),)
    )
