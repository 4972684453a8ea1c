"""Handovers, L16: a leader that shuts down resigns when the voters that fetch from it have its whole log, and ends when
it knows that another leader has committed a record; or when the time for either is over. A node that has no leadership
to hand over ends at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft import effects as do
from raft.handover import PART_TO_COPY
from raft.inputs import Resign, ShutDown
from raft.roles import Follower, Leader, Resigned
from simulations.properties.promptness import AT_ONCE_US, WAITS
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from raft.roles import Role
    from simulations.properties.promptness import Promptness
    from simulations.world.process import Process
    from simulations.world.world import World


class Handovers:
    """Checks when a node that shuts down resigns, and when it ends."""

    def __init__(self, world: World, promptness: Promptness) -> None:
        self._world = world
        self._promptness = promptness
        self._asked: dict[int, int] = {}  # node id: when its process was asked to shut down (ms)
        self._resigns: set[int] = set()  # ids of nodes whose processes were asked to resign
        self.inputs: dict[type, Any] = {ShutDown: self._shuts_down, Resign: self._is_asked_to_resign}
        self.performs: dict[type, Any] = {do.ShutdownComplete: self._completes}

    def started(self, process: Process) -> None:
        self._asked.pop(process.node.id, None)
        self._resigns.discard(process.node.id)

    def became(self, process: Process, was: Role | None, role: Role) -> None:
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
            wait_us = process.replica.config.handover_ms * MS + AT_ONCE_US
            self._world.after(wait_us, self._look_for_end, process, waits + 1)
        else:
            raise Violation("L16", f"node {process.node.id} is {role}, has notified its peers, and does not stop")

    def _is_asked_to_resign(self, process: Process, _event: Resign, _effects: list[Any]) -> None:
        self._resigns.add(process.node.id)

    def _completes(self, process: Process, _effect: do.ShutdownComplete) -> None:
        replica = process.replica
        role, handover = replica.role, replica.handover
        if handover is None or not isinstance(role, Follower) or not replica.is_voter:
            return
        waited_ms = self._waited_ms(process)
        others = set(replica.voters.ids) - {process.node.id}
        if waited_ms >= replica.config.handover_ms or others <= handover.gone:
            return
        start_offset = next((start for epoch, start in reversed(replica.log.epochs) if epoch == role.epoch), None)
        if start_offset is None or replica.log.committed <= start_offset:
            text = f"node {process.node.id} led and shuts down: it ends after {waited_ms} ms"
            raise Violation("L16", f"{text}, and no record of epoch {role.epoch} is committed, as far as it knows")

    def _waited_ms(self, process: Process) -> int:
        """For how long the process has been asked to shut down."""
        return self._now_ms(process) - self._asked[process.node.id]

    def _is_resignation_due(self, process: Process) -> bool:
        return self._waited_ms(process) >= process.replica.config.handover_ms // PART_TO_COPY

    def _now_ms(self, process: Process) -> int:
        return process.clock.ms(self._world.now)
