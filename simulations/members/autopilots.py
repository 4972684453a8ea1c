"""The autopilots of a world: `raft/autopilot` at each leader that has one, as `controller/node` drives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.autopilot.autopilot import Autopilot
from raft.autopilot.leave_rules import Distance, keep_reason, wait_reason
from raft.autopilot.report import Kind, Step
from raft.autopilot.requests import request_of
from raft.autopilot.view import view_of
from raft.change_stages import refusal_of_change
from raft.describe import replica_state
from raft.interface.config import ReplicaKey
from raft.interface.inputs import Requested, Source
from raft.state.roles import Leader
from records.codec import decode, encode
from records.errors import Error
from records.messages.quorum import DescribeQuorumResponse
from simulations.properties.autopilot import AutopilotSteps
from simulations.raft.world import CLUSTER
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.autopilot.view import Rules
    from simulations.members.administrator import Administrator
    from simulations.raft.run import Run
    from simulations.world.process import Node, Process
    from simulations.world.voter_sets import Voters

# Connections of autopilots have the numbers below this one: no client and no administrator has such a number.
FIRST_CONNECTION = -2_000_000
# How often a voter that stops asks, the time between, and that between two looks for a leader; a quarter of a node's.
LEAVE_TRIES, LEAVE_RETRY_MS, LEAVE_LOOK_MS = 10, 250, 50
LEAVE_APART_MS = 30
# The longest time from the leader's answer of its state to its next request, of which it has a stream of its own.
LEAVE_ON_THE_WAY_MS = 25
# The longest pause of a step for its disk: so late may a look be.
LATE_MS = 20


class Autopilots:
    """Of the nodes in `ids`: the others are like stock ones, which have none. They look every `look_ms`.

    asked: the number of steps; made: how many of each kind succeeded.
    """

    def __init__(
        self, run: Run, administrator: Administrator, ids: list[int], look_ms: int, rules: Rules
    ) -> None:  # fmt: skip
        self._run, self._administrator = run, administrator
        self.ids, self._look_ms, self._rules = frozenset(ids), look_ms, rules
        self.asked = 0
        self.made: dict[str, int] = {}
        self.steps = AutopilotSteps(run.world, run.ledger, rules, 2 * (look_ms + LATE_MS) * MS)
        self._autopilots: dict[int, tuple[Process, Leader, Autopilot]] = {}
        self._stops_nodes = True
        self._distances: dict[int, tuple[Process, Distance]] = {}  # of the nodes that leave
        self._rng = run.stream("leaves")
        self._look()

    def has_healed(self, voters: Voters) -> bool:
        """Whether each node that lost its disk has got its place back, where every node has an autopilot."""
        nodes = self._run.nodes
        return not self.ids.issuperset(nodes) or all(nodes[key[0]].key == key for key in voters.keys)

    def may_lose(self, node: Node) -> bool:
        """Whether the disk of a node may be lost, besides what the administrator says: all other voters fetch, and the
        node is not about to become a voter.

        A leader learns of a lost disk a while later. Should it remove a dead voter meanwhile, two of three voters would
        be lost at once, which no protocol survives. Should it add the lost one, a sole voter would be one of two.
        """
        if node.key in self._administrator.pending("add"):
            return False
        leaders = [each[:2] for each in self._autopilots.values() if not each[0].is_dead]
        if not leaders:
            return False
        process, role = max(leaders, key=lambda each: each[1].epoch)
        now_ms = process.now_ms()
        return process.replica.role is role and all(
            key in {node.key, process.node.key}
            or ((seen := role.state.voter(ReplicaKey(*key))) and now_ms - seen.fetched_ms <= self._rules.live_ms)
            for voters in self._administrator.sets_in_force()
            for key in voters.keys
        )

    def leave(self, node: Node, down_ms: int, tries: int = LEAVE_TRIES) -> None:
        """A node stops as `controller/node/leave_task` has it: it leaves first if enough healthy voters stay."""
        process = node.process
        if process is None or process.is_dead or not process.steps or not self._stops_nodes:
            return
        replica, key = process.replica, process.replica.key
        leader = self._administrator.leader()
        if not tries or keep_reason(len(replica.voters.ids)) or not replica.is_voter:
            self._stop(node, down_ms)
        elif leader is None or not self._knows(leader):
            self._leave_later(process, down_ms, tries - 1, LEAVE_LOOK_MS)
        elif wait_ms := self._distance_of(process).wait_ms((leader.node.id, leader.replica.epoch), replica.voters.ids):
            self._leave_later(process, down_ms, tries, wait_ms)
        else:
            partition = self._describe(leader)
            if keep_reason(len(partition.current_voters)):
                self._stop(node, down_ms)
            elif wait_reason(partition, key, self._rules.live_ms):
                self._leave_later(process, down_ms, tries - 1, LEAVE_RETRY_MS)
            else:
                on_the_way_us = int(self._rng.random() * LEAVE_ON_THE_WAY_MS * MS)
                self._run.world.after(on_the_way_us, self._ask_to_leave, leader, process, down_ms, tries)

    def end_chaos(self) -> None:
        """No further node is stopped: those that have begun to leave go on as they are."""
        self._stops_nodes = False

    def _ask_to_leave(self, leader: Process, process: Process, down_ms: int, tries: int) -> None:
        role = leader.replica.role
        if process.is_dead:
            return
        if leader.is_dead or not isinstance(role, Leader) or not self._knows(leader):
            self._leave_later(process, down_ms, tries - 1, LEAVE_LOOK_MS)
            return
        if refusal_of_change(leader.replica, role, "removing") is None:
            self.steps.leaves(leader, role, process.node.key)

        def on_answer(error: int) -> None:
            if error in {Error.NONE, Error.VOTER_NOT_FOUND}:
                self._run.count("leave:left")
                if not process.is_dead and self._stops_nodes:
                    self._stop(process.node, down_ms)
            else:
                self._leave_later(process, down_ms, tries - 1, LEAVE_RETRY_MS)

        self._send(leader, Step(Kind.REMOVE, process.replica.key, ""), on_answer)

    def _leave_later(self, process: Process, down_ms: int, tries: int, wait_ms: int) -> None:
        def again() -> None:
            if not process.is_dead:
                self.leave(process.node, down_ms, tries)

        self._run.world.after(wait_ms * MS, again)

    def _distance_of(self, process: Process) -> Distance:
        """That of a node since its process began."""
        known = self._distances.get(process.node.id)
        if known is None or known[0] is not process:
            known = self._distances[process.node.id] = (process, Distance(process.node.id, LEAVE_APART_MS))
        return known[1]

    def _stop(self, node: Node, down_ms: int) -> None:
        self._run.count("leave:stopped")
        node.kill()
        node.start_after(down_ms * MS)

    def _knows(self, process: Process) -> bool:
        """Whether this leader has an autopilot, and has looked."""
        known = self._autopilots.get(process.node.id)
        return known is not None and known[:2] == (process, process.replica.role)

    def _describe(self, process: Process) -> DescribeQuorumResponse.TopicData.PartitionData:
        """What a leader answers to DescribeQuorum."""
        replica, role = process.replica, process.replica.role
        assert isinstance(role, Leader), "a leader that is known"
        voters = role.state.voters.values()
        return DescribeQuorumResponse.TopicData.PartitionData(
            partition_index=0, error_code=0, error_message=None, leader_id=role.leader_id, leader_epoch=role.epoch,
            high_watermark=replica.high_watermark or 0, observers=(),
            current_voters=tuple(replica_state(replica, voter, 2, process.now_ms()) for voter in voters),
        )  # fmt: skip

    def _look(self) -> None:
        run = self._run
        self.steps.see(list(run.nodes.values()))
        for process in run.ledger.running():
            if process.node.id in self.ids and process.is_listening and process.is_awake and process.steps:
                self._look_of(process)
        run.world.after(self._look_ms * MS, self._look)

    def _look_of(self, process: Process) -> None:
        role = process.replica.role
        if not isinstance(role, Leader) or process.machine.leads is None or process.replica.shutting_down:
            self._autopilots.pop(process.node.id, None)
            return
        known = self._autopilots.get(process.node.id)
        if known is None or known[:2] != (process, role):
            known = self._autopilots[process.node.id] = (process, role, Autopilot(self._rules))
        autopilot = known[2]
        self.steps.see_leader(process, role)
        controllers = {node.id: node.endpoints() for node in self._run.nodes.values()}
        report = autopilot.look(view_of(process.replica, role, controllers, process.now_ms()))
        if report.step is not None:
            self.steps.asks(process, role, report.step)
            autopilot.begin(report.step)
            self._ask(process, role, autopilot, report.step)

    def _ask(self, process: Process, role: Leader, autopilot: Autopilot, step: Step) -> None:
        def on_answer(error: int) -> None:
            is_done = error == Error.NONE
            self.steps.is_answered(process, role, step, is_done=is_done)
            if is_done:
                self.made[step.kind.value] = self.made.get(step.kind.value, 0) + 1
                self._run.count(f"autopilot:{step.kind.value}")
            if not process.is_dead:
                autopilot.end(process.now_ms(), is_done=is_done)

        self._send(process, step, on_answer)

    def _send(self, process: Process, step: Step, then: Callable[[int], None]) -> None:
        """Ask a leader for a step. then: gets the error of its answer."""
        run = self._run
        self.asked += 1
        number = -self.asked
        source = Source(FIRST_CONNECTION - self.asked, self.asked)
        request, version = request_of(step, CLUSTER, 1000), 1 if step.kind is Kind.ADD else 0
        request = decode(type(request), version, encode(request, version))
        if step.kind in {Kind.ADD, Kind.REMOVE}:
            self._administrator.note(number, step.kind.value, (step.key.id, step.key.directory_id))

        def on_answer(error: int) -> None:
            self._administrator.forget(number)
            then(error)

        # A process that dies does not answer: what it asked for may yet be made, until the next voter set is committed.
        run.world.after(2 * process.replica.config.request_timeout_ms * MS, self._forget, process, number)
        run.watch.changes.asks(process, source, request, on_answer)
        process.receive_soon(Requested(source, request, version, "CONTROLLER"))

    def _forget(self, process: Process, number: int) -> None:
        if process.is_dead:
            self._administrator.forget(number)
