"""When faults strike: at a time, at a point that a node reaches, or when a state holds (see `plans.Fault`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.state.roles import Candidate, Follower, Leader
from simulations.world.world import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.world.ledger import Ledger
    from simulations.world.process import Process

# From the failure of a disk until an operator restarts its node.
OPERATOR_US = SECOND


class Pending:
    """An armed trigger. left: how many more times its point must be reached."""

    __slots__ = ("act", "left", "node", "role")

    def __init__(self, left: int, node: int, role: str, act: Callable[[Process], None]) -> None:
        self.left = left
        self.node = node
        self.role = role
        self.act = act


class Triggers:
    """armed: pending triggers, by the name of the point: `input:Saved`, `before:Append`, `disk:sync:log` …"""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.armed_states: dict[str, list[Pending]] = {}
        self.states: list[tuple[str, Callable[[Process], None]]] = []
        self.operator_delay_us = OPERATOR_US

    def arm(self, name: str, pending: Pending) -> None:
        self.armed_states.setdefault(name, []).append(pending)

    def arm_state(self, name: str, act: Callable[[Process], None]) -> None:
        assert name in STATES, f"no state {name!r}; known are {', '.join(STATES)}"
        self.states.append((name, act))

    def disarm(self) -> None:
        """Remove all triggers."""
        self.armed_states.clear()
        self.states.clear()

    def reach(self, name: str, process: Process) -> None:
        """A node is at a point. Raises Dead if it ends there."""
        for pending in list(self.armed_states.get(name, ())):
            if pending.node not in {0, process.node.id}:
                continue
            if pending.role and pending.role != role_of(process):
                continue
            pending.left -= 1
            if pending.left <= 0:
                waiting = self.armed_states[name]
                waiting.remove(pending)
                if not waiting:
                    del self.armed_states[name]
                pending.act(process)

    def look(self, process: Process) -> None:
        """A step is over: check the states that faults wait for."""
        for entry in list(self.states):
            if STATES[entry[0]](self._ledger):
                self.states.remove(entry)
                entry[1](process)


def role_of(process: Process) -> str:
    """The name of its role; empty before it has one."""
    return type(process.replica.role).__name__ if process.steps else ""


# States of the cluster that faults wait for.


def _leaders(ledger: Ledger) -> list[Process]:
    return [each for each in ledger.running() if each.steps and isinstance(each.replica.role, Leader)]


def _has_unflushed(ledger: Ledger) -> bool:
    """A leader has records that are not on its own disk."""
    return any(each.replica.log.durable_end < each.replica.log.end for each in _leaders(ledger))


def _has_uncommitted(ledger: Ledger) -> bool:
    """A leader has three batches or more that are not committed."""
    return any(
        (shadow := ledger.shadow(each)).end > ledger.history.end and len(shadow.ends) > 3
        and shadow.ends[-3] > ledger.history.end
        for each in _leaders(ledger)
    )  # fmt: skip


def _two_leaders(ledger: Ledger) -> bool:
    """Two nodes lead, in two epochs."""
    return len(_leaders(ledger)) > 1


def _election(ledger: Ledger) -> bool:
    """A node is a candidate."""
    return any(each.steps and isinstance(each.replica.role, Candidate) for each in ledger.running())


def _lagging(ledger: Ledger) -> bool:
    """A voter that runs lacks ten offsets or more of what is committed."""
    return any(
        each.steps and each.node.id in ledger.voter_ids and each.replica.log.end + 10 <= ledger.history.end
        for each in ledger.running()
    )


def _downloading(ledger: Ledger) -> bool:
    """A snapshot is being sent from a leader to a follower, beyond its first part."""
    return any(
        each.steps
        and isinstance(each.replica.role, Follower)
        and each.replica.role.state.download is not None
        and each.replica.role.state.download.position > 0
        for each in ledger.running()
    )


def _has_diverged(ledger: Ledger) -> bool:
    """A node has records that will be truncated: a later epoch has committed others."""
    history = ledger.history
    for shadow in ledger.shadows.values():
        if shadow.ends and shadow.end <= history.end and history.chain_at.get(shadow.end) != shadow.last:
            return True
    return False


STATES: dict[str, Callable[[Ledger], bool]] = {
    "unflushed": _has_unflushed,
    "uncommitted": _has_uncommitted,
    "two-leaders": _two_leaders,
    "election": _election,
    "lagging": _lagging,
    "downloading": _downloading,
    "diverged": _has_diverged,
}
