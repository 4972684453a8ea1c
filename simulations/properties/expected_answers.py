"""The expected answer to each request of the quorum, by an independent model: a few lines of rules for each request.

The model reads what a replica is (role, epoch, log), and shares no code with the code that answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.roles import Follower, Leader
from records.errors import Error
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from records.messages.fetch import FetchRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.quorum import DescribeQuorumRequest
from records.uuids import METADATA_TOPIC_ID, ZERO_UUID

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.replica import Replica

TOPIC = "__cluster_metadata"
EPOCH_MAX = 2**31 - 2
NOBODY = -1


class ExpectedAnswer(NamedTuple):
    """top: the error of the whole request; the rest is of its partition, and None where the answer has none.

    detail: what else an answer of this kind says, None where the model does not determine it.
    """

    top: int
    error: int | None = None
    epoch: int | None = None
    leader: int | None = None
    detail: Any = None


def expected(replica: Replica, request: Any) -> ExpectedAnswer:
    """The answer that a replica in its present state should give, at once or when a parked request ends."""
    return _MODELS[type(request)](replica, request)


def _refused(replica: Replica, error: Error, detail: Any = None) -> ExpectedAnswer:
    leader = replica.role.leader_id
    return ExpectedAnswer(Error.NONE, error, replica.role.epoch, NOBODY if leader is None else leader, detail)


def _is_of_another_cluster(replica: Replica, request: Any) -> bool:
    return request.cluster_id is not None and request.cluster_id != replica.config.cluster_id


def _single(topics: Any) -> Any:
    """The one partition of the metadata topic, None where a request names anything else."""
    named = [(topic.topic_name, part.partition_index, part) for topic in topics for part in topic.partitions]
    if len(topics) == 1 and len(named) == 1 and named[0][:2] == (TOPIC, 0):
        return named[0][2]
    return None


def _names(replica: Replica, voter_id: int, directory: bytes) -> bool:
    """Whether a request names this replica, or no voter."""
    return voter_id < 0 or (replica.key.id == voter_id and directory in {ZERO_UUID, replica.key.directory_id})


def _vote(replica: Replica, request: VoteRequest) -> ExpectedAnswer:
    if _is_of_another_cluster(replica, request):
        return ExpectedAnswer(Error.INCONSISTENT_CLUSTER_ID)
    asked = _single(request.topics)
    if asked is None:
        return ExpectedAnswer(Error.INVALID_REQUEST)
    role = replica.role
    newest = asked.replica_epoch - (0 if asked.pre_vote else 1)
    if asked.last_offset < 0 or asked.last_offset_epoch < 0 or asked.last_offset_epoch > newest:
        return _refused(replica, Error.INVALID_REQUEST, False)
    if asked.replica_epoch < role.epoch:
        return _refused(replica, Error.FENCED_LEADER_EPOCH, False)
    if asked.replica_id < 0 or asked.replica_epoch > EPOCH_MAX:
        return _refused(replica, Error.INVALID_REQUEST, False)
    is_named = _names(replica, request.voter_id, asked.voter_directory_id)
    error = Error.NONE if is_named else Error.INVALID_VOTER_KEY
    if asked.replica_epoch > role.epoch:
        return ExpectedAnswer(Error.NONE, error, asked.replica_epoch, NOBODY, None if is_named else False)
    if not is_named:
        return _refused(replica, error, False)
    return _refused(replica, error, _pre_vote(replica, asked) if asked.pre_vote else None)


def _pre_vote(replica: Replica, asked: Any) -> bool:
    """Of the same epoch: to a log as good as ours, unless we lead or have fetched from who does."""
    role = replica.role
    if isinstance(role, Leader) or (isinstance(role, Follower) and role.state.has_fetched):
        return False
    is_as_good = (asked.last_offset_epoch, asked.last_offset) >= (replica.log.last_epoch, replica.log.end)
    return is_as_good and asked.replica_id != replica.key.id


def _begin(replica: Replica, request: BeginQuorumEpochRequest) -> ExpectedAnswer:
    refused = _leaders_word(replica, request)
    if refused is not None:
        return refused
    asked = _single(request.topics)
    is_named = _names(replica, request.voter_id, asked.voter_directory_id)
    return ExpectedAnswer(
        Error.NONE, Error.NONE if is_named else Error.INVALID_VOTER_KEY, asked.leader_epoch, asked.leader_id
    )  # fmt: skip


def _end(replica: Replica, request: EndQuorumEpochRequest) -> ExpectedAnswer:
    refused = _leaders_word(replica, request)
    if refused is not None:
        return refused
    asked = _single(request.topics)
    return ExpectedAnswer(Error.NONE, Error.NONE, asked.leader_epoch, asked.leader_id)


def _leaders_word(replica: Replica, request: Any) -> ExpectedAnswer | None:
    if _is_of_another_cluster(replica, request):
        return ExpectedAnswer(Error.INCONSISTENT_CLUSTER_ID)
    asked = _single(request.topics)
    if asked is None:
        return ExpectedAnswer(Error.INVALID_REQUEST)
    role, epoch, leader = replica.role, asked.leader_epoch, asked.leader_id
    if epoch < role.epoch:
        return _refused(replica, Error.FENCED_LEADER_EPOCH)
    if leader < 0 or epoch > EPOCH_MAX:
        return _refused(replica, Error.INVALID_REQUEST)
    is_news_of_ourselves = leader == replica.key.id and (epoch > role.epoch or role.leader_id != leader)
    if is_news_of_ourselves or (epoch == role.epoch and role.leader_id not in {None, leader}):
        return _refused(replica, Error.INCONSISTENT_VOTER_SET)
    return None


def _not_the_leader(replica: Replica, epoch: int) -> Error | None:
    role = replica.role
    if epoch != role.epoch:
        return Error.FENCED_LEADER_EPOCH if epoch < role.epoch else Error.UNKNOWN_LEADER_EPOCH
    if not isinstance(role, Leader):
        return Error.NOT_LEADER_OR_FOLLOWER
    return Error.BROKER_NOT_AVAILABLE if replica.shutting_down else None


def _fetch(replica: Replica, request: FetchRequest) -> ExpectedAnswer:
    if _is_of_another_cluster(replica, request):
        return ExpectedAnswer(Error.INCONSISTENT_CLUSTER_ID)
    topics = request.topics
    if len(topics) != 1 or topics[0].topic_id != METADATA_TOPIC_ID or len(topics[0].partitions) != 1:
        return ExpectedAnswer(Error.INVALID_REQUEST)
    asked = topics[0].partitions[0]
    if asked.partition != 0:
        return ExpectedAnswer(Error.INVALID_REQUEST)
    epoch = asked.last_fetched_epoch
    if request.max_wait_ms < 0 or asked.fetch_offset < 0 or epoch < 0 or epoch > asked.current_leader_epoch:
        return _refused(replica, Error.INVALID_REQUEST)
    error = _not_the_leader(replica, asked.current_leader_epoch)
    if error is not None:
        return _refused(replica, error)
    position = position_of(replica, asked.fetch_offset, epoch)
    sender = request.replica_id if request.replica_id >= 0 else request.replica_state.replica_id
    if sender == replica.key.id and position is None:
        return _refused(replica, Error.UNKNOWN_SERVER_ERROR)
    return _refused(replica, Error.NONE, position)


def position_of(replica: Replica, offset: int, epoch: int) -> tuple[str, int, int] | None:
    """What a reader whose log ends at `offset` with a record of `epoch` is told of its place: to start from a snapshot,
    or where it left the log; None where it is on it.
    """
    log = replica.log
    if log.snapshots and offset == 0 and log.snapshots[-1].id.end_offset > 0:
        return ("snapshot", *log.snapshots[-1].id)
    if offset == 0 and log.start == 0:
        return None
    if log.snapshots:
        oldest, newest = log.snapshots[0].id, log.snapshots[-1].id
        if offset < log.start or epoch < oldest.epoch or (offset == log.start and epoch != oldest.epoch):
            return ("snapshot", *newest)
        if offset == oldest.end_offset and epoch == oldest.epoch:
            return None
    if log.epochs and log.epochs[-1][0] == epoch:
        return None if offset <= log.end else ("diverging", log.end, epoch)
    starts = dict(log.epochs)
    if epoch in starts:
        end = min([start for other, start in starts.items() if other > epoch], default=log.end)
        return None if offset <= end else ("diverging", end, epoch)
    return _before(replica, epoch)


def _before(replica: Replica, epoch: int) -> tuple[str, int, int] | None:
    """The end of the newest epoch before one that is not in the log."""
    log = replica.log
    later = [start for other, start in log.epochs if other > epoch]
    end = min(later, default=log.end)
    known = [other for other, _ in log.epochs if other < epoch]
    if known:
        return "diverging", end, max(known)
    if log.snapshots and log.snapshots[0].id.end_offset == end:
        return ("diverging", *log.snapshots[0].id)
    return "diverging", end, log.last_epoch if not later else epoch


def _snapshot(replica: Replica, request: FetchSnapshotRequest) -> ExpectedAnswer:
    if _is_of_another_cluster(replica, request):
        return ExpectedAnswer(Error.INCONSISTENT_CLUSTER_ID)
    named = [(topic.name, part.partition, part) for topic in request.topics for part in topic.partitions]
    if len(request.topics) != 1 or len(named) != 1:
        return ExpectedAnswer(Error.INVALID_REQUEST)
    name, index, asked = named[0]
    if (name, index) != (TOPIC, 0):
        return ExpectedAnswer(Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION, 0, 0)
    error = _not_the_leader(replica, asked.current_leader_epoch)
    if error is not None:
        return _refused(replica, error)
    wanted = (asked.snapshot_id.end_offset, asked.snapshot_id.epoch)
    sizes = {tuple(stored.id): stored.size for stored in replica.log.snapshots if stored.id.end_offset > 0}
    if wanted not in sizes:
        return _refused(replica, Error.SNAPSHOT_NOT_FOUND)
    if asked.position not in range(sizes[wanted]):
        return _refused(replica, Error.POSITION_OUT_OF_RANGE)
    if request.replica_id == replica.key.id:
        return _refused(replica, Error.UNKNOWN_SERVER_ERROR)
    return _refused(replica, Error.NONE, (*wanted, asked.position, sizes[wanted]))


def _describe(replica: Replica, request: DescribeQuorumRequest) -> ExpectedAnswer:
    if _single(request.topics) is None:
        return ExpectedAnswer(Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION, 0, 0)
    role = replica.role
    if not isinstance(role, Leader):
        return ExpectedAnswer(Error.NONE, Error.NOT_LEADER_OR_FOLLOWER, 0, 0)
    return _refused(replica, Error.NONE)


_MODELS: dict[type, Callable[[Any, Any], ExpectedAnswer]] = {
    VoteRequest: _vote,
    BeginQuorumEpochRequest: _begin,
    EndQuorumEpochRequest: _end,
    FetchRequest: _fetch,
    FetchSnapshotRequest: _snapshot,
    DescribeQuorumRequest: _describe,
}
