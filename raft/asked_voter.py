"""ApiVersions to a voter that is added or updated: its answer, or that it does not answer (KIP-853, KAFKA-20661)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft import add_voter, update_voter
from raft.change_stages import abort, asked_change
from raft.state.roles import Leader
from records.errors import Error
from records.messages.voters import UpdateRaftVoterRequest

if TYPE_CHECKING:
    from raft.state.replica import Replica
    from raft.state.voter_change import VoterChange
    from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse


def on_response(
    replica: Replica, peer: int, _request: ApiVersionsRequest, response: ApiVersionsResponse, now_ms: int
) -> bool:
    """The voter answered. Returns whether the answer was a success; one that no change waits for is."""
    change, role = asked_change(replica, peer), replica.role
    if change is None or not isinstance(role, Leader):
        return True
    handle = update_voter.on_versions if _is_update(change) else add_voter.on_versions
    return handle(replica, role, change, response, now_ms)


def on_failure(replica: Replica, peer: int, _request: Any, error: int, _now_ms: int) -> bool:
    """The voter did not answer. Returns False: the replica backs off from it."""
    change, role = asked_change(replica, peer), replica.role
    if change is not None and isinstance(role, Leader):
        if _is_update(change):
            abort(replica, role, Error.REQUEST_TIMED_OUT)
        else:
            add_voter.refuse_unreachable(replica, role, error)
    return False


def _is_update(change: VoterChange) -> bool:
    assert change.requested is not None, "a change that waits for a voter has its caller yet"
    return isinstance(change.requested.request, UpdateRaftVoterRequest)
