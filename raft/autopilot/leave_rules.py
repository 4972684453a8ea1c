"""Whether a voter that is about to stop may leave the voter set first, by what its leader tells (DescribeQuorum).

The answer may be that of a stock leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.autopilot.report import Health, NodeState
from raft.autopilot.rules import may_remove
from raft.interface.config import ReplicaKey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from records.messages.quorum import DescribeQuorumResponse

    Partition = DescribeQuorumResponse.TopicData.PartitionData
    State = Partition.ReplicaState

# With fewer voters than this no further voter may be lost: one of three stays a voter while it is away, as the two that
# are left are a majority either way.
STAYING_MIN = 3


class Distance:
    """How much later than others a voter asks its leader, where several stop: two that rest on the same state could
    both be removed by it, and two voters would be left.

    The time runs from the moment at which this voter knows the leader, anew with each leader: those that waited for a
    leader all learn of it at about the same time.
    """

    def __init__(self, own_id: int, apart_ms: int) -> None:
        self._own_id, self._apart_ms = own_id, apart_ms
        self._leader: tuple[int, int] | None = None

    def wait_ms(self, leader: tuple[int, int], voter_ids: Iterable[int]) -> int:
        """How long to wait before this leader is asked for the first time, and 0 from then on.

        leader: its id and epoch.
        """
        if leader == self._leader:
            return 0
        self._leader = leader
        return self._apart_ms * sum(1 for voter_id in voter_ids if voter_id > self._own_id)


def keep_reason(count: int) -> str:
    """Why no voter of so many leaves, whatever their state is; empty where one may."""
    if count > STAYING_MIN:
        return ""
    return f"of {count} voters none leaves by itself: {STAYING_MIN} must stay (kraftctl controllers drain removes it)"


def wait_reason(partition: Partition, own: ReplicaKey, live_ms: int) -> str:
    """Why a voter may not leave now; empty where it may.

    As before any removal by the autopilot, a majority of the voters must be healthy, and of those that stay.
    """
    leader = next((each for each in partition.current_voters if each.replica_id == partition.leader_id), None)
    if leader is None:
        return "the leader is no voter any more"
    # The leader names its own clock as the time of its own last fetch.
    now_ms = leader.last_fetch_timestamp
    voters = [_state_of(each, now_ms, live_ms) for each in partition.current_voters]
    if may_remove(voters, own):
        return ""
    healthy = ", ".join(str(each.key.id) for each in voters if each.health is Health.HEALTHY)
    return f"a majority must be healthy without it: of {len(voters)} voters these are: {healthy}"


def _state_of(state: State, now_ms: int, live_ms: int) -> NodeState:
    then_ms = min(state.last_fetch_timestamp, state.last_caught_up_timestamp)
    health = Health.HEALTHY if now_ms - then_ms <= live_ms else Health.SILENT
    return NodeState(ReplicaKey(state.replica_id, state.replica_directory_id), True, health, then_ms, "")
