"""FetchSnapshot, on both sides: a replica that lacks records which the leader's log no longer holds (KIP-630)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.checks import is_our_cluster, leader_endpoint, leader_id_or_none, refusal_of_non_leader
from raft.discovery import note_refusal, note_unexpected, report_of, take_answer
from raft.fetch_request import quorum_timeout
from raft.interface.config import ReplicaKey, SnapshotId
from raft.interface.effects import FreezeSnapshot, Reply, ReplySnapshot, WriteSnapshotPart
from raft.state.follower_state import Download
from raft.state.log_view import BOOTSTRAP, OFFSET_MAX
from raft.state.roles import Follower, Leader
from raft.transitions import drop_download
from records.errors import Error
from records.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from records.metadata_log import METADATA_TOPIC

if TYPE_CHECKING:
    from raft.interface.inputs import PartWritten, Requested
    from raft.state.replica import Replica

# A leader that announces more does not send a snapshot: stock, too, opens no larger file. The disk must not fill.
SNAPSHOT_BYTES_MAX = (1 << 31) - 1

Asked = FetchSnapshotRequest.TopicSnapshot
Answer = FetchSnapshotResponse.TopicSnapshot
Data = Answer.PartitionSnapshot


# The leader


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """FetchSnapshot: answered with bytes of a snapshot from a position on."""
    request: FetchSnapshotRequest = requested.request
    if not is_our_cluster(replica, request.cluster_id):
        _refuse(replica, requested, Error.INCONSISTENT_CLUSTER_ID)
        return
    topics = request.topics
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        _refuse(replica, requested, Error.INVALID_REQUEST)
        return
    asked = topics[0].partitions[0]
    if topics[0].name != METADATA_TOPIC or asked.partition != 0:
        data = _data(Error.UNKNOWN_TOPIC_OR_PARTITION, None, partition=asked.partition)
        _reply(replica, requested, data, topics[0].name)
        return
    error = refusal_of_non_leader(replica, asked.current_leader_epoch)
    role = replica.role
    if error != Error.NONE or not isinstance(role, Leader):
        _reply(replica, requested, _data(error, replica))
        return
    wanted = SnapshotId(asked.snapshot_id.end_offset, asked.snapshot_id.epoch)
    stored = replica.log.snapshot(wanted)
    if stored is None or wanted == BOOTSTRAP:
        _reply(replica, requested, _data(Error.SNAPSHOT_NOT_FOUND, replica))
        return
    if not 0 <= asked.position < stored.size:
        _reply(replica, requested, _data(Error.POSITION_OUT_OF_RANGE, replica))
        return
    if request.replica_id == replica.key.id:
        replica.note("fetch_from_own_id", key=str(ReplicaKey(request.replica_id, asked.replica_directory_id)))
        _reply(replica, requested, _data(Error.UNKNOWN_SERVER_ERROR, replica))
        return
    key = ReplicaKey(request.replica_id, asked.replica_directory_id)
    role.state.record_contact(key, quorum_timeout(replica), now_ms)
    # The limit is the one for our own requests, because the bytes pass through memory.
    length = min(max(request.max_bytes, 0), replica.config.fetch_snapshot_bytes_max, stored.size - asked.position)
    data = _data(Error.NONE, replica, snapshot=wanted, size=stored.size, position=asked.position)
    replica.emit(ReplySnapshot(requested.source, _response(replica, requested, data), wanted, asked.position, length))


def _refuse(replica: Replica, requested: Requested, error: Error) -> None:
    response = FetchSnapshotResponse(throttle_time_ms=0, error_code=error, topics=())
    replica.emit(Reply(requested.source, response))


def _reply(replica: Replica, requested: Requested, data: Data, topic: str = METADATA_TOPIC) -> None:
    replica.emit(Reply(requested.source, _response(replica, requested, data, topic)))


def _data(
    error: Error,
    replica: Replica | None,
    *,
    partition: int = 0,
    snapshot: SnapshotId = BOOTSTRAP,
    size: int = 0,
    position: int = 0,
) -> Data:
    # An answer without a snapshot carries zeros for its id. Java sets the bytes of an error to null, and then fails to
    # serialize the answer; here they are empty.
    leader = Data.LeaderIdAndEpoch(leader_id=0, leader_epoch=0)
    if replica is not None:
        leader = Data.LeaderIdAndEpoch(leader_id=leader_id_or_none(replica), leader_epoch=replica.epoch)
    return Data(
        index=partition,
        error_code=error,
        snapshot_id=Data.SnapshotId(end_offset=snapshot.end_offset, epoch=snapshot.epoch),
        current_leader=leader,
        size=size,
        position=position,
        unaligned_records=b"",
    )


def _response(replica: Replica, requested: Requested, data: Data, topic: str = METADATA_TOPIC) -> FetchSnapshotResponse:
    endpoint = leader_endpoint(replica, requested) if requested.version >= 1 else None
    nodes: tuple[FetchSnapshotResponse.NodeEndpoint, ...] = ()
    if endpoint is not None:
        leader_id = leader_id_or_none(replica)
        nodes = (FetchSnapshotResponse.NodeEndpoint(node_id=leader_id, host=endpoint.host, port=endpoint.port),)
    return FetchSnapshotResponse(
        throttle_time_ms=0,
        error_code=Error.NONE,
        topics=(Answer(name=topic, partitions=(data,)),),
        node_endpoints=nodes,
    )


# The follower


def begin_download(replica: Replica, role: Follower, snapshot: SnapshotId) -> bool:
    """The leader names a snapshot to start from. Returns whether the offer is valid; then the download begins."""
    log = replica.log
    if log.committed <= snapshot.end_offset < log.committed_end:
        # The leader of a quorum that has lost data, or of one that began anew, with an epoch above ours: its snapshot
        # would replace a log that has more.
        note_data_lost(replica, snapshot.end_offset)
        return False
    is_newer = (snapshot.epoch, snapshot.end_offset) > (log.last_epoch, log.end)
    is_possible = 0 <= snapshot.epoch <= role.epoch and log.committed <= snapshot.end_offset <= OFFSET_MAX
    if not is_possible or not is_newer or log.snapshot(snapshot) is not None:
        fields = {"end_offset": snapshot.end_offset, "epoch": snapshot.epoch, "log_end_offset": log.end}
        replica.note("snapshot_offer_refused", **fields)
        return False
    drop_download(replica, role.state)
    role.state.download = Download(snapshot)
    replica.note("snapshot_fetching", end_offset=snapshot.end_offset, epoch=snapshot.epoch)
    return True


def note_data_lost(replica: Replica, end_offset: int) -> None:
    """The leader asks this replica to drop committed records from `end_offset` on, and is refused.

    No leader that was elected with its log asks for that: a majority has lost its directories (Raft 5.4.3).
    """
    replica.note(
        "truncation_refused", leader_id=replica.leader_id, epoch=replica.epoch, end_offset=end_offset,
        committed=replica.log.committed_end,
    )  # fmt: skip


def download_request(replica: Replica, role: Follower, download: Download) -> FetchSnapshotRequest:
    """The request for the next part."""
    partition = Asked.PartitionSnapshot(
        partition=0,
        current_leader_epoch=role.epoch,
        snapshot_id=Asked.PartitionSnapshot.SnapshotId(end_offset=download.id.end_offset, epoch=download.id.epoch),
        position=download.position,
        replica_directory_id=replica.key.directory_id,
    )
    return FetchSnapshotRequest(
        cluster_id=replica.config.cluster_id,
        replica_id=replica.key.id,
        max_bytes=replica.config.fetch_snapshot_bytes_max,
        topics=(Asked(name=METADATA_TOPIC, partitions=(partition,)),),
    )


def on_response(
    replica: Replica, peer: int, request: FetchSnapshotRequest, response: FetchSnapshotResponse, now_ms: int
) -> bool:
    """The leader sent a part, or no longer has the snapshot. Returns whether the answer was a success."""
    if response.error_code != Error.NONE:
        return on_failure(replica, peer, request, response.error_code, now_ms)
    topics = response.topics
    if len(topics) != 1 or topics[0].name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return False
    data = topics[0].partitions[0]
    if data.index != 0:
        return False
    report = report_of(replica, data.error_code, data.current_leader, response.node_endpoints)
    handled = take_answer(replica, peer, report, now_ms)
    if handled is not None:
        return handled
    role = replica.role
    if not isinstance(role, Follower) or role.state.download is None:
        replica.note("snapshot_part_unasked", peer=peer)
        return False
    if data.error_code == Error.SNAPSHOT_NOT_FOUND or data.snapshot_id.end_offset < 0 or data.snapshot_id.epoch < 0:
        # The leader has deleted it: the next Fetch names a newer one.
        drop_download(replica, role.state)
        role.state.on_fetched(now_ms, replica.config.fetch_timeout_ms)
        return True
    if data.error_code != Error.NONE:
        return note_unexpected(replica, peer, data.error_code)
    if not _take_part(replica, role, role.state.download, data):
        return False
    role.state.on_fetched(now_ms, replica.config.fetch_timeout_ms)
    return True


def on_failure(replica: Replica, peer: int, _request: FetchSnapshotRequest, error: int, _now_ms: int) -> bool:
    """No answer for the partition: go back to Fetch. Java leaders answer so where they lack the snapshot."""
    role = replica.role
    if error == Error.BROKER_NOT_AVAILABLE:
        return False
    if isinstance(role, Follower):
        drop_download(replica, role.state)
    return note_refusal(replica, peer, error)


def _take_part(replica: Replica, role: Follower, download: Download, data: Data) -> bool:
    records = data.unaligned_records
    end = download.position + len(records)
    if (
        (data.snapshot_id.end_offset, data.snapshot_id.epoch) != download.id
        or data.position != download.position
        or download.size not in {None, data.size}
        or not records
        or end > data.size
        or data.size > SNAPSHOT_BYTES_MAX
    ):
        replica.note(
            "snapshot_part_refused", position=data.position, length=len(records), size=data.size,
            expected_position=download.position,
        )  # fmt: skip
        drop_download(replica, role.state)
        return False
    replica.parts += 1
    replica.emit(WriteSnapshotPart(replica.parts, download.id, download.position, bytes(records)))
    download.size = data.size
    download.position = end
    download.writing = replica.parts
    return True


def on_part_written(replica: Replica, written: PartWritten, _now_ms: int) -> None:
    """A part is written to the file: after the last part, order the check of the whole snapshot."""
    role = replica.role
    if not isinstance(role, Follower):
        return
    download = role.state.download
    if download is None or download.writing != written.number:
        return
    download.writing = 0
    if download.position == download.size:
        replica.freezing = (written.number, download.id)
        role.state.download = None
        replica.emit(FreezeSnapshot(written.number, download.id))
