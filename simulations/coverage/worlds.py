"""The counts of many worlds: which faults struck, and how often each item of `seen` occurred."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from simulations.coverage.seen import ACTIONS, everything, name_of
from simulations.spec import pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulations.outcomes.outcome import Outcome

# Faults that mix releases or change feature levels.
CHANGES = {"release", "broker_release", "controller_release", "level_up", "level_down"}


class Worlds:
    """count: how many; mixed: in how many of them nodes had software of several releases, or a level of a feature
    changed; struck: in how many each kind of fault had a target; seen: how often each item was; notes: of the core, by
    name.
    """

    def __init__(self) -> None:
        self.count = 0
        self.mixed = 0
        self.struck: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()

    def add(self, plan: Any, outcome: Outcome) -> None:
        """Add the counts of a world."""
        self.count += 1
        self.mixed += len(plan.software) > 1 or not CHANGES.isdisjoint(outcome.fired)
        self.struck.update(outcome.fired.keys())
        self.notes.update(outcome.notes)
        self.seen.update(outcome.seen)

    def unseen(self) -> Iterator[tuple[str, list[str], int]]:
        """(category, possible items that were not seen, number of possible items), of each category."""
        for of, names in everything().items():
            yield of, [name for name in names if name not in self.seen], len(names)

    def strange(self) -> list[str]:
        """Items that were seen but are listed as impossible."""
        possible = {name for names in everything().values() for name in names}
        of_changes = {name_of(ACTIONS, pair): pair for pair in pairs.of_changes()}
        if any(not pairs.CHANGES.keys().isdisjoint(of_changes.get(name, ())) for name in self.seen):
            possible |= of_changes.keys()
        return [name for name in self.seen if name not in possible]
