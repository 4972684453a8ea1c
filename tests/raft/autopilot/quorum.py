"""A quorum as its leader sees it, for tests of the autopilot: nodes that fetch, stop and come back, and its clock."""

from __future__ import annotations

from raft.autopilot.autopilot import Autopilot
from raft.autopilot.report import Kind, Report, Step
from raft.autopilot.view import Member, Rules, View
from raft.interface.config import Endpoint, ReplicaKey
from raft.state.leader_state import UNKNOWN

LOOK_MS = 1000
RULES = Rules(enabled=True, live_ms=2000, stabilization_ms=5000)


def key(node_id: int, directory: int = 1) -> ReplicaKey:
    return ReplicaKey(node_id, bytes(15) + bytes([directory]))


class Quorum:
    """Node 1 leads. steps: those that the autopilot asked for, each with its time; all of them succeed at once, unless
    `fails`. asked: the times and ids of all that it asked for.
    """

    def __init__(self, voters: int, observers: int = 0, rules: Rules = RULES) -> None:
        self.now_ms = 0
        self.voters = [key(node_id) for node_id in range(1, voters + 1)]
        self.observers = [key(voters + 1 + place) for place in range(observers)]
        self.fetched_ms: dict[ReplicaKey, int] = {}
        self.caught_up_ms: dict[ReplicaKey, int] = {}
        self.down: set[ReplicaKey] = set()
        self.lagging: set[ReplicaKey] = set()
        self.registered = {each.id for each in (*self.voters, *self.observers)}
        self.is_paused, self.refusal, self.can_unregister = False, "", False
        self.fails = False
        self.log_end = self.durable_end = 0
        self.autopilot = Autopilot(rules)
        self.steps: list[tuple[int, Kind, ReplicaKey]] = []
        self.asked: list[tuple[int, int]] = []

    def run(self, seconds: float) -> Report:
        """Look once a second, for so long, and make the steps; the last report."""
        end_ms = self.now_ms + int(seconds * 1000)
        report = self.look()
        while self.now_ms < end_ms:
            self.now_ms += LOOK_MS
            report = self.look()
        return report

    def look(self) -> Report:
        report = self.autopilot.look(self.view())
        if report.step is not None:
            self.autopilot.begin(report.step)
            self.asked.append((self.now_ms, report.step.key.id))
            if not self.fails:
                self._make(report.step)
            self.autopilot.end(self.now_ms, is_done=not self.fails)
        return report

    def view(self) -> View:
        for each in (*self.voters, *self.observers):
            if each not in self.down:
                self.fetched_ms[each] = self.now_ms
                if each not in self.lagging:
                    self.caught_up_ms[each] = self.now_ms
        members = [self._member(each, is_voter=True) for each in self.voters]
        members += [self._member(each, is_voter=False) for each in self.observers]
        return View(
            self.now_ms, key(1), tuple(sorted(members)), frozenset(self.registered), self.refusal, self.is_paused,
            self.can_unregister, log_end=self.log_end, durable_end=self.durable_end,
        )  # fmt: skip

    def replace_disk(self, node_id: int) -> None:
        """The voter of this id is down for ever, and an observer of its id has an empty directory."""
        self.down.add(key(node_id))
        self.observers.append(key(node_id, 2))

    @property
    def kinds(self) -> list[tuple[str, int]]:
        return [(kind.value, each.id) for _, kind, each in self.steps]

    def _member(self, each: ReplicaKey, *, is_voter: bool) -> Member:
        endpoints = () if is_voter else (Endpoint("CONTROLLER", f"c{each.id}", 9093),)
        fetched_ms, caught_up_ms = self.fetched_ms.get(each, UNKNOWN), self.caught_up_ms.get(each, UNKNOWN)
        return Member(each, is_voter, fetched_ms, caught_up_ms, endpoints)

    def _make(self, step: Step) -> None:
        self.steps.append((self.now_ms, step.kind, step.key))
        if step.kind is Kind.UNREGISTER:
            self.registered.discard(step.key.id)
            return
        joins, leaves = self.observers, self.voters
        if step.kind is Kind.ADD:
            joins, leaves = self.voters, self.observers
        leaves.remove(step.key)
        joins.append(step.key)
