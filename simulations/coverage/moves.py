"""Counts three roles in a row: a role, the next, and the one after it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from raft.interface.effects import Noted
from simulations.properties.roles import TRANSITIONS
from simulations.spec.values import CANDIDATE, PROSPECTIVE, RESIGNED, UNATTACHED

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.world.process import Process

Path = tuple[str, str, str]
"""A role, the one after it, and the one after that. A role follows itself where its epoch, leader or vote is new."""


class Moves:
    """counts: of each path."""

    def __init__(self) -> None:
        self.counts: Counter[Path] = Counter()
        self._last: dict[tuple[int, int], str] = {}  # by node id and life: the role before this

    def on_stepped(self, process: Process, _event: Any, effects: list[Any]) -> None:
        """Count the roles of a step. The core reports each change of its role, also within a step."""
        for effect in effects:
            if type(effect) is Noted and effect.name == "role_changed":
                life = (process.node.id, process.life)
                was, now = effect.fields["was"], effect.fields["now"]
                if life in self._last:
                    self.counts[self._last[life], was, now] += 1
                self._last[life] = was


UNREACHABLE: tuple[tuple[str, Callable[[str, str, str], bool]], ...] = (
    (
        "a resigned leader becomes prospective only as the sole voter at its start, and wins at once",
        lambda first, then, last: (
            (then, last) == (RESIGNED, PROSPECTIVE) or ((first, then) == (RESIGNED, PROSPECTIVE) and last != CANDIDATE)
        ),
    ),
    (
        "a prospective grants a vote only if it had none in the epoch and knows no leader",
        lambda first, then, last: then == last == PROSPECTIVE and first != UNATTACHED,
    ),
)
"""Reasons why three roles cannot follow each other, though each pair of them can."""


def why_not(path: Path) -> str:
    """Why these roles cannot follow each other; "" if they can."""
    first, then, last = path
    if (first, then) not in TRANSITIONS or (then, last) not in TRANSITIONS:
        return "one does not follow the other"
    return next((reason for reason, holds in UNREACHABLE if holds(*path)), "")


def feasible() -> list[Path]:
    """All possible sequences."""
    paths = [(first, then, last) for first, then in TRANSITIONS for middle, last in TRANSITIONS if middle == then]
    return [path for path in paths if not why_not(path)]
