"""The autopilot of one leader: what it remembers from look to look, and its report."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from raft.autopilot.report import Health, Kind, NodeState, Report
from raft.autopilot.rules import Candidate, Situation, next_step
from raft.autopilot.view import is_level, is_live
from raft.state.leader_state import UNKNOWN, Progress

if TYPE_CHECKING:
    from raft.autopilot.report import Step
    from raft.autopilot.view import Member, Rules, View
    from raft.interface.config import ReplicaKey

# A node that the autopilot removed as dead must be level for longer before it is added again, twice for each time.
DOUBLINGS_MAX = 8
# A step that failed is not tried again for this long, twice as long after each further failure, up to the second.
HOLD_MS, HOLD_MS_MAX = 1_000, 10_000


class _Seen(NamedTuple):
    health: Health
    since_ms: int
    is_voter: bool


class Autopilot:
    """Begins with a leadership, and ends with it. `look` is called every second or so; time is that of its views.

    A leader that was stopped for a while, with its clock running, knows nothing of the others: it begins anew.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._begin_ms = self._look_ms = UNKNOWN
        self._seen: dict[ReplicaKey, _Seen] = {}
        self._missing: dict[int, int] = {}  # registered controllers that do not fetch, and since when
        # Ids whose former directory was removed for the present one, and how many voters there were before.
        self._owed: dict[int, int] = {}
        self._deaths: dict[int, int] = {}  # ids that were removed as dead, and how often
        self._held: dict[ReplicaKey, int] = {}  # of steps that failed: until when
        self._failures: dict[ReplicaKey, int] = {}  # and how often since the last that succeeded
        self._voters = 0  # how many there were when the newest step was chosen
        self._pending: Step | None = None
        self._own: Progress | None = None  # what the leader's own disk has, at each look

    def look(self, view: View) -> Report:
        """What is to be done now."""
        if self._look_ms == UNKNOWN or view.now_ms - self._look_ms > self._rules.live_ms:
            self._begin_ms = view.now_ms
            self._seen.clear()
            self._missing.clear()
        self._look_ms = view.now_ms
        voter_ids = {member.key.id for member in view.members if member.is_voter}
        self._owed = {
            node_id: count for node_id, count in self._owed.items()
            if node_id not in voter_ids and len(voter_ids) < count
        }  # fmt: skip
        if self._own is None:
            self._own = Progress(view.leader)
        # A look is to the leader what a Fetch is to the others: with a slow disk it may lack what they have committed.
        self._own.on_fetched(view.durable_end, view.log_end, 0, view.now_ms)
        members = [
            member._replace(caught_up_ms=self._own.caught_up_ms) if member.key == view.leader else member
            for member in view.members
        ]
        nodes = [self._state(member, view.now_ms) for member in members]
        self._seen = {node.key: _Seen(node.health, node.since_ms, node.is_voter) for node in nodes}
        ids = Counter(node.key.id for node in nodes if not node.is_voter and node.health is not Health.SILENT)
        twice = frozenset(node_id for node_id, number in ids.items() if number > 1)
        candidates = tuple(
            self._candidate(node, member, view.now_ms, twice, is_drained=node.key.id in view.drained)
            for node, member in zip(nodes, view.members, strict=True)
            if not member.is_voter
        )
        reasons = {candidate.key: candidate.node.reason for candidate in candidates}
        reported = tuple(node._replace(reason=reasons.get(node.key, node.reason)) for node in nodes)
        obstacle = self._obstacle(view)
        if obstacle:
            return Report(reported, None, (obstacle,))
        voters = tuple(node for node in reported if node.is_voter)
        gone = self._ids_without_node(view) if view.can_unregister else ()
        self._voters = len(voters)
        step, held_by = next_step(Situation(view.now_ms, self._rules, voters, candidates, gone))
        if step is not None and view.now_ms < self._held.get(step.key, view.now_ms):
            left_ms = self._held[step.key] - view.now_ms
            held_by.append(f"{step.kind.value} {step.key.id} failed, and is tried again in {left_ms} ms")
            step = None
        return Report(reported, step, tuple(held_by))

    def begin(self, step: Step) -> None:
        """A step is asked for. There is no other until its end."""
        assert self._pending is None, f"{self._pending} is under way"
        self._pending = step

    def end(self, now_ms: int, *, is_done: bool) -> None:
        """The step was answered."""
        step, self._pending = self._pending, None
        assert step is not None, "no step is under way"
        if not is_done:
            failures = self._failures.get(step.key, 0)
            self._held[step.key] = now_ms + min(HOLD_MS << min(failures, DOUBLINGS_MAX), HOLD_MS_MAX)
            self._failures[step.key] = failures + 1
            return
        self._failures.pop(step.key, None)
        if step.kind is Kind.UNREGISTER:
            self._missing.pop(step.key.id, None)
        elif step.kind is Kind.ADD:
            # One that leaves before the next look was a voter in between: it must be level anew.
            self._seen.pop(step.key, None)
        elif step.kind is Kind.REMOVE:
            node_id = step.key.id
            if any(key.id == node_id and key != step.key for key in self._seen):
                self._owed[node_id] = self._voters
            else:
                self._deaths[node_id] = self._deaths.get(node_id, 0) + 1

    def _state(self, member: Member, now_ms: int) -> NodeState:
        if is_level(member, self._rules, now_ms):
            health, reason = Health.HEALTHY, ""
        elif is_live(member, self._rules, now_ms):
            health, reason = Health.LAGGING, "it fetches, and has not caught up"
            if self._own is not None and member.key == self._own.key:
                reason = "it leads, and its disk lacks records that it has written"
        else:
            # What was before this leader began is not known to it.
            since_ms = max(member.fetched_ms, self._begin_ms)
            is_dead = member.is_voter and self._is_dead(since_ms, now_ms)
            health = Health.DEAD if is_dead else Health.SILENT
            return NodeState(member.key, member.is_voter, health, since_ms, "it does not fetch")
        # A voter that was removed, by hand or since it stops, must be level anew before it becomes a voter again.
        seen = self._seen.get(member.key)
        is_same = seen is not None and (seen.health, seen.is_voter) == (health, member.is_voter)
        since_ms = seen.since_ms if seen is not None and is_same else now_ms
        return NodeState(member.key, member.is_voter, health, since_ms, reason)

    def _is_dead(self, silent_since_ms: int, now_ms: int) -> bool:
        dead_after_ms = self._rules.dead_after_ms
        return dead_after_ms > 0 and now_ms - silent_since_ms >= max(dead_after_ms, self._rules.live_ms)

    def _candidate(
        self, node: NodeState, member: Member, now_ms: int, twice: frozenset[int], *, is_drained: bool
    ) -> Candidate:
        """twice: ids of observers with several directories."""
        if is_drained:
            reason = f"it is drained: the dynamic config kraft.autopilot.drained.{node.key.id} names it"
            return Candidate(node._replace(reason=reason), None, member.endpoints)
        if node.health is not Health.HEALTHY:
            return Candidate(node, None, member.endpoints)
        if node.key.id in twice:
            # The other directory may be the newer one, of a node that has just lost its disk.
            return Candidate(node._replace(reason="it fetches with another directory too"), None, member.endpoints)
        times = 1 << min(self._deaths.get(node.key.id, 0), DOUBLINGS_MAX)
        ready_ms = max(node.since_ms + self._rules.stabilization_ms * times, self._held.get(node.key, 0))
        reason = ""
        if not member.endpoints:
            reason = "it has not registered an endpoint for the listener of the quorum"
        elif now_ms < ready_ms:
            reason = f"it must stay level for {ready_ms - now_ms} ms more"
        return Candidate(node._replace(reason=reason), ready_ms, member.endpoints, node.key.id in self._owed)

    def _obstacle(self, view: View) -> str:
        if not self._rules.enabled:
            return "kraft.autopilot.enable is false on the active controller"
        if view.is_paused:
            return "it is paused: kraftctl autopilot resume ends that"
        if self._pending is not None:
            return f"the last step is under way: {self._pending.kind.value} {self._pending.key.id}"
        if not any(member.is_voter and member.key == view.leader for member in view.members):
            return "the active controller is no voter any more"
        return view.refusal

    def _ids_without_node(self, view: View) -> tuple[int, ...]:
        """The registered controllers that have been neither voters nor live observers for dead_after_ms."""
        here = {member.key.id for member in view.members if member.is_voter}
        here |= {member.key.id for member in view.members if is_live(member, self._rules, view.now_ms)}
        self._missing = {node_id: self._missing.get(node_id, view.now_ms) for node_id in sorted(view.registered - here)}
        return tuple(
            node_id for node_id, since_ms in self._missing.items()
            if self._is_dead(since_ms, view.now_ms)
        )  # fmt: skip
