"""The assignment during planning: the broker of each replica, and the allowed moves.

Every replica has a slot. A slot has a broker, or is homeless: the former broker may not keep it. A homeless replica may
be reserved for a rack, and counts there, if the partition would otherwise have too few in that rack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.planner.spread import broker_bounds, broker_shares, rack_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOMELESS = -1
EMPTY = -2  # no replica: this partition has fewer
NEVER = 9  # above the cost of any move

_CHUNKS = 16
_ROWS_AT_ONCE = 50_000


class Arcs(NamedTuple):
    """To each broker: the cost of the cheapest move of one replica there, and that replica. cost: NEVER if none may
    move there.
    """

    cost: NDArray[np.int64]
    row: NDArray[np.int64]
    slot: NDArray[np.int64]


class Assignment:
    """Rows of slots, with the loads of the brokers, which are numbered from 0.

    was: the former replicas; HOMELESS if the broker may hold nothing any more, EMPTY if there is none. racks: of each
    broker, from 0. A move costs 1 when a replica leaves its former broker, -1 when it returns to it; so the total cost
    is the number of replicas that must be copied.
    """

    def __init__(self, was: NDArray[np.int32], racks: NDArray[np.int64], tolerance: float = 0.0) -> None:
        self.was = was
        self.now = was.copy()
        self.racks = racks
        self.brokers = len(racks)
        sizes = np.bincount(racks)
        self.rack_count = len(sizes)
        self.factors = (was != EMPTY).sum(axis=1)
        counts = np.bincount(self.factors, minlength=was.shape[1] + 1)
        # Two columns more, which the values EMPTY and HOMELESS read.
        self.least = np.zeros((len(counts), self.rack_count + 2), np.int64)
        self.most = np.zeros_like(self.least)
        for factor in np.flatnonzero(counts):
            self.least[factor, :-2], self.most[factor, :-2] = rack_bounds(int(factor), sizes)
        # A slot's rack by its value, also by a negative one: promises lie before EMPTY and HOMELESS, counted backwards.
        self.rack_of = np.concatenate([racks, np.arange(self.rack_count)[::-1], [EMPTY, HOMELESS]])
        self.low, self.high = broker_bounds(broker_shares(counts, sizes), racks, tolerance)
        self._sizes = sizes
        self._due = np.bincount(racks, weights=(self.low + self.high) / 2)
        self.total = int((was != EMPTY).sum())
        self.load = np.bincount(was[was >= 0], minlength=self.brokers)
        self.found_load = self.load.copy()
        self._evict_crowds()
        self._promise_racks()
        self.homeless_found = int(self.homeless().sum())

    def homeless(self) -> NDArray[np.bool_]:
        homeless: NDArray[np.bool_] = (self.now < 0) & (self.now != EMPTY)
        return homeless

    def is_moved(self) -> NDArray[np.bool_]:
        """By row and slot, whether the replica is on another broker than before."""
        moved = self.now >= 0
        for slot in range(self.was.shape[1]):
            moved &= self.now != self.was[:, slot : slot + 1]
        return moved

    def surplus(self) -> int:
        """How many replicas the brokers' bounds require beyond those that exist; negative if there are too many."""
        return int(np.clip(self.load, self.low, self.high).sum()) - self.total

    def uneven(self, held: NDArray[np.int32]) -> int:
        """The number of rows in which a rack has too many replicas, or too few."""
        racks = self.rack_of[held]
        wrong = np.zeros(len(held), bool)
        for rack in range(self.rack_count):
            count = (racks == rack).sum(axis=1)
            wrong |= (count < self.least[self.factors, rack]) | (count > self.most[self.factors, rack])
        return int(wrong.sum())

    def copies(self) -> int:
        """How many replicas are on a broker that did not hold them before."""
        return int(self.is_moved().sum())

    def put(self, row: int, slot: int, broker: int) -> None:
        """Move the replica of a slot."""
        before = self.now[row, slot]
        if before >= 0:
            self.load[before] -= 1
        self.load[broker] += 1
        self.now[row, slot] = broker

    def put_many(self, rows: NDArray[np.int64], slots: NDArray[np.int64], brokers: NDArray[np.int64]) -> None:
        """Move replicas of different partitions."""
        before = self.now[rows, slots]
        self.load -= np.bincount(before[before >= 0], minlength=self.brokers)
        self.load += np.bincount(brokers, minlength=self.brokers)
        self.now[rows, slots] = brokers

    def may_go(
        self, rows: NDArray[np.int64], slots: NDArray[np.int64], brokers: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether each of these replicas may move to the given broker, if no other moves."""
        held = self.now[rows]
        racks = self.rack_of[held]
        here = self.rack_of[held[np.arange(len(rows)), slots]]
        there = self.racks[brokers]
        factors = self.factors[rows]
        fresh = (held != brokers[:, None]).all(axis=1)
        leaves = (here < 0) | ((racks == here[:, None]).sum(axis=1) > self.least[factors, here])
        enters = (racks == there[:, None]).sum(axis=1) < self.most[factors, there]
        may: NDArray[np.bool_] = fresh & ((here == there) | (leaves & enters))
        return may

    def arcs(self, rows: NDArray[np.int64], slots: NDArray[np.int64]) -> Arcs:
        """The cheapest of these replicas for each broker."""
        nothing = np.zeros(self.brokers, np.int64)
        cheapest = Arcs(nothing + NEVER, nothing, nothing)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = self._arcs(rows[start : start + _ROWS_AT_ONCE], slots[start : start + _ROWS_AT_ONCE])
            better = part.cost < cheapest.cost
            cheapest = Arcs(*(np.where(better, new, old) for new, old in zip(part, cheapest, strict=True)))
        return cheapest

    def _arcs(self, rows: NDArray[np.int64], slots: NDArray[np.int64]) -> Arcs:
        count = len(rows)
        each = np.arange(count)
        held = self.now[rows]
        was = self.was[rows]
        cost = np.ones((count, len(self.rack_of)), np.int8)
        # Negative values go to the columns after the brokers', which are never read.
        cost[each[:, None], was] = 0
        own = held[each, slots]
        cost -= ((own >= 0) & (was != own[:, None]).all(axis=1)).astype(np.int8)[:, None]
        cost[each[:, None], held] = NEVER
        racks = np.zeros((count, self.rack_count + 2), np.int16)
        for slot in range(held.shape[1]):
            racks[each, self.rack_of[held[:, slot]]] += 1
        here = self.rack_of[own]
        factors = self.factors[rows]
        leaves = (here < 0) | (racks[each, here] > self.least[factors, here])
        closed = (racks[:, : self.rack_count] >= self.most[factors, : self.rack_count]) | ~leaves[:, None]
        inside = here >= 0
        closed[each[inside], here[inside]] = False
        costs = cost[:, : self.brokers]
        if closed.any():
            costs[closed[:, self.racks]] = NEVER
        best = costs.argmin(axis=0)
        return Arcs(costs[best, np.arange(self.brokers)].astype(np.int64), rows[best], slots[best])

    def _evict_crowds(self) -> None:
        """Make replicas beyond a rack's bound homeless: in each such rack those of the fullest brokers."""
        for rows in np.array_split(np.arange(len(self.now)), _CHUNKS):
            held = self.now[rows]
            width = held.shape[1]
            order = np.argsort(np.where(held >= 0, -self.load[np.maximum(held, 0)], 1), axis=1, kind="stable")
            gone: list[NDArray[np.int32]] = []
            for place in range(width):
                slot = order[:, place]
                own = held[np.arange(len(rows)), slot]
                rack = self.rack_of[own]
                crowd = (self.rack_of[held] == rack[:, None]).sum(axis=1)
                out = (own >= 0) & (crowd > self.most[self.factors[rows], rack])
                held[out, slot[out]] = HOMELESS
                gone.append(own[out])
            self.now[rows] = held
            self.load -= np.bincount(np.concatenate(gone), minlength=self.brokers)

    def _promise_racks(self) -> None:
        """If a rack has too few replicas of a partition, reserve a homeless replica for it, or one of a fuller rack."""
        for rack in range(self.rack_count):
            while True:
                least = self.least[self.factors, rack]
                if not least.any():
                    break
                rows = np.flatnonzero((self.rack_of[self.now] == rack).sum(axis=1) < least)
                if not len(rows):
                    break
                for part in np.array_split(rows, min(_CHUNKS, len(rows))):
                    self._promise(part, rack)

    def _promise(self, rows: NDArray[np.int64], rack: int) -> None:
        held = self.now[rows]
        racks = self.rack_of[held]
        crowd = (racks[:, :, None] == racks[:, None, :]).sum(axis=2)
        spare = (racks >= 0) & (crowd > self.least[self.factors[rows][:, None], racks])
        # The homeless first, then those of full racks, there of full brokers: so that little must be put right later.
        occupied = np.array([(self.rack_of[self.now] == one).sum() for one in range(self.rack_count)])
        fullness = np.argsort(np.argsort((occupied - self._due) / self._sizes))
        own = np.where(held >= 0, fullness[np.maximum(racks, 0)] * self.total + self.load[np.maximum(held, 0)], -1)
        rank = np.where(racks == HOMELESS, self.rack_count * (self.total + 1), np.where(spare, own, -1))
        slot = rank.argmax(axis=1)
        assert (rank.max(axis=1) >= 0).all(), "a rack has too few replicas of a partition, and no other has too many"
        before = held[np.arange(len(rows)), slot]
        self.load -= np.bincount(before[before >= 0], minlength=self.brokers)
        self.now[rows, slot] = EMPTY - 1 - rack
