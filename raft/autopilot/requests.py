"""The request that makes a step of the autopilot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.autopilot.report import Kind
from raft.interface.voters import write_endpoints
from records.messages.controllers import UnregisterControllerRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest

if TYPE_CHECKING:
    from raft.autopilot.report import Step


def request_of(step: Step, cluster_id: str, timeout_ms: int) -> Any:
    """The request of a step. timeout_ms: for how long the leader may wait for a new voter to catch up."""
    key = step.key
    if step.kind is Kind.ADD:
        return AddRaftVoterRequest(
            cluster_id=cluster_id,
            timeout_ms=timeout_ms,
            voter_id=key.id,
            voter_directory_id=key.directory_id,
            listeners=write_endpoints(AddRaftVoterRequest.Listener, step.endpoints),
            ack_when_committed=True,
        )
    if step.kind is Kind.REMOVE:
        return RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=key.id, voter_directory_id=key.directory_id)
    return UnregisterControllerRequest(controller_id=key.id)
