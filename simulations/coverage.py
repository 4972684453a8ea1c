"""What worlds have come to: which roles followed which, who was told what in which role, which faults struck."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgpack import Unpacker

from simulations.messages import IS_ANSWER
from simulations.properties.roles import TRANSITIONS
from simulations.trace import ARRIVAL, LIFE, MESSAGE, NOTE, STEP

if TYPE_CHECKING:
    from simulations.outcome import Outcome
    from simulations.plans import Plan

ROLES = ("Unattached", "Prospective", "Candidate", "Leader", "Follower", "Resigned")

# Answers carry what is asked, so none of a kind that a role does not ask for comes to it, but late ones.
ERROR, DIVERGING = 0, 4

# What goes wrong with software and levels, of those that are counted.
CHANGES = {"release", "broker_release", "controller_release", "level_up", "level_down"}


class Coverage:
    """worlds: how many; mixed: in how many of them nodes had software of several releases, or a level of a feature
    changed; struck: in how many of them each kind of fault did; the others count how often something was.

    transitions: (role, role after it); pairs: two of these, one after the other, of one node. taken: (role, message).
    answers: (message, what it said: an error's number, `diverging`, `snapshot`, or `fine`).
    """

    def __init__(self) -> None:
        self.worlds = 0
        self.mixed = 0
        self.struck: Counter[str] = Counter()
        self.transitions: Counter[tuple[str, str]] = Counter()
        self.pairs: Counter[tuple[str, str, str]] = Counter()
        self.taken: Counter[tuple[str, str]] = Counter()
        self.answers: Counter[tuple[str, str]] = Counter()
        self.notes: Counter[str] = Counter()
        self._unpacker = Unpacker()
        self._roles: dict[int, list[str]] = {}  # by node id: its last two roles

    def feed(self, packed: bytes) -> None:
        """Take in a run of a trace's bytes."""
        self._unpacker.feed(packed)
        for entries in self._unpacker:
            for entry in entries:
                self._take(entry)

    def end(self, plan: Plan, outcome: Outcome) -> None:
        """The world of a plan is over."""
        self.worlds += 1
        self.mixed += len(plan.software) > 1 or not CHANGES.isdisjoint(outcome.fired)
        self.struck.update(outcome.fired.keys())
        self._roles.clear()

    def _take(self, entry: list[Any]) -> None:
        kind, node = entry[1], entry[2]
        if kind == STEP:
            self._step(node, entry[4])
        elif kind == ARRIVAL:
            roles = self._roles.get(node)
            if roles:
                self.taken[roles[-1], entry[4]] += 1
        elif kind == MESSAGE and IS_ANSWER.get(entry[4]):
            self.answers[entry[4], _outcome(entry[5:])] += 1
        elif kind == NOTE:
            self.notes[entry[3]] += 1
        elif kind == LIFE:
            self._roles.pop(node, None)

    def _step(self, node: int, role: str) -> None:
        roles = self._roles.setdefault(node, [])
        if roles and roles[-1] == role:
            return
        if roles:
            self.transitions[roles[-1], role] += 1
            if len(roles) > 1:
                self.pairs[roles[-2], roles[-1], role] += 1
        self._roles[node] = [*roles[-1:], role]

    def unseen_transitions(self) -> list[tuple[str, str]]:
        """Transitions between two roles that the protocol allows and that no world has had."""
        return sorted(way for way in TRANSITIONS if way[0] != way[1] and way not in self.transitions)

    def unseen_requests(self) -> list[tuple[str, str]]:
        """Requests that came to no node in some role."""
        requests = [name for name, is_answer in IS_ANSWER.items() if not is_answer]
        return [(role, name) for role in ROLES for name in requests if (role, name) not in self.taken]


def _outcome(gist: list[Any]) -> str:
    if gist[ERROR]:
        return f"error {gist[ERROR]}"
    if len(gist) > DIVERGING and isinstance(gist[DIVERGING], str):
        return str(gist[DIVERGING])
    return "fine"
