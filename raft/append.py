"""What a leader appends: batches of the state machine, and the control batch of its epoch (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.change_stages import on_appended
from raft.fetch_request import answer_parked, emit_confirmed, quorum_timeout
from raft.interface.effects import ProposalRefused
from raft.interface.voters import VoterSet, voters_record
from raft.state.roles import Leader
from records.batch import build_control_batch
from records.control import KRaftVersionRecord, LeaderChangeMessage
from records.control_batch import encode_control

if TYPE_CHECKING:
    from raft.interface.inputs import OffsetsReserved, Propose
    from raft.state.leader_state import LeaderState
    from raft.state.replica import Replica

BATCH_BYTES_MAX = 8 * 1024 * 1024
"""The largest batch that Kafka's own readers accept. Proposals of this size together are appended without a linger."""


def on_propose(replica: Replica, proposal: Propose, now_ms: int) -> None:
    """Batches of the state machine, at the next offset of the epoch that they were built for."""
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
        f"batches from {proposal.base_offset} to {proposal.last_offset}"
    )
    assert len(proposal.data) <= BATCH_BYTES_MAX, f"{len(proposal.data)} bytes at {proposal.base_offset}"
    proposals = role.state.proposals
    proposals.add(proposal, now_ms + replica.config.append_linger_ms)
    if proposals.size >= BATCH_BYTES_MAX:
        proposals.drain_ms = now_ms


def drain(replica: Replica, role: Leader, now_ms: int) -> None:
    """Append the proposals whose linger is over. Followers may fetch them at once, while this replica still flushes."""
    proposals = role.state.proposals.drain()
    for proposal in proposals:
        replica.append(proposal.base_offset, proposal.last_offset + 1, role.epoch, proposal.data)
    if proposals:
        answer_parked(replica, role, now_ms)


def on_reserved(replica: Replica, reserved: OffsetsReserved, now_ms: int) -> None:
    """The state machine left an offset free: append the voter set of the change that waits for it."""
    role = replica.role
    if not isinstance(role, Leader) or replica.shutting_down or reserved.epoch != role.epoch:
        return
    change = role.state.change
    if change is None or not change.reserves or reserved.base_offset != role.state.proposals.next_offset:
        # An earlier proposal was refused: the state machine is about to resign.
        replica.emit(ProposalRefused(reserved.epoch, reserved.base_offset))
        return
    assert change.voters is not None, "a change that reserves an offset has a new set"
    drain(replica, role, now_ms)
    offset, voters = reserved.base_offset, change.voters
    append_control(replica, role, [encode_control(voters_record(voters))], [(offset, voters)], now_ms)
    on_appended(replica, role, change, offset)
    replica.note("voters_appended", offset=offset, voters=[str(voter.key) for voter in voters])


def append_control(
    replica: Replica,
    role: Leader,
    records: list[tuple[bytes, bytes]],
    values: list[tuple[int, VoterSet | int]],
    now_ms: int,
) -> None:
    """Append a control batch at the offsets that were left for it. values: the control values in it, by offset."""
    base_offset = replica.log.end
    data = build_control_batch(
        records, base_offset=base_offset, leader_epoch=role.epoch, timestamp_ms=now_ms + replica.wall_offset_ms
    )
    if replica.is_only_voter:
        # No other voter had to fetch before; one that is added gets as long as any.
        role.state.quorum_deadline_ms = now_ms + quorum_timeout(replica)
    replica.append(base_offset, base_offset + len(records), role.epoch, data)
    replica.take_control(values)
    role.state.proposals.next_offset = replica.log.end
    answer_parked(replica, role, now_ms)
    # Fewer voters may be a majority now: voter 1 of {1, 2} waits for the next Fetch of 2 as a proof of its leadership,
    # and removes 2, whose next Fetch proves nothing. A majority of the new set shares a voter with each of the former.
    emit_confirmed(replica, role)


def start_epoch(replica: Replica, state: LeaderState, now_ms: int) -> None:
    """Append the control batch of a new epoch: a LeaderChangeMessage.

    With kraft.version 1 it also holds the voter set and kraft.version in two cases: only the 0-0 snapshot, which the
    formatter wrote on this node alone, holds them so far; or the entry of this voter in the log is out of date.
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
        if replica.is_voter and (offset == -1 or not voters.has_current(own)):
            voters = voters.replace(own)
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
    """The record that names the leader of the epoch, the voters, and the voters that granted their vote."""
    return LeaderChangeMessage(
        version=0,
        leader_id=state.own_id,
        voters=tuple(LeaderChangeMessage.Voter(voter_id=voter_id) for voter_id in sorted(state.voters)),
        granting_voters=tuple(LeaderChangeMessage.Voter(voter_id=voter_id) for voter_id in sorted(state.granting)),
    )
