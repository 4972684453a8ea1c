"""EndQuorumEpoch: a leader that resigns notifies the voters (KIP-595)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from records.messages.elections import EndQuorumEpochRequest
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    from raft.state.replica import Replica
    from raft.state.roles import Resigned

End = EndQuorumEpochRequest.TopicData


def send_end_requests(replica: Replica, role: Resigned, now_ms: int) -> None:
    """Send EndQuorumEpoch to each voter that has not acknowledged it yet."""
    for voter_id in role.unacked:
        endpoint = replica.endpoint_of(voter_id)
        if endpoint is not None and replica.peers.is_ready(voter_id, now_ms):
            replica.send(voter_id, endpoint, _end_request(replica, role), now_ms)


def _end_request(replica: Replica, role: Resigned) -> EndQuorumEpochRequest:
    partition = End.PartitionData(
        partition_index=0,
        leader_id=role.leader_id,
        leader_epoch=role.epoch,
        preferred_successors=tuple(successor.id for successor in role.successors),
        preferred_candidates=tuple(
            End.PartitionData.ReplicaInfo(candidate_id=successor.id, candidate_directory_id=successor.directory_id)
            for successor in role.successors
        ),
    )
    return EndQuorumEpochRequest(
        cluster_id=replica.config.cluster_id, topics=(End(topic_name=METADATA_TOPIC, partitions=(partition,)),)
    )
