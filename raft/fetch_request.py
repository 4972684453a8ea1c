"""Fetch on the leader: replicas and brokers read the log; the offset acknowledges all records below it (KIP-595)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.change_stages import on_high_watermark
from raft.checks import is_our_cluster, leader_endpoint, leader_id_or_none, refusal_of_non_leader
from raft.interface.config import ReplicaKey, SnapshotId
from raft.interface.effects import LeadershipConfirmed, Reply, ReplyRecords
from raft.interface.limits import NEVER
from raft.state.commit import high_watermark
from raft.state.log_view import BOOTSTRAP, EpochEnd
from raft.state.parked import Parked, Partition
from raft.state.roles import Leader
from records.errors import Error
from records.messages.fetch import FetchRequest, FetchResponse
from records.uuids import METADATA_TOPIC_ID

if TYPE_CHECKING:
    from raft.interface.inputs import Requested
    from raft.state.leader_state import LeaderState
    from raft.state.replica import Replica

Answer = FetchResponse.FetchableTopicResponse
Data = Answer.PartitionData

NOTHING = -1
# Placeholders for "not diverging" and "no snapshot", which nearly all answers carry.
NOT_DIVERGING = Data.EpochEndOffset(epoch=-1, end_offset=-1)
NO_SNAPSHOT = Data.SnapshotId(end_offset=-1, epoch=-1)


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """Fetch: answered at once where there are records or an error; else parked until then, or for max_wait_ms."""
    request: FetchRequest = requested.request
    if not is_our_cluster(replica, request.cluster_id):
        replica.emit(Reply(requested.source, refusal(Error.INCONSISTENT_CLUSTER_ID)))
        return
    partition = _only_partition(request)
    if partition is None:
        replica.emit(Reply(requested.source, refusal(Error.INVALID_REQUEST)))
        return
    if (
        request.max_wait_ms < 0
        or partition.fetch_offset < 0
        or not 0 <= partition.last_fetched_epoch <= partition.current_leader_epoch
    ):
        _reply(replica, requested, Error.INVALID_REQUEST)
        return
    error = refusal_of_non_leader(replica, partition.current_leader_epoch)
    role = replica.role
    if error != Error.NONE or not isinstance(role, Leader):
        _reply(replica, requested, error)
        return
    parked = Parked(requested, partition, now_ms + request.max_wait_ms, is_voter=False)
    key = _sender(parked)
    parked.is_voter = role.state.voter(key) is not None
    _release_parked(replica, role, key, parked)
    if _validate(replica, partition) is None and not _record_progress(replica, role, key, parked, now_ms):
        return
    if _answer(replica, role, parked, at_once=request.max_wait_ms == 0):
        return
    if _lacks_high_watermark(replica, partition):
        parked.deadline_ms = min(parked.deadline_ms, now_ms + replica.config.high_watermark_delay_ms)
    role.state.parked[requested.source.connection] = parked
    role.state.parked_deadline_ms = min(role.state.parked_deadline_ms, parked.deadline_ms)


def _release_parked(replica: Replica, role: Leader, key: ReplicaKey, parked: Parked) -> None:
    """A new Fetch on a connection: answer one that is still parked there, and count the sender for open rounds."""
    state = role.state
    connection = parked.requested.source.connection
    waiting = state.parked.pop(connection, None)
    if waiting is not None:
        state.rounds.distrust(connection)
        _answer(replica, role, waiting, at_once=True)
    if parked.is_voter:
        state.rounds.record_fetch(key.id, connection)
        emit_confirmed(replica, role)


def _record_progress(replica: Replica, role: Leader, key: ReplicaKey, parked: Parked, now_ms: int) -> bool:
    """Record the progress of the sender, unless it is a consumer (id -1). Returns False where the Fetch was refused."""
    if key.id == replica.key.id:
        replica.note("fetch_from_own_id", key=str(key))
        _reply(replica, parked.requested, Error.UNKNOWN_SERVER_ERROR)
        return False
    if key.id >= 0:
        _count(replica, role, key, parked, now_ms)
        if parked.is_voter:
            update_high_watermark(replica, role, now_ms)
    return True


def _sender(parked: Parked) -> ReplicaKey:
    request = parked.requested.request
    replica_id = request.replica_id if request.replica_id != -1 else request.replica_state.replica_id
    return ReplicaKey(replica_id, parked.partition.replica_directory_id)


def _count(replica: Replica, role: Leader, key: ReplicaKey, parked: Parked, now_ms: int) -> None:
    """The sender of a Fetch is alive, and holds all records below the offset; a consumer (id -1) does not count."""
    if key.id < 0:
        return
    state = role.state
    progress = state.replica(key, replica.config.observer_session_ms, now_ms)
    connection = parked.requested.source.connection
    progress.on_fetched(parked.partition.fetch_offset, replica.log.end, connection, now_ms)
    state.record_contact(key, quorum_timeout(replica), now_ms)


def _answer(replica: Replica, role: Leader, parked: Parked, *, at_once: bool) -> bool:
    """Answer a Fetch if there is anything to report, or if `at_once`. Returns whether it was answered."""
    requested, partition = parked.requested, parked.partition
    rounds = role.state.rounds
    valid = _validate(replica, partition)
    has_records = valid is None and partition.fetch_offset < replica.log.end
    watermark = NOTHING if replica.high_watermark is None else replica.high_watermark
    if not (
        at_once
        or has_records
        or valid is not None
        or (_lacks_high_watermark(replica, partition) and not _may_delay_high_watermark(replica, parked))
        or (parked.is_voter and rounds.needs_answer(requested.source.connection))
    ):
        return False
    response = _response(replica, requested, Error.NONE, watermark, valid)
    if has_records:
        # Kafka sends as much as was asked for, straight from the file; here the bytes pass through memory.
        size = min(max(requested.request.max_bytes, 0), replica.config.fetch_bytes_max)
        replica.emit(ReplyRecords(requested.source, response, partition.fetch_offset, replica.log.end, size))
    else:
        replica.emit(Reply(requested.source, response))
    if parked.is_voter:
        rounds.on_answered(requested.source.connection)
    return True


def _lacks_high_watermark(replica: Replica, partition: Partition) -> bool:
    """Whether the sender's high watermark is lower than ours. The field exists since Fetch version 18."""
    return partition.high_watermark < (NOTHING if replica.high_watermark is None else replica.high_watermark)


