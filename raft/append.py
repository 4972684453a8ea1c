"""What a leader appends: batches of the state machine, and the control batch of its epoch (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.effects import ProposalRefused
from raft.fetch_request import answer_parked
from raft.roles import Leader
from raft.voters import VoterSet, voters_record
from records.batch import build_control_batch
from records.control import KRaftVersionRecord, LeaderChangeMessage
from records.control_batch import encode_control

if TYPE_CHECKING:
    from raft.inputs import Propose
    from raft.leader_state import LeaderState
    from raft.replica import Replica

BATCH_BYTES_MAX = 8 * 1024 * 1024
"""A batch above this is refused by Kafka's own readers; as much as this waits for the linger at most."""


def on_propose(replica: Replica, proposal: Propose, now_ms: int) -> None:
    """One batch of the state machine, at the next offset of the epoch that it was built for."""
    role = replica.role
    if (
        not isinstance(role, Leader)
        or replica.shutting_down
        or proposal.epoch != role.epoch
        or proposal.base_offset != role.state.proposals.next_offset
    ):
        replica.emit(ProposalRefused(proposal.epoch, proposal.base_offset))
        return
    assert proposal.base_offset <= proposal.last_offset, (
        f"a batch from {proposal.base_offset} to {proposal.last_offset}"
    )
    assert len(proposal.data) <= BATCH_BYTES_MAX, f"a batch of {len(proposal.data)} bytes at {proposal.base_offset}"
    proposals = role.state.proposals
    proposals.add(proposal, now_ms + replica.config.append_linger_ms)
    if proposals.size >= BATCH_BYTES_MAX:
        proposals.drain_ms = now_ms


def drain(replica: Replica, role: Leader) -> None:
    """Append what waited for long enough. Followers may read it at once, beside our own flush."""
    for proposal in role.state.proposals.drain():
        replica.append(proposal.base_offset, proposal.last_offset + 1, role.epoch, proposal.data)
    answer_parked(replica, role)


def start_epoch(replica: Replica, state: LeaderState, now_ms: int) -> None:
    """Append the control batch of a new epoch.

    It says who leads. With dynamic voters it also says who votes, where no log says so yet, but the snapshot that the
    formatter wrote on this node alone; or where this voter is reached otherwise than the log says.
    """
    epoch = replica.epoch
    replica.assign_epoch(epoch)
    base_offset = replica.log.end
    records = [encode_control(leader_change(state))]
    values: list[tuple[int, VoterSet | int]] = []
    last = replica.voter_sets.last()
    if replica.kraft_version >= 1 and last is not None:
        offset, voters = last
        own = replica.own_voter()
        if offset == -1 or not voters.has_current(own):
            voters = voters.updated(own)
            version = KRaftVersionRecord(version=0, kraft_version=replica.kraft_version)
            records.append(encode_control(version))
            records.append(encode_control(voters_record(voters)))
            values = [(base_offset + 1, replica.kraft_version), (base_offset + 2, voters)]
    data = build_control_batch(
        records, base_offset=base_offset, leader_epoch=epoch, timestamp_ms=now_ms + replica.wall_offset_ms
    )
    replica.append(base_offset, base_offset + len(records), epoch, data)
    replica.take_control(values)
    state.proposals.next_offset = replica.log.end


def leader_change(state: LeaderState) -> LeaderChangeMessage:
    """Who leads the epoch, who votes in it, and who elected the leader."""
    return LeaderChangeMessage(
        version=0,
        leader_id=state.own_id,
        voters=tuple(LeaderChangeMessage.Voter(voter_id=voter_id) for voter_id in sorted(state.voters)),
        granting_voters=tuple(LeaderChangeMessage.Voter(voter_id=voter_id) for voter_id in sorted(state.granting)),
    )
