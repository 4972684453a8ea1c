"""UpdateRaftVoter on both sides: a voter sends the leader its endpoints and versions (KIP-853, KAFKA-20661)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft import kraft_upgrade
from raft.change_stages import (
    abort,
    ask_voter,
    complete,
    refusal_before_change,
    reply,
    reserve,
    supported_levels,
    uncommitted_voters,
)
from raft.checks import is_our_cluster, refusal_of_non_leader
from raft.discovery import LeaderReport, is_reachable, note_unexpected, take_answer
from raft.fetch_request import quorum_timeout
from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.interface.voters import endpoint_of, fit, read_endpoints, write_endpoints
from raft.state.roles import Follower, Leader
from raft.state.voter_change import VoterChange
from records.errors import Error
from records.messages.voters import UpdateRaftVoterRequest
from records.uuids import ZERO_UUID

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.replica import Replica
    from records.messages.versions import ApiVersionsResponse
    from records.messages.voters import UpdateRaftVoterResponse


# The leader


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """UpdateRaftVoter: answered when the new entry is appended; with kraft.version 0, kept by this leader alone.

    With `asks_new_endpoints`, the voter must answer ApiVersions at its new endpoint first. Otherwise an address that no
    other voter can reach gets into the voter set, and when this leader is lost, no candidate reaches a majority.
    """
    request: UpdateRaftVoterRequest = requested.request
    role = replica.role
    if not is_our_cluster(replica, request.cluster_id):
        reply(replica, requested, Error.INCONSISTENT_CLUSTER_ID)
        return
    error = refusal_of_non_leader(replica, request.current_leader_epoch)
    if error == Error.NONE and replica.shutting_down:
        error = Error.BROKER_NOT_AVAILABLE
    if error != Error.NONE:
        reply(replica, requested, error)
        return
    assert isinstance(role, Leader), "others refuse"
    versions = request.kraft_version_feature
    voter = Voter(
        ReplicaKey(request.voter_id, request.voter_directory_id),
        read_endpoints(request.listeners),
        (versions.min_supported_version, versions.max_supported_version),
    )
    error = _refusal(replica, role, voter)
    asks = replica.config.asks_new_endpoints and voter.key.id != replica.key.id
    if error == Error.NONE and not asks:
        error = _refusal_of_entry(replica, role, voter)
    elif error == Error.NONE and not replica.peers.is_ready(voter.key.id, now_ms):
        error = Error.REQUEST_TIMED_OUT
    if error != Error.NONE:
        reply(replica, requested, error)
        return
    change = VoterChange(requested, now_ms + max(replica.config.request_timeout_ms, 1), voter)
    if asks:
        endpoint = endpoint_of(voter.endpoints, replica.config.listener)
        assert endpoint is not None, "an update without an endpoint on the listener is refused"
        ask_voter(replica, role, change, endpoint, now_ms)
    else:
        _take_entry(replica, role, change, voter, now_ms)


def on_versions(
    replica: Replica, role: Leader, change: VoterChange, response: ApiVersionsResponse, now_ms: int
) -> bool:
    """The voter answered at its new endpoint. Returns whether the answer was a success."""
    voter = change.voter
    assert voter is not None, "a voter is updated"
    if response.error_code != Error.NONE:
        abort(replica, role, Error.REQUEST_TIMED_OUT)
        return False
    error = Error.NONE if supported_levels(response) == voter.kraft_versions else Error.INVALID_REQUEST
    # Since the request came, kraft.version may have been upgraded.
    error = error or _refusal_of_entry(replica, role, voter)
    if error != Error.NONE:
        abort(replica, role, error)
    else:
        _take_entry(replica, role, change, voter, now_ms)
    return True


def _take_entry(replica: Replica, role: Leader, change: VoterChange, voter: Voter, now_ms: int) -> None:
    role.state.record_contact(voter.key, quorum_timeout(replica), now_ms)
    if role.state.reported_voters is None:
        reserve(replica, role, change, replica.voters.replace(voter))
    else:
        kraft_upgrade.learn_voter(replica, role, voter)
        complete(replica, role, change)


def _refusal(replica: Replica, role: Leader, voter: Voter) -> Error:
    """Why an update is refused at once."""
    least, greatest = voter.kraft_versions
    if voter.key.id < 0 or voter.key.directory_id == ZERO_UUID or not 0 <= least <= greatest:
        return Error.INVALID_REQUEST
    # An address that nobody can connect to would make the voter unreachable for candidates.
    if not is_reachable(replica, voter.endpoints) or not fit(voter.endpoints):
        return Error.INVALID_REQUEST
    return Error.NONE if refusal_before_change(replica, role) is None else Error.REQUEST_TIMED_OUT


def _refusal_of_entry(replica: Replica, role: Leader, voter: Voter) -> Error:
    """Why the voter set, as it is now, cannot take this entry."""
    least, greatest = voter.kraft_versions
    reported = role.state.reported_voters
    if reported is None and uncommitted_voters(replica) is not None:
        return Error.REQUEST_TIMED_OUT
    if not least <= replica.kraft_version <= greatest:
        return Error.INVALID_REQUEST
    is_known = replica.voters.holds(voter.key) if reported is None else reported.get(voter.key.id) is not None
    if not is_known:
        return Error.VOTER_NOT_FOUND
    # This replica's own entry is up to date since its epoch began.
    return Error.INVALID_REQUEST if voter.key.id == replica.key.id else Error.NONE


# The follower


def send_if_due(replica: Replica, role: Follower, now_ms: int) -> bool:
    """Send UpdateRaftVoter where the leader's voter set has another address, or other versions, of this voter.

    With kraft.version 0 the voter set of the log has neither, so each leader gets the request once. Returns whether the
    update is due: then no Fetch is sent.
    """
    state = role.state
    if now_ms < state.update_deadline_ms:
        return False
    is_needed = not replica.voters.has_current(replica.own_voter()) if replica.kraft_version else not state.has_updated
    if not is_needed:
        restart_timer(replica, role, now_ms)
        return False
    send_to_leader(replica, role, _build(replica), now_ms)
    return True


def send_to_leader(replica: Replica, role: Follower, request: Any, now_ms: int) -> bool:
    """Send a request to the leader in place of the next Fetch, as soon as the leader may be sent one; returns whether
    it was sent.

    A Fetch to a bootstrap server that is under way does not delay it.
    """
    if not replica.peers.is_ready(role.leader_id, now_ms):
        return False
    endpoint = next(each for each in role.endpoints if each.listener == replica.config.listener.upper())
    replica.send(role.leader_id, endpoint, request, now_ms)
    restart_timer(replica, role, now_ms)
    return True


def restart_timer(replica: Replica, role: Follower, now_ms: int) -> None:
    """Check again after the period."""
    role.state.update_deadline_ms = now_ms + replica.config.update_period_ms


def _build(replica: Replica) -> UpdateRaftVoterRequest:
    config = replica.config
    return UpdateRaftVoterRequest(
        cluster_id=config.cluster_id,
        current_leader_epoch=replica.epoch,
        voter_id=replica.key.id,
        voter_directory_id=replica.key.directory_id,
        listeners=write_endpoints(UpdateRaftVoterRequest.Listener, config.endpoints),
        kraft_version_feature=UpdateRaftVoterRequest.KRaftVersionFeature(
            min_supported_version=config.kraft_versions[0], max_supported_version=config.kraft_versions[1]
        ),
    )


def on_response(
    replica: Replica, peer: int, _request: UpdateRaftVoterRequest, response: UpdateRaftVoterResponse, now_ms: int
) -> bool:
    """The leader has taken the new entry, or not. Returns whether the answer was a success."""
    leader = response.current_leader
    error = response.error_code
    endpoints: tuple[Endpoint, ...] = ()
    if leader.leader_id >= 0 and leader.host:
        endpoints = (Endpoint(replica.config.listener.upper(), leader.host, leader.port),)
    leader_id = None if leader.leader_id < 0 else leader.leader_id
    handled = take_answer(replica, peer, LeaderReport(error, leader_id, leader.leader_epoch, endpoints), now_ms)
    if handled is not None:
        return handled
    if error not in {Error.NONE, Error.UNSUPPORTED_VERSION}:
        return note_unexpected(replica, peer, error)
    role = replica.role
    if isinstance(role, Follower):
        role.state.has_updated = True
        role.state.on_fetched(now_ms, replica.config.fetch_timeout_ms)
    return True


def on_failure(_replica: Replica, _peer: int, _request: Any, _error: int, _now_ms: int) -> bool:
    """No answer, as from a leader before Kafka 3.9: the update is due again after a fetch timeout.

    Returns True: the Fetch that is sent at once shows whether the leader can be reached.
    """
    return True
