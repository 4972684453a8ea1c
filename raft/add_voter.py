"""AddRaftVoter: the leader makes an observer that has caught up a voter (KIP-853, KIP-1186)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.change_stages import (
    abort,
    is_refused_here,
    refusal_of_change,
    reply,
    requested_key,
    reserve,
)
from raft.interface.config import ReplicaKey, Voter
from raft.interface.voters import endpoint_of, read_endpoints
from raft.state.java_texts import endpoints_text, key_text, keys_text
from raft.state.leader_state import UNKNOWN
from raft.state.roles import Leader
from raft.state.voter_change import VoterChange
from records.errors import Error, error_name
from records.messages.versions import ApiVersionsRequest

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.replica import Replica
    from records.messages.versions import ApiVersionsResponse
    from records.messages.voters import AddRaftVoterRequest

KRAFT_VERSION = "kraft.version"
FETCHED_WITHIN_MS = 3_600_000


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """AddRaftVoter: the checks, in Kafka's order; then ask the new voter which levels of kraft.version it supports."""
    request: AddRaftVoterRequest = requested.request
    role = replica.role
    if is_refused_here(replica, requested):
        return
    assert isinstance(role, Leader), "others refuse"
    endpoints = read_endpoints(request.listeners)
    endpoint = endpoint_of(endpoints, replica.config.listener)
    key = requested_key(replica, requested, "Add")
    if key is None:
        return
    if endpoint is None:
        text = (
            f"Add voter request didn't include the endpoint ({endpoints_text(endpoints)}) for the default listener "
            f"ListenerName({replica.config.listener})"
        )
        reply(replica, requested, Error.INVALID_REQUEST, text)
        return
    refusal = _refusal(replica, role, key)
    if refusal is None and not replica.peers.is_ready(key.id, now_ms):
        refusal = Error.REQUEST_TIMED_OUT, f"New voter {key_text(key)} is not ready to receive requests"
    if refusal is not None:
        reply(replica, requested, *refusal)
        return
    deadline_ms = now_ms + max(replica.config.request_timeout_ms, 1)
    role.state.change = VoterChange(requested, deadline_ms, Voter(key, endpoints))
    asked = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
    replica.send(key.id, endpoint, asked, now_ms)


def _refusal(replica: Replica, role: Leader, key: ReplicaKey) -> tuple[Error, str] | None:
    refusal = refusal_of_change(replica, role, "adding")
    if refusal is not None:
        return refusal
    voters = replica.voters
    if voters.get(key.id) is not None:
        keys = keys_text(voter.key for voter in voters)
        text = f"The voter id for {key_text(key)} is already part of the set of voters {keys}."
        return Error.DUPLICATE_VOTER, text
    return None


def on_response(
    replica: Replica, peer: int, _request: ApiVersionsRequest, response: ApiVersionsResponse, now_ms: int
) -> bool:
    """The new voter answered ApiVersions. Returns whether the answer was a success."""
    change = _asking(replica, peer)
    role = replica.role
    if change is None or not isinstance(role, Leader):
        return True
    if response.error_code != Error.NONE:
        _abort_unreachable(replica, role, response.error_code)
        return False
    assert change.voter is not None, "a voter is added"
    key, level = change.voter.key, replica.kraft_version
    found = next((each for each in response.supported_features or () if each.name == KRAFT_VERSION), None)
    if found is None or not found.min_version <= level <= found.max_version:
        levels = "(min: 0, max: 0)" if found is None else f"(min: {found.min_version}, max: {found.max_version}"
        text = (
            f"Aborted add voter operation for {key_text(key)} since the kraft.version range {levels} doesn't support "
            f"the finalized version {level}"
        )
        abort(replica, role, Error.INVALID_REQUEST, text)
        return True
    if not is_caught_up(role, key, now_ms):
        text = f"Aborted add voter operation for {key_text(key)} since it is lagging behind"
        abort(replica, role, Error.REQUEST_TIMED_OUT, text)
        return True
    voter = Voter(key, change.voter.endpoints, (found.min_version, found.max_version))
    reserve(replica, role, change, replica.voters.with_voter(voter))
    return True


def on_failure(replica: Replica, peer: int, _request: Any, error: int, _now_ms: int) -> bool:
    """The new voter did not answer. Returns False: the replica backs off from it."""
    role = replica.role
    if _asking(replica, peer) is not None:
        assert isinstance(role, Leader), "only a leader adds voters"
        _abort_unreachable(replica, role, error)
    return False


def is_caught_up(role: Leader, key: ReplicaKey, now_ms: int) -> bool:
    """Whether an observer was caught up with the leader once, and fetched within the last hour.

    A voter that lags would hold back the high watermark, and with it all writes.
    """
    seen = role.state.observers.get(key)
    return seen is not None and seen.caught_up_ms != UNKNOWN and seen.fetched_ms > now_ms - FETCHED_WITHIN_MS


def _asking(replica: Replica, peer: int) -> VoterChange | None:
    """The change that waits for this peer to say what it supports."""
    role = replica.role
    change = role.state.change if isinstance(role, Leader) else None
    if change is None or change.voter is None or not change.waits_for_versions or change.voter.key.id != peer:
        return None
    return change


def _abort_unreachable(replica: Replica, role: Leader, error: int) -> None:
    text = f"Aborted add voter operation for since API_VERSIONS returned an error {error_name(error)}"
    abort(replica, role, Error.REQUEST_TIMED_OUT, text)
