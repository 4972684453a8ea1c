"""Roles: the allowed transitions, the valid states of each, and that no epoch or offset goes back.

S03 MonotonicEpoch (in memory), S09 MonotonicHW (in memory), S10 WatermarkWithinLog, S14 RoleTransitionLegal, S15
ValidRolesAndStates. The table of transitions is written down again here, from the protocol, so that the code is not
compared with itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.state.roles import Candidate, Follower, Leader, Resigned
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from raft.state.roles import Role
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process

SAME, UP, ONE_UP, NOT_DOWN = range(4)

# From, to: what the epoch does.
TRANSITIONS = {
    ("Unattached", "Unattached"): NOT_DOWN,
    ("Unattached", "Prospective"): SAME,
    ("Unattached", "Follower"): NOT_DOWN,
    ("Prospective", "Prospective"): SAME,
    ("Prospective", "Unattached"): NOT_DOWN,
    ("Prospective", "Candidate"): ONE_UP,
    ("Prospective", "Follower"): NOT_DOWN,
    ("Candidate", "Prospective"): SAME,
    ("Candidate", "Unattached"): UP,
    ("Candidate", "Follower"): NOT_DOWN,
    ("Candidate", "Leader"): SAME,
    ("Leader", "Unattached"): UP,
    ("Leader", "Follower"): UP,
    ("Leader", "Resigned"): SAME,
    ("Follower", "Follower"): NOT_DOWN,
    ("Follower", "Unattached"): UP,
    ("Follower", "Prospective"): SAME,
    ("Resigned", "Unattached"): UP,
    ("Resigned", "Follower"): UP,
    ("Resigned", "Prospective"): SAME,
}


class Roles:
    """Checks the role of each node, after each of its steps."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._noted: dict[int, tuple[str, int] | None] = {}  # node id: name and epoch of the role last reported
        self._watermarks: dict[int, int | None] = {}

    def on_started(self, process: Process) -> None:
        self._noted[process.node.id] = None
        self._watermarks[process.node.id] = None

    def on_noted(self, process: Process, name: str, fields: dict[str, Any]) -> None:
        """The core reports each change of its role."""
        if name != "role_changed":
            return
        node_id = process.node.id
        was, now, epoch = fields["was"], fields["now"], fields["epoch"]
        before = self._noted[node_id]
        self._noted[node_id] = (now, epoch)
        if (was, now) not in TRANSITIONS:
            raise Violation("S14", f"node {node_id}, {was}, became {now} in epoch {epoch}")
        if before is None:
            return
        if before[0] != was:
            raise Violation("S14", f"node {node_id}, {before[0]}, became {now}, but reports that it was {was}")
        rule, old = TRANSITIONS[was, now], before[1]
        if not {SAME: epoch == old, UP: epoch > old, ONE_UP: epoch == old + 1, NOT_DOWN: epoch >= old}[rule]:
            raise Violation("S14", f"node {node_id}, {was} of epoch {old}, became {now} of epoch {epoch}")

    def on_stepped(self, process: Process) -> None:
        replica = process.replica
        log = replica.log
        watermark = replica.high_watermark
        if not log.start <= log.committed <= log.end or log.durable_end > log.end:
            text = (
                f"node {process.node.id}: the log goes from {log.start} to {log.end}, is committed up to"
                f" {log.committed} and flushed up to {log.durable_end}"
            )
            raise Violation("S10", text)
        if watermark is not None and not watermark <= log.committed:
            text = f"node {process.node.id}: high watermark {watermark}, committed {log.committed}"
            raise Violation("S10", text)
        known = self._watermarks[process.node.id]
        if watermark != known:
            self._watermarks[process.node.id] = watermark
            # A role that begins may not know it; a known watermark does not fall.
            if watermark is not None and known is not None and watermark < known:
                raise Violation("S09", f"the high watermark of node {process.node.id} fell from {known} to {watermark}")

    def became(self, process: Process, was: Role | None, role: Role) -> None:
        if was is not None and role.epoch < was.epoch:
            raise Violation("S03", f"node {process.node.id} went from epoch {was.epoch} back to {role.epoch}")
        self._is_valid(process, role)

    def _is_valid(self, process: Process, role: Any) -> None:
        node_id = process.node.id
        if isinstance(role, (Leader, Resigned)):
            valid = role.leader_id == node_id and (isinstance(role, Resigned) or self._ledger.may_stand(process))
        elif isinstance(role, Follower):
            valid = role.leader_id != node_id and bool(role.endpoints)
        elif isinstance(role, Candidate):
            valid = role.voted.id == node_id and self._ledger.may_stand(process)
        else:
            valid = role.leader_id != node_id
        if not valid:
            raise Violation("S15", f"node {node_id} is {role}")
