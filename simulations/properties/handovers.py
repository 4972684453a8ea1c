"""Handovers, L16: a leader that shuts down resigns when the voters that fetch from it have its whole log, and ends when
it knows that another leader has committed a record, or that no other voter runs; or when the time for either is over. A
leader that is being removed hands over too. A node that has no leadership to hand over ends at once.

The successors that a leader names are ordered by their logs; of equal ones those without a connection are the last.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from raft.handover import PART_TO_COPY
from raft.interface import effects as do
from raft.interface.inputs import Answered, Refused, Requested, Resign, ShutDown
from raft.state.roles import Follower, Leader, Resigned
from records.messages.elections import BeginQuorumEpochRequest, EndQuorumEpochRequest, VoteRequest
from simulations.properties.promptness import AT_ONCE_US, WAITS
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from raft.state.roles import Role
    from simulations.properties.promptness import Promptness
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process
    from simulations.world.world import World


class Handovers:
    """Checks when a node that shuts down resigns, and when it ends."""

    def __init__(self, ledger: Ledger, world: World, promptness: Promptness) -> None:
        self._ledger = ledger
        self._world = world
        self._promptness = promptness
        self._asked: dict[int, int] = {}  # node id: when its process was asked to shut down (ms)
        self._resigns: set[int] = set()  # ids of nodes whose processes were asked to resign
        self._gone: dict[int, set[int]] = {}  # node id: peers that refused its connections, and sent nothing since
        self.inputs: dict[type, Any] = {
            ShutDown: self._shuts_down, Resign: self._is_asked_to_resign, Refused: self._is_refused,
            Requested: self._was_asked, Answered: self._was_answered,
        }  # fmt: skip
        self.performs: dict[type, Any] = {do.ShutdownComplete: self._completes}

    def on_started(self, process: Process) -> None:
        self._asked.pop(process.node.id, None)
        self._resigns.discard(process.node.id)
        self._gone[process.node.id] = set()

    def became(self, process: Process, was: Role | None, role: Role) -> None:
        if isinstance(was, Leader) and isinstance(role, Resigned):
            self._check_successors(process, was, role)
        if process.node.id not in self._asked or not isinstance(was, Leader) or not isinstance(role, Resigned):
            return
        state = was.state
        is_forced = (
            state.is_removed or process.node.id in self._resigns or self._now_ms(process) >= state.quorum_deadline_ms
        )
        if is_forced or self._is_resignation_due(process):
            return
        end_offset = process.replica.log.end
        lacking = [
            voter.key.id
            for voter in state.voters.values()
            if voter.connection is not None and voter.end_offset < end_offset
        ]
        if lacking:
            waited_ms = self._waited_ms(process)
            text = f"node {process.node.id} shuts down, and resigns after {waited_ms} ms at offset {end_offset}"
            raise Violation("L16", f"{text}, which nodes {lacking} have not reached")

    def _check_successors(self, process: Process, was: Leader, role: Resigned) -> None:
        """The first successor stands at once: one that may not run should not be it."""
        voters = was.state.voters
        successors = [voters[key.id] for key in role.successors]
        for before, after in pairwise(successors):
            if (-before.end_offset, before.connection is None) > (-after.end_offset, after.connection is None):
                text = f"node {process.node.id} resigns, and prefers node {before.key.id} to node {after.key.id}"
                raise Violation("L16", f"{text}, which is connected, or has the longer log")

    def _shuts_down(self, process: Process, _event: ShutDown, effects: list[Any]) -> None:
        if process.node.id in self._asked:
            return
        self._asked[process.node.id] = self._now_ms(process)
        role = process.replica.role
        kinds = {type(effect) for effect in effects}
        waits = self._promptness.is_saving(process) or do.SaveElection in kinds
        if not (isinstance(role, (Leader, Resigned)) or do.ShutdownComplete in kinds or waits):
            raise Violation("L16", f"node {process.node.id} is {role}, has nothing to hand over, and does not stop")
        if do.ShutdownComplete not in kinds:
            self._look_for_end(process)
            self._look_for_resignation(process, role)

    def _look_for_resignation(self, process: Process, role: Role, late: int = 0) -> None:
        """Whether a leader that shuts down has resigned in time. late: how often it was seen after that time."""
        if process.is_dead or process.has_failed or not isinstance(role, Leader) or process.replica.role is not role:
            return
        if not self._is_resignation_due(process) or not process.is_awake or process.clock.frozen:
            late = 0
        elif late >= WAITS:
            raise Violation("L16", f"node {process.node.id} is to shut down, and does not resign")
        else:
            late += 1
        self._world.after(AT_ONCE_US, self._look_for_resignation, process, role, late)

    def _look_for_end(self, process: Process, waits: int = 0) -> None:
        """Whether a leader that shut down has ended: all voters know it, and the time for an election is over."""
        role = process.replica.role
        if process.is_dead or process.has_failed or process.replica.stopped:
            return
        must_notify = isinstance(role, Resigned) and bool(role.unacked)
        if must_notify or not process.is_awake or process.clock.frozen or self._promptness.is_saving(process):
            self._world.after(AT_ONCE_US, self._look_for_end, process, waits)
        elif waits < WAITS:
            wait_us = self._stay_ms(process) * MS + AT_ONCE_US
            self._world.after(wait_us, self._look_for_end, process, waits + 1)
        else:
            raise Violation("L16", f"node {process.node.id} is {role}, has notified its peers, and does not stop")

    def _is_asked_to_resign(self, process: Process, _event: Resign, _effects: list[Any]) -> None:
        self._resigns.add(process.node.id)

    def _is_refused(self, process: Process, event: Refused, _effects: list[Any]) -> None:
        self._gone[process.node.id].add(event.peer)

    def _was_answered(self, process: Process, event: Answered, _effects: list[Any]) -> None:
        self._is_heard(process, event.peer)

    def _was_asked(self, process: Process, event: Requested, _effects: list[Any]) -> None:
        request = event.request
        if isinstance(request, VoteRequest) and request.topics:
            self._is_heard(process, request.topics[0].partitions[0].replica_id)
        elif isinstance(request, (BeginQuorumEpochRequest, EndQuorumEpochRequest)) and request.topics:
            self._is_heard(process, request.topics[0].partitions[0].leader_id)

    def _is_heard(self, process: Process, peer: int) -> None:
        """A peer runs. It is too late where the process has decided to end, and its election is still being saved."""
        if not self._promptness.is_saving(process):
            self._gone[process.node.id].discard(peer)

    def _completes(self, process: Process, _effect: do.ShutdownComplete) -> None:
        replica = process.replica
        role = replica.role
        others = set(self._ledger.voters(process).ids) - {process.node.id}
        if replica.handover is None or not others or not self._ledger.may_stand(process):
            return
        waited_ms = self._waited_ms(process)
        text = f"node {process.node.id} led and shuts down: it ends after {waited_ms} ms"
        if isinstance(role, Leader):
            raise Violation("L16", f"{text} without having resigned, and its removal is not committed")
        if waited_ms >= self._stay_ms(process) or others <= self._gone[process.node.id]:
            return
        if not isinstance(role, Follower):
            raise Violation("L16", f"{text} as {role}, and its last successor may need its vote")
        start_offset = next((start for epoch, start in reversed(replica.log.epochs) if epoch == role.epoch), None)
        if start_offset is None or replica.log.committed <= start_offset:
            raise Violation("L16", f"{text}, and no record of epoch {role.epoch} is committed, as far as it knows")

    def _waited_ms(self, process: Process) -> int:
        """The time since the process was asked to shut down."""
        return self._now_ms(process) - self._asked[process.node.id]

    def _stay_ms(self, process: Process) -> int:
        """For how long a former leader stays, so that the last successor may have its vote."""
        config = process.replica.config
        return config.handover_ms + min(config.handover_ms, config.election_backoff_max_ms // 2)

    def _is_resignation_due(self, process: Process) -> bool:
        return self._waited_ms(process) >= process.replica.config.handover_ms // PART_TO_COPY

    def _now_ms(self, process: Process) -> int:
        return process.clock.ms(self._world.now)
