"""What each role does after each input: send requests that are due, act on elections, handle timeouts (KIP-595)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft import auto_join, update_voter
from raft.append import drain
from raft.change_stages import expire
from raft.epoch import send_begin_requests
from raft.fetch_request import expire_parked
from raft.fetch_response import send_fetch
from raft.handover import is_over, may_resign, next_ms
from raft.interface.effects import ShutdownComplete
from raft.interface.limits import NEVER
from raft.resignation import send_end_requests
from raft.snapshots import clean
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Role, Unattached
from raft.transitions import to_candidate, to_follower, to_leader, to_prospective, to_resigned, to_unattached
from raft.vote import send_requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.state.replica import Replica

CHANGES_MAX = 8
"""A limit above the longest chain in one step: Resigned, Unattached, Prospective, Candidate, Leader."""


def poll(replica: Replica, now_ms: int) -> None:
    """Do everything that is due, and set `replica.deadline_ms` to when more is."""
    deadline_ms = NEVER
    for _ in range(CHANGES_MAX):
        if _is_shut_down(replica, now_ms):
            replica.deadline_ms = NEVER
            return
        role = replica.role
        deadline_ms = POLLS[type(role)](replica, role, now_ms)
        if replica.role is role:
            break
    else:
        raise AssertionError(f"the role changed {CHANGES_MAX} times and is {replica.role}")
    if now_ms >= replica.clean_deadline_ms:
        clean(replica, now_ms)
    replica.deadline_ms = min(deadline_ms, replica.clean_deadline_ms, replica.peers.next_ms(now_ms))
    if replica.handover is not None:
        replica.deadline_ms = min(replica.deadline_ms, next_ms(replica.handover, now_ms))


def _is_shut_down(replica: Replica, now_ms: int) -> bool:
    """Whether a shutdown is complete: at once, but for a leader, which first hands over.

    In Kafka a node without a leader waits too; but the other voters must elect a leader without this node in any case.
    """
    if not replica.shutting_down or replica.stopped:
        return replica.stopped
    if is_over(replica, now_ms):
        replica.stopped = True
        replica.emit(ShutdownComplete())
    return replica.stopped


def _poll_unattached(replica: Replica, role: Unattached, now_ms: int) -> int:
    if replica.shutting_down:
        return NEVER  # it has voted, and waits for the winner
    if not replica.may_stand:
        send_fetch(replica, role, now_ms)
        return NEVER
    if role.election_deadline_ms == NEVER:
        # It was an observer, and learned from a snapshot that it is a voter.
        deadline_ms = now_ms + replica.election_timeout()
        replica.become(Unattached(role.epoch, role.leader_id, role.voted, deadline_ms), keep_requests=True)
        return now_ms
    if now_ms >= role.election_deadline_ms:
        to_prospective(replica, now_ms)
        return now_ms
    send_fetch(replica, role, now_ms)
    return role.election_deadline_ms


def _prospective(replica: Replica, role: Prospective, now_ms: int) -> int:
    tally = role.tally
    held_until_ms = 0 if tally.held_until_ms is None else tally.held_until_ms
    if not replica.may_stand:
        # A truncation that a faulty leader ordered within a batch took the voter set with this replica.
        _lose_election(replica, role, now_ms)
        return now_ms
    if tally.is_won and now_ms >= held_until_ms and replica.log.is_flushed:
        to_candidate(replica, now_ms)
        return NEVER  # no epoch is left: there is nothing more to try
    if tally.is_lost or now_ms >= role.election_deadline_ms:
        _lose_election(replica, role, now_ms)
    elif now_ms >= held_until_ms:
        return min(role.election_deadline_ms, send_requests(replica, role, now_ms))
    deadline_ms = role.election_deadline_ms
    return min(deadline_ms, held_until_ms) if held_until_ms > now_ms else deadline_ms


def _lose_election(replica: Replica, role: Prospective, now_ms: int) -> None:
    """The pre-vote is lost: follow the leader again if one is known, else wait for another election."""
    if role.leader_id is not None and role.endpoints:
        endpoints = role.tally.leader_endpoints or role.endpoints
        to_follower(replica, role.epoch, role.leader_id, endpoints, now_ms)
    else:
        to_unattached(replica, role.epoch, role.leader_id, now_ms)


def _candidate(replica: Replica, role: Candidate, now_ms: int) -> int:
    if role.tally.is_won:
        to_leader(replica, now_ms)
    elif now_ms >= role.election_deadline_ms:
        to_prospective(replica, now_ms)
    else:
        # A candidate that has lost waits for the rest of its timeout, so that others may win (KAFKA-18345).
        return min(role.election_deadline_ms, send_requests(replica, role, now_ms))
    return role.election_deadline_ms


def _leader(replica: Replica, role: Leader, now_ms: int) -> int:
    state = role.state
    if now_ms >= state.parked_deadline_ms:
        expire_parked(replica, role, now_ms)
    # A leader that removed itself may wait for a single other voter.
    needs_others = not replica.is_only_voter
    is_cut_off = needs_others and now_ms >= state.quorum_deadline_ms
    if is_cut_off or (replica.shutting_down and may_resign(replica, role, now_ms)) or state.is_removed:
        if is_cut_off:
            replica.note("quorum_lost", fetched_by=sorted(state.fetched_voters), voters=list(state.voters))
        to_resigned(replica, now_ms)
        return now_ms
    if now_ms >= state.proposals.drain_ms:
        drain(replica, role, now_ms)
    if now_ms >= state.begin_deadline_ms:
        send_begin_requests(replica, role, now_ms)
    expiry_ms = NEVER if state.change is None else expire(replica, state.change, role, now_ms)
    deadline_ms = min(state.proposals.drain_ms, state.parked_deadline_ms, state.begin_deadline_ms, expiry_ms)
    return min(deadline_ms, state.quorum_deadline_ms) if needs_others else deadline_ms


def _follower(replica: Replica, role: Follower, now_ms: int) -> int:
    state = role.state
    # One that shuts down was the leader before this one: it only acknowledges records.
    may_stand = replica.may_stand and not replica.shutting_down
    if may_stand and now_ms >= state.fetch_deadline_ms:
        replica.note("leader_silent", leader_id=role.leader_id, epoch=role.epoch)
        to_prospective(replica, now_ms)
        return now_ms
    changes = update_voter if replica.is_voter else auto_join
    # A snapshot that is being stored may have another voter set.
    is_storing = replica.freezing is not None or (state.download is not None and state.download.writing > 0)
    if not is_storing and not changes.send_if_due(replica, role, now_ms):
        send_fetch(replica, role, now_ms)
    deadline_ms = state.fetch_deadline_ms if may_stand else NEVER
    # An update that is due leaves when the leader has answered the Fetch that is under way.
    checks = replica.is_voter or auto_join.may_join(replica)
    return min(deadline_ms, state.update_deadline_ms) if checks and state.update_deadline_ms > now_ms else deadline_ms


def _poll_resigned(replica: Replica, role: Resigned, now_ms: int) -> int:
    send_end_requests(replica, role, now_ms)
    if replica.shutting_down:
        return NEVER
    if now_ms >= role.election_deadline_ms:
        # The voters know this replica as the leader of its epoch: another leader needs another epoch.
        to_unattached(replica, role.epoch + 1, None, now_ms)
        return now_ms
    return role.election_deadline_ms


POLLS: dict[type[Role], Callable[[Replica, Any, int], int]] = {
    Unattached: _poll_unattached,
    Prospective: _prospective,
    Candidate: _candidate,
    Leader: _leader,
    Follower: _follower,
    Resigned: _poll_resigned,
}