def _may_delay_high_watermark(replica: Replica, parked: Parked) -> bool:
    """Whether a new high watermark alone may wait before it is sent: to voters, with a delay configured.

    The next records mostly carry it. To send it to each voter at once would double the number of Fetches on a busy
    leader, all of them before its clients get their answers.
    """
    return parked.is_voter and replica.config.high_watermark_delay_ms > 0


def quorum_timeout(replica: Replica) -> int:
    """How long a leader stays leader while no majority fetches, in ms; longer than a follower waits (KIP-595)."""
    return replica.config.fetch_timeout_ms * 3 // 2


def _validate(replica: Replica, partition: Partition) -> EpochEnd | SnapshotId | None:
    latest = replica.log.latest_snapshot
    if partition.fetch_offset == 0 and latest is not None and latest.id != BOOTSTRAP:
        return latest.id  # an empty replica catches up faster from a snapshot, even where the log starts at 0
    return replica.log.validate(partition.fetch_offset, partition.last_fetched_epoch)


def update_high_watermark(replica: Replica, role: Leader, now_ms: int) -> None:
    """Compute the high watermark; if it advanced, answer the parked Fetches, those of voters after the delay."""
    state = role.state
    ends = {voter_id: progress.end_offset for voter_id, progress in state.voters.items()}
    # Kafka counts what the leader has written; here only what it has flushed counts, as for every voter.
    if state.own_id in ends:
        ends[state.own_id] = replica.log.durable_end
    held = high_watermark(ends, replica.voters, state.start_offset)
    if held is None or (replica.high_watermark is not None and held <= replica.high_watermark):
        return
    replica.set_high_watermark(held)
    if state.change is not None or not replica.is_voter:
        on_high_watermark(replica, role)
    soon_ms = now_ms + replica.config.high_watermark_delay_ms
    for connection in list(state.parked):
        parked = state.parked[connection]
        if _may_delay_high_watermark(replica, parked):
            parked.deadline_ms = min(parked.deadline_ms, soon_ms)
            state.parked_deadline_ms = min(state.parked_deadline_ms, soon_ms)
        else:
            _answer_parked(replica, role, state.parked.pop(connection), now_ms)


