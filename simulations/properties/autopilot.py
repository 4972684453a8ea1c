"""The autopilot (`raft/autopilot`): S31 AutopilotSafety.

S31: an autopilot asks for one change at a time. It removes a voter only where a majority of the voters is alive and has
what was committed, also of those that stay; and only one that has been silent for the time of a dead one, or whose node
has another disk. It adds a node only where the quorum gains by it: one that was alive for the stabilization time, up to
an odd number of voters and one in each zone; one that it removed as dead not before twice that time; and one that was
removed anyhow not before that time; and no directory that its node has lost, as far as the leader can know. A voter
that leaves since it stops asks for that only where three voters stay, and a majority as above.

What is alive and what is on which disk comes from the world, and not from what a leader believes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raft.autopilot.report import Kind
from raft.interface.config import ReplicaKey
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from raft.autopilot.report import Step
    from raft.autopilot.view import Rules
    from raft.state.roles import Leader
    from simulations.world.ledger import Ledger
    from simulations.world.process import Node, Process
    from simulations.world.voter_sets import Key
    from simulations.world.world import World


# How many voters stay, at least, when one leaves.
STAYING_MIN = 3


class Life(NamedTuple):
    """When a node with a directory was alive, in us: since when without a gap, and at last."""

    since: int
    last: int


class Leadership:
    """What the property knows of one leadership. since: world's time. ends: (time, high watermark), oldest first."""

    def __init__(self, now: int) -> None:
        self.since = now
        self.pending = 0
        self.ends: list[tuple[int, int]] = []
        self.replaced: set[int] = set()  # ids whose former directory was removed
        self.dead: dict[Key, int] = {}  # keys that were removed as dead, and when
        self.voters: dict[Key, int] = {}  # when each was a voter at last


