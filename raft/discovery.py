"""Learning epochs and leaders from peers (KIP-595; `maybeTransition`, `maybeHandleCommonResponse` of Kafka)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.interface.config import Endpoint
from raft.interface.effects import Denied
from raft.interface.limits import EPOCH_MAX
from raft.interface.voters import endpoint_of
from raft.state.roles import Follower, Prospective
from raft.transitions import to_follower, to_unattached
from records.errors import Error, error_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raft.state.replica import Replica


class LeaderReport(NamedTuple):
    """The fields that all answers share. leader_id: None where the answer names none; endpoints: of that leader."""

    error: int
    leader_id: int | None
    epoch: int
    endpoints: tuple[Endpoint, ...] = ()


def report_of(replica: Replica, error: int, leader: Any, nodes: Iterable[Any]) -> LeaderReport:
    """The shared fields of an answer. leader: an object with `leader_id` and `leader_epoch`; nodes: their addresses are
    those of our own listener, because the request went to it.
    """
    listener = replica.config.listener.upper()
    endpoints = tuple(Endpoint(listener, node.host, node.port) for node in nodes if node.node_id == leader.leader_id)
    return LeaderReport(error, None if leader.leader_id < 0 else leader.leader_id, leader.leader_epoch, endpoints)


def is_consistent(replica: Replica, leader_id: int | None, epoch: int) -> bool:
    """Whether a peer's claim fits what is known: an epoch has one leader, and only this replica can elect itself."""
    role = replica.role
    if leader_id == replica.key.id:
        return role.leader_id == leader_id and epoch == role.epoch
    return epoch != role.epoch or leader_id is None or role.leader_id is None or role.leader_id == leader_id


def is_reachable(replica: Replica, endpoints: tuple[Endpoint, ...]) -> bool:
    """Whether one of the endpoints has a usable address on the listener of the quorum."""
    endpoint = endpoint_of(endpoints, replica.config.listener)
    return endpoint is not None and endpoint.host != "" and 0 < endpoint.port < 65536


def learn(replica: Replica, leader_id: int | None, epoch: int, endpoints: tuple[Endpoint, ...], now_ms: int) -> bool:
    """Adopt the epoch and leader that a peer names. epoch: not lower than ours.

    endpoints: of the leader, as the peer named them; if there is none, the voter set may have them. Returns False, and
    changes nothing, where the peer contradicts what is known (a Java node stops then), or the epoch is above EPOCH_MAX.
    """
    role = replica.role
    if epoch > EPOCH_MAX or not is_consistent(replica, leader_id, epoch):
        replica.note("peer_inconsistent", said_leader_id=leader_id, said_epoch=epoch, leader_id=role.leader_id)
        return False
    assert epoch >= role.epoch, f"epoch {epoch} is below {role.epoch}"
    is_named = is_reachable(replica, endpoints)
    if leader_id is not None and not is_named:
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
        # The leader of our epoch was unknown, or the peer knows more endpoints of it.
        and (role.leader_id is None or len(endpoints) > len(role.endpoints))
    ):
        to_follower(replica, epoch, leader_id, endpoints, now_ms)
    elif is_named:
        _take_address(replica, leader_id, endpoints)
    return True


def _take_address(replica: Replica, leader_id: int | None, endpoints: tuple[Endpoint, ...]) -> None:
    """A peer names the leader that this replica knows. Take its address where that leader has not answered here.

    A voter that restarts has the leader's address from its log, which may be a former one. The deadlines stay: peers
    that name different addresses must not keep it from standing for election.
    """
    role, listener = replica.role, replica.config.listener
    if (
        not replica.config.finds_moved_voters
        or leader_id is None
        or leader_id != role.leader_id
        or endpoint_of(endpoints, listener) == endpoint_of(role.endpoints, listener)
    ):
        return
    if isinstance(role, Follower) and not role.state.has_fetched:
        replica.become(Follower(role.epoch, leader_id, endpoints, role.voted, role.state), keep_requests=True)
    elif isinstance(role, Prospective) and role.endpoints:
        role.tally.leader_endpoints = endpoints  # where to follow it, if the pre-vote is lost


def take_answer(replica: Replica, peer: int, report: LeaderReport, now_ms: int) -> bool | None:
    """Handle the shared fields of an answer, in the order in which Kafka checks them.

    Returns None where the caller must handle the rest of the answer; else whether the answer was a success.
    """
    role = replica.role
    is_impatient = not replica.config.backs_off_without_news
    error, leader_id, epoch, endpoints = report
    if epoch < role.epoch or error == Error.UNKNOWN_LEADER_EPOCH:
        return is_impatient  # the peer does not know this epoch yet (a Java node asks again at once)
    if (
        epoch > role.epoch
        or error in {Error.FENCED_LEADER_EPOCH, Error.NOT_LEADER_OR_FOLLOWER}
        or not is_consistent(replica, leader_id, epoch)
    ):
        learn(replica, leader_id, epoch, endpoints, now_ms)
        return replica.role is not role or is_impatient  # nothing new: do not ask it again at once (KAFKA-17751)
    if is_reachable(replica, endpoints):
        _take_address(replica, leader_id, endpoints)
    if leader_id is not None and role.leader_id is None:
        learn(replica, leader_id, epoch, endpoints, now_ms)
        if replica.role is role:
            return False  # the peer gave no endpoint of the leader
        # An observer finds the leader and appends its records from one and the same answer.
        return None if error == Error.NONE else True
    if error == Error.BROKER_NOT_AVAILABLE:
        return False
    if error == Error.INVALID_VOTER_KEY:
        if peer >= 0:  # a voter was only searched for at the others
            replica.note("peer_has_other_key", peer=peer)
        return is_impatient  # it would answer the same again (a Java node asks again at once)
    return note_unexpected(replica, peer, error) if error == Error.INVALID_REQUEST else None


def note_refusal(replica: Replica, peer: int, error: int) -> bool:
    """An error in place of the whole answer. Returns False, so that the replica backs off from the peer.

    A peer that denies this node CLUSTER_ACTION ends it, as in stock: a node that may neither vote nor fetch must not
    look like a voter.
    """
    if error == Error.CLUSTER_AUTHORIZATION_FAILED:
        replica.emit(Denied(peer))
    return note_unexpected(replica, peer, error)


def note_unexpected(replica: Replica, peer: int, error: int) -> bool:
    """An error that a peer should not send: note it. Returns False, so that the replica backs off from the peer."""
    replica.note("peer_answered_error", peer=peer, error=error_name(error))
    return False
