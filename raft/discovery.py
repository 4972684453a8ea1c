"""Learning of epochs and leaders from what peers say (KIP-595; `maybeTransition`, `maybeHandleCommonResponse`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.config import Endpoint
from raft.limits import EPOCH_MAX
from raft.transitions import to_follower, to_unattached
from raft.voters import endpoint_of
from records.errors import Error, error_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raft.replica import Replica


class Said(NamedTuple):
    """What an answer says of its partition. leader_id: None where it names none; endpoints: of that leader."""

    error: int
    leader_id: int | None
    epoch: int
    endpoints: tuple[Endpoint, ...] = ()


def said_by(replica: Replica, error: int, leader: Any, nodes: Iterable[Any]) -> Said:
    """What an answer says. leader: what has `leader_id` and `leader_epoch`; nodes: their addresses are those on our
    listener, as no other was asked on.
    """
    listener = replica.config.listener.upper()
    endpoints = tuple(Endpoint(listener, node.host, node.port) for node in nodes if node.node_id == leader.leader_id)
    return Said(error, None if leader.leader_id < 0 else leader.leader_id, leader.leader_epoch, endpoints)


def is_consistent(replica: Replica, leader_id: int | None, epoch: int) -> bool:
    """Whether what a peer says fits what is known: one leader in an epoch, and only we can say that it is us."""
    role = replica.role
    if leader_id == replica.key.id:
        return role.leader_id == leader_id and epoch == role.epoch
    return epoch != role.epoch or leader_id is None or role.leader_id is None or role.leader_id == leader_id


def is_reachable(replica: Replica, endpoints: tuple[Endpoint, ...]) -> bool:
    """Whether one of them is an address on the listener that this node speaks to the quorum on."""
    endpoint = endpoint_of(endpoints, replica.config.listener)
    return endpoint is not None and endpoint.host != "" and 0 < endpoint.port < 65536


def learn(replica: Replica, leader_id: int | None, epoch: int, endpoints: tuple[Endpoint, ...], now_ms: int) -> bool:
    """Take what a peer says of an epoch that is not lower than ours.

    endpoints: of the leader, as the peer said; where it did not, the voter set may know. Returns False, and changes
    nothing, where the peer contradicts what is known (a Java node would die of it), or the epoch is the last there is.
    """
    role = replica.role
    if epoch > EPOCH_MAX or not is_consistent(replica, leader_id, epoch):
        replica.note("peer_inconsistent", said_leader_id=leader_id, said_epoch=epoch, leader_id=role.leader_id)
        return False
    assert epoch >= role.epoch, f"epoch {epoch} is below {role.epoch}"
    if leader_id is not None and not is_reachable(replica, endpoints):
        endpoints = replica.voters.endpoints(leader_id)
    can_reach = is_reachable(replica, endpoints)
    if epoch > role.epoch:
        if leader_id is not None and can_reach:
            to_follower(replica, epoch, leader_id, endpoints, now_ms)
        else:
            to_unattached(replica, epoch, leader_id, now_ms)
    elif (
        leader_id is not None
        and leader_id != replica.key.id
        and can_reach
        # The leader of our epoch is news, or there are more ways to it than we knew.
        and (role.leader_id is None or len(endpoints) > len(role.endpoints))
    ):
        to_follower(replica, epoch, leader_id, endpoints, now_ms)
    return True


def take_answer(replica: Replica, peer: int, said: Said, now_ms: int) -> bool | None:
    """What an answer for the partition says before anything of its own, in the order that Kafka looks at it.

    Returns whether the peer did well, and None where the rest of the answer is still to be read.
    """
    role = replica.role
    error, leader_id, epoch, endpoints = said
    if epoch < role.epoch or error == Error.UNKNOWN_LEADER_EPOCH:
        return False  # it has not heard of this epoch, and would say so again (a Java node asks on without a pause)
    if (
        epoch > role.epoch
        or error in {Error.FENCED_LEADER_EPOCH, Error.NOT_LEADER_OR_FOLLOWER}
        or not is_consistent(replica, leader_id, epoch)
    ):
        learn(replica, leader_id, epoch, endpoints, now_ms)
        return replica.role is not role  # no news: do not ask it again at once (KAFKA-17751)
    if leader_id is not None and role.leader_id is None:
        learn(replica, leader_id, epoch, endpoints, now_ms)
        if replica.role is role:
            return False  # the peer did not say where its leader is
        # An observer so finds the leader and takes its records in one and the same answer.
        return None if error == Error.NONE else True
    if error == Error.BROKER_NOT_AVAILABLE:
        return False
    if error == Error.INVALID_VOTER_KEY:
        replica.note("peer_has_other_key", peer=peer)
        return False  # it will say so again (a Java node asks on without a pause)
    return unexpected(replica, peer, error) if error == Error.INVALID_REQUEST else None


def unexpected(replica: Replica, peer: int, error: int) -> bool:
    """An error that a peer should not have: noted, and the peer is left alone for a moment."""
    replica.note("peer_answered_error", peer=peer, error=error_name(error))
    return False
