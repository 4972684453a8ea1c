"""What every request of the quorum is checked for, and what its answer says of the leader (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.config import METADATA_TOPIC, ReplicaKey
from raft.limits import EPOCH_MAX
from raft.roles import Leader
from raft.voters import endpoint_of
from records.errors import Error

if TYPE_CHECKING:
    from raft.config import Endpoint
    from raft.inputs import Requested
    from raft.replica import Replica


def is_our_cluster(replica: Replica, cluster_id: str | None) -> bool:
    """A peer that does not know its cluster id is let in."""
    return cluster_id is None or cluster_id == replica.config.cluster_id


def only_partition(topics: Any) -> Any:
    """The data of `__cluster_metadata`-0, where the message holds just that; else None."""
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    return partition if partition.partition_index == 0 else None


def refusal_of_non_leader(replica: Replica, epoch: int) -> Error:
    """Why a request to the leader of `epoch` cannot be served here; NONE where it can."""
    role = replica.role
    if epoch < role.epoch:
        return Error.FENCED_LEADER_EPOCH
    if epoch > role.epoch:
        return Error.UNKNOWN_LEADER_EPOCH
    if not isinstance(role, Leader):
        return Error.NOT_LEADER_OR_FOLLOWER
    return Error.BROKER_NOT_AVAILABLE if replica.shutting_down else Error.NONE


def refusal_of_voter_request(replica: Replica, sender_id: int, epoch: int) -> Error:
    """Why what a voter tells of `epoch` cannot be taken; NONE where it can."""
    if epoch < replica.role.epoch:
        return Error.FENCED_LEADER_EPOCH
    return Error.INVALID_REQUEST if sender_id < 0 or epoch > EPOCH_MAX else Error.NONE


def is_meant(replica: Replica, voter_id: int, directory_id: bytes) -> bool:
    """Whether a request to this voter is for us; older peers do not say whom they mean (id -1)."""
    return voter_id < 0 or ReplicaKey(voter_id, directory_id).matches(replica.key)


def leader_endpoint(replica: Replica, requested: Requested) -> Endpoint | None:
    """Where the leader is reached, on the listener on which it was asked for; None where that is not known."""
    role = replica.role
    if role.leader_id is None or not role.endpoints:
        return None
    return endpoint_of(role.endpoints, requested.listener or replica.config.listener)


def leader_id_or_none(replica: Replica) -> int:
    """The leader as answers tell it: -1 where unknown."""
    leader_id = replica.role.leader_id
    return -1 if leader_id is None else leader_id
