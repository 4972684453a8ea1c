"""A controller that is no voter makes itself one (KIP-853, KIP-1186; `controller.quorum.auto.join.enable`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.discovery import note_unexpected
from raft.interface.voters import write_endpoints
from raft.state.roles import Follower
from raft.update_voter import restart_timer, send_to_leader
from records.errors import Error
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest

if TYPE_CHECKING:
    from raft.state.replica import Replica
    from records.messages.voters import AddRaftVoterResponse, RemoveRaftVoterResponse

# The change was made, or the leader cannot make it now: in both cases try again after a fetch timeout.
_EXPECTED: dict[type, tuple[Error, ...]] = {
    AddRaftVoterRequest: (Error.NONE, Error.REQUEST_TIMED_OUT, Error.DUPLICATE_VOTER),
    RemoveRaftVoterRequest: (Error.NONE, Error.REQUEST_TIMED_OUT, Error.VOTER_NOT_FOUND),
}


def may_join(replica: Replica) -> bool:
    """Whether this observer is to become a voter by itself."""
    config = replica.config
    return config.auto_join and config.has_controller_role and replica.kraft_version >= 1 and not replica.is_voter


def send_if_due(replica: Replica, role: Follower, now_ms: int) -> bool:
    """Have the leader add this replica; before that, remove the voter of the same id that a lost directory left.

    Returns whether that is due: then no Fetch is sent. It is not due again before the leader has answered a Fetch: only
    a Fetch that it leaves unanswered makes this replica ask other nodes for the leader.
    """
    state = role.state
    if not may_join(replica) or state.has_asked or now_ms < state.update_deadline_ms:
        return False
    former = replica.voters.get(replica.key.id)
    config = replica.config
    request: Any
    if former is not None:
        request = RemoveRaftVoterRequest(
            cluster_id=config.cluster_id, voter_id=former.key.id, voter_directory_id=former.key.directory_id
        )
    else:
        request = AddRaftVoterRequest(
            cluster_id=config.cluster_id,
            timeout_ms=config.request_timeout_ms,
            voter_id=replica.key.id,
            voter_directory_id=replica.key.directory_id,
            listeners=write_endpoints(AddRaftVoterRequest.Listener, config.endpoints),
            ack_when_committed=False,
        )
    state.has_asked = send_to_leader(replica, role, request, now_ms)
    return True


def on_response(
    replica: Replica,
    peer: int,
    request: AddRaftVoterRequest | RemoveRaftVoterRequest,
    response: AddRaftVoterResponse | RemoveRaftVoterResponse,
    now_ms: int,
) -> bool:
    """The leader made the change, or did not. Returns whether the answer was a success."""
    if response.error_code not in _EXPECTED[type(request)]:
        return note_unexpected(replica, peer, response.error_code)
    role = replica.role
    if isinstance(role, Follower):
        restart_timer(replica, role, now_ms)
    return True
