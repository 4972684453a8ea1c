"""The expected answer to each request of the quorum: the executable specification's, for a replica in its present
state.

The specification shares no code with the code that answers. The state is read from the replica, so each answer is
checked by itself, and at once; the validator (T01) carries its own state from step to step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface.inputs import Requested, Source
from raft.state.roles import Leader
from records.errors import Error
from records.messages.elections import VoteRequest
from records.messages.fetch_snapshot import FetchSnapshotRequest
from records.messages.quorum import DescribeQuorumRequest
from simulations.spec.forms import is_of_log
from simulations.spec.replication import ACCEPTED, DIVERGING
from simulations.spec.requests import REQUESTS
from simulations.spec.track import Track, node_of
from simulations.spec.values import NOBODY, Rules

if TYPE_CHECKING:
    from simulations.world.process import Process

# The answer does not depend on the time.
_RULES = Rules(0, 0, 0, 0)
_SOURCE = Source(0, 0)


class ExpectedAnswer(NamedTuple):
    """top: the error of the whole request; the rest is of its partition, and None if the answer has none.

    detail: the other fields of the answer, None if they are not checked here.
    """

    top: int
    error: int | None = None
    epoch: int | None = None
    leader: int | None = None
    detail: Any = None


def predict_answer(process: Process, request: Any) -> ExpectedAnswer:
    """The expected answer of a replica in its present state, at once or when a parked request ends."""
    if type(request) is DescribeQuorumRequest:
        return _description(process, request)
    node = node_of(process.replica)
    track = Track(process, _RULES, node)
    REQUESTS[type(request)](track, Requested(_SOURCE, request, 0, ""), 0)
    owed = track.owed[_SOURCE]
    if owed.exact is None:
        return ExpectedAnswer(Error.NONE, Error.NONE, node.epoch, node.leader, _place(owed.fetch[1]))
    if len(owed.exact) == 1:
        return ExpectedAnswer(owed.exact[0])
    answer = ExpectedAnswer(Error.NONE, *owed.exact[:3])
    if type(request) is VoteRequest:
        return answer._replace(detail=_vote(process, request, owed.exact))
    if type(request) is FetchSnapshotRequest and not answer.error:
        return answer._replace(detail=_part(process, request))
    return answer


def _place(position: Any) -> tuple[str, int, int] | None:
    """Where a reader must continue; None if its log is a prefix of the leader's."""
    if position.kind == ACCEPTED:
        return None
    return "diverging" if position.kind == DIVERGING else "snapshot", position.end, position.epoch


def _vote(process: Process, request: VoteRequest, exact: tuple[int, ...]) -> bool | None:
    """Whether it is granted. Only the validator checks that for a vote, for a pre-vote of a later epoch, and at an
    observer, whose answer depends on the time.
    """
    asked, replica = request.topics[0].partitions[0], process.replica
    is_of_epoch = asked.pre_vote and asked.replica_epoch == replica.role.epoch
    is_checked = exact[0] or (is_of_epoch and replica.is_voter)
    return bool(exact[3]) if is_checked else None


def _part(process: Process, request: FetchSnapshotRequest) -> tuple[int, int, int, int]:
    asked = request.topics[0].partitions[0]
    wanted = (asked.snapshot_id.end_offset, asked.snapshot_id.epoch)
    sizes = {tuple(stored.id): stored.size for stored in process.replica.log.snapshots}
    return *wanted, asked.position, sizes[wanted]


def _description(process: Process, request: DescribeQuorumRequest) -> ExpectedAnswer:
    role = process.replica.role
    if not is_of_log(request):
        return ExpectedAnswer(Error.NONE, Error.UNKNOWN_TOPIC_OR_PARTITION, 0, 0)
    if not isinstance(role, Leader):
        return ExpectedAnswer(Error.NONE, Error.NOT_LEADER_OR_FOLLOWER, 0, 0)
    return ExpectedAnswer(Error.NONE, Error.NONE, role.epoch, NOBODY if role.leader_id is None else role.leader_id)
