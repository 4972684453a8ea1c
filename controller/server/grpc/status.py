"""The quorum in the view of this node, also without a leader; keys are those of DescribeQuorum, and some others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.server.http.probes import role_name
from raft.describe import replica_state
from raft.roles import Leader
from records.json_form import to_json
from records.uuids import uuid_text

if TYPE_CHECKING:
    from controller.node.node import Node
    from raft.config import Voter
    from raft.replica import Replica

# Of DescribeQuorumResponse: the first with directory ids.
VERSION = 2


def status_of(node: Node) -> dict[str, Any]:
    """The response of `Status` (docs/watch.md). Only the leader knows the offsets of other replicas."""
    replica, state = node.replica, node.controller.state
    leader_id = replica.leader_id
    return {
        "clusterId": node.controller.env.cluster_id,
        "nodeId": replica.key.id,
        "directoryId": uuid_text(replica.key.directory_id),
        "role": role_name(replica),
        "isActiveController": node.controller.is_active,
        "leaderId": -1 if leader_id is None else leader_id,
        "leaderEpoch": replica.epoch,
        "highWatermark": -1 if replica.high_watermark is None else replica.high_watermark,
        "logStartOffset": replica.log.start,
        "logEndOffset": replica.log.end,
        "watchEndOffset": state.stable_end_offset,
        "metadataVersion": state.metadata_version,
        "voters": [_voter(voter) for voter in replica.voters],
        **_progress(replica, node.now_ms()),
    }


def _voter(voter: Voter) -> dict[str, Any]:
    listeners = [{"name": end.listener, "host": end.host, "port": end.port} for end in voter.endpoints]
    return {"replicaId": voter.key.id, "replicaDirectoryId": uuid_text(voter.key.directory_id), "listeners": listeners}


def _progress(replica: Replica, now_ms: int) -> dict[str, Any]:
    role = replica.role
    if not isinstance(role, Leader):
        return {}
    voters = [role.state.voters[voter_id] for voter_id in sorted(role.state.voters)]
    observers = [role.state.observers[key] for key in sorted(role.state.observers)]
    return {
        name: [to_json(replica_state(replica, progress, VERSION, now_ms), VERSION) for progress in found]
        for name, found in (("currentVoters", voters), ("observers", observers))
    }
