"""What a controller with an empty disk learns from the requests of nodes with metadata: that a quorum exists.

A quorum that has grown has voters besides the bootstrap servers. When all bootstrap servers lose their disks, these
voters are left, and ask them for votes. Brokers are left, too, and ask them for records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.formation.rules import Sign
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.uuids import ZERO_UUID

if TYPE_CHECKING:
    from raft.formation.rules import Unformatted

# The APIs of nodes with metadata that a controller without any serves only to learn of them.
SIGNS = (1, 52, 53, 54, 59)


class _Asked(NamedTuple):
    """sender: the id of the node, -1 if it does not say; directory_id: of its disk; voter_directory_id: of the disk
    that it asks; both all zeros where it does not say.
    """

    sender: int
    what: str
    directory_id: bytes = ZERO_UUID
    voter_directory_id: bytes = ZERO_UUID


def sign_of(own: Unformatted, request: Any) -> Sign | None:
    """What a request says of a quorum that exists; None where it says nothing, or is of the one that `own` may form."""
    asked = _read(request)
    if asked is None or not request.cluster_id or own.cluster_id not in ("", request.cluster_id):
        return None
    disks = {each.directory_id for saved in (own.saved, *own.former) for each in saved}
    if asked.directory_id in disks or asked.voter_directory_id == own.controller.directory_id:
        return None  # the initial controllers formed it a moment ago, and answer so in the next round
    leads = isinstance(request, BeginQuorumEpochRequest)
    return Sign(request.cluster_id, leads, f"node {asked.sender} has its metadata, and {asked.what}")


def _read(request: Any) -> _Asked | None:
    """The first partition of a request; None where no metadata is needed to send it."""
    topic = next(iter(request.topics), None)
    part = next(iter(topic.partitions), None) if topic is not None else None
    if part is None:
        return None
    if isinstance(request, VoteRequest):
        return _Asked(part.replica_id, "asks for a vote", part.replica_directory_id, part.voter_directory_id)
    if isinstance(request, BeginQuorumEpochRequest):
        return _Asked(part.leader_id, "leads it", voter_directory_id=part.voter_directory_id)
    if isinstance(request, EndQuorumEpochRequest):
        return _Asked(part.leader_id, "has led it")
    if isinstance(request, FetchSnapshotRequest):
        return _Asked(request.replica_id, "asks for a snapshot", part.replica_directory_id)
    assert isinstance(request, FetchRequest), request
    if part.fetch_offset <= 0 and part.last_fetched_epoch <= 0 and part.current_leader_epoch <= 0:
        return None  # a new broker or controller, which waits for the quorum as this one does
    sender = request.replica_state.replica_id if request.replica_state is not None else request.replica_id
    return _Asked(sender, f"asks for records from offset {part.fetch_offset} on", part.replica_directory_id)
