"""The remaining moves, found exactly: chains of moves, each the cheapest possible, until all brokers are within bounds.

The problem is a minimum-cost flow: from partitions through their racks to brokers, with the bounds of each broker. The
initial state (nothing moved, some replicas homeless, some brokers outside of their bounds) is optimal for its
imbalance, and each step moves one unit from a surplus to a deficit along a cheapest chain, which keeps it optimal
(successive shortest paths; Ahuja, Magnanti, Orlin, "Network Flows", 9.7). A chain runs over brokers: at each hop one
replica of some partition moves. An additional node, the pool, stands for "any broker with room", so that a broker at
its lower bound can be replaced by one above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.planner.assignment import NEVER, Arcs
from pipeline.planner.cluster import BadCluster

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pipeline.planner.assignment import Assignment

_FAR = 1 << 40
_FEW = 512
_HOMELESS = -2  # where a chain begins that starts at a homeless replica
_START = -1


class Hop(NamedTuple):
    """The replica of a row and slot moves from one node to another; row and slot are -1 if one of them is the pool."""

    node: int
    target: int
    row: int
    slot: int


class Chains:
    """Finds and executes cheapest chains. Arcs are kept until a partition on their broker changes."""

    def __init__(self, assignment: Assignment, cost_min: int) -> None:
        self.assignment = assignment
        self.cost_min = cost_min
        self._arcs: dict[int, Arcs] = {}
        self._few: dict[int, Arcs] = {}
        self._taken = 0

    def take_all(self, progress: Callable[[int], None], cost_max: int = _FAR) -> None:
        """Execute chains until every broker is within its bounds, or the next would cost more than cost_max.

        Raises BadCluster if no chain leads there.
        """
        while self._is_open():
            chain = self._cheapest(self._few_arcs_of, cost_max) or self._cheapest(self._arcs_of, cost_max)
            if chain is None:
                return
            self._take(chain)
            progress(1)

    def _is_open(self) -> bool:
        state = self.assignment
        return bool(
            (state.load > state.high).any() or (state.load < state.low).any() or state.load.sum() < state.total
        )  # fmt: skip

    def _arcs_of(self, node: int) -> Arcs:
        arcs = self._arcs.get(node)
        if arcs is None:
            state = self.assignment
            rows, slots = np.nonzero(state.homeless() if node == _HOMELESS else state.now == node)
            arcs = self._arcs[node] = state.arcs(rows, slots)
        return arcs

    def _few_arcs_of(self, node: int) -> Arcs:
        """The arcs of some of the replicas there, different ones each time: a chain of these that costs no more than
        the one before is as good as any.
        """
        arcs = self._few.get(node)
        if arcs is None:
            state = self.assignment
            rows, slots = np.nonzero(state.homeless() if node == _HOMELESS else state.now == node)
            step = max(len(rows) // _FEW, 1)
            part = slice(self._taken % step, None, step)
            arcs = self._few[node] = state.arcs(rows[part], slots[part])
        return arcs

    def _cheapest(self, arcs_of: Callable[[int], Arcs], cost_max: int) -> list[Hop] | None:
        """The hops of the cheapest chain, among these the shortest; None if it costs more than cost_max.

        arcs_of: gives all arcs of a node; or some of them, and then a chain that costs more than the one before does
        not count.

        A chain costs at least as much as the one before, so the search ends at the first that costs no more. It
        proceeds in rounds, one hop per round, and keeps each round's origins, so that a later, cheaper and longer path
        does not change the result of an earlier round.
        """
        state = self.assignment
        pool = state.brokers
        surplus = state.surplus()
        ends = np.append(state.load < state.low, surplus < 0)
        cost = np.full(pool + 1, _FAR)
        origin = np.full(pool + 1, _START)
        starts = np.append(state.load > state.high, surplus > 0)
        cost[starts] = 0
        rounds: list[NDArray[np.int64]] = []
        frontier = np.flatnonzero(starts).tolist()
        if state.load.sum() < state.total:
            frontier.append(_HOMELESS)
        best_cost, best_round, best_end = _FAR, 0, -1
        while frontier:
            after = cost.copy()
            origin = np.full(pool + 1, _START)
            for node in frontier:
                reach = self._reach(node, arcs_of)
                if node != _HOMELESS:
                    reach = reach + cost[node]
                better = reach < after
                after[better] = reach[better]
                origin[better] = node
            rounds.append(origin)
            cost = after
            reached = np.flatnonzero(ends & (origin != _START))
            if len(reached):
                end = int(reached[cost[reached].argmin()])
                if cost[end] < best_cost:
                    best_cost, best_round, best_end = int(cost[end]), len(rounds), end
                if best_cost <= self.cost_min:
                    break
            frontier = np.flatnonzero(origin != _START).tolist()
        if arcs_of == self._few_arcs_of and best_cost > self.cost_min:
            return None
        if best_end < 0:
            raise BadCluster("the brokers cannot be balanced within the limits of the racks")
        self.cost_min = best_cost
        if best_cost > cost_max:
            return None
        return [
            Hop(node, target, *self._move(node, target, arcs_of))
            for node, target in _hops(rounds[:best_round], best_end)
        ]

    def _move(self, node: int, target: int, arcs_of: Callable[[int], Arcs]) -> tuple[int, int]:
        """The row and slot that move in a hop; -1 for the pool, where nothing moves."""
        if self.assignment.brokers in (node, target):
            return -1, -1
        arcs = arcs_of(node)
        return int(arcs.row[target]), int(arcs.slot[target])

    def _reach(self, node: int, arcs_of: Callable[[int], Arcs]) -> NDArray[np.int64]:
        """The cost of one hop from a node to each other."""
        state = self.assignment
        reach = np.full(state.brokers + 1, _FAR)
        if node == state.brokers:
            reach[:-1][state.load > state.low] = 0
            return reach
        arcs = arcs_of(node).cost
        reach[:-1][arcs < NEVER - 1] = arcs[arcs < NEVER - 1]
        if node >= 0 and state.load[node] < state.high[node]:
            reach[-1] = 0
        return reach

    def _take(self, chain: list[Hop]) -> None:
        state = self.assignment
        moves = [(hop.row, hop.slot, hop.target) for hop in chain if hop.row >= 0]
        stale = {_HOMELESS} if chain[0].node == _HOMELESS else set()
        for row, slot, target in moves:
            one = np.array([row]), np.array([slot]), np.array([target])
            assert state.may_go(*one)[0], f"a chain's moves {moves} are in each other's way"
            stale.update(state.now[row].tolist(), (target,))
            if (state.now[row] < 0).any():
                stale.add(_HOMELESS)
            state.put(row, slot, target)
        self._taken += 1
        for node in stale:
            self._arcs.pop(node, None)
            self._few.pop(node, None)


def _hops(rounds: list[NDArray[np.int64]], end: int) -> list[tuple[int, int]]:
    """The hops to a node, in order, by each round's origins."""
    hops = []
    node = end
    for origin in reversed(rounds):
        if origin[node] != _START:
            hops.append((int(origin[node]), node))
            node = int(origin[node])
            if node == _HOMELESS:
                break
    return hops[::-1]
