"""A change of the voter set that is under way at the leader: its stages, its end, and its answer (KIP-853).

One change at a time: a new one is refused while another is not complete, or while the newest voter set is not
committed. So two successive sets differ by one voter, and a majority of each shares a voter with a majority of the
other. A new set counts from its append on, committed or not; where its record is truncated, the set before it counts
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.checks import is_our_cluster, leader_endpoint, leader_id_or_none
from raft.interface.config import ReplicaKey
from raft.interface.effects import Reply, ReserveOffsets
from raft.interface.limits import NEVER
from raft.state.roles import Leader
from raft.state.voter_change import UNKNOWN
from records.errors import Error, error_name, error_text
from records.messages.versions import ApiVersionsRequest
from records.messages.voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)
from records.uuids import ZERO_UUID

if TYPE_CHECKING:
    from raft.interface.config import Endpoint
    from raft.interface.inputs import Requested
    from raft.interface.voters import VoterSet
    from raft.state.leader_state import LeaderState
    from raft.state.replica import Replica
    from raft.state.voter_change import VoterChange
    from records.messages.versions import ApiVersionsResponse

KRAFT_VERSION = "kraft.version"


def refusal_before_change(replica: Replica, role: Leader) -> tuple[Error, str] | None:
    """Why the voter set cannot be changed now, with Kafka's text for AddRaftVoter; None where it can.

    Another change may be under way; and before a record of this epoch is committed, the voter sets of earlier leaders
    may yet be replaced.
    """
    if role.state.change is not None:
        return (
            Error.REQUEST_TIMED_OUT,
            "Request timed out waiting for leader to handle previous voter change request",
        )
    if replica.high_watermark is None:
        return (
            Error.REQUEST_TIMED_OUT,
            "Request timed out waiting for leader to establish HWM and fence previous voter changes",
        )
    return None


def refusal_of_change(replica: Replica, role: Leader, verb: str) -> tuple[Error, str] | None:
    """Why no voter can be added or removed now, in the order of Kafka's checks; None where one can.

    verb: `adding` or `removing`, for the text.
    """
    refusal = refusal_before_change(replica, role)
    if refusal is not None:
        return refusal
    if replica.kraft_version < 1:
        text = f"Cluster doesn't support {verb} voter because the kraft.version feature is {replica.kraft_version}"
        return Error.UNSUPPORTED_VERSION, text
    uncommitted = uncommitted_voters(replica)
    return None if uncommitted is None else (Error.REQUEST_TIMED_OUT, uncommitted)


def uncommitted_voters(replica: Replica) -> str | None:
    """The text of the refusal where the newest voter set is not committed; None where it is."""
    last = replica.voter_sets.last()
    assert replica.high_watermark is not None, "a leader without a high watermark refuses changes before"
    if last is not None and last[0] < replica.high_watermark:
        return None
    offset = "Optional.empty" if last is None else f"Optional[{last[0]}]"
    return (
        f"Request timed out waiting for voters to commit the latest voter change at {offset} "
        f"with HWM {replica.high_watermark}"
    )


def ask_voter(replica: Replica, role: Leader, change: VoterChange, endpoint: Endpoint, now_ms: int) -> None:
    """Ask the voter that is added or updated which levels of kraft.version it supports; the change waits for it."""
    assert change.voter is not None, "a voter is added or updated"
    role.state.change = change
    asked = ApiVersionsRequest(client_software_name="kraft-quorum", client_software_version="1")
    replica.send(change.voter.key.id, endpoint, asked, now_ms)


def asked_change(replica: Replica, peer: int) -> VoterChange | None:
    """The change that waits for this peer to say what it supports."""
    role = replica.role
    change = role.state.change if isinstance(role, Leader) else None
    if change is None or change.voter is None or not change.waits_for_versions or change.voter.key.id != peer:
        return None
    return change


def supported_levels(response: ApiVersionsResponse) -> tuple[int, int] | None:
    """The least and the greatest level of kraft.version of an answer; None where it has none."""
    feature = next((each for each in response.supported_features or () if each.name == KRAFT_VERSION), None)
    return None if feature is None else (feature.min_version, feature.max_version)


def reserve(replica: Replica, role: Leader, change: VoterChange, voters: VoterSet) -> None:
    """All checks are done: have the state machine leave an offset for the record of the new set."""
    change.voters = voters
    change.reserves = True
    role.state.change = change
    replica.emit(ReserveOffsets(role.epoch, 1))


def on_appended(replica: Replica, role: Leader, change: VoterChange, offset: int) -> None:
    """The record of the new set is appended. An update is complete; of the others, some callers wait no longer.

    Kafka 4.5 refuses other changes as long as an update is not committed.
    """
    change.offset = offset
    change.reserves = False
    request = None if change.requested is None else change.requested.request
    if isinstance(request, UpdateRaftVoterRequest) and not replica.config.asks_new_endpoints:
        role.state.change = None
    if isinstance(request, UpdateRaftVoterRequest) or (
        isinstance(request, AddRaftVoterRequest) and not request.ack_when_committed
    ):
        # A voter that joins by itself cannot fetch, and so help to commit, before it has the answer (KIP-1186).
        _answer(replica, change, Error.NONE)


def on_high_watermark(replica: Replica, role: Leader) -> None:
    """Complete the change whose record is committed now; a leader that is no voter any more resigns."""
    watermark = replica.high_watermark
    assert watermark is not None, "the high watermark advanced"
    change = role.state.change
    if change is not None and change.offset != UNKNOWN and watermark > change.offset:
        complete(replica, role, change)
    last = replica.voter_sets.last()
    if not replica.is_voter and last is not None and watermark > last[0] and not role.state.is_removed:
        replica.note("removed_from_voters", epoch=role.epoch, voters=list(replica.voters.ids))
        role.state.is_removed = True


def complete(replica: Replica, role: Leader, change: VoterChange) -> None:
    """End the change, and answer its caller, if that waits yet."""
    role.state.change = None
    _answer(replica, change, Error.NONE)


def expire(replica: Replica, change: VoterChange, role: Leader, now_ms: int) -> int:
    """Answer a change that takes too long with REQUEST_TIMED_OUT; returns when this is due next.

    Its record stays in the log. Where the record waits for its offset, the change goes on without an answer.
    """
    if now_ms < change.deadline_ms:
        return change.deadline_ms
    change.deadline_ms = NEVER
    abort(replica, role, Error.REQUEST_TIMED_OUT)
    return NEVER


def abort(replica: Replica, role: Leader, error: Error, text: str | None = None) -> None:
    """End the change with an error, unless its record waits for its offset."""
    change = role.state.change
    assert change is not None, "no change is under way"
    requested = change.requested
    if change.waits_for_versions and requested is not None and isinstance(requested.request, UpdateRaftVoterRequest):
        assert change.voter is not None, "a voter is updated"
        addresses = [f"{each.host}:{each.port}" for each in change.voter.endpoints]
        replica.note("voter_not_updated", voter=change.voter.key.id, addresses=addresses, error=error_name(error))
    _answer(replica, change, error, text)
    if not change.reserves:
        role.state.change = None


def fail_change(replica: Replica, state: LeaderState) -> None:
    """Leadership is lost: what becomes of the change is up to the next leader."""
    if state.change is not None:
        _answer(replica, state.change, Error.NOT_LEADER_OR_FOLLOWER)
        state.change = None


def _answer(replica: Replica, change: VoterChange, error: Error, text: str | None = None) -> None:
    if change.requested is not None:
        reply(replica, change.requested, error, text)
        change.requested = None


def reply(replica: Replica, requested: Requested, error: Error, text: str | None = None) -> None:
    """Answer a request to change the voter set. text: None for the standard text of the error; an update has none."""
    request = requested.request
    if text is None and error != Error.NONE:
        text = error_text(error)
    response: Any
    if isinstance(request, UpdateRaftVoterRequest):
        endpoint = leader_endpoint(replica, requested)
        leader = UpdateRaftVoterResponse.CurrentLeader(
            leader_id=leader_id_or_none(replica),
            leader_epoch=replica.epoch,
            host="" if endpoint is None else endpoint.host,
            port=0 if endpoint is None else endpoint.port,
        )
        response = UpdateRaftVoterResponse(throttle_time_ms=0, error_code=error, current_leader=leader)
    else:
        kind = AddRaftVoterResponse if isinstance(request, AddRaftVoterRequest) else RemoveRaftVoterResponse
        response = kind(throttle_time_ms=0, error_code=error, error_message=text)
    replica.emit(Reply(requested.source, response))


def requested_key(replica: Replica, requested: Requested, verb: str) -> ReplicaKey | None:
    """The voter that a request names; None where it names none, which is answered. verb: `Add` or `Remove`."""
    request = requested.request
    key = ReplicaKey(request.voter_id, request.voter_directory_id)
    if key.id < 0 or key.directory_id == ZERO_UUID:
        reply(replica, requested, Error.INVALID_REQUEST, f"{verb} voter request didn't include a valid voter")
        return None
    return key


def is_refused_here(replica: Replica, requested: Requested) -> bool:
    """Answer a request to add or remove a voter that came to another cluster, or not to its leader."""
    cluster_id = requested.request.cluster_id
    if not is_our_cluster(replica, cluster_id):
        text = f'The given id "{cluster_id}" doesn\'t match the cluster id "{replica.config.cluster_id}"'
        reply(replica, requested, Error.INCONSISTENT_CLUSTER_ID, text)
        return True
    if not isinstance(replica.role, Leader):
        reply(replica, requested, Error.NOT_LEADER_OR_FOLLOWER, "")
        return True
    if replica.shutting_down:
        reply(replica, requested, Error.BROKER_NOT_AVAILABLE, "")
        return True
    return False