def answer_parked(replica: Replica, role: Leader, now_ms: int) -> None:
    """Answer every parked Fetch: there are new records."""
    state = role.state
    waiting = state.parked
    if not waiting:
        return
    state.parked = {}
    state.parked_deadline_ms = NEVER
    for parked in waiting.values():
        _answer_parked(replica, role, parked, now_ms)


def _answer_parked(replica: Replica, role: Leader, parked: Parked, now_ms: int) -> None:
    """There are records, or a higher high watermark, for a parked Fetch."""
    if replica.config.counts_parked_fetches and _validate(replica, parked.partition) is None:
        _count(replica, role, _sender(parked), parked, now_ms)
    _answer(replica, role, parked, at_once=True)


def expire_parked(replica: Replica, role: Leader, now_ms: int) -> None:
    """Answer each parked Fetch whose max_wait_ms is over, without records."""
    state = role.state
    for connection in [each for each, parked in state.parked.items() if parked.deadline_ms <= now_ms]:
        _answer(replica, role, state.parked.pop(connection), at_once=True)
    state.parked_deadline_ms = min((parked.deadline_ms for parked in state.parked.values()), default=NEVER)


def answer_voters(replica: Replica, role: Leader) -> None:
    """Answer the parked Fetches of the voters, so that the next ones prove that the voters still follow."""
    state = role.state
    for connection in [each for each, parked in state.parked.items() if parked.is_voter]:
        _answer(replica, role, state.parked.pop(connection), at_once=True)


def emit_confirmed(replica: Replica, role: Leader) -> None:
    """Emit `LeadershipConfirmed` for each question that a majority has confirmed by now."""
    state = role.state
    for number in state.rounds.take_confirmed(state.voters, state.own_id):
        replica.emit(LeadershipConfirmed(number, role.epoch))


def fail_parked(replica: Replica, state: LeaderState) -> None:
    """Leadership is lost: answer each parked Fetch with NOT_LEADER_OR_FOLLOWER, and the new leader where known."""
    waiting = state.parked
    state.parked = {}
    for parked in waiting.values():
        _reply(replica, parked.requested, Error.NOT_LEADER_OR_FOLLOWER)


def refusal(error: Error) -> FetchResponse:
    """The answer to a Fetch that is refused as a whole."""
    return FetchResponse(error_code=error, session_id=0, responses=())


def _only_partition(request: FetchRequest) -> Partition | None:
    topics = request.topics
    if len(topics) != 1 or topics[0].topic_id != METADATA_TOPIC_ID or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    return partition if partition.partition == 0 else None


def _reply(replica: Replica, requested: Requested, error: Error) -> None:
    replica.emit(Reply(requested.source, _response(replica, requested, error, NOTHING, None)))


def _response(
    replica: Replica, requested: Requested, error: Error, watermark: int, valid: EpochEnd | SnapshotId | None
) -> FetchResponse:
    diverging, snapshot = NOT_DIVERGING, NO_SNAPSHOT
    if isinstance(valid, EpochEnd):
        diverging = Data.EpochEndOffset(epoch=valid.epoch, end_offset=valid.end_offset)
    elif valid is not None:
        snapshot = Data.SnapshotId(end_offset=valid.end_offset, epoch=valid.epoch)
    leader_id = leader_id_or_none(replica)
    endpoint = leader_endpoint(replica, requested) if requested.version >= 17 else None
    nodes: tuple[FetchResponse.NodeEndpoint, ...] = ()
    if endpoint is not None:
        nodes = (FetchResponse.NodeEndpoint(node_id=leader_id, host=endpoint.host, port=endpoint.port),)
    data = Data(
        partition_index=0,
        error_code=error,
        high_watermark=watermark,
        log_start_offset=replica.log.start,
        diverging_epoch=diverging,
        current_leader=Data.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=replica.role.epoch),
        snapshot_id=snapshot,
        records=b"",
    )
    topic = Answer(topic_id=METADATA_TOPIC_ID, partitions=(data,))
    return FetchResponse(error_code=Error.NONE, responses=(topic,), node_endpoints=nodes)
