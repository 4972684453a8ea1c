"""Fetch on a follower: find the leader, append its records, truncate what diverges from its log (KIP-595)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.discovery import note_refusal, note_unexpected, report_of, take_answer
from raft.fetch_snapshot import begin_download, download_request, note_data_lost
from raft.interface.config import SnapshotId
from raft.interface.voters import control_values, endpoint_of
from raft.state.log_view import OFFSET_MAX, EpochEnd
from raft.state.roles import Follower, Unattached
from records.batch import CorruptBatch, is_intact, read_header, records_of
from records.errors import Error
from records.messages.fetch import FetchRequest, FetchResponse
from records.uuids import METADATA_TOPIC_ID

if TYPE_CHECKING:
    from raft.interface.voters import VoterSet
    from raft.state.replica import Replica
    from records.batch import Batch

Partition = FetchRequest.FetchTopic.FetchPartition
Data = FetchResponse.FetchableTopicResponse.PartitionData

UNKNOWN = -1
# Leaders write batches of at most 8 MiB.
DECOMPRESSED_MAX = 16 << 20


def send_fetch(replica: Replica, role: Follower | Unattached, now_ms: int) -> None:
    """Fetch more of the log, or of a snapshot, from the leader; if it does not answer, ask other nodes for the leader.

    One such request is in flight at a time, and none before all fetched records are on disk: the fetch offset tells the
    leader that all records below it are durable here (KIP-595).
    """
    if not replica.log.is_flushed or replica.freezing is not None:
        return
    peers = replica.peers
    if isinstance(role, Follower):
        endpoint = endpoint_of(role.endpoints, replica.config.listener)
        assert endpoint is not None, f"{role} has no endpoint for {replica.config.listener}"
        if not peers.give_up(role.leader_id, now_ms) and not peers.is_backing_off(role.leader_id, now_ms):
            if peers.is_waiting(now_ms):
                return
            download = role.state.download
            if download is None:
                replica.send(role.leader_id, endpoint, _build(replica), now_ms)
            elif not download.writing:
                replica.send(role.leader_id, endpoint, download_request(replica, role, download), now_ms)
            return
    server = peers.ready_bootstrap(replica.rng, now_ms)
    if server is not None:
        replica.send(*server, _build(replica), now_ms)


def _build(replica: Replica) -> FetchRequest:
    log, config = replica.log, replica.config
    partition = Partition(
        partition=0,
        current_leader_epoch=replica.epoch,
        fetch_offset=log.end,
        last_fetched_epoch=log.last_epoch,
        log_start_offset=-1,
        partition_max_bytes=0,
        replica_directory_id=replica.key.directory_id,
        high_watermark=UNKNOWN if replica.high_watermark is None else replica.high_watermark,
    )
    topic = FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=(partition,))
    return FetchRequest(
        cluster_id=config.cluster_id,
        replica_state=FetchRequest.ReplicaState(replica_id=replica.key.id, replica_epoch=-1),
        max_wait_ms=config.fetch_wait_max_ms,
        min_bytes=0,
        max_bytes=config.fetch_bytes_max,
        topics=(topic,),
    )


def on_response(replica: Replica, peer: int, _request: FetchRequest, response: FetchResponse, now_ms: int) -> bool:
    """The leader, or a node that may know it, answered. Returns whether the answer was a success."""
    if response.error_code != Error.NONE:
        return note_refusal(replica, peer, response.error_code)
    data = _only_partition(response)
    if data is None:
        return False
    report = report_of(replica, data.error_code, data.current_leader, response.node_endpoints)
    handled = take_answer(replica, peer, report, now_ms)
    if handled is not None:
        return handled
    role = replica.role
    if data.error_code != Error.NONE:
        return note_unexpected(replica, peer, data.error_code)
    if not isinstance(role, Follower):
        replica.note("fetch_answered_without_leader", peer=peer, epoch=report.epoch)
        return False
    if data.diverging_epoch.epoch >= 0:
        succeeded = _truncate(replica, EpochEnd(data.diverging_epoch.end_offset, data.diverging_epoch.epoch))
    elif data.snapshot_id.epoch >= 0 or data.snapshot_id.end_offset >= 0:
        succeeded = begin_download(replica, role, SnapshotId(data.snapshot_id.end_offset, data.snapshot_id.epoch))
    else:
        succeeded = append_fetched(replica, data.records or b"")
        update_high_watermark(replica, data.high_watermark)
        role.state.leader_high_watermark = data.high_watermark
    if succeeded:
        role.state.on_fetched(now_ms, replica.config.fetch_timeout_ms)
    return succeeded


def _only_partition(response: FetchResponse) -> Data | None:
    topics = response.responses
    if len(topics) != 1 or topics[0].topic_id != METADATA_TOPIC_ID or len(topics[0].partitions) != 1:
        return None
    data = topics[0].partitions[0]
    return data if data.partition_index == 0 else None


def _truncate(replica: Replica, diverging: EpochEnd) -> bool:
    """Our log diverges from the leader's: truncate it there. A truncation below committed records is refused."""
    target = -1 if diverging.end_offset < 0 else replica.log.truncation(diverging)
    if target < replica.log.committed_end:
        note_data_lost(replica, diverging.end_offset)
        return False
    replica.note("truncated", end_offset=target, was=replica.log.end)
    replica.truncate(target)
    return True


