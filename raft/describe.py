"""DescribeQuorum: the log end offset of each replica, as the leader knows it (KIP-595, KIP-836, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.checks import only_partition
from raft.interface.effects import Reply
from raft.state.leader_state import UNKNOWN, Progress
from raft.state.roles import Leader
from records.errors import Error, error_text
from records.messages.quorum import DescribeQuorumRequest, DescribeQuorumResponse
from records.metadata_log import METADATA_TOPIC
from records.uuids import ZERO_UUID

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.replica import Replica

Topic = DescribeQuorumResponse.TopicData
Partition = Topic.PartitionData
State = Partition.ReplicaState
Node = DescribeQuorumResponse.Node


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """DescribeQuorum: only the leader answers it without an error; times are wall-clock times."""
    request: DescribeQuorumRequest = requested.request
    role = replica.role
    if only_partition(request.topics) is None:
        topics = tuple(
            Topic(
                topic_name=topic.topic_name,
                partitions=tuple(
                    _error_partition(partition.partition_index, Error.UNKNOWN_TOPIC_OR_PARTITION)
                    for partition in topic.partitions
                ),
            )
            for topic in request.topics
        )
        response = DescribeQuorumResponse(error_code=Error.NONE, topics=topics)
    elif not isinstance(role, Leader):
        failed = _error_partition(0, Error.NOT_LEADER_OR_FOLLOWER)
        topics = (Topic(topic_name=METADATA_TOPIC, partitions=(failed,)),)
        response = DescribeQuorumResponse(error_code=Error.NONE, topics=topics)
    else:
        response = _describe(replica, role, requested.version, now_ms)
    replica.emit(Reply(requested.source, response))


def _describe(replica: Replica, role: Leader, version: int, now_ms: int) -> DescribeQuorumResponse:
    state = role.state
    state.forget_silent(replica.config.observer_session_ms, now_ms)
    voters = [state.voters[voter_id] for voter_id in sorted(state.voters)]
    partition = Partition(
        partition_index=0,
        error_code=Error.NONE,
        leader_id=role.leader_id,
        leader_epoch=role.epoch,
        high_watermark=UNKNOWN if replica.high_watermark is None else replica.high_watermark,
        current_voters=tuple(replica_state(replica, voter, version, now_ms) for voter in voters),
        observers=tuple(
            replica_state(replica, state.observers[key], version, now_ms) for key in sorted(state.observers)
        ),
    )
    nodes: tuple[Node, ...] = ()
    if version >= 2:
        nodes = tuple(
            Node(
                node_id=voter.key.id,
                listeners=tuple(
                    Node.Listener(name=end.listener, host=end.host, port=end.port) for end in voter.endpoints
                ),
            )
            for voter in voters
        )
    topic = Topic(topic_name=METADATA_TOPIC, partitions=(partition,))
    return DescribeQuorumResponse(error_code=Error.NONE, topics=(topic,), nodes=nodes)


def replica_state(replica: Replica, progress: Progress, version: int, now_ms: int) -> State:
    """The progress of a replica as the leader knows it; times are wall-clock times, in ms."""
    end_offset, fetched_ms, caught_up_ms = progress.end_offset, progress.fetched_ms, progress.caught_up_ms
    if progress.key.id == replica.key.id:
        end_offset, fetched_ms, caught_up_ms = replica.log.end, now_ms, now_ms
    return State(
        replica_id=progress.key.id,
        replica_directory_id=progress.key.directory_id if version >= 2 else ZERO_UUID,
        log_end_offset=end_offset,
        last_fetch_timestamp=_wall(replica, fetched_ms),
        last_caught_up_timestamp=_wall(replica, caught_up_ms),
    )


def _wall(replica: Replica, ms: int) -> int:
    return UNKNOWN if ms == UNKNOWN else ms + replica.wall_offset_ms


def _error_partition(partition_index: int, error: Error) -> Partition:
    return Partition(
        partition_index=partition_index,
        error_code=error,
        error_message=error_text(error),
        leader_id=0,
        leader_epoch=0,
        high_watermark=0,
        current_voters=(),
        observers=(),
    )
