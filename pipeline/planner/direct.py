"""Moves from brokers with too many replicas to those with too few, many at once: directly, or through a third broker.

While the cheapest way to reduce any imbalance copies one replica, every such move is a step of an exact solution, in
any order: so moves may be chosen at random, thousands at once. A move through a third broker costs no more if the
replica that makes room there was moved already. `paths` finds the remaining moves.
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
# Few random pairs fit; this many are drawn for each replica that should move, and in all.
_DETOURS = 20
_DETOURS_MAX = 50_000
_IDLE_DETOURS_MAX = 5


def move_directly(assignment: Assignment, rng: np.random.Generator, progress: Callable[[int], None]) -> None:
    """Move until the random choice finds no more moves. progress: called with the number of moves made."""
    idle = 0
    while idle < _IDLE_ROUNDS_MAX:
        takers = _takers(assignment, rng)
        rows, slots = _givers(assignment, rng)
        if not len(takers) or not len(rows):
            return
        made = _round(assignment, rows, slots, takers, rng) or _detours(assignment, rows, slots, takers, rng)
        progress(made)
        idle = 0 if made else idle + 1


def _takers(assignment: Assignment, rng: np.random.Generator) -> NDArray[np.int64]:
    """Brokers that should get a replica, each as often as it lacks one, in random order."""
    lacks = np.maximum(assignment.low - assignment.load, 0)
    takers = np.repeat(np.arange(assignment.brokers), lacks)
    if (spare := -assignment.surplus()) > 0:
        room = assignment.high - np.maximum(assignment.load, assignment.low)
        others = rng.permutation(np.repeat(np.arange(assignment.brokers), np.maximum(room, 0)))
        takers = np.concatenate([takers, others[:spare]])
    return rng.permutation(takers)


def _givers(
    assignment: Assignment, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Replicas that should move: homeless ones, and as many of each broker as it has too many, drawn at random."""
    width = assignment.now.shape[1]
    flat = assignment.now.ravel()
    gives = np.maximum(assignment.load - assignment.high, 0)
    if (wanted := assignment.surplus()) > 0:
        spare = np.minimum(assignment.load, assignment.high) - assignment.low
        others = rng.permutation(np.repeat(np.arange(assignment.brokers), np.maximum(spare, 0)))
        gives += np.bincount(others[:wanted], minlength=assignment.brokers)
    chosen = [np.flatnonzero((flat < 0) & (flat != EMPTY))]
    if gives.any():
        # Values below 0 read the last entries, which give nothing.
        giving = np.concatenate([gives > 0, np.zeros(assignment.rack_count + 2, bool)])
        at = rng.permutation(np.flatnonzero(giving[flat]))
        own = flat[at]
        order = np.argsort(own, kind="stable")
        sorted_own = own[order]
        first = np.searchsorted(sorted_own, sorted_own, side="left")
        chosen.append(at[order[np.arange(len(at)) - first < gives[sorted_own]]])
    at = rng.permutation(np.concatenate(chosen))
    return at // width, at % width


def _round(
    assignment: Assignment, rows: NDArray[np.int64], slots: NDArray[np.int64], takers: NDArray[np.int64],
    rng: np.random.Generator,
) -> int:  # fmt: skip
    """Pair givers with takers, and retry a few times for pairs that do not fit; returns how many moved."""
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
        takers = rng.permutation(np.delete(takers, at))
        if not len(at):
            break
    return made


def _detours(
    assignment: Assignment, rows: NDArray[np.int64], slots: NDArray[np.int64], takers: NDArray[np.int64],
    rng: np.random.Generator,
) -> int:  # fmt: skip
    """Pairs of moves: a giver's replica to a third broker, and from there one without cost to a
    taker. Returns how many.
    """
    lacks = np.bincount(takers, minlength=assignment.brokers)
    owner = np.full(len(assignment.now), -1, np.int64)
    made = idle = 0
    pool = _free_moves(assignment, lacks)
    while len(rows) and lacks.any() and len(pool[0]) and idle < _IDLE_DETOURS_MAX:
        number = np.arange(min(_DETOURS * len(rows), _DETOURS_MAX, len(pool[0])))
        drawn = rng.choice(len(pool[0]), len(number), replace=False)
        others, others_slots, to = (column[drawn] for column in pool)
        to = np.where(to >= 0, to, rng.choice(np.repeat(np.arange(len(lacks)), lacks), len(number)))
        thirds = assignment.now[others, others_slots].astype(np.int64)
        giver = rng.integers(len(rows), size=len(number))
        first, first_slot = rows[giver], slots[giver]
        fits = (lacks[to] > 0) & (thirds >= 0)
        fits[fits] = assignment.may_go(others[fits], others_slots[fits], to[fits])
        fits[fits] = assignment.may_go(first[fits], first_slot[fits], thirds[fits])
        # Of those that fit, each partition takes part once, and no taker gets more than it lacks.
        at = np.flatnonzero(fits)
        owner[first[at]] = number[at]
        owner[others[at]] = number[at]
        at = at[(owner[first[at]] == at) & (owner[others[at]] == at)]
        at = at[np.argsort(to[at], kind="stable")]
        rank = np.arange(len(at)) - np.searchsorted(to[at], to[at], side="left")
        at = at[rank < lacks[to[at]]]
        assignment.put_many(others[at], others_slots[at], to[at])
        assignment.put_many(first[at], first_slot[at], thirds[at])
        made += len(at)
        idle = 0 if len(at) else idle + 1
        lacks -= np.bincount(to[at], minlength=len(lacks))
        rows, slots = np.delete(rows, giver[at]), np.delete(slots, giver[at])
        pool = _free_moves(assignment, lacks)
    return made


def _free_moves(
    assignment: Assignment, lacks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Replicas whose move has no further cost, and their targets; -1 for any broker.

    These are replicas that were moved already; and beside a homeless replica, any other of its partition: that one
    becomes the new copy, and its own place is taken over.
    """
    width = assignment.now.shape[1]
    rows, slots = np.nonzero(assignment.is_moved())
    moves = [(rows, slots, np.full(len(rows), -1))]
    for was in range(width):
        home = assignment.was[:, was]
        away = np.flatnonzero((home >= 0) & (assignment.now != home[:, None]).all(axis=1))
        away = away[lacks[home[away]] > 0]
        moves += [(away, np.full(len(away), slot), home[away].astype(np.int64)) for slot in range(width)]
    rows, slots, to = (np.concatenate(columns) for columns in zip(*moves, strict=True))
    return rows, slots, to
