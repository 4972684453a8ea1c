"""Actions of the specification for the answers that a node receives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crc32c import crc32c

from raft.interface.effects import Reply, ReserveOffsets
from records.errors import Error
from records.messages.elections import BeginQuorumEpochResponse, EndQuorumEpochResponse, VoteResponse
from records.messages.fetch import FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotResponse
from records.messages.versions import ApiVersionsResponse
from records.messages.voters import AddRaftVoterResponse, RemoveRaftVoterResponse, UpdateRaftVoterResponse
from simulations.spec import disks, membership, replication
from simulations.spec.elections import UNAVAILABLE, handle_vote_response, learn_from_answer
from simulations.spec.forms import is_of_log
from simulations.spec.values import FOLLOWER, LEADER, Node
from simulations.world.chains import parts
from simulations.world.voter_sets import is_control, read_control

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.inputs import Answered
    from simulations.spec.track import Sent, Track
    from simulations.world.voter_sets import Voters

NO_SNAPSHOT = int(Error.SNAPSHOT_NOT_FOUND)
_CRC_AT = 17
"""Where in a batch its checksum stands, over all that comes after it."""


def _vote(track: Track, event: Answered, sent: Sent, now_ms: int) -> tuple[str, Node]:
    response = event.response
    asked = sent.request.topics[0].partitions[0]
    name = "HandlePreVoteResponse" if asked.pre_vote else "HandleVoteResponse"
    if response.error_code or not is_of_log(response):
        return name, track.node
    said = response.topics[0].partitions[0]
    node, goes_on = _learn(track, said.error_code, said, response.node_endpoints, now_ms)
    if goes_on:
        node = handle_vote_response(node, sent.request.voter_id, granted=said.vote_granted, pre=asked.pre_vote)
    return name, node


def _of_epoch(name: str) -> Callable[[Track, Answered, Sent, int], tuple[str, Node]]:
    def handle(track: Track, event: Answered, _sent: Sent, now_ms: int) -> tuple[str, Node]:
        response = event.response
        if response.error_code or not is_of_log(response):
            return name, track.node
        said = response.topics[0].partitions[0]
        return name, _learn(track, said.error_code, said, response.node_endpoints, now_ms)[0]

    return handle


def _fetch(track: Track, event: Answered, _sent: Sent, now_ms: int) -> tuple[str, Node]:
    name = "HandleFetchResponse"
    response = event.response
    if response.error_code or not is_of_log(response):
        return name, track.node
    said = response.responses[0].partitions[0]
    node, goes_on = _learn(track, said.error_code, said.current_leader, response.node_endpoints, now_ms)
    if not goes_on or node.role != FOLLOWER:
        return name, node
    if said.diverging_epoch.epoch >= 0:
        return name, replication.truncate(node, said.diverging_epoch.epoch, said.diverging_epoch.end_offset, now_ms)
    if said.snapshot_id.epoch >= 0 or said.snapshot_id.end_offset >= 0:
        return name, disks.begin_download(node, said.snapshot_id.epoch, said.snapshot_id.end_offset, now_ms)
    batches, sets, is_whole = _batches(said.records or b"", node)
    after = replication.append_fetched(node, batches, said.high_watermark, sets)
    # An answer with damaged batches, or with bytes but no whole batch, does not reset the fetch timeout.
    return name, after.on_served(now_ms) if is_whole else after


def _batches(data: bytes | bytearray, node: Node) -> tuple[list[tuple[int, int, int]], tuple[Voters, ...], bool]:
    """(base, end, epoch) of each batch before the first damaged one; the voter sets in them; whether none is damaged.

    A leader sends at least one whole batch: bytes without one count as damaged.
    No checksum covers the position of a batch: one that is not at the end of the log is damaged, too.
    """
    batches: list[tuple[int, int, int]] = []
    sets: tuple[Voters, ...] = ()
    if not data:
        return batches, sets, True
    view, log_end, voters = memoryview(data), node.log.end, node.voters
    for part in parts(data):
        crc_at = part.start + _CRC_AT
        if int.from_bytes(view[crc_at : crc_at + 4]) != crc32c(view[crc_at + 4 : part.stop]):
            return batches, sets, False
        if part.base_offset != (batches[-1][1] if batches else log_end):
            return batches, sets, False
        batches.append((part.base_offset, part.end_offset, part.epoch))
        batch = view[part.start : part.stop]
        if is_control(batch):
            after, _ = read_control(bytes(batch), voters)
            if after is not voters:
                voters, sets = after, (*sets, after)
    return batches, sets, bool(batches)


def _fetch_snapshot(track: Track, event: Answered, _sent: Sent, now_ms: int) -> tuple[str, Node]:
    name = "HandleFetchSnapshotResponse"
    response = event.response
    node = track.node
    if response.error_code or not is_of_log(response):
        return name, node.but(download=None) if response.error_code not in {0, UNAVAILABLE} else node
    said = response.topics[0].partitions[0]
    node, goes_on = _learn(track, said.error_code, said.current_leader, response.node_endpoints, now_ms)
    if node.role != FOLLOWER or node.download is None:
        return name, node
    snapshot = (said.snapshot_id.epoch, said.snapshot_id.end_offset)
    if said.error_code == NO_SNAPSHOT or (goes_on and min(snapshot) < 0):
        return name, node.but(download=None).on_served(now_ms)
    if not goes_on:
        return name, node
    length = len(said.unaligned_records)
    return name, disks.take_part(node, snapshot, said.position, length, said.size, now_ms)


def _update_voter(track: Track, event: Answered, _sent: Sent, now_ms: int) -> tuple[str, Node]:
    response = event.response
    leader = response.current_leader
    named = (_Named(leader.leader_id),) if leader.host else ()
    node, goes_on = _learn(track, response.error_code, leader, named, now_ms)
    if goes_on and node.role == FOLLOWER and not response.error_code:
        node = node.on_served(now_ms)
    return "HandleUpdateVoterResponse", node


def _changes_nothing(track: Track, _event: Answered, _sent: Sent, _now_ms: int) -> tuple[str, Node]:
    """The leader made the change that the node asked for, or not."""
    return "", track.node


def _versions(track: Track, event: Answered, _sent: Sent, now_ms: int) -> tuple[str, Node]:
    """A new voter said what it supports, or one answered at its new address: its update counts as a fetch."""
    node = track.node
    is_taken = any(
        isinstance(each, ReserveOffsets)
        or (
            isinstance(each, Reply)
            and isinstance(each.response, UpdateRaftVoterResponse)
            and not each.response.error_code
        )
        for each in track.effects
    )
    if not is_taken or node.role != LEADER or event.peer not in node.voters.ids:
        return "", node
    node = replication.record_contact(node, event.peer, now_ms)
    return "AcceptUpdateVoterRequest", membership.take_update(node, event.peer)


class _Named(NamedTuple):
    node_id: int


def _learn(track: Track, error: int, leader: Any, nodes: Any, now_ms: int) -> tuple[Node, bool]:
    node, leader_id = track.node, max(leader.leader_id, -1)
    if error == 0 and leader_id == node.leader and leader.leader_epoch == node.epoch:
        return node, True  # nothing new, as nearly always
    named = any(each.node_id == leader_id for each in nodes)
    can_reach = track.reaches(leader_id, named)
    return learn_from_answer(node, error, leader.leader_epoch, leader_id, now_ms, can_reach=can_reach)


ANSWERS: dict[type, Callable[[Track, Any, Any, int], tuple[str, Node]]] = {
    VoteResponse: _vote,
    BeginQuorumEpochResponse: _of_epoch("HandleBeginQuorumResponse"),
    EndQuorumEpochResponse: _of_epoch("HandleEndQuorumResponse"),
    FetchResponse: _fetch,
    FetchSnapshotResponse: _fetch_snapshot,
    UpdateRaftVoterResponse: _update_voter,
    AddRaftVoterResponse: _changes_nothing,
    RemoveRaftVoterResponse: _changes_nothing,
    ApiVersionsResponse: _versions,
}
