"""The rules of the autopilot: from what is known of each node to the one next step.

A step only asks for an ordinary change of KIP-853, and only where a majority of the voters is healthy before it, and of
the voters that are left after it. controller/DESIGN.md, "The autopilot", says why each rule is as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from raft.autopilot.report import Health, Kind, NodeState, Step
from raft.interface.config import ReplicaKey
from records.uuids import ZERO_UUID, uuid_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raft.autopilot.view import Endpoints, Rules

# How many others must be alive if a dead voter is to be removed though nothing can replace it.
OTHERS_MIN = 3


class Candidate(NamedTuple):
    """An observer. ready_ms: monotonic, when it has been level for long enough; None while it is not level.

    endpoints: empty where no voter could be made of it. is_owed: whether the former directory of its node was removed,
    so that it takes that place.
    """

    node: NodeState
    ready_ms: int | None
    endpoints: Endpoints
    is_owed: bool = False

    @property
    def key(self) -> ReplicaKey:
        """The id and directory id of the observer."""
        return self.node.key


class Situation(NamedTuple):
    """What a decision rests on. gone: ids of registered controllers that have not fetched for dead_after_ms."""

    now_ms: int
    rules: Rules
    voters: tuple[NodeState, ...]
    candidates: tuple[Candidate, ...]
    gone: tuple[int, ...] = ()

    def ready(self) -> list[Candidate]:
        """The observers that may become voters, by id: without those whose id a voter has."""
        ids = {voter.key.id for voter in self.voters}
        return [each for each in self.candidates if self.is_ready(each) and each.key.id not in ids]

    def is_ready(self, candidate: Candidate) -> bool:
        """Whether an observer was level for long enough."""
        return candidate.ready_ms is not None and self.now_ms >= candidate.ready_ms and bool(candidate.endpoints)


def next_step(situation: Situation) -> tuple[Step | None, list[str]]:
    """The next step, None for none; and what keeps others, in words."""
    held_by: list[str] = []
    for rule in (_replace, _heal, _grow, _unregister):
        step = rule(situation, held_by)
        if step is not None:
            return step, held_by
    return None, held_by


def may_remove(voters: Iterable[NodeState], leaving: ReplicaKey) -> bool:
    """Whether a voter may be removed: a majority of the voters is healthy, and so is a majority of those that stay."""
    voters = tuple(voters)
    healthy = [voter for voter in voters if voter.health is Health.HEALTHY]
    staying = [voter for voter in healthy if voter.key != leaving]
    return len(healthy) >= _majority(len(voters)) and len(staying) >= _majority(len(voters) - 1)


def _majority(count: int) -> int:
    return count // 2 + 1


def _replace(situation: Situation, held_by: list[str]) -> Step | None:
    """A node that is back with another directory takes the place of its former self, which is removed first: the voter
    set has each id once.
    """
    for voter in situation.voters:
        for candidate in situation.candidates:
            if candidate.key.id != voter.key.id or candidate.node.health is Health.SILENT:
                continue
            back = f"node {voter.key.id} is back with the directory {uuid_text(candidate.key.directory_id)}"
            if voter.health in {Health.HEALTHY, Health.LAGGING}:
                held_by.append(f"node {voter.key.id} runs twice, with two directories: stop one of the two")
            elif not situation.is_ready(candidate):
                held_by.append(f"{back}: {candidate.node.reason or 'it is not level yet'}")
            elif not may_remove(situation.voters, voter.key):
                held_by.append(f"{back}: without a majority of healthy voters its former self stays")
            else:
                return Step(Kind.REMOVE, voter.key, f"{back}, which takes its place")
    return None


def _heal(situation: Situation, held_by: list[str]) -> Step | None:
    """A voter that is dead is removed: where a spare is ready, which then takes its place, or enough others are left.

    It is removed first. With the spare added first, a spare that fails would cost the majority.
    """
    dead = sorted((voter for voter in situation.voters if voter.health is Health.DEAD), key=lambda each: each.since_ms)
    for voter in dead:
        others = [each for each in situation.voters if each.health is Health.HEALTHY]
        staying = tuple(each for each in situation.voters if each is not voter)
        spares = _of_free_zones(situation.ready(), staying, situation.rules)
        what = f"voter {voter.key.id} is dead"
        if not spares and len(others) < OTHERS_MIN:
            held_by.append(f"{what}: no spare is ready, and fewer than {OTHERS_MIN} other voters are healthy")
        elif not may_remove(situation.voters, voter.key):
            held_by.append(f"{what}: a majority of the voters must be healthy")
        else:
            ahead = f"node {spares[0].key.id} is a spare" if spares else f"{len(others)} others are healthy"
            return Step(Kind.REMOVE, voter.key, f"it is dead, and {ahead}")
    return None


def _grow(situation: Situation, held_by: list[str]) -> Step | None:
    """An observer becomes a voter where the quorum gains by it: up to an odd number of voters, one in each zone."""
    count = len(situation.voters)
    spares = _of_free_zones(situation.ready(), situation.voters, situation.rules)
    owed = [candidate for candidate in spares if candidate.is_owed]
    if owed:
        return _add(owed[0], "it takes the place of its former directory")
    if not spares:
        return None
    goal = min(situation.rules.voters_max, count + len(spares))
    goal -= 1 - goal % 2
    if count >= goal:
        is_full = count >= situation.rules.voters_max
        enough = f"{count} voters are the maximum" if is_full else f"an even number of voters ({count + 1}) gains none"
        held_by.append(f"node {spares[0].key.id} stays an observer: {enough}")
        return None
    return _add(spares[0], f"it is level, for {goal} voters")


def _add(candidate: Candidate, reason: str) -> Step:
    return Step(Kind.ADD, candidate.key, reason, candidate.endpoints)


def _unregister(situation: Situation, _held_by: list[str]) -> Step | None:
    """The registration of a controller that is gone is removed, because it blocks feature levels."""
    if not situation.gone:
        return None
    return Step(Kind.UNREGISTER, ReplicaKey(situation.gone[0], ZERO_UUID), "it is neither voter nor observer")


def _of_free_zones(ready: list[Candidate], voters: tuple[NodeState, ...], rules: Rules) -> list[Candidate]:
    """Of the candidates, at most one of each zone that has no voter; nodes without a zone all."""
    taken = {rules.zones.get(voter.key.id) for voter in voters}
    free = []
    for candidate in ready:
        zone = rules.zones.get(candidate.key.id)
        if zone is None or zone not in taken:
            free.append(candidate)
            taken.add(zone)
    return free
