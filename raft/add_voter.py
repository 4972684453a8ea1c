"""AddRaftVoter: the leader makes an observer that has caught up a voter (KIP-853, KIP-1186)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.change_stages import (
    abort,
    ask_voter,
    is_refused_here,
    refusal_of_change,
    reply,
    requested_key,
    reserve,
    supported_levels,
)
from raft.interface.config import ReplicaKey, Voter
from raft.interface.voters import endpoint_of, fit, read_endpoints
from raft.state.java_texts import endpoints_text, key_text, keys_text
from raft.state.leader_state import UNKNOWN
from raft.state.roles import Leader
from raft.state.voter_change import VoterChange
from records.errors import Error, error_name

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.replica import Replica
    from records.messages.versions import ApiVersionsResponse
    from records.messages.voters import AddRaftVoterRequest

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
    if not fit(endpoints):
        reply(replica, requested, Error.INVALID_REQUEST, "Add voter request has a listener name that is too long")
        return
    refusal = _refusal(replica, role, key)
    if refusal is None and not replica.peers.is_ready(key.id, now_ms):
        refusal = Error.REQUEST_TIMED_OUT, f"New voter {key_text(key)} is not ready to receive requests"
    if refusal is not None:
        reply(replica, requested, *refusal)
        return
    deadline_ms = now_ms + max(replica.config.request_timeout_ms, 1)
    ask_voter(replica, role, VoterChange(requested, deadline_ms, Voter(key, endpoints)), endpoint, now_ms)


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


def on_versions(
    replica: Replica, role: Leader, change: VoterChange, response: ApiVersionsResponse, now_ms: int
) -> bool:
    """The new voter answered ApiVersions. Returns whether the answer was a success."""
    if response.error_code != Error.NONE:
        refuse_unreachable(replica, role, response.error_code)
        return False
    assert change.voter is not None, "a voter is added"
    key, level = change.voter.key, replica.kraft_version
    supported = supported_levels(response)
    if supported is None or not supported[0] <= level <= supported[1]:
        levels = "(min: 0, max: 0)" if supported is None else f"(min: {supported[0]}, max: {supported[1]}"
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
    reserve(replica, role, change, replica.voters.with_voter(Voter(key, change.voter.endpoints, supported)))
    return True


def refuse_unreachable(replica: Replica, role: Leader, error: int) -> None:
    """The new voter did not answer, or with an error."""
    text = f"Aborted add voter operation for since API_VERSIONS returned an error {error_name(error)}"
    abort(replica, role, Error.REQUEST_TIMED_OUT, text)


def is_caught_up(role: Leader, key: ReplicaKey, now_ms: int) -> bool:
    """Whether an observer was caught up with the leader once, and fetched within the last hour.

    A voter that lags would hold back the high watermark, and with it all writes.
    """
    seen = role.state.observers.get(key)
    return seen is not None and seen.caught_up_ms != UNKNOWN and seen.fetched_ms > now_ms - FETCHED_WITHIN_MS
