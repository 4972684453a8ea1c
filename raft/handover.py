"""The end of a leader that is shut down: it stays until the other voters have elected another one.

It resigns when the voters that fetch have its whole log, votes, follows the new leader, and stops when that one has
committed a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.limits import NEVER
from raft.state.roles import Follower, Handover, Leader, Resigned

if TYPE_CHECKING:
    from raft.interface.config import RaftConfig
    from raft.state.replica import Replica

# The part of handover_ms for which a leader waits, at most, before it resigns.
PART_TO_COPY = 5


def begin(replica: Replica, now_ms: int) -> None:
    """The replica shuts down. Only one that leads, or has just resigned, has something to hand over."""
    replica.shutting_down = True
    if replica.handover is None and isinstance(replica.role, (Leader, Resigned)):
        config = replica.config
        replica.handover = Handover(now_ms + config.handover_ms // PART_TO_COPY, now_ms + stay_ms(config))


def stay_ms(config: RaftConfig) -> int:
    """For how long a former leader stays, at most.

    Of three voters the second successor needs its vote, should the first one not be able to stand, and stands after
    half of election_backoff_max_ms (`raft/epoch.py`). So handover_ms count from then on; where that half is longer than
    handover_ms, it is not waited for.
    """
    return config.handover_ms + min(config.handover_ms, config.election_backoff_max_ms // 2)


def on_peer_gone(replica: Replica, peer: int) -> None:
    """A peer refuses connections: its process is not running, so it needs no EndQuorumEpoch and elects nobody."""
    handover, role = replica.handover, replica.role
    if handover is None:
        return
    handover.gone.add(peer)
    if isinstance(role, Resigned) and peer in role.unacked:
        role.unacked.remove(peer)


def on_peer_heard(replica: Replica, peer: int) -> None:
    """A peer sent a request or an answer: its process runs (again)."""
    if replica.handover is not None:
        replica.handover.gone.discard(peer)


def may_resign(replica: Replica, role: Leader, now_ms: int) -> bool:
    """Whether a leader that shuts down may resign: no voter that fetches lacks a record of its log.

    Otherwise its own vote, and that of each voter with a longer log, would be refused to the first successor.
    """
    handover, state = replica.handover, role.state
    if handover is None or now_ms >= handover.resign_ms:
        return True
    end_offset = replica.log.end
    fetching = (progress for progress in state.voters.values() if progress.connection is not None)
    return not state.proposals.waiting and all(progress.end_offset >= end_offset for progress in fetching)


def next_ms(handover: Handover, now_ms: int) -> int:
    """When the next wait of a handover is over; NEVER where there is none."""
    return min((due for due in (handover.resign_ms, handover.deadline_ms) if due > now_ms), default=NEVER)


def is_over(replica: Replica, now_ms: int) -> bool:
    """Whether a replica that shuts down may stop.

    A leader first resigns, and informs all other voters. Until the deadline it then stays to vote, and to acknowledge
    the first record of the new leader: another voter may be down or slow. It stops as soon as it knows that this record
    is committed, or no other voter is there to elect a leader.
    """
    handover, role = replica.handover, replica.role
    if handover is None or replica.is_only_voter:
        return True
    if isinstance(role, Leader) or (isinstance(role, Resigned) and role.unacked):
        return False
    if not replica.may_stand:
        return True  # it was removed: the others elect a leader without its vote
    others = [voter_id for voter_id in replica.voters.ids if voter_id != replica.key.id]
    has_successor = isinstance(role, Follower) and _has_committed(replica, role.epoch)
    return has_successor or now_ms >= handover.deadline_ms or handover.gone.issuperset(others)


def _has_committed(replica: Replica, epoch: int) -> bool:
    """Whether this replica knows that a record of the epoch, its last one, is committed."""
    last, start_offset = replica.log.epochs[-1] if replica.log.epochs else (0, 0)
    return last == epoch and replica.log.committed > start_offset
