"""Plans: minimal by an exact solver, balanced over racks and brokers; errors name the problem."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pipeline.planner.cluster import BadCluster, Broker, Cluster, cluster_of
from pipeline.planner.plan import Plan, plan
from pipeline.planner.spread import broker_bounds, broker_shares
from tests.pipeline.planner.exact import Program, even_spread, some_cluster

TOLERANCES = (0.0, 0.0, 0.2, 0.5)


def bounds_of(cluster: Cluster, drained: list[int], tolerance: float) -> dict[int, tuple[int, int]]:
    targets = [broker for broker in cluster.brokers if broker.id not in drained]
    names = sorted({str(broker.rack) for broker in targets})
    racks = np.array([names.index(str(broker.rack)) for broker in targets])
    factors = np.bincount((cluster.replicas >= 0).sum(axis=1))
    low, high = broker_bounds(broker_shares(factors, np.bincount(racks)), racks, tolerance)
    return {broker.id: (int(low[at]), int(high[at])) for at, broker in enumerate(targets)}


def check_is_sound(found: Plan, drained: list[int], bounds: dict[int, tuple[int, int]]) -> None:
    """Every partition keeps its factor, every rack and broker its bounds; the moves match the lists."""
    cluster = found.cluster
    changed = dict(zip(found.rows.tolist(), found.replicas.tolist(), strict=True))
    rack_of = {broker.id: str(broker.rack) for broker in cluster.brokers if broker.id not in drained}
    sizes = {rack: list(rack_of.values()).count(rack) for rack in rack_of.values()}
    loads = dict.fromkeys(bounds, 0)
    copies = 0
    for row in range(len(cluster)):
        before = cluster.replicas_of(row)
        after = [one for one in changed.get(row, before) if one != -1]
        assert len(set(after)) == len(after) == len(before)
        assert row not in changed or set(after) != set(before), "a partition is listed that does not change"
        for rack, (least, most) in even_spread(len(after), sizes).items():
            assert least <= sum(rack_of[one] == rack for one in after) <= most
        copies += len(set(after) - set(before))
        for one in after:
            loads[one] += 1
    assert all(low <= loads[broker] <= high for broker, (low, high) in bounds.items())
    assert {broker: found.load_after[broker] for broker in loads} == loads
    assert found.moves == copies
    assert found.uneven_after == 0


def test_the_moves_equal_the_minimum_of_an_exact_solver_on_a_thousand_clusters() -> None:
    wrong = []
    for seed in range(1000):
        cluster, drained = some_cluster(random.Random(seed))
        tolerance = TOLERANCES[seed % len(TOLERANCES)]
        bounds = bounds_of(cluster, drained, tolerance)

        found = plan(cluster, drain=drained, tolerance=tolerance, seed=seed)

        check_is_sound(found, drained, bounds)
        least = Program(cluster, drained).least_moves(bounds)
        if not found.moves_min <= found.moves == least:
            wrong.append((seed, found.moves_min, found.moves, least))
    assert wrong == []


def test_no_assignment_with_the_same_rack_rule_is_more_even() -> None:
    wrong = []
    for seed in range(100):
        cluster, drained = some_cluster(random.Random(seed))
        bounds = bounds_of(cluster, drained, tolerance=0.0)
        least = min(low for low, _ in bounds.values())
        most = max(high for _, high in bounds.values())

        exact = Program(cluster, drained).extreme_load(False), Program(cluster, drained).extreme_load(True)

        if (least, most) != exact:
            wrong.append((seed, (least, most), exact))
    assert wrong == []


def crooked(partitions: int, brokers: int, racks: int, new: int, rng: np.random.Generator) -> Cluster:
    """Replicas placed without regard to racks, on all but the new brokers."""
    replicas = rng.integers(0, brokers - 2, (partitions, 3), dtype=np.int32)
    replicas.sort(axis=1)
    replicas += np.arange(3, dtype=np.int32)  # three numbers that differ
    each = np.arange(partitions)
    return Cluster(
        [Broker(number, f"rack-{number % racks}") for number in range(brokers + new)],
        [f"topic-{number}" for number in range(partitions // 50 + 1)], each // 50, each % 50, replicas,
    )  # fmt: skip


@pytest.mark.parametrize(("new", "drained"), [(6, []), (0, [0, 7]), (3, [1])])
def test_many_partitions_move_within_a_hundredth_of_the_lower_bound(new: int, drained: list[int]) -> None:
    cluster = crooked(30_000, 60, 5, new, np.random.default_rng(3))

    found = plan(cluster, drain=drained)

    check_is_sound(found, drained, bounds_of(cluster, drained, 0.0))
    assert found.moves_min <= found.moves <= found.moves_min * 1.01


@pytest.mark.slow
def test_a_million_partitions_move_within_a_hundredth_of_the_lower_bound() -> None:
    cluster = crooked(1_000_000, 90, 9, 9, np.random.default_rng(3))

    found = plan(cluster, drain=[5])

    loads = [load for broker, load in found.load_after.items() if broker != 5]
    shares = bounds_of(cluster, [5], 0.0)
    assert all(low <= found.load_after[broker] <= high for broker, (low, high) in shares.items())
    assert (sum(loads), found.load_after[5], found.uneven_after) == (3_000_000, 0, 0)
    assert found.moves_min <= found.moves <= found.moves_min * 1.01


def test_a_balanced_cluster_is_not_changed() -> None:
    brokers = [Broker(1, "a"), Broker(2, "b"), Broker(3, "c")]
    cluster = cluster_of(brokers, [("t", 0, [1, 2]), ("t", 1, [2, 3]), ("t", 2, [3, 1])])

    found = plan(cluster)

    assert (found.rows.tolist(), found.moves, found.moves_min) == ([], 0, 0)


def test_a_cluster_without_partitions_has_an_empty_plan() -> None:
    found = plan(cluster_of([Broker(1)], []))

    assert (found.rows.tolist(), found.moves) == ([], 0)


def test_a_drained_broker_ends_empty_and_its_replicas_go_where_they_are_needed() -> None:
    cluster = cluster_of([Broker(number) for number in range(3)], [("t", 0, [0, 1]), ("t", 1, [1, 0])])

    found = plan(cluster, drain=[0])

    assert found.load_after == {0: 0, 1: 2, 2: 2}
    assert [sorted(row) for row in found.replicas.tolist()] == [[1, 2], [1, 2]]
    assert found.moves == 2


def test_leaders_are_spread_over_the_changed_partitions() -> None:
    cluster = cluster_of([Broker(number) for number in range(4)], [("t", number, [0, 1]) for number in range(40)])

    found = plan(cluster)

    after = {row: cluster.replicas_of(row)[0] for row in range(40)}
    after.update(zip(found.rows.tolist(), found.replicas[:, 0].tolist(), strict=True))
    leads = [list(after.values()).count(broker) for broker in range(4)]
    assert max(leads) - min(leads) <= 2


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    cluster = crooked(2000, 12, 3, 2, np.random.default_rng(5))

    one, other = plan(cluster, seed=4), plan(cluster, seed=4)

    assert (one.rows.tolist(), one.replicas.tolist()) == (other.rows.tolist(), other.replicas.tolist())


@pytest.mark.parametrize(
    ("brokers", "partitions", "options", "said"),
    [
        ([Broker(1), Broker(2, None, fenced=True)], [("t", 0, [1])], {}, "broker 2 is fenced"),
        ([Broker(1, "a"), Broker(2)], [("t", 0, [1])], {}, r"some brokers have a rack, and \[2\] have none"),
        ([Broker(1)], [("t", 0, [1])], {"drain": [5]}, r"broker 5 cannot be drained: it is not registered; .* \[1\]"),
        ([Broker(1)], [("t", 0, [1])], {"drain": [1]}, "no broker is left"),
        ([Broker(1), Broker(2)], [("t", 0, [1, 2])], {"drain": [2]}, r"t-0 has 2 replicas, and .* 1 brokers .*: \[1\]"),
    ],
)  # fmt: skip
def test_the_reason_why_no_plan_is_possible_is_named(
    brokers: list[Broker], partitions: list[tuple[str, int, list[int]]], options: dict[str, list[int]], said: str
) -> None:
    with pytest.raises(BadCluster, match=said):
        plan(cluster_of(brokers, partitions), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("brokers", "partitions", "said"),
    [
        ([Broker(1), Broker(1)], [], "broker 1 is listed twice"),
        ([Broker(1)], [("t", 0, [1]), ("t", 0, [1])], "partition t-0 is listed twice"),
        ([Broker(1)], [("t", 0, [1, 1])], r"partition t-0 has a replica twice: \[1, 1\]"),
        ([Broker(1)], [("t", 0, [])], "partition t-0 has no replica"),
    ],
)
def test_a_cluster_that_contradicts_itself_is_refused(
    brokers: list[Broker], partitions: list[tuple[str, int, list[int]]], said: str
) -> None:
    with pytest.raises(BadCluster, match=said):
        cluster_of(brokers, partitions)
