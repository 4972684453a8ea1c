"""The transitions between roles, with their timers and cleanup (`QuorumState` and `KafkaRaftClient` of Kafka)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft import kraft_upgrade
from raft.append import start_epoch
from raft.change_stages import fail_change
from raft.fetch_request import fail_parked, quorum_timeout
from raft.interface.effects import DropSnapshotPart, ProposalRefused
from raft.interface.limits import EPOCH_MAX, NEVER
from raft.resignation import send_end_requests
from raft.state.follower_state import FollowerState
from raft.state.leader_state import LeaderState, Progress
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned, Role, Unattached
from raft.state.tally import Tally

if TYPE_CHECKING:
    from raft.interface.config import Endpoint
    from raft.state.replica import Replica


def first_role(replica: Replica, now_ms: int) -> Role:
    """The role in which a replica starts: the role that it had, but a former leader is Resigned.

    A leader that lost the unflushed end of its log could otherwise write other records at the same offsets and epoch.
    """
    election = replica.recovered.election
    first_ms = now_ms + _first_timeout(replica)
    last_epoch = replica.log.last_epoch
    if election is None or election.epoch < last_epoch:
        return Unattached(last_epoch, None, None, first_ms)
    epoch, leader_id, voted = election.epoch, election.leader_id, election.voted
    if leader_id == replica.key.id:
        deadline_ms = now_ms + replica.election_timeout()
        return Resigned(epoch, leader_id, replica.config.endpoints, deadline_ms, (), _others(replica))
    # A voter may have lost the unflushed record that made it one.
    if voted is not None and voted.matches(replica.key) and replica.may_stand:
        deadline_ms = now_ms + replica.election_timeout()
        return Candidate(epoch, replica.key, deadline_ms, Tally(replica.voters, replica.key.id))
    endpoint = None if leader_id is None else replica.endpoint_of(leader_id)
    if leader_id is None or endpoint is None:
        return Unattached(epoch, leader_id, voted, first_ms)
    state = FollowerState(now_ms + replica.config.fetch_timeout_ms, now_ms + replica.config.update_period_ms)
    return Follower(epoch, leader_id, replica.voters.endpoints(leader_id), voted, state)


def _first_timeout(replica: Replica) -> int:
    if not replica.may_stand:
        return NEVER
    timeout = max(min(replica.config.first_election_timeout_ms, replica.config.election_timeout_ms), 1)
    return timeout + replica.rng.randrange(timeout)


def to_unattached(replica: Replica, epoch: int, leader_id: int | None, now_ms: int) -> None:
    """Enter a higher epoch without a reachable leader; a Prospective may also go back within its epoch."""
    old = replica.role
    deadline_ms = NEVER
    if replica.may_stand:
        deadline_ms = now_ms + replica.election_timeout()
        is_waiting = isinstance(old, (Unattached, Candidate, Resigned)) or (
            isinstance(old, Prospective) and not old.tally.is_lost
        )
        # The election timeout keeps running: otherwise each higher epoch of an isolated peer would restart it.
        if is_waiting and old.election_deadline_ms != NEVER:  # type: ignore[union-attr]
            deadline_ms = old.election_deadline_ms  # type: ignore[union-attr]
    replica.become(Unattached(epoch, leader_id, old.voted if epoch == old.epoch else None, deadline_ms))
    _leave(replica, old)


def to_prospective(replica: Replica, now_ms: int) -> None:
    """Ask for pre-votes. Epoch, leader and vote do not change."""
    old = replica.role
    assert replica.may_stand, f"{replica.key} is not among {replica.voters}"
    deadline_ms = now_ms + replica.election_timeout()
    tally = Tally(replica.voters, replica.key.id)
    replica.become(Prospective(old.epoch, old.leader_id, old.endpoints, old.voted, deadline_ms, tally))
    _leave(replica, old)


def to_candidate(replica: Replica, now_ms: int) -> None:
    """Raise the epoch, vote for this replica, and ask for votes. Only a note where no epoch is left.

    The whole log is on disk. A candidate that crashes stands again in the same epoch, and a voter repeats its vote
    without a look at the log: if the crash took records that the vote was given for, a leader without committed records
    could be elected.
    """
    old = replica.role
    assert replica.may_stand, f"{replica.key} is not among {replica.voters}"
    assert replica.log.is_flushed, f"{replica.key} stands with {replica.log.end}, durable is {replica.log.durable_end}"
    if old.epoch >= EPOCH_MAX:
        replica.note("epochs_exhausted", epoch=old.epoch)
        return
    deadline_ms = now_ms + replica.election_timeout()
    replica.become(Candidate(old.epoch + 1, replica.key, deadline_ms, Tally(replica.voters, replica.key.id)))


def to_leader(replica: Replica, now_ms: int) -> None:
    """Become leader. A record of the new epoch is appended, so that the records before it can be committed too."""
    old = replica.role
    assert isinstance(old, Candidate), f"{old} was not elected"
    assert old.tally.is_won, f"{old} has no majority: {old.tally.granting}"
    config = replica.config
    state = LeaderState(replica.key.id, replica.voters, old.tally.granting, replica.log.end)
    if not replica.is_voter:
        # It was removed, and elected again: it is an observer of its own leadership.
        state.observers[replica.key] = Progress(replica.key)
    state.begin_deadline_ms = now_ms
    state.quorum_deadline_ms = now_ms + quorum_timeout(replica)
    role = Leader(old.epoch, replica.key.id, config.endpoints, state)
    replica.become(role)
    start_epoch(replica, state, now_ms)
    kraft_upgrade.start(replica, role)


def to_follower(replica: Replica, epoch: int, leader_id: int, endpoints: tuple[Endpoint, ...], now_ms: int) -> None:
    """Follow a leader whose endpoints are known."""
    old = replica.role
    assert leader_id != replica.key.id, "a replica cannot follow itself"
    assert endpoints, f"leader {leader_id} cannot be reached"
    state = FollowerState(now_ms + replica.config.fetch_timeout_ms, now_ms + replica.config.update_period_ms)
    replica.become(Follower(epoch, leader_id, endpoints, old.voted if epoch == old.epoch else None, state))
    _leave(replica, old)


def to_resigned(replica: Replica, now_ms: int) -> None:
    """Resign from leadership. The voters get EndQuorumEpoch, so that they need not wait for their fetch timeout.

    It leaves before the answers to their parked Fetches. A follower that got such an answer first would connect to the
    bootstrap servers to find another leader, while it should ask for votes.
    """
    old = replica.role
    assert isinstance(old, Leader), f"{old} has nothing to resign"
    deadline_ms = now_ms + replica.election_timeout()
    successors = old.state.successors()
    role = Resigned(old.epoch, replica.key.id, replica.config.endpoints, deadline_ms, successors, _others(replica))
    replica.become(role)
    send_end_requests(replica, role, now_ms)
    _leave(replica, old)


def _others(replica: Replica) -> list[int]:
    return [voter_id for voter_id in replica.voters.ids if voter_id != replica.key.id]


def _leave(replica: Replica, old: Role) -> None:
    """End what the old role had under way: parked Fetches, proposals, a download."""
    if isinstance(old, Leader):
        fail_parked(replica, old.state)
        fail_change(replica, old.state)
        for proposal in old.state.proposals.drain():
            replica.emit(ProposalRefused(proposal.epoch, proposal.base_offset))
    elif isinstance(old, Follower):
        drop_download(replica, old.state)


def drop_download(replica: Replica, state: FollowerState) -> None:
    """Delete an incomplete download."""
    if state.download is not None:
        replica.emit(DropSnapshotPart(state.download.id))
        state.download = None
