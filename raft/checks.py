"""The checks that all requests of the quorum share, and the leader fields of their answers (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.config import ReplicaKey
from raft.interface.limits import EPOCH_MAX
from raft.interface.voters import endpoint_of
from raft.state.roles import Leader
from records.errors import Error
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    from raft.interface.config import Endpoint
    from raft.interface.inputs import Requested
    from raft.state.replica import Replica


def is_our_cluster(replica: Replica, cluster_id: str | None) -> bool:
    """Whether the cluster id of a request is ours. A peer that does not know its cluster id yet passes too."""
    if cluster_id in {None, replica.config.cluster_id}:
        return True
    replica.note("peer_in_other_cluster", found=cluster_id, expected=replica.config.cluster_id)
    return False


def only_partition(topics: Any) -> Any:
    """The data of `__cluster_metadata`-0; None where the message holds another partition, or more than this one."""
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
    return Error.NONE if isinstance(role, Leader) else Error.NOT_LEADER_OR_FOLLOWER


def refusal_of_voter_request(replica: Replica, sender_id: int, epoch: int) -> Error:
    """Why a request from a voter about `epoch` is refused; NONE where it is accepted."""
    if epoch < replica.role.epoch:
        return Error.FENCED_LEADER_EPOCH
    return Error.INVALID_REQUEST if sender_id < 0 or epoch > EPOCH_MAX else Error.NONE


def is_for_this_voter(replica: Replica, voter_id: int, directory_id: bytes) -> bool:
    """Whether a request addressed to this voter key is for this replica; older peers send no voter id (-1)."""
    return voter_id < 0 or ReplicaKey(voter_id, directory_id).matches(replica.key)


def leader_endpoint(replica: Replica, requested: Requested) -> Endpoint | None:
    """The leader's endpoint on the listener that the request came in on; None where it is not known."""
    role = replica.role
    if role.leader_id is None or not role.endpoints:
        return None
    return endpoint_of(role.endpoints, requested.listener or replica.config.listener)


def leader_id_or_none(replica: Replica) -> int:
    """The leader id for an answer: -1 where unknown."""
    leader_id = replica.role.leader_id
    return -1 if leader_id is None else leader_id
