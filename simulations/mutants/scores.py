"""What the first kills come to: how soon mutants are caught, by which properties, and which faults that takes."""

from __future__ import annotations

from math import inf
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulations.mutants.kills import Kill


class Score(NamedTuple):
    """mutants: how many were hunted; missed: ids of those that no range has caught; lucky: of those that some have not.

    seeds_median, seeds_p95: lived through until the kill, over all mutants and ranges, where a range without a kill counts
    as endless; seeds_worst: of the kills; ranges, endless: how many there are, and of these without a kill.
    """

    mutants: int
    missed: tuple[str, ...]
    lucky: tuple[str, ...]
    seeds_median: float
    seeds_p95: float
    seeds_worst: int
    ranges: int
    endless: int


def score(kills: Mapping[str, Sequence[Kill]]) -> Score:
    """Over all mutants that are named."""
    missed = tuple(name for name, found in kills.items() if not any(kill.seed for kill in found))
    lucky = tuple(name for name, found in kills.items() if name not in missed and not all(kill.seed for kill in found))
    tried = sorted(kill.tried if kill.seed else inf for found in kills.values() for kill in found)
    if not tried:
        return Score(len(kills), missed, lucky, 0, 0, 0, 0, 0)
    worst = max((each for each in tried if each < inf), default=0)
    p95 = tried[(len(tried) * 95 - 1) // 100]
    return Score(len(kills), missed, lucky, median(tried), p95, int(worst), len(tried), tried.count(inf))


def by_property(kills: Mapping[str, Sequence[Kill]], known: Iterable[str]) -> dict[str, list[str]]:
    """Of each known property, the mutants that it has caught, each named once; empty where it is idle."""
    found: dict[str, list[str]] = {name: [] for name in known}
    for mutant_id, each in kills.items():
        for name in dict.fromkeys(kill.property_id for kill in each if kill.seed):
            found.setdefault(name, []).append(mutant_id)
    return found


def by_fault(kills: Mapping[str, Sequence[Kill]], known: Iterable[str]) -> dict[str, list[str]]:
    """Of each kind of fault, the mutants of which a kill could not do without it."""
    found: dict[str, list[str]] = {name: [] for name in known}
    for mutant_id, each in kills.items():
        for kind in dict.fromkeys(kind for kill in each for kind in kill.needs):
            found.setdefault(kind, []).append(mutant_id)
    return found
