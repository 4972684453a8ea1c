"""Handovers, L16: a leader that shuts down resigns when the voters that fetch from it have its whole log, and ends when
it knows that another leader has committed a record; or when the time for either is over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft import effects as do
from raft.handover import PART_TO_COPY
from raft.inputs import Resign, ShutDown
from raft.roles import Follower, Leader, Resigned
from simulations.properties.promptness import AT_ONCE_US, WAITS
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from raft.roles import Role
    from simulations.world.process import Process
    from simulations.world.world import World


class Handovers:
    """Checks when a node that shuts down resigns, and when it ends."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked: dict[int, tuple[int, int]] = {}  # node id: life in which it was asked to shut down, and when
        self._resigns: set[int] = set()  # ids of nodes that were asked to resign
        self.inputs: dict[type, Any] = {ShutDown: self._shuts_down, Resign: self._is_asked_to_resign}
        self.performs: dict[type, Any] = {do.ShutdownComplete: self._ends}

    def started(self, process: Process) -> None:
        self._asked.pop(process.node.id, None)
        self._resigns.discard(process.node.id)

    def became(self, process: Process, was: Role | None, role: Role) -> None:
        waited_ms = self._waited_ms(process)
        if waited_ms is None or not isinstance(was, Leader) or not isinstance(role, Resigned):
            return
        state = was.state
        is_forced = (
            state.is_removed or process.node.id in self._resigns or self._now_ms(process) >= state.quorum_deadline_ms
        )
        if is_forced or waited_ms >= process.replica.config.handover_ms // PART_TO_COPY:
            return
        end_offset = process.replica.log.end
        lacking = [
            voter.key.id
            for voter in state.voters.values()
            if voter.connection is not None and voter.end_offset < end_offset
        ]
        if lacking:
            text = f"node {process.node.id} shuts down, and resigns after {waited_ms} ms at offset {end_offset}"
            raise Violation("L16", f"{text}, which nodes {lacking} have not reached")

    def _shuts_down(self, process: Process, _event: ShutDown, _effects: list[Any]) -> None:
        if process.node.id not in self._asked:
            self._asked[process.node.id] = (process.life, self._now_ms(process))
            self._look(process, process.replica.role)

    def _look(self, process: Process, role: Role, late: int = 0) -> None:
        """Whether a leader that shuts down has resigned in time. late: how often it was seen after that time."""
        if process.is_dead or process.has_failed or not isinstance(role, Leader) or process.replica.role is not role:
            return
        is_due = (self._waited_ms(process) or 0) >= process.replica.config.handover_ms // PART_TO_COPY
        if not is_due or not process.is_awake or process.clock.frozen:
            late = 0
        elif late >= WAITS:
            raise Violation("L16", f"node {process.node.id} is to shut down, and does not resign")
        else:
            late += 1
        self._world.after(AT_ONCE_US, self._look, process, role, late)

    def _is_asked_to_resign(self, process: Process, _event: Resign, _effects: list[Any]) -> None:
        self._resigns.add(process.node.id)

    def _ends(self, process: Process, _effect: do.ShutdownComplete) -> None:
        replica, waited_ms = process.replica, self._waited_ms(process)
        role, handover = replica.role, replica.handover
        if waited_ms is None or handover is None or not isinstance(role, Follower) or not replica.is_voter:
            return
        others = set(replica.voters.ids) - {process.node.id}
        if waited_ms >= replica.config.handover_ms or others <= handover.gone:
            return
        start_offset = next((start for epoch, start in reversed(replica.log.epochs) if epoch == role.epoch), None)
        if start_offset is None or replica.log.committed <= start_offset:
            text = f"node {process.node.id} led and shuts down: it ends after {waited_ms} ms"
            raise Violation("L16", f"{text}, and no record of epoch {role.epoch} is committed, as far as it knows")

    def _waited_ms(self, process: Process) -> int | None:
        """For how long the process has been asked to shut down; None where it was not asked."""
        life, asked_ms = self._asked.get(process.node.id, (0, 0))
        return self._now_ms(process) - asked_ms if life == process.life else None

    def _now_ms(self, process: Process) -> int:
        return process.clock.ms(self._world.now)
