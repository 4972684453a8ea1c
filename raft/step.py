"""The entry points `start` and `step`, and the tables of the functions for each input and message (KIP-595)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft import (
    add_voter,
    asked_voter,
    auto_join,
    confirm,
    describe,
    epoch,
    fetch_request,
    fetch_response,
    fetch_snapshot,
    handover,
    kraft_upgrade,
    remove_voter,
    snapshots,
    update_voter,
    vote,
)
from raft.append import on_propose, on_reserved
from raft.discovery import note_unexpected
from raft.interface.inputs import (  # fmt: skip
    Answered,
    ConfirmLeadership,
    Disconnected,
    Failed,
    Flushed,
    OffsetsReserved,
    PartWritten,
    Propose,
    Refused,
    Requested,
    Resign,
    Saved,
    ShutDown,
    SnapshotStored,
    SnapshotTaken,
    Ticked,
    UpgradeKraftVersion,
    WallClock,
)
from raft.poll import poll
from raft.state.roles import Candidate, Follower, Leader
from raft.transitions import first_role, to_prospective, to_resigned
from records.errors import Error
from records.messages.elections import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    VoteRequest,
    VoteResponse,
)  # fmt: skip
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from records.messages.quorum import DescribeQuorumRequest
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.messages.voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.effects import Effect
    from raft.interface.inputs import Input
    from raft.state.replica import Replica


def start(replica: Replica, now_ms: int, wall_offset_ms: int = 0) -> list[Effect]:
    """The first step, called once: the replica takes the role that quorum-state and the log allow.

    wall_offset_ms: as in `WallClock`. A sole voter is elected in this step, and its first record carries a timestamp.
    """
    replica.wall_offset_ms = wall_offset_ms
    replica.become(first_role(replica, now_ms))
    latest = replica.log.latest_snapshot
    if latest is not None:
        replica.load_snapshot(latest.id)
    replica.clean_deadline_ms = now_ms + replica.config.clean_interval_ms
    if replica.is_only_voter and not isinstance(replica.role, Candidate):
        to_prospective(replica, now_ms)  # there is no other voter to wait for
    return _end(replica, now_ms)


def step(replica: Replica, event: Input, now_ms: int) -> list[Effect]:
    """Handle one input and everything that is due, and return the effects, in order.

    now_ms: of a monotonic clock.
    """
    INPUTS[type(event)](replica, event, now_ms)
    return _end(replica, now_ms)


def _end(replica: Replica, now_ms: int) -> list[Effect]:
    poll(replica, now_ms)
    replica.notify_leader()
    return replica.take_effects()


def _on_ticked(_replica: Replica, _event: Ticked, _now_ms: int) -> None:
    """Nothing to do here: `poll` runs after each input."""


def _on_wall_clock(replica: Replica, event: WallClock, _now_ms: int) -> None:
    replica.wall_offset_ms = event.offset_ms


def _on_requested(replica: Replica, event: Requested, now_ms: int) -> None:
    REQUESTS[type(event.request)](replica, event, now_ms)


def _on_disconnected(replica: Replica, event: Disconnected, _now_ms: int) -> None:
    role = replica.role
    if isinstance(role, Leader):
        role.state.on_disconnected(event.connection)


def _on_answered(replica: Replica, event: Answered, now_ms: int) -> None:
    handover.on_peer_heard(replica, event.peer)
    request = replica.peers.take(event.peer, event.number, now_ms)
    if request is None:
        return  # late: the request timed out, or was sent in an earlier role
    answer, on_response, _ = RESPONSES[type(request)]
    role = replica.role
    if type(event.response) is not answer:
        replica.note("peer_answered_other", peer=event.peer, answer=type(event.response).__name__)
    elif on_response(replica, event.peer, request, event.response, now_ms):
        return
    if replica.role is role:
        replica.peers.back_off(event.peer, now_ms)


def _on_failed(replica: Replica, event: Failed, now_ms: int) -> None:
    request = replica.peers.take(event.peer, event.number, now_ms)
    if request is None:
        return
    replica.addresses.forget(event.peer)
    _, _, on_failure = RESPONSES[type(request)]
    role = replica.role
    if not on_failure(replica, event.peer, request, event.error, now_ms) and replica.role is role:
        replica.peers.back_off(event.peer, now_ms)


def _on_refused(replica: Replica, event: Refused, now_ms: int) -> None:
    """The leader's process is not running: ask for pre-votes at once, instead of after the fetch timeout.

    A pre-vote cannot disturb a leader that is alive after all: the voters that fetch from it refuse.
    """
    role = replica.role
    handover.on_peer_gone(replica, event.peer)
    if not isinstance(role, Follower) or role.leader_id != event.peer:
        return
    if replica.config.pre_vote_on_lost_connection and replica.may_stand and not replica.shutting_down:
        replica.note("leader_gone", leader_id=role.leader_id, epoch=role.epoch)
        to_prospective(replica, now_ms)


def _on_saved(replica: Replica, event: Saved, _now_ms: int) -> None:
    replica.on_saved(event.number)


def _on_flushed(replica: Replica, event: Flushed, now_ms: int) -> None:
    replica.on_flushed(event.number, event.end_offset, event.log_bytes)
    if isinstance(replica.role, Leader):
        fetch_request.update_high_watermark(replica, replica.role, now_ms)
    if replica.cleaning:
        snapshots.go_on_cleaning(replica, now_ms)


def _on_resign(replica: Replica, event: Resign, now_ms: int) -> None:
    role = replica.role
    if isinstance(role, Leader) and role.epoch == event.epoch:
        to_resigned(replica, now_ms)


def _on_shut_down(replica: Replica, _event: ShutDown, now_ms: int) -> None:
    handover.begin(replica, now_ms)


def _failure(replica: Replica, peer: int, _request: object, error: int, _now_ms: int) -> bool:
    """A request failed: note the error, unless the peer was not reachable."""
    return error != Error.BROKER_NOT_AVAILABLE and note_unexpected(replica, peer, error)


INPUTS: dict[type[Input], Callable[[Replica, Any, int], None]] = {
    Ticked: _on_ticked,
    WallClock: _on_wall_clock,
    Requested: _on_requested,
    Disconnected: _on_disconnected,
    Answered: _on_answered,
    Failed: _on_failed,
    Refused: _on_refused,
    Saved: _on_saved,
    Flushed: _on_flushed,
    Propose: on_propose,
    OffsetsReserved: on_reserved,
    UpgradeKraftVersion: kraft_upgrade.on_upgrade,
    ConfirmLeadership: confirm.on_confirm,
    SnapshotTaken: snapshots.on_taken,
    PartWritten: fetch_snapshot.on_part_written,
    SnapshotStored: snapshots.on_stored,
    Resign: _on_resign,
    ShutDown: _on_shut_down,
}

# The requests that this replica serves.
REQUESTS: dict[type, Callable[[Replica, Requested, int], None]] = {
    VoteRequest: vote.on_request,
    BeginQuorumEpochRequest: epoch.on_begin_request,
    EndQuorumEpochRequest: epoch.on_end_request,
    FetchRequest: fetch_request.on_request,
    FetchSnapshotRequest: fetch_snapshot.on_request,
    DescribeQuorumRequest: describe.on_request,
    AddRaftVoterRequest: add_voter.on_request,
    RemoveRaftVoterRequest: remove_voter.on_request,
    UpdateRaftVoterRequest: update_voter.on_request,
}

# The requests that this replica sends: the class of the answer, the function for an answer, the function for a failure.
# Both functions return whether the request was a success; if not, the replica backs off from the peer.
RESPONSES: dict[type, tuple[type, Callable[..., bool], Callable[..., bool]]] = {
    VoteRequest: (VoteResponse, vote.on_response, vote.on_failure),
    BeginQuorumEpochRequest: (BeginQuorumEpochResponse, epoch.on_begin_response, _failure),
    EndQuorumEpochRequest: (EndQuorumEpochResponse, epoch.on_end_response, _failure),
    FetchRequest: (FetchResponse, fetch_response.on_response, _failure),
    FetchSnapshotRequest: (FetchSnapshotResponse, fetch_snapshot.on_response, fetch_snapshot.on_failure),
    ApiVersionsRequest: (ApiVersionsResponse, asked_voter.on_response, asked_voter.on_failure),
    UpdateRaftVoterRequest: (UpdateRaftVoterResponse, update_voter.on_response, update_voter.on_failure),
    AddRaftVoterRequest: (AddRaftVoterResponse, auto_join.on_response, _failure),
    RemoveRaftVoterRequest: (RemoveRaftVoterResponse, auto_join.on_response, _failure),
}
