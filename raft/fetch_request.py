"""Fetch, where the leader answers: replicas and brokers read the log, and by that tell how far they are (KIP-595)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.checks import is_our_cluster, leader_endpoint, leader_id_or_none, refusal_of_non_leader
from raft.commit import high_watermark
from raft.config import ReplicaKey, SnapshotId
from raft.effects import LeadershipConfirmed, Reply, ReplyRecords
from raft.limits import NEVER
from raft.log_view import BOOTSTRAP, EpochEnd
from raft.parked import Parked, Partition
from raft.roles import Leader
from records.errors import Error
from records.messages.fetch import FetchRequest, FetchResponse
from records.uuids import METADATA_TOPIC_ID

if TYPE_CHECKING:
    from raft.inputs import Requested
    from raft.leader_state import LeaderState
    from raft.replica import Replica

Answer = FetchResponse.FetchableTopicResponse
Data = Answer.PartitionData

NOTHING = -1
# These two say nothing, and are what nearly all answers have.
NOT_DIVERGING = Data.EpochEndOffset(epoch=-1, end_offset=-1)
NO_SNAPSHOT = Data.SnapshotId(end_offset=-1, epoch=-1)


def on_request(replica: Replica, requested: Requested, now_ms: int) -> None:
    """Fetch: answered at once where there is something to tell, else when there is, or max_wait_ms is over."""
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
    replica_id = request.replica_id if request.replica_id != -1 else request.replica_state.replica_id
    key = ReplicaKey(replica_id, partition.replica_directory_id)
    parked = Parked(requested, partition, now_ms + request.max_wait_ms, role.state.voter(key) is not None)
    _hear(replica, role, key, parked)
    if _validate(replica, partition) is None and not _account(replica, role, key, parked, now_ms):
        return
    if _answer(replica, role, parked, at_once=request.max_wait_ms == 0):
        return
    if _lacks_high_watermark(replica, partition):
        parked.deadline_ms = min(parked.deadline_ms, now_ms + replica.config.high_watermark_delay_ms)
    role.state.parked[requested.source.connection] = parked
    role.state.parked_deadline_ms = min(role.state.parked_deadline_ms, parked.deadline_ms)


def _hear(replica: Replica, role: Leader, key: ReplicaKey, parked: Parked) -> None:
    """Who fetches has had the answer to its last Fetch; if it did not wait for it, that one is answered now."""
    state = role.state
    connection = parked.requested.source.connection
    waiting = state.parked.pop(connection, None)
    if waiting is not None:
        state.rounds.distrust(connection)
        _answer(replica, role, waiting, at_once=True)
    if parked.is_voter:
        state.rounds.heard(key.id, connection)
        tell_confirmed(replica, role)


def _account(replica: Replica, role: Leader, key: ReplicaKey, parked: Parked, now_ms: int) -> bool:
    """Note how far the sender is. Consumers (id -1) have no place in the books. False: it was refused."""
    if key.id == replica.key.id:
        replica.note("fetch_from_own_id", key=str(key))
        _reply(replica, parked.requested, Error.UNKNOWN_SERVER_ERROR)
        return False
    if key.id >= 0:
        state = role.state
        progress = state.replica(key, replica.config.observer_session_ms, now_ms)
        progress.fetched(parked.partition.fetch_offset, replica.log.end, now_ms)
        state.hear(key, quorum_timeout(replica), now_ms)
        if parked.is_voter:
            update_high_watermark(replica, role, now_ms)
    return True


def _answer(replica: Replica, role: Leader, parked: Parked, *, at_once: bool) -> bool:
    """Answer a Fetch if there is something to tell, or it must be `at_once`; returns whether it was."""
    requested, partition = parked.requested, parked.partition
    rounds = role.state.rounds
    valid = _validate(replica, partition)
    has_records = valid is None and partition.fetch_offset < replica.log.end
    watermark = NOTHING if replica.high_watermark is None else replica.high_watermark
    if not (
        at_once
        or has_records
        or valid is not None
        or (_lacks_high_watermark(replica, partition) and not _may_wait_for_it(replica, parked))
        or (parked.is_voter and rounds.wants(requested.source.connection))
    ):
        return False
    response = _response(replica, requested, Error.NONE, watermark, valid)
    if has_records:
        # Kafka gives all that is asked for, out of the file; here it passes through memory.
        size = min(max(requested.request.max_bytes, 0), replica.config.fetch_bytes_max)
        replica.emit(ReplyRecords(requested.source, response, partition.fetch_offset, replica.log.end, size))
    else:
        replica.emit(Reply(requested.source, response))
    if parked.is_voter:
        rounds.answered(requested.source.connection)
    return True


def _lacks_high_watermark(replica: Replica, partition: Partition) -> bool:
    """Whether the sender says, as it can since version 18, that it knows less of what is committed."""
    return replica.high_watermark is not None and partition.high_watermark < replica.high_watermark


def _may_wait_for_it(replica: Replica, parked: Parked) -> bool:
    """Voters have no use for the high watermark by itself, and the next records bring it along.

    To tell each voter at once would double the Fetches of a busy leader, all before its clients have their answers.
    """
    return parked.is_voter and replica.config.high_watermark_delay_ms > 0


def quorum_timeout(replica: Replica) -> int:
    """For how long a leader goes on from which no majority fetches, in ms: longer than a follower waits (KIP-595)."""
    return replica.config.fetch_timeout_ms * 3 // 2


def _validate(replica: Replica, partition: Partition) -> EpochEnd | SnapshotId | None:
    latest = replica.log.latest_snapshot
    if partition.fetch_offset == 0 and latest is not None and latest.id != BOOTSTRAP:
        return latest.id  # who has nothing is faster with a snapshot, even where the log begins at 0
    return replica.log.validate(partition.fetch_offset, partition.last_fetched_epoch)


def update_high_watermark(replica: Replica, role: Leader, now_ms: int) -> None:
    """Count anew how far a majority is; if that is further than before, everybody who waits is told, voters soon."""
    state = role.state
    ends = {voter_id: progress.end_offset for voter_id, progress in state.voters.items()}
    # Kafka counts what the leader has written; here, as for every voter, what it has flushed.
    if state.own_id in ends:
        ends[state.own_id] = replica.log.durable_end
    held = high_watermark(ends, replica.voters, state.start_offset)
    if held is None or (replica.high_watermark is not None and held <= replica.high_watermark):
        return
    replica.set_high_watermark(held)
    soon_ms = now_ms + replica.config.high_watermark_delay_ms
    for connection in list(state.parked):
        parked = state.parked[connection]
        if _may_wait_for_it(replica, parked):
            parked.deadline_ms = min(parked.deadline_ms, soon_ms)
            state.parked_deadline_ms = min(state.parked_deadline_ms, soon_ms)
        else:
            _answer(replica, role, state.parked.pop(connection), at_once=True)


def answer_parked(replica: Replica, role: Leader) -> None:
    """There are new records: answer each Fetch that waits."""
    state = role.state
    waiting = state.parked
    if not waiting:
        return
    state.parked = {}
    state.parked_deadline_ms = NEVER
    for parked in waiting.values():
        _answer(replica, role, parked, at_once=True)


def expire_parked(replica: Replica, role: Leader, now_ms: int) -> None:
    """Answer each Fetch that waited as long as it wished, with nothing."""
    state = role.state
    for connection in [each for each, parked in state.parked.items() if parked.deadline_ms <= now_ms]:
        _answer(replica, role, state.parked.pop(connection), at_once=True)
    state.parked_deadline_ms = min((parked.deadline_ms for parked in state.parked.values()), default=NEVER)


def answer_voters(replica: Replica, role: Leader) -> None:
    """Answer each voter's Fetch that waits, so that its next one tells that it follows still."""
    state = role.state
    for connection in [each for each, parked in state.parked.items() if parked.is_voter]:
        _answer(replica, role, state.parked.pop(connection), at_once=True)


def tell_confirmed(replica: Replica, role: Leader) -> None:
    """Tell the state machine which of its questions are answered by now."""
    state = role.state
    for number in state.rounds.settle(state.voters, state.own_id):
        replica.emit(LeadershipConfirmed(number, role.epoch))


def fail_parked(replica: Replica, state: LeaderState) -> None:
    """Leadership is lost: who waits is told, and who leads now, if that is known."""
    waiting = state.parked
    state.parked = {}
    for parked in waiting.values():
        _reply(replica, parked.requested, Error.NOT_LEADER_OR_FOLLOWER)


def refusal(error: Error) -> FetchResponse:
    """The answer to a Fetch that is not for this log."""
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
