"""Whether a voter that is about to stop may leave the voter set first, by what its leader tells (DescribeQuorum).

The answer may be that of a stock leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.autopilot.report import Health, NodeState
from raft.autopilot.rules import may_remove
from raft.interface.config import ReplicaKey

if TYPE_CHECKING:
    from records.messages.quorum import DescribeQuorumResponse

    Partition = DescribeQuorumResponse.TopicData.PartitionData
    State = Partition.ReplicaState

# With fewer voters than this no further voter may be lost: one of three stays a voter while it is away, as the two that
# are left are a majority either way.
STAYING_MIN = 3


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