def append_fetched(replica: Replica, data: bytes) -> bool:
    """Append the whole batches of an answer, up to the first invalid one. The last batch may be incomplete.

    Returns False where a batch is invalid: it and all batches after it are ignored, with a note (KAFKA-18723).
    """
    position = 0
    while True:
        run_from, base_offset, run_epoch = position, replica.log.end, -1
        end_offset, values = base_offset, list[tuple[int, "VoterSet | int"]]()
        fault: str | None = None
        try:
            # A run of batches of one epoch is one append.
            while (batch := read_header(data, position)) is not None and run_epoch in {-1, batch.leader_epoch}:
                check_fetched(replica, data, batch, end_offset)
                values += control_values(data, batch) if batch.is_control else ()
                run_epoch, end_offset, position = batch.leader_epoch, batch.last_offset + 1, position + batch.size
        except CorruptBatch as error:
            fault = str(error)
        if end_offset > base_offset:
            whole = run_from == 0 and position == len(data)
            replica.append(base_offset, end_offset, run_epoch, data if whole else bytes(data[run_from:position]))
            replica.take_control(values)
        if fault is not None:
            replica.note("fetched_records_refused", reason=fault)
            return False
        if batch is None and position == 0 and data:
            # A leader sends at least one whole batch. Were this one taken, it would be fetched again without a pause.
            replica.note("fetched_records_refused", reason=f"{len(data)} bytes without a whole batch")
            return False
        if batch is None:
            return True


def check_fetched(replica: Replica, data: bytes, batch: Batch, end_offset: int) -> None:
    """Raises CorruptBatch where a batch cannot be the next one of our log, which ends at `end_offset`."""
    reason = None
    if not is_intact(data, batch):
        reason = "its CRC does not fit"
    elif batch.base_offset != end_offset:
        reason = f"the log ends at {end_offset}"
    elif batch.last_offset >= OFFSET_MAX:
        reason = f"no log reaches offset {batch.last_offset}"
    elif batch.record_count != batch.last_offset - batch.base_offset + 1:
        reason = f"{batch.record_count} records cannot reach offset {batch.last_offset}"
    elif batch.leader_epoch > replica.epoch:
        reason = f"epoch {batch.leader_epoch} is above ours, {replica.epoch}"
    elif batch.leader_epoch < replica.log.last_epoch:
        reason = f"epoch {batch.leader_epoch} is below that of the log, {replica.log.last_epoch}"
    if reason is not None:
        raise CorruptBatch(batch.base_offset, batch.position, reason)
    if batch.compression:
        # No controller compresses its batches. What cannot be read again must not reach the log: once it is committed,
        # it would end this node.
        records_of(data, batch, decompressed_max=DECOMPRESSED_MAX)


def update_high_watermark(replica: Replica, offset: int) -> None:
    """Adopt the leader's high watermark, at most our log end; a lower one than before is ignored (KIP-595)."""
    if offset < 0:
        return
    reached = min(offset, replica.log.end)
    if reached < replica.log.committed:
        return  # a new leader sends a lower one until it has committed a record of its epoch
    if replica.high_watermark is None or reached > replica.high_watermark:
        replica.set_high_watermark(reached)
