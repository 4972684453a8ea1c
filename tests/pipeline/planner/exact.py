"""An exact solver to check the planner: the problem as an integer program, solved by HiGHS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import highspy
import numpy as np

from pipeline.planner.cluster import Broker, Cluster, cluster_of

if TYPE_CHECKING:
    import random


def some_cluster(rng: random.Random) -> tuple[Cluster, list[int]]:
    """A small random cluster, unbalanced on purpose, and brokers to drain."""
    brokers = [Broker(number, f"rack-{rng.randrange(rng.choice((1, 2, 3, 4)))}") for number in range(rng.randint(2, 8))]
    drained = rng.sample(range(len(brokers)), rng.choice((0, 0, 1)))
    factor_max = min(4, len(brokers) - len(drained))
    favoured = rng.sample(range(len(brokers)), rng.randint(factor_max, len(brokers)))
    mixed = rng.random() < 0.4
    factor = rng.randint(1, factor_max)
    partitions = []
    for number in range(rng.randint(1, 14)):
        size = rng.randint(1, factor_max) if mixed else factor
        partitions.append(("t", number, rng.sample(favoured, size)))
    return cluster_of(brokers, partitions), drained


def even_spread(factor: int, sizes: dict[str, int]) -> dict[str, tuple[int, int]]:
    """The least and most of one partition's replicas in each rack when they are spread as widely as the racks allow."""
    filled = dict.fromkeys(sizes, 0)
    left = factor
    while True:
        open_racks = [rack for rack in sizes if filled[rack] < sizes[rack]]
        if left < len(open_racks) or not open_racks:
            return {rack: (filled[rack], filled[rack] + (rack in open_racks and left > 0)) for rack in sizes}
        for rack in open_racks:
            filled[rack] += 1
        left -= len(open_racks)


class Program:
    """Variables x(partition, broker): whether the broker holds a replica. Rows bound sums of them."""

    def __init__(self, cluster: Cluster, drained: list[int]) -> None:
        self.solver = highspy.Highs()
        self.solver.silent()
        self.targets = [broker for broker in cluster.brokers if broker.id not in drained]
        self.held = [cluster.replicas_of(row) for row in range(len(cluster))]
        self.columns: dict[tuple[int, int], int] = {}
        sizes: dict[str, int] = {}
        for broker in self.targets:
            sizes[str(broker.rack)] = sizes.get(str(broker.rack), 0) + 1
        for row, held in enumerate(self.held):
            for broker in self.targets:
                self.columns[row, broker.id] = self._column(float(broker.id not in held), 1.0)
            self._bound([(self.columns[row, one.id], 1.0) for one in self.targets], len(held), len(held))
            for rack, (least, most) in even_spread(len(held), sizes).items():
                inside = [(self.columns[row, one.id], 1.0) for one in self.targets if one.rack == rack]
                self._bound(inside, least, most)

    def _column(self, cost: float, most: float) -> int:
        self.solver.addCol(cost, 0.0, most, 0, np.empty(0, np.int32), np.empty(0))
        column = self.solver.getNumCol() - 1
        self.solver.changeColIntegrality(column, highspy.HighsVarType.kInteger)
        return column

    def _bound(self, terms: list[tuple[int, float]], least: float, most: float) -> None:
        columns = np.array([column for column, _ in terms], np.int32)
        self.solver.addRow(least, most, len(terms), columns, np.array([factor for _, factor in terms]))

    def least_moves(self, bounds: dict[int, tuple[int, int]]) -> int | None:
        """The fewest replicas that must be copied so that each broker is within its bounds; None if
        it is impossible.
        """
        for broker in self.targets:
            least, most = bounds[broker.id]
            self._bound([(self.columns[row, broker.id], 1.0) for row in range(len(self.held))], least, most)
        return self._solve()

    def extreme_load(self, fullest: bool) -> int:
        """The least that the fullest broker must hold, or the most that the emptiest can."""
        for column in self.columns.values():
            self.solver.changeColCost(column, 0.0)
        load = self._column(1.0 if fullest else -1.0, float(len(self.held)))
        for broker in self.targets:
            terms = [(self.columns[row, broker.id], 1.0) for row in range(len(self.held))]
            self._bound([*terms, (load, -1.0)], -1e9 if fullest else 0.0, 0.0 if fullest else 1e9)
        found = self._solve()
        assert found is not None
        return abs(found)

    def _solve(self) -> int | None:
        self.solver.run()
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return round(self.solver.getObjectiveValue())
