"""The content of a message of the quorum as a short tuple: for traces, stories and checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from records.messages.elections import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    VoteRequest,
    VoteResponse,
)
from records.messages.fetch import FetchRequest, FetchResponse
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from records.messages.versions import ApiVersionsRequest, ApiVersionsResponse
from records.messages.voters import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Gist = tuple[Any, ...]


class Frame:
    """A request or an answer in flight. number: of the `Send`; name, gist: see `messages`; stamp: what the sender's
    world knew about it, for the checks. payload: bytes, or the message itself without a codec. stray: what is wrong in
    a request that is not for its receiver, and in its answer.
    """

    __slots__ = ("gist", "name", "number", "payload", "sent_at", "size", "stamp", "stray", "version")

    def __init__(self, name: str, gist: Gist, number: int, version: int, payload: Any, size: int) -> None:
        self.name = name
        self.gist = gist
        self.number = number
        self.version = version
        self.payload = payload
        self.size = size
        self.sent_at = 0
        self.stamp: Any = None
        self.stray = ""

    @property
    def is_bytes(self) -> bool:
        """Whether it goes through the codec."""
        return type(self.payload) is bytes


def _vote(request: VoteRequest) -> Gist:
    asked = request.topics[0].partitions[0]
    return asked.replica_epoch, asked.replica_id, asked.last_offset_epoch, asked.last_offset, int(asked.pre_vote)


def _vote_answer(response: VoteResponse) -> Gist:
    if not response.topics:
        return (int(response.error_code),)
    partition = response.topics[0].partitions[0]
    return int(partition.error_code), partition.leader_epoch, partition.leader_id, int(partition.vote_granted)


def _begin(request: BeginQuorumEpochRequest) -> Gist:
    partition = request.topics[0].partitions[0]
    return partition.leader_epoch, partition.leader_id


def _end(request: EndQuorumEpochRequest) -> Gist:
    partition = request.topics[0].partitions[0]
    return partition.leader_epoch, partition.leader_id, *partition.preferred_successors


def _epoch_answer(response: BeginQuorumEpochResponse | EndQuorumEpochResponse) -> Gist:
    if not response.topics:
        return (int(response.error_code),)
    partition = response.topics[0].partitions[0]
    return int(partition.error_code), partition.leader_epoch, partition.leader_id


def _fetch(request: FetchRequest) -> Gist:
    asked = request.topics[0].partitions[0]
    return asked.current_leader_epoch, asked.fetch_offset, asked.last_fetched_epoch, asked.high_watermark


def _fetch_answer(response: FetchResponse) -> Gist:
    if not response.responses:
        return (int(response.error_code),)
    data = response.responses[0].partitions[0]
    gist = (int(data.error_code), data.current_leader.leader_epoch, data.current_leader.leader_id, data.high_watermark)
    if data.diverging_epoch.epoch >= 0:
        return *gist, "diverging", data.diverging_epoch.epoch, data.diverging_epoch.end_offset
    if data.snapshot_id.epoch >= 0:
        return *gist, "snapshot", data.snapshot_id.end_offset, data.snapshot_id.epoch
    return *gist, len(data.records or b"")


def _part(request: FetchSnapshotRequest) -> Gist:
    asked = request.topics[0].partitions[0]
    return asked.current_leader_epoch, asked.snapshot_id.end_offset, asked.snapshot_id.epoch, asked.position


def _part_answer(response: FetchSnapshotResponse) -> Gist:
    if not response.topics:
        return (int(response.error_code),)
    data = response.topics[0].partitions[0]
    return (
        int(data.error_code), data.current_leader.leader_epoch, data.current_leader.leader_id, data.position,
        len(data.unaligned_records), data.size,
    )  # fmt: skip


def _update(request: UpdateRaftVoterRequest) -> Gist:
    return request.current_leader_epoch, request.voter_id, request.listeners[0].host


def _update_answer(response: UpdateRaftVoterResponse) -> Gist:
    return int(response.error_code), response.current_leader.leader_epoch, response.current_leader.leader_id


def _change(request: AddRaftVoterRequest | RemoveRaftVoterRequest) -> Gist:
    return request.voter_id, request.voter_directory_id.hex()


def _error(response: Any) -> Gist:
    return (int(response.error_code),)


def _nothing(_request: Any) -> Gist:
    return ()


class Kind(NamedTuple):
    """name: for people; gist: the content of a message; fields: names of what `gist` returns."""

    name: str
    gist: Callable[[Any], Gist]
    fields: tuple[str, ...]


_LEADER_FIELDS = ("error", "epoch", "leader")

KINDS: dict[type, Kind] = {
    VoteRequest: Kind("Vote", _vote, ("epoch", "candidate", "last_epoch", "end", "pre_vote")),
    VoteResponse: Kind("VoteAnswer", _vote_answer, (*_LEADER_FIELDS, "granted")),
    BeginQuorumEpochRequest: Kind("Begin", _begin, ("epoch", "leader")),
    BeginQuorumEpochResponse: Kind("BeginAnswer", _epoch_answer, _LEADER_FIELDS),
    EndQuorumEpochRequest: Kind("End", _end, ("epoch", "leader", "successors")),
    EndQuorumEpochResponse: Kind("EndAnswer", _epoch_answer, _LEADER_FIELDS),
    FetchRequest: Kind("Fetch", _fetch, ("epoch", "offset", "last_epoch", "watermark")),
    FetchResponse: Kind("FetchAnswer", _fetch_answer, (*_LEADER_FIELDS, "watermark", "bytes")),
    FetchSnapshotRequest: Kind("FetchSnapshot", _part, ("epoch", "end_offset", "of_epoch", "position")),
    FetchSnapshotResponse: Kind("FetchSnapshotAnswer", _part_answer, (*_LEADER_FIELDS, "position", "bytes", "size")),
    UpdateRaftVoterRequest: Kind("UpdateVoter", _update, ("epoch", "voter", "host")),
    UpdateRaftVoterResponse: Kind("UpdateVoterAnswer", _update_answer, _LEADER_FIELDS),
    AddRaftVoterRequest: Kind("AddVoter", _change, ("voter", "directory")),
    AddRaftVoterResponse: Kind("AddVoterAnswer", _error, ("error",)),
    RemoveRaftVoterRequest: Kind("RemoveVoter", _change, ("voter", "directory")),
    RemoveRaftVoterResponse: Kind("RemoveVoterAnswer", _error, ("error",)),
    ApiVersionsRequest: Kind("ApiVersions", _nothing, ()),
    ApiVersionsResponse: Kind("ApiVersionsAnswer", _error, ("error",)),
}

# What the quorum's nodes send each other beside ApiVersions, which everybody asks of everybody.
NAMES = tuple(kind.name for kind in KINDS.values() if not kind.name.startswith("ApiVersions"))
FIELDS = {kind.name: kind.fields for kind in KINDS.values()}
IS_ANSWER = {kind.name: kind.name.endswith("Answer") for kind in KINDS.values()}
ANSWERS: dict[type, type] = {
    VoteRequest: VoteResponse,
    BeginQuorumEpochRequest: BeginQuorumEpochResponse,
    EndQuorumEpochRequest: EndQuorumEpochResponse,
    FetchRequest: FetchResponse,
    FetchSnapshotRequest: FetchSnapshotResponse,
    UpdateRaftVoterRequest: UpdateRaftVoterResponse,
    AddRaftVoterRequest: AddRaftVoterResponse,
    RemoveRaftVoterRequest: RemoveRaftVoterResponse,
    ApiVersionsRequest: ApiVersionsResponse,
}

_WITHOUT_EPOCH = frozenset(("AddVoter", "RemoveVoter"))


def leader_in(name: str, gist: Gist) -> tuple[int, int] | None:
    """(epoch, leader id) that a message names; None where it names no leader."""
    if name in {"Begin", "End"}:
        return gist[0], gist[1]
    if IS_ANSWER[name] and len(gist) > 2 and gist[2] >= 0:
        return gist[1], gist[2]
    return None


def own_epoch(name: str, gist: Gist) -> int | None:
    """The epoch of the sender in the message; None if the message does not have it."""
    if name in _WITHOUT_EPOCH:
        return None
    if not IS_ANSWER[name]:
        return int(gist[0])
    return int(gist[1]) if len(gist) > 2 else None
