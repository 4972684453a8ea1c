"""Commits: durable on a majority before they are reported, of the leader's own epoch, never revoked, the same on all
nodes.

S06 CommittedImmutable, S07 CommittedOnDurableQuorum, S08 CommitOwnEpochFirst, S09 MonotonicHW, S22
FetchAccountedOnlyIfReplicated, S23 ConfirmedLeaderIsCurrent; L05 (a leader that asks for confirmation gets it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface import effects as do
from raft.state.roles import Leader
from records.messages.fetch import FetchRequest
from simulations.world.violation import Violation
from simulations.world.world import MS

# A confirmation takes two Fetches of each voter of a majority, on one connection. So many quorum timeouts it may take.
CONFIRMED_WITHIN = 6

if TYPE_CHECKING:
    from raft.interface.config import SnapshotId
    from raft.interface.inputs import Requested
    from raft.state.roles import Role
    from simulations.world.ledger import Ledger
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Process
    from simulations.world.writes import Replay, State


class Commits:
    """acknowledged: end offset of each write that was acknowledged to a client, by its number."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.acknowledged: dict[int, int] = {}
        self._notified: dict[int, int] = {}  # node id: its last high watermark, of this life
        self._led: dict[int, int] = {}  # node id: the epoch that it was last seen to lead, of this life
        self._shown: dict[int, int] = {}  # epoch: the highest watermark that its leader showed to others
        self._questions: dict[tuple[int, int, int], int] = {}  # (node, life, question): what was committed then
        self._noted: tuple[int, int] | None = None
        self._fetched: dict[tuple[int, int, int], int] = {}  # (node, life, request): the prefix it fetched behind
        self.performs = {do.HighWatermark: self._commits, do.LoadSnapshot: self._loads, do.Send: self._sends}
        self.asked = {"Fetch": self._on_fetch}
        self.took = {"Fetch": self._took_fetch}
        self.leaves = {"Fetch": self._fetch_leaves, "FetchAnswer": self._fetch_answer_leaves}

    def on_started(self, process: Process) -> None:
        self._notified[process.node.id] = -1
        self._led[process.node.id] = -1

    def became(self, process: Process, _was: Role | None, role: Role) -> None:
        if isinstance(role, Leader):
            self._led[process.node.id] = role.epoch

    def _commits(self, process: Process, effect: do.HighWatermark) -> None:
        node_id, offset = process.node.id, effect.offset
        if offset <= self._notified[node_id]:
            raise Violation(
                "S09", f"node {node_id} learned of the high watermark {self._notified[node_id]}, and then of {offset}"
            )
        self._notified[node_id] = offset
        history, shadow = self._ledger.history, self._ledger.shadow(process)
        if offset > history.end:
            self._extends(process, offset)
        elif shadow.at(offset) != history.chain_at.get(offset):
            raise Violation(
                "S06", f"node {node_id} counts records as committed that differ from the committed ones, up to {offset}"
            )

    def _extends(self, process: Process, offset: int) -> None:
        """The first report of a commit: it must come from a leader, and a majority must hold the records on disk."""
        node_id = process.node.id
        epoch = self._led[node_id]
        shadow, history = self._ledger.shadow(process), self._ledger.history
        if epoch < 0:
            raise Violation("S09", f"node {node_id} does not lead, but is the first to count {offset} as committed")
        if shadow.epoch_at(offset) != epoch:
            text = f"the leader {node_id} of epoch {epoch} commits {offset}, of epoch {shadow.epoch_at(offset)}"
            raise Violation("S08", text)
        history.extend(shadow, offset, epoch)
        voters = self._ledger.voters(process)
        holders = self._ledger.holders(offset, voters)
        # A voter may have lost its disk since it acknowledged them; it has another directory id, and votes no more.
        lost = [voter_id for voter_id in voters.ids if not voters.holds(self._ledger.nodes[voter_id].key)]
        if len(holders) + len(lost) < voters.majority:
            text = (
                f"node {node_id} commits up to {offset} in epoch {epoch}, which only the disks of {holders} hold, of"
                f" the voters {list(voters.ids)}"
            )
            raise Violation("S07", text)

    def _loads(self, process: Process, effect: do.LoadSnapshot) -> None:
        notified = self._notified[process.node.id]
        if effect.id.end_offset < notified:
            text = f"node {process.node.id} loads a snapshot of {effect.id.end_offset}, but was notified of {notified}"
            raise Violation("S09", text)
        self._notified[process.node.id] = effect.id.end_offset

    # Called by the state machine

    def on_applied(self, process: Process, offset: int, epoch: int, replay: Replay) -> None:
        """Each write is applied once, in the order of the log."""
        state = (replay.count, replay.digest)
        history = self._ledger.history
        if history.states.get(offset) != state or history.epoch_at[offset] != epoch:
            text = (
                f"the state machine of node {process.node.id} has applied {state[0]} writes up to {offset};"
                f" the log has {history.states.get(offset)}"
            )
            raise Violation("S06", text)

    def on_loaded(self, process: Process, snapshot: SnapshotId, state: State) -> None:
        """A snapshot has the state of the log up to its end."""
        if snapshot == (0, 0):
            return
        history = self._ledger.history
        if snapshot.end_offset not in history.states or history.epoch_at[snapshot.end_offset] != snapshot.epoch:
            raise Violation("S17", f"node {process.node.id} loads {snapshot}, where no committed batch ends")
        if history.state_at(snapshot.end_offset) != state:
            raise Violation("S17", f"node {process.node.id} loads a state from {snapshot} that differs from the log's")

    def on_acknowledged(self, numbers: tuple[int, ...], end_offset: int) -> None:
        for number in numbers:
            self.acknowledged[number] = end_offset

    def on_questioned(self, process: Process, number: int) -> None:
        self._questions[process.node.id, process.life, number] = self._ledger.history.end
        self._look_for_confirmation(process, number, process.replica.role, 0)

    def _look_for_confirmation(self, process: Process, number: int, role: Role, waits: int) -> None:
        """Whether a leader got the confirmation that it asked for. waits: for how many quorum timeouts it has waited;
        as long as it leads, a majority of the voters fetches within each.
        """
        if process.is_dead or process.has_failed or process.replica.role is not role or not isinstance(role, Leader):
            return
        if not self.is_waiting(process, number):
            return
        waits = waits + 1 if process.is_awake and not process.clock.frozen else 0
        config = process.replica.config
        if waits > CONFIRMED_WITHIN:
            text = f"node {process.node.id} leads epoch {role.epoch}, asked for confirmation of that, and got none"
            raise Violation("L05", f"{text} within {CONFIRMED_WITHIN} quorum timeouts")
        wait_us = config.fetch_timeout_ms * 3 // 2 * MS
        process.world.after(wait_us, self._look_for_confirmation, process, number, role, waits)

    def on_confirmed(self, process: Process, number: int, epoch: int, applied: int) -> None:
        """A leader with confirmed leadership has applied all records that were committed when it asked."""
        end = self._questions.pop((process.node.id, process.life, number))
        if applied < end:
            text = (
                f"node {process.node.id} is confirmed as leader of epoch {epoch} and has applied {applied}; {end} was"
                " committed before its request"
            )
            raise Violation("S23", text)

    def is_waiting(self, process: Process, number: int) -> bool:
        """Whether a confirmation is pending."""
        return (process.node.id, process.life, number) in self._questions

    # Fetches

    def _sends(self, process: Process, effect: do.Send) -> None:
        """A Fetch reports that all records before its offset are on the sender's disk, as it is
        now; it may leave later.
        """
        request = effect.request
        if type(request) is not FetchRequest:
            return
        offset = request.topics[0].partitions[0].fetch_offset
        shadow = self._ledger.shadow(process)
        number = shadow.at(offset)
        view = self._ledger.durable(process.node)
        durable = view.at(offset)
        if number is None or (durable != number and not (offset == shadow.start and view.covers(offset))):
            text = f"node {process.node.id} fetches from {offset}; on its disk the log ends at {view.segments_end()}"
            raise Violation("S22", text)
        self._fetched[process.node.id, process.life, effect.number] = number

    def _fetch_leaves(self, connection: Connection, frame: Frame, _is_answer: bool) -> None:
        client = connection.client
        frame.stamp = self._fetched.pop((client.node.id, client.life, frame.number))

    def _fetch_answer_leaves(self, connection: Connection, frame: Frame, _is_answer: bool) -> None:
        """An answer to a Fetch has a high watermark."""
        if len(frame.gist) > 3 and frame.gist[0] == 0:
            server = connection.server
            epoch, leader_id, watermark = frame.gist[1:4]
            if server is None or leader_id != server.node.id or watermark < 0:
                return
            if watermark < self._shown.get(epoch, -1):
                text = f"leader {leader_id} of epoch {epoch}: high watermark {watermark}, after {self._shown[epoch]}"
                raise Violation("S09", text)
            if watermark > self._ledger.history.end:
                raise Violation(
                    "S09",
                    f"the leader {leader_id} of epoch {epoch} has the high watermark {watermark}; it is not committed",
                )
            self._shown[epoch] = watermark

    def _on_fetch(self, process: Process, _frame: Frame, requested: Requested) -> None:
        self._noted = self._notes(process, requested.request)

    def _took_fetch(self, process: Process, frame: Frame, requested: Requested) -> None:
        """The progress that a leader records of a replica is correct, and of the same log."""
        noted = self._notes(process, requested.request)
        if noted is None or noted == self._noted:
            return
        sender = requested.request.replica_state.replica_id
        offset = frame.gist[1]
        if noted[0] > offset:
            text = f"the leader {process.node.id} notes {noted[0]} for node {sender}, which fetched from {offset}"
            raise Violation("S22", text)
        shadow = self._ledger.shadow(process)
        if noted[0] == offset >= shadow.start and shadow.at(offset) != frame.stamp:
            text = f"the leader {process.node.id} counts node {sender} at {offset}, but their logs differ there"
            raise Violation("S22", text)

    def _notes(self, process: Process, request: FetchRequest) -> tuple[int, int] | None:
        """The sender's log end in the leader's progress, and since when; None for a node that does not lead, or a
        non-voter.
        """
        role = process.replica.role
        if not isinstance(role, Leader):
            return None
        progress = role.state.voters.get(request.replica_state.replica_id)
        return None if progress is None else (progress.end_offset, progress.fetched_ms)
