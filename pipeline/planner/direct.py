"""Moves straight from who has too many to who has too few, very many at once.

While the cheapest way to mend any imbalance is one move, every such move is a step of an exact solution, whichever is
taken first: so luck may choose, and numpy may take thousands together. What luck does not find is left to `paths`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipeline.planner.assignment import EMPTY

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pipeline.planner.assignment import Assignment

_TRIES = 12
_IDLE_ROUNDS_MAX = 6


def move_directly(assignment: Assignment, luck: np.random.Generator, progress: Callable[[int], None]) -> None:
    """Move until luck finds nothing more. progress is told how many moves were made."""
    idle = 0
    while idle < _IDLE_ROUNDS_MAX:
        takers = _takers(assignment, luck)
        rows, slots = _givers(assignment, luck)
        if not len(takers) or not len(rows):
            return
        made = _round(assignment, rows, slots, takers, luck)
        progress(made)
        idle = 0 if made else idle + 1


def _takers(assignment: Assignment, luck: np.random.Generator) -> NDArray[np.int64]:
    """Brokers that should get a replica, each as often as it lacks one, in an order of luck."""
    lacks = np.maximum(assignment.low - assignment.load, 0)
    takers = np.repeat(np.arange(assignment.brokers), lacks)
    if (spare := -assignment.surplus()) > 0:
        room = assignment.high - np.maximum(assignment.load, assignment.low)
        others = luck.permutation(np.repeat(np.arange(assignment.brokers), np.maximum(room, 0)))
        takers = np.concatenate([takers, others[:spare]])
    return luck.permutation(takers)


def _givers(
    assignment: Assignment, luck: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Replicas that should move: homeless ones, and of each broker as many as it has too many, drawn by luck."""
    width = assignment.now.shape[1]
    flat = assignment.now.ravel()
    gives = np.maximum(assignment.load - assignment.high, 0)
    if (wanted := assignment.surplus()) > 0:
        spare = np.minimum(assignment.load, assignment.high) - assignment.low
        others = luck.permutation(np.repeat(np.arange(assignment.brokers), np.maximum(spare, 0)))
        gives += np.bincount(others[:wanted], minlength=assignment.brokers)
    chosen = [np.flatnonzero((flat < 0) & (flat != EMPTY))]
    if gives.any():
        # Values below 0 read the last entries, which give nothing.
        giving = np.concatenate([gives > 0, np.zeros(assignment.rack_count + 2, bool)])
        at = luck.permutation(np.flatnonzero(giving[flat]))
        own = flat[at]
        order = np.argsort(own, kind="stable")
        sorted_own = own[order]
        first = np.searchsorted(sorted_own, sorted_own, side="left")
        chosen.append(at[order[np.arange(len(at)) - first < gives[sorted_own]]])
    at = luck.permutation(np.concatenate(chosen))
    return at // width, at % width


def _round(
    assignment: Assignment, rows: NDArray[np.int64], slots: NDArray[np.int64], takers: NDArray[np.int64],
    luck: np.random.Generator,
) -> int:  # fmt: skip
    """Pair givers with takers, a few times anew where a pair does not fit; how many moved."""
    owner = np.full(len(assignment.now), -1, np.int64)
    made = 0
    for _ in range(_TRIES):
        count = min(len(rows), len(takers))
        if not count:
            break
        # One move a partition at a time: what it may do next depends on it.
        owner[rows[:count][::-1]] = np.arange(count)[::-1]
        alone = owner[rows[:count]] == np.arange(count)
        fits = alone & assignment.may_go(rows[:count], slots[:count], takers[:count])
        at = np.flatnonzero(fits)
        assignment.put_many(rows[at], slots[at], takers[at])
        made += len(at)
        rows, slots = np.delete(rows, at), np.delete(slots, at)
        takers = luck.permutation(np.delete(takers, at))
        if not len(at):
            break
    return made