class AutopilotSteps:
    """Checks each step that an autopilot asks for. slack: of a time that is measured twice, in us.

    A leader knows of a Fetch when it handles it: one that did not run for less than live_ms takes a Fetch of then for
    one of now. So what it knows may be twice live_ms old.
    """

    def __init__(self, world: World, ledger: Ledger, rules: Rules, slack: int) -> None:
        self._world, self._ledger, self._rules, self._slack = world, ledger, rules, slack
        self._window = 2 * rules.live_ms * MS + slack
        self._lives: dict[Key, Life] = {}
        self._leaderships: dict[int, tuple[Any, Leadership]] = {}  # by node, with the role

    def see(self, nodes: list[Node]) -> None:
        """Called at each look, before it: which nodes are alive now."""
        now = self._world.now
        for node in nodes:
            if self._is_alive(node):
                life = self._lives.get(node.key)
                has_gap = life is None or now - life.last > self._window
                self._lives[node.key] = Life(now if life is None or has_gap else life.since, now)

    def see_leader(self, process: Process, role: Leader) -> None:
        """Called at each look of this leader, before it."""
        now, leadership = self._world.now, self._leadership(process, role)
        leadership.ends.append((now, process.replica.high_watermark or 0))
        leadership.voters |= dict.fromkeys(self._ledger.voters(process).keys, now)
        while len(leadership.ends) > 1 and leadership.ends[1][0] < now - self._window:
            leadership.ends.pop(0)

    def asks(self, process: Process, role: Leader, step: Step) -> None:
        """An autopilot asks for a step."""
        leadership = self._leadership(process, role)
        leader = f"node {process.node.id}, leader of epoch {role.epoch}"
        who = f"the autopilot of {leader}, asks to {step.kind.value} {step.key}"
        if leadership.pending:
            raise Violation("S31", f"{who}, while another of its steps is under way")
        leadership.pending += 1
        check = self._check_removal if step.kind is Kind.REMOVE else self._check_addition
        check(who, process, role, leadership, step)

    def leaves(self, process: Process, role: Leader, key: Key) -> None:
        """A voter that stops asks this leader to remove it."""
        keys = self._ledger.voters(process).keys
        who = f"voter {key} leaves, with node {process.node.id} as the leader of epoch {role.epoch}"
        if len(keys) - 1 < STAYING_MIN:
            raise Violation("S31", f"{who}, of {[each[0] for each in keys]} alone")
        # A leader with a slow disk may lack there what is committed, and counts itself: the voter that leaves stops in
        # any case, and without its leaving a majority would need as many of the others.
        self._check_majority(who, process, role, self._leadership(process, role), key, own=process.node.key)

    def is_answered(self, process: Process, role: Leader, step: Step, *, is_done: bool) -> None:
        """The step is over."""
        leadership = self._leadership(process, role)
        leadership.pending -= 1
        if is_done and step.kind is Kind.ADD:
            leadership.voters[step.key.id, step.key.directory_id] = self._world.now
        if is_done and step.kind is Kind.REMOVE:
            if self._ledger.nodes[step.key.id].key != step.key:
                leadership.replaced.add(step.key.id)
            else:
                leadership.dead[step.key] = self._world.now

    def _check_removal(self, who: str, process: Process, role: Leader, leadership: Leadership, step: Step) -> None:
        self._check_majority(who, process, role, leadership, (step.key.id, step.key.directory_id))
        if self._ledger.nodes[step.key.id].key != step.key:
            return  # its disk is lost
        fetched_ms = role.state.voters[step.key.id].fetched_ms
        silent_ms = min(process.now_ms() - fetched_ms, (self._world.now - leadership.since + self._slack) // MS)
        if not self._rules.dead_after_ms or silent_ms < self._rules.dead_after_ms:
            raise Violation("S31", f"{who}, which is silent for {silent_ms} ms alone")

    def _check_majority(
        self, who: str, process: Process, role: Leader, leadership: Leadership, leaving: Key, own: Key | None = None
    ) -> None:
        """own: of the leader, where it counts itself whatever is on its disk."""
        keys = self._ledger.voters(process).keys
        live_ms, now_ms = self._rules.live_ms, process.now_ms()
        for what, healthy in (
            ("alive with the log", [key for key in keys if key == own or self._is_healthy(key, leadership)]),
            ("level, as the leader knows", [
                key for key in keys
                if key == process.node.key or now_ms - role.state.voters[key[0]].caught_up_ms <= live_ms
            ]),
        ):  # fmt: skip
            staying = [key for key in healthy if key != leaving]
            if len(healthy) < len(keys) // 2 + 1 or len(staying) < (len(keys) - 1) // 2 + 1:
                ids, healthy_ids = [key[0] for key in keys], [key[0] for key in healthy]
                raise Violation("S31", f"{who} of {ids}; {what}: {healthy_ids}")

    def _check_addition(self, who: str, process: Process, role: Leader, leadership: Leadership, step: Step) -> None:
        rules, key, now = self._rules, step.key, self._world.now
        present = role.state.observers.get(ReplicaKey(*self._ledger.nodes[step.key.id].key))
        if present is not None and present.key != step.key and process.now_ms() - present.fetched_ms <= rules.live_ms:
            raise Violation("S31", f"{who}, which has lost that directory, and fetches with another one")
        life = self._lives.get(key)
        stable = rules.stabilization_ms * MS
        if life is None or now - life.since < stable - self._slack:
            raise Violation("S31", f"{who}, which is not alive for {rules.stabilization_ms} ms: {life}")
        removed = leadership.dead.get(key)
        if removed is not None and now - removed < 2 * stable - self._slack:
            raise Violation("S31", f"{who}, which it removed {(now - removed) // MS} ms ago")
        was_voter = leadership.voters.get(key)
        if was_voter is not None and now - was_voter < stable - self._slack:
            raise Violation("S31", f"{who}, which was a voter {(now - was_voter) // MS} ms ago")
        keys = self._ledger.voters(process).keys
        zones = {rules.zones.get(other[0]) for other in keys} - {None}
        if rules.zones.get(step.key.id) in zones:
            raise Violation("S31", f"{who}; its zone has a voter: {[other[0] for other in keys]}")
        if step.key.id in leadership.replaced:
            return  # it gets the place of its former self
        # Also one that has lost its disk since: the leader learns of that a while later.
        others = {other[0] for other in self._lives if other not in keys and self._was_alive(other)}
        goal = min(len(keys) + len(others), rules.voters_max)
        if len(keys) >= goal - 1 + goal % 2:
            raise Violation("S31", f"{who} to {len(keys)} voters, with {len(others)} others alive")

    def _is_healthy(self, key: Key, leadership: Leadership) -> bool:
        """Whether a voter is alive, and has on its disk what this leader knew to be committed a while ago."""
        node = self._ledger.nodes[key[0]]
        return node.key == key and self._was_alive(key) and self._durable_end(node) >= leadership.ends[0][1]

    def _durable_end(self, node: Node) -> int:
        view = self._ledger.durable(node)
        return max([view.segments_end(), *(snapshot.end_offset for snapshot in view.snapshots)])

    def _was_alive(self, key: Key) -> bool:
        life = self._lives.get(key)
        return life is not None and self._world.now - life.last <= self._window

    def _leadership(self, process: Process, role: Leader) -> Leadership:
        known = self._leaderships.get(process.node.id)
        if known is None or known[0] is not role:
            known = self._leaderships[process.node.id] = (role, Leadership(self._world.now))
        return known[1]

    @staticmethod
    def _is_alive(node: Node) -> bool:
        process = node.process
        return process is not None and not process.is_dead and not process.has_failed and process.is_listening
