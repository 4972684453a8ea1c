"""Elections: one leader in an epoch, by a majority that votes once, for an up-to-date log, all saved first.

S01 ElectionSafety, S02 VoteOnce, S03 MonotonicEpoch (in messages), S13 VoteGrantedOnlyIfUpToDate,
S20 IdentityFencing (of voters), S21 PreVoteNoSideEffect, S24 LeaderHeard (a node that a message informs of the leader
of its epoch knows that leader).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.state.roles import Candidate, Follower, Leader, Prospective, Resigned
from records.messages.elections import VoteRequest
from simulations.world.messages import NAMES, leader_in, own_epoch
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from raft.interface.inputs import Answered, Requested
    from raft.state.roles import Role
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process


class Elections:
    """leaders: by epoch, the node ever named as its leader; told: the epochs whose leader a message named; votes: by
    (voter, times its disk was lost, epoch), the candidate it was given to; pre_votes_given: by (candidate, epoch,
    voter), when the last one left.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.leaders: dict[int, int] = {}
        self.told: set[int] = set()
        self._led_in: dict[int, int] = {}  # epoch: the life of the process that became its leader
        self.votes: dict[tuple[int, int, int], int] = {}
        self.votes_for: dict[tuple[int, int], set[int]] = {}  # by (epoch, candidate): the voters
        self.pre_votes_given: dict[tuple[int, int, int], int] = {}
        self._logs: dict[tuple[int, int], tuple[int, int]] = {}  # (node, connection): log when a vote was asked
        self._before: tuple[Any, ...] = ()
        self._pre_votes: dict[int, set[int]] = {}  # node id: the voters that granted this Prospective's pre-votes
        self._met_old: set[int] = set()  # nodes to which a peer said that it supports older versions only
        self._times: dict[int, int] = {}  # node id: how often it became Prospective
        # (node, life, request): the time in which it was sent, and the request.
        self._asked_at: dict[tuple[int, int, int], tuple[int, do.Send]] = {}
        self.performs = {do.SaveElection: self._saves, do.Send: self._sends}
        self.asked = {"Vote": self._on_vote}
        self.took = {"Vote": self._took_vote, "Begin": self._took_begin}
        self.leaves = dict.fromkeys(NAMES, self._leaves)

    def on_started(self, process: Process) -> None:
        self._pre_votes[process.node.id] = set()
        self._times.setdefault(process.node.id, 0)

    def became(self, process: Process, was: Role | None, role: Role) -> None:
        node_id = process.node.id
        if isinstance(role, (Leader, Candidate)) and not self._ledger.may_stand(process):
            raise Violation("S20", f"node {node_id} is {role}, but its directory is not that of a voter")
        if isinstance(role, Leader):
            self._note_leader(role.epoch, node_id, f"node {node_id} leads epoch {role.epoch}")
            self._led_in[role.epoch] = process.life
            self._is_elected(process, role.epoch)
        elif isinstance(role, Candidate) and isinstance(was, Prospective):
            voters = self._ledger.voters(process)
            granted = len((self._pre_votes[node_id] | {node_id}) & set(voters.ids))
            if granted < voters.majority and process.node.release != "3.9" and not self._may_skip_pre_vote(node_id):
                raise Violation(
                    "S21", f"node {node_id} becomes a candidate in epoch {role.epoch} with {granted} pre-votes"
                )
        if isinstance(role, Prospective) and not isinstance(was, Prospective):
            self._pre_votes[node_id] = set()
            self._times[node_id] += 1

    def on_noted(self, process: Process, name: str, _fields: dict[str, Any]) -> None:
        if name == "peer_too_old":
            self._met_old.add(process.node.id)

    def _may_skip_pre_vote(self, node_id: int) -> bool:
        """No pre-vote is needed if a peer, or a node that had its address, does not support them."""
        return node_id in self._met_old or any(node.release == "3.9" for node in self._ledger.nodes.values())

    def _note_leader(self, epoch: int, leader_id: int, source: str) -> None:
        first = self.leaders.setdefault(epoch, leader_id)
        if first != leader_id:
            if not self._was_lost(epoch, first):
                raise Violation("S01", f"{source}; node {first} was its leader before")
            self.leaders[epoch] = leader_id

    def _was_lost(self, epoch: int, leader_id: int) -> bool:
        """A sole voter that stops before its election is saved has led nobody: its next process knows nothing of it."""
        node = self._ledger.nodes[leader_id]
        is_known = epoch in self.told or self._ledger.durable(node).election.epoch >= epoch
        return not is_known and self._led_in.get(epoch, node.life) < node.life

    def _is_elected(self, process: Process, epoch: int) -> None:
        """A majority of the voters in its own log has voted for it."""
        node_id = process.node.id
        given = self.votes_for.get((epoch, node_id), set()) | {node_id}
        voters = self._ledger.voters(process)
        counted = [voter_id for voter_id in voters.ids if voter_id in given]
        if len(counted) < voters.majority:
            text = f"node {node_id} leads epoch {epoch}, but only {counted} of {voters.ids} gave it their votes"
            raise Violation("S01", text)

    def _saves(self, process: Process, effect: do.SaveElection) -> None:
        if effect.leader_id is not None:
            source = f"node {process.node.id} saves node {effect.leader_id} as leader of epoch {effect.epoch}"
            self._note_leader(effect.epoch, effect.leader_id, source)

    # Messages that are sent

    def _sends(self, process: Process, effect: do.Send) -> None:
        if type(effect.request) is VoteRequest and effect.request.topics[0].partitions[0].pre_vote:
            self._asked_at[process.node.id, process.life, effect.number] = (self._times[process.node.id], effect)

    def _leaves(self, connection: Connection, frame: Frame, is_answer: bool) -> None:
        """A message is sent: its epoch, vote and leader must be on its sender's disk."""
        process = connection.server if is_answer else connection.client
        assert process is not None, "a process sends"
        name, gist = frame.name, frame.gist
        node = process.node
        epoch = own_epoch(name, gist)
        if epoch is None:
            return
        durable = self._ledger.durable(node).election
        if epoch > durable.epoch:
            raise Violation(
                "S03", f"node {node.id} sends epoch {epoch} in a {name}, but its disk has epoch {durable.epoch}"
            )
        led = leader_in(name, gist)
        if led is not None:
            self._note_leader(
                led[0], led[1], f"node {node.id} names node {led[1]} as leader of epoch {led[0]} in a {name}"
            )
            self.told.add(led[0])
            if led[1] == node.id and durable.epoch == led[0] and durable.leader_id != node.id:
                raise Violation("S18", f"node {node.id} claims to lead epoch {led[0]}, but its disk does not have that")
        if name == "VoteAnswer" and len(gist) > 3 and gist[3]:
            self._vote_leaves(process, connection, frame)
        elif name == "Vote" and not gist[4]:
            self._counts(process, gist[0], gist[1])
            if durable.epoch == gist[0] and gist[1] not in {durable.voted_id, durable.leader_id}:
                text = (
                    f"node {node.id} is a candidate in epoch {gist[0]}, but its disk has a vote for {durable.voted_id}"
                )
                raise Violation("S02", text)

    def _vote_leaves(self, process: Process, connection: Connection, frame: Frame) -> None:
        asked = frame.stamp
        if asked is None:
            return
        epoch, candidate, last_epoch, end, is_pre_vote = asked
        node = process.node
        held = self._logs.get((node.id, connection.id), (0, 0))
        key = (node.id, node.disks_lost, epoch)
        repeated = not is_pre_vote and self.votes.get(key) == candidate
        if (last_epoch, end) < held and not repeated:
            what = "pre-vote" if is_pre_vote else "vote"
            text = (
                f"node {node.id}, whose log ends at {held[1]} with epoch {held[0]}, grants its {what} of epoch {epoch}"
                f" to node {candidate}, whose log ends at {end} with epoch {last_epoch}"
            )
            raise Violation("S13", text)
        if is_pre_vote:
            self.pre_votes_given[candidate, epoch, node.id] = process.world.now
            return
        self._counts(process, epoch, candidate)
        durable = self._ledger.durable(node).election
        if not self._ledger.was_voter(node.key):
            raise Violation("S20", f"node {node.id} grants a vote, but its directory is not that of a voter")
        if durable.epoch == epoch and durable.leader_id not in {-1, candidate}:
            text = f"node {node.id} grants node {candidate} its vote of epoch {epoch}, but knows its leader: {durable}"
            raise Violation("S02", text)
        if durable.epoch < epoch or (durable.epoch == epoch and durable.voted_id != candidate):
            text = f"node {node.id} grants node {candidate} its vote of epoch {epoch}, but its disk has {durable}"
            raise Violation("S02", text)

    def _counts(self, process: Process, epoch: int, candidate: int) -> None:
        node = process.node
        first = self.votes.setdefault((node.id, node.disks_lost, epoch), candidate)
        if first != candidate:
            raise Violation("S02", f"node {node.id} votes for {first} and for {candidate} in epoch {epoch}")
        self.votes_for.setdefault((epoch, candidate), set()).add(node.id)

    # Messages that are handled

    def _on_vote(self, process: Process, frame: Frame, requested: Requested) -> None:
        replica = process.replica
        self._logs[process.node.id, requested.source.connection] = (replica.log.last_epoch, replica.log.end)
        self._before = (replica.role.epoch, replica.role.voted, replica.role)
        frame.stamp = frame.gist

    def _took_vote(self, process: Process, frame: Frame, _requested: Requested) -> None:
        """A pre-vote must change nothing, except that an epoch became known."""
        if not frame.gist[4]:
            return
        epoch, voted, role = self._before
        now = process.replica.role
        now_ms = process.clock.ms(process.world.now)
        was_due = isinstance(role, Resigned) and role.election_deadline_ms <= now_ms
        if now is role or ((was_due or isinstance(now, Candidate)) and now.epoch == epoch + 1):
            return  # its own election came due
        if now.epoch not in {epoch, frame.gist[0]} or (now.epoch == epoch and now.voted != voted):
            raise Violation("S21", f"a pre-vote of {frame.gist} turned {role} of node {process.node.id} into {now}")
        if isinstance(role, (Leader, Follower)) and now.epoch == epoch and not isinstance(now, type(role)):
            self._check_lost_leader(process, role, now)

    def _took_begin(self, process: Process, frame: Frame, _requested: Requested) -> None:
        """A node that was informed of the leader of its epoch knows it, whatever its role was."""
        if frame.stray:
            return
        epoch, leader_id = frame.gist
        role = process.replica.role
        if role.epoch == epoch and role.leader_id != leader_id:
            text = f"node {process.node.id} learned that node {leader_id} leads epoch {epoch}, but is {role}"
            raise Violation("S24", text)

    def _check_lost_leader(self, process: Process, role: Any, now: Any) -> None:
        """The node's own timeout may end its role in the same step; nothing else may."""
        if isinstance(role, Follower) and isinstance(now, Prospective):
            return
        if isinstance(role, Leader) and type(now).__name__ == "Resigned":
            return
        raise Violation("S21", f"a pre-vote turned {role} of node {process.node.id} into {now}")

    def on_answered(self, process: Process, frame: Frame, answered: Answered) -> None:
        """An answer is about to be handled."""
        node_id = process.node.id
        time, asked = self._asked_at.pop((node_id, process.life, frame.number), (-1, None))
        if time != self._times[node_id] or frame.name != "VoteAnswer" or len(frame.gist) <= 3 or not frame.gist[3]:
            return
        assert asked is not None, "an answer to what was asked"
        voter_id = asked.request.voter_id
        epoch = asked.request.topics[0].partitions[0].replica_epoch
        # At another address than its own, it must be that voter which answered.
        if answered.peer == voter_id or (node_id, epoch, voter_id) in self.pre_votes_given:
            self._pre_votes[node_id].add(voter_id)
