"""Guided search: plans that led to something new are changed a little and tried again, as fuzzers do that are guided by
coverage.

New is what no run before had: a node that comes from one step to another for the first time, in a role; two notes of
the core that follow each other in the cluster; a fault that strikes a node in a role. What is drawn anew and what is
changed take turns, so nothing is lost that luck alone would find.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgpack import Unpacker

from simulations.world.streams import between, stream
from simulations.world.trace import FAULT, LIFE, NOTE, STEP

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.levels.table import Level
    from simulations.running.outcome import Outcome

CHANGED = 0.6
"""The share of plans that are changed ones, once there are any to change."""

POOL_MAX = 200
FAULTS_MAX = 40

Feature = tuple[Any, ...]


class Features:
    """What a run was the first to come to, read off its trace as that is written."""

    def __init__(self) -> None:
        self.found: set[Feature] = set()
        self._unpacker = Unpacker(use_list=False, strict_map_key=False, max_buffer_size=0)
        self._steps: dict[int, Feature] = {}
        self._note: Feature = ()

    def take(self, packed: bytes) -> None:
        """Some bytes of the trace, in their order."""
        self._unpacker.feed(packed)
        for entries in self._unpacker:
            for entry in entries:
                self._look(entry)

    def _look(self, entry: tuple[Any, ...]) -> None:
        kind, node = entry[1:3]
        if kind == STEP:
            step = (entry[3], entry[4])
            self.found.add(("step", self._steps.get(node), step))
            self._steps[node] = step
        elif kind == NOTE:
            note = (node, entry[3])
            if self._note:
                self.found.add(("note", self._note[1], entry[3], self._note[0] == node))
            self._note = note
        elif kind == FAULT:
            self.found.add(("fault", entry[4], self._steps.get(node)))
        elif kind == LIFE:
            self.found.add(("life", entry[3], self._steps.get(node)))


class Guide:
    """level: whose plans; root: of its luck. known: all that any run came to; pool: plans that brought something."""

    def __init__(self, level: Level, root: int) -> None:
        self._level = level
        self._luck = stream(root, "guide")
        self._next_seed = root
        self.known: set[Feature] = set()
        self.pool: list[Any] = []

    def plan(self) -> Any:
        """The next to try."""
        if self.pool and self._luck.random() < CHANGED:
            # Those that came last know what those before did not.
            place = max(int(self._luck.random() * len(self.pool)), int(self._luck.random() * len(self.pool)))
            return changed(self._luck, self.pool[place], self._level.draw(self._seed()))
        return self._level.draw(self._seed())

    def play(self, plan: Any) -> Outcome:
        """Live it through, and keep it where it came to something new."""
        features = Features()
        outcome, _ = self._level.play(plan, features.take)
        if features.found - self.known:
            self.known |= features.found
            self.pool = [*self.pool[-POOL_MAX:], plan]
        return outcome

    def _seed(self) -> int:
        self._next_seed += 1
        return self._next_seed


def changed(rng: Random, plan: Any, other: Any) -> Any:
    """A plan that is a little different, of the same cluster; other: one to take faults from."""
    ways: tuple[Callable[[Random, Any, Any], Any], ...] = (_noise, _noise, _spliced, _retimed, _repeated, _fewer)
    for _ in range(between(rng, 1, 3)):
        plan = ways[int(rng.random() * len(ways))](rng, plan, other)
    return plan


def _noise(rng: Random, plan: Any, _other: Any) -> Any:
    """All as it was, and other luck."""
    return replace(plan, seed=between(rng, 1, 1 << 40))


def _spliced(rng: Random, plan: Any, other: Any) -> Any:
    """Some faults of another plan come in, where its nodes are here, too."""
    if set(other.ids) - set(plan.ids) or other.voters > plan.voters:
        return plan
    first = between(rng, 0, len(other.faults))
    taken = [fault for fault in other.faults[first:] if fault.at_ms < plan.chaos_ms]
    return replace(plan, faults=[*plan.faults, *taken][:FAULTS_MAX])


def _retimed(rng: Random, plan: Any, _other: Any) -> Any:
    """Some faults come at another time, or at another turn of their point."""
    faults = [
        fault
        if rng.random() < 0.7
        else replace(fault, at_ms=between(rng, 0, plan.chaos_ms - 1), nth=max(1, fault.nth + between(rng, -2, 4)))
        for fault in plan.faults
    ]
    return replace(plan, faults=faults)


def _repeated(rng: Random, plan: Any, _other: Any) -> Any:
    """One fault comes again a little later."""
    if not plan.faults:
        return plan
    fault = plan.faults[int(rng.random() * len(plan.faults))]
    again = replace(fault, at_ms=min(plan.chaos_ms - 1, fault.at_ms + between(rng, 1, 2_000)))
    return replace(plan, faults=[*plan.faults, again][:FAULTS_MAX])


def _fewer(rng: Random, plan: Any, _other: Any) -> Any:
    """Some faults are left out."""
    return replace(plan, faults=[fault for fault in plan.faults if rng.random() < 0.8])
