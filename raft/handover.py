"""The end of a leader that is shut down: it stays until the other voters have elected another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.roles import Follower, Handover, Leader, Resigned

if TYPE_CHECKING:
    from raft.replica import Replica


def begin(replica: Replica, now_ms: int) -> None:
    """The replica shuts down. Only one that leads, or has just resigned, has something to hand over."""
    replica.shutting_down = True
    if replica.handover is None and isinstance(replica.role, (Leader, Resigned)):
        replica.handover = Handover(now_ms + replica.config.handover_ms)


def peer_gone(replica: Replica, peer: int) -> None:
    """A peer refuses connections: its process is not running, so it needs no EndQuorumEpoch and elects nobody."""
    handover, role = replica.handover, replica.role
    if handover is None:
        return
    handover.gone.add(peer)
    if isinstance(role, Resigned) and peer in role.unacked:
        role.unacked.remove(peer)


def is_over(replica: Replica, now_ms: int) -> bool:
    """Whether a replica that shuts down may stop.

    A leader first resigns, and informs all other voters. Until the deadline it then stays to vote: another voter may be
    down or slow. It stops as soon as it follows the new leader, or no other voter is there to elect one.
    """
    handover, role = replica.handover, replica.role
    if handover is None or not replica.is_voter or replica.voters.is_only(replica.key):
        return True
    if isinstance(role, Leader) or (isinstance(role, Resigned) and role.unacked):
        return False
    others = [voter_id for voter_id in replica.voters.ids if voter_id != replica.key.id]
    return isinstance(role, Follower) or now_ms >= handover.deadline_ms or handover.gone.issuperset(others)
