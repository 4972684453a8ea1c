"""Actions of the specification for the requests that a node receives, and the answers that it must give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.errors import Error
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.voters import AddRaftVoterRequest, RemoveRaftVoterRequest, UpdateRaftVoterRequest
from records.uuids import ZERO_UUID
from simulations.spec import membership, replication
from simulations.spec.elections import (
    INVALID,
    NOT_LEADER,
    UNAVAILABLE,
    Asked,
    handle_begin_request,
    handle_end_request,
    handle_vote_request,
)  # fmt: skip
from simulations.spec.forms import LOG, is_of_log, is_of_one
from simulations.spec.membership import ADD, ASK, REMOVE, UPDATE, Wanted
from simulations.spec.replication import Fetched
from simulations.spec.track import Owed
from simulations.spec.values import LEADER, NOBODY, UNKNOWN, Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.inputs import Requested
    from simulations.spec.track import Track

OTHER_CLUSTER = int(Error.INCONSISTENT_CLUSTER_ID)
NO_SNAPSHOT = int(Error.SNAPSHOT_NOT_FOUND)
NO_SUCH_POSITION = int(Error.POSITION_OUT_OF_RANGE)
OTHER_LOG = int(Error.UNKNOWN_TOPIC_OR_PARTITION)
TIMED_OUT = int(Error.REQUEST_TIMED_OUT)
OWN_ID = int(Error.UNKNOWN_SERVER_ERROR)
NOT_SUPPORTED = int(Error.UNSUPPORTED_VERSION)
NOT_FOUND = int(Error.VOTER_NOT_FOUND)
DUPLICATE = int(Error.DUPLICATE_VOTER)


def _is_ours(track: Track, requested: Requested) -> bool:
    """Whether a request is from this cluster; if not, note the error as its answer."""
    cluster_id = requested.request.cluster_id
    if cluster_id is None or cluster_id == track.process.node.config.cluster_id:
        return True
    track.owed[requested.source] = Owed((OTHER_CLUSTER,))
    return False


def _is_of_log(track: Track, requested: Requested) -> bool:
    """Whether a request is for the log of the quorum; if not, note the error as its answer."""
    if is_of_log(requested.request):
        return True
    track.owed[requested.source] = Owed((INVALID,))
    return False


def _is_meant(track: Track, voter_id: int, directory_id: bytes) -> bool:
    """Whether a request names this voter; older versions name none."""
    own = track.process.node.key
    is_same_disk = directory_id == own.directory_id or not any(directory_id) or not any(own.directory_id)
    return voter_id < 0 or (voter_id == own.id and is_same_disk)


def _vote(track: Track, requested: Requested, now_ms: int) -> tuple[str, Node]:
    request = requested.request
    if not _is_ours(track, requested) or not _is_of_log(track, requested):
        return "", track.node
    said = request.topics[0].partitions[0]
    asked = Asked(said.replica_epoch, said.replica_id, said.last_offset_epoch, said.last_offset, said.pre_vote)
    is_meant = _is_meant(track, request.voter_id, said.voter_directory_id)
    is_silent = now_ms - track.node.since_ms >= track.rules.fetch_ms
    node, answer = handle_vote_request(track.node, asked, now_ms, is_meant=is_meant, is_silent=is_silent)
    track.owed[requested.source] = Owed(answer, candidate=None if asked.pre else asked.candidate)
    return "HandlePreVoteRequest" if asked.pre else "HandleVoteRequest", node


def _begin(track: Track, requested: Requested, now_ms: int) -> tuple[str, Node]:
    request = requested.request
    if not _is_ours(track, requested) or not _is_of_log(track, requested):
        return "", track.node
    said = request.topics[0].partitions[0]
    is_meant = _is_meant(track, request.voter_id, said.voter_directory_id)
    can_reach = track.reaches(said.leader_id, request.leader_endpoints)
    node, answer = handle_begin_request(
        track.node, said.leader_epoch, said.leader_id, now_ms, is_meant=is_meant, can_reach=can_reach
    )
    track.owed[requested.source] = Owed(answer)
    return "AcceptBeginQuorumRequest" if answer[0] == 0 else "RejectBeginQuorumRequest", node


def _end(track: Track, requested: Requested, now_ms: int) -> tuple[str, Node]:
    request = requested.request
    if not _is_ours(track, requested) or not _is_of_log(track, requested):
        return "", track.node
    said = request.topics[0].partitions[0]
    can_reach = track.reaches(said.leader_id, request.leader_endpoints)
    node, answer = handle_end_request(track.node, said.leader_epoch, said.leader_id, now_ms, can_reach=can_reach)
    track.owed[requested.source] = Owed(answer)
    return "AcceptEndQuorumRequest" if answer[0] == 0 else "RejectEndQuorumRequest", node


def _fetch(track: Track, requested: Requested, now_ms: int) -> tuple[str, Node]:
    request = requested.request
    if not _is_ours(track, requested) or not _is_of_log(track, requested):
        return "", track.node
    node = track.node
    said = request.topics[0].partitions[0]
    asked = Fetched(said.current_leader_epoch, said.fetch_offset, said.last_fetched_epoch)
    error = replication.find_error(asked) or (INVALID if request.max_wait_ms < 0 else 0)
    error = error or replication.refusal(node, asked.epoch)
    sender = request.replica_id if request.replica_id != NOBODY else request.replica_state.replica_id
    place = None if error else replication.place(node, asked)
    if place is not None and place.kind == replication.ACCEPTED and sender == node.id:
        error = OWN_ID
    if error or place is None:
        track.owed[requested.source] = Owed((error, node.epoch, node.leader, UNKNOWN))
        return "RejectFetchRequest", node
    track.owed[requested.source] = Owed(None, (asked, place))
    key = (sender, said.replica_directory_id)
    is_voter = node.voters.holds(key)
    if is_voter:
        for voters in track.questions.values():
            voters.add(sender)
    # With static voters no observer becomes a voter.
    counts = is_voter or (sender >= 0 and node.voters.is_dynamic)
    if counts and place.kind == replication.ACCEPTED and node.leading is not None:
        node = replication.accept_fetch(node, key, asked.offset, now_ms, is_voter=is_voter)
    return place.kind, node


def _fetch_snapshot(track: Track, requested: Requested, now_ms: int) -> tuple[str, Node]:
    request = requested.request
    if not _is_ours(track, requested):
        return "", track.node
    if not is_of_one(request.topics):
        track.owed[requested.source] = Owed((INVALID,))
        return "", track.node
    node = track.node
    said = request.topics[0].partitions[0]
    if request.topics[0].name != LOG or said.partition:
        track.owed[requested.source] = Owed((OTHER_LOG, 0, 0))
        return "", node
    error = replication.refusal(node, said.current_leader_epoch)
    if not error:
        wanted = (said.snapshot_id.epoch, said.snapshot_id.end_offset)
        size = next((each[2] for each in node.snapshots if each[:2] == wanted and any(wanted)), UNKNOWN)
        if size == UNKNOWN:
            error = NO_SNAPSHOT
        elif not 0 <= said.position < size:
            error = NO_SUCH_POSITION
        elif request.replica_id == node.id:
            error = OWN_ID
    track.owed[requested.source] = Owed((error, node.epoch, node.leader))
    if error:
        return "RejectFetchSnapshotRequest", node
    if node.leading is not None and node.voters.holds((request.replica_id, said.replica_directory_id)):
        node = replication.record_contact(node, request.replica_id, now_ms)
    return "AcceptFetchSnapshotRequest", node


def _update_voter(track: Track, requested: Requested, now_ms: int) -> tuple[str, Node]:
    request, node = requested.request, track.node
    key, voters = (request.voter_id, request.voter_directory_id), node.voters
    error = OTHER_CLUSTER if request.cluster_id not in {None, track.process.node.config.cluster_id} else 0
    error = error or replication.refusal(node, request.current_leader_epoch)
    error = error or (UNAVAILABLE if node.leaving else 0)
    asks = track.process.node.config.asks_new_endpoints and key[0] != node.id
    # A leader that asks the voter first looks at the voter set when the voter has answered.
    is_uncommitted = voters.is_dynamic and voters.offset >= node.watermark
    if not error and (node.watermark == UNKNOWN or (is_uncommitted and not asks)):
        error = TIMED_OUT
    may_wait = (voters.is_dynamic or asks) and not error
    if not error and not voters.holds(key):
        error = NOT_FOUND
    elif not error and key[0] == node.id:
        error = INVALID
    wanted = Wanted(UPDATE, key, request.listeners[0].host if request.listeners else "")
    is_refused = error or (may_wait and _refuses(track, requested, TIMED_OUT))
    if not may_wait:
        track.owed[requested.source] = Owed((error, node.epoch, node.leader))
    else:
        errors = _errors(error) | {INVALID} if asks else _errors(error)
        track.owed[requested.source] = Owed(None, change=wanted, errors=errors)
    if asks and may_wait and not _refuses(track, requested, TIMED_OUT):
        return "", membership.want(node, wanted._replace(kind=ASK))
    if is_refused:
        return "RejectUpdateVoterRequest", node
    return "AcceptUpdateVoterRequest", membership.want(replication.record_contact(node, key[0], now_ms), wanted)


def _refuses(track: Track, requested: Requested, error: int) -> bool:
    """Whether the node refuses a request at once: it does so while another change of the voters is under way."""
    return any(
        getattr(effect, "source", None) == requested.source and effect.response.error_code == error
        for effect in track.effects
    )


def _errors(error: int) -> frozenset[int]:
    """The possible answers to a request for a change, where no other is under way: an error, or what becomes of it.

    A change may always time out: another one is under way, the new voter does not answer, or its record is not
    committed in time.
    """
    return frozenset((error, TIMED_OUT)) if error else frozenset((0, TIMED_OUT, NOT_LEADER))


def _change(track: Track, requested: Requested, wanted: Wanted, error: int) -> tuple[str, Node]:
    """A request to add or to remove a voter. error: why it cannot be made; 0 where it can."""
    request, node = requested.request, track.node
    cluster_id = request.cluster_id
    first = OTHER_CLUSTER if cluster_id not in {None, track.process.node.config.cluster_id} else 0
    first = first or (NOT_LEADER if node.role != LEADER else UNAVAILABLE if node.leaving else 0)
    if not first and (wanted.key[0] < 0 or wanted.key[1] == ZERO_UUID or (wanted.kind == ADD and not wanted.host)):
        first = INVALID
    if not first and node.watermark == UNKNOWN:
        first = TIMED_OUT
    if not first and not node.voters.is_dynamic:
        # Where a leader asks at new endpoints, an update of a static voter may be under way, which comes first.
        may_wait = track.process.node.config.asks_new_endpoints
        errors = frozenset((NOT_SUPPORTED, TIMED_OUT) if may_wait else (NOT_SUPPORTED,))
        track.owed[requested.source] = Owed(None, change=wanted, errors=errors)
        return "", node
    if not first and node.voters.offset >= node.watermark:
        first = TIMED_OUT
    if first:
        track.owed[requested.source] = Owed((first,))
        return "", node
    errors = _errors(error) | {INVALID} if wanted.kind == ADD and not error else _errors(error)
    waits = wanted.kind == REMOVE or request.ack_when_committed
    track.owed[requested.source] = Owed(None, change=wanted, errors=errors, waits=waits)
    return "", node if error else membership.want(node, wanted)


def _add_voter(track: Track, requested: Requested, _now_ms: int) -> tuple[str, Node]:
    request = requested.request
    host = request.listeners[0].host if request.listeners else ""
    wanted = Wanted(ADD, (request.voter_id, request.voter_directory_id), host)
    return _change(track, requested, wanted, DUPLICATE if request.voter_id in track.node.voters.ids else 0)


def _remove_voter(track: Track, requested: Requested, _now_ms: int) -> tuple[str, Node]:
    request, voters = requested.request, track.node.voters
    wanted = Wanted(REMOVE, (request.voter_id, request.voter_directory_id))
    return _change(track, requested, wanted, 0 if wanted.key in voters.keys and len(voters.keys) > 1 else NOT_FOUND)


REQUESTS: dict[type, Callable[[Track, Any, int], tuple[str, Node]]] = {
    VoteRequest: _vote,
    BeginQuorumEpochRequest: _begin,
    EndQuorumEpochRequest: _end,
    FetchRequest: _fetch,
    FetchSnapshotRequest: _fetch_snapshot,
    UpdateRaftVoterRequest: _update_voter,
    AddRaftVoterRequest: _add_voter,
    RemoveRaftVoterRequest: _remove_voter,
}
