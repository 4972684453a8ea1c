"""A plan: the partitions that change, with their new replicas, its cost, and a lower bound of the cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.planner.assignment import EMPTY, HOMELESS, Assignment
from pipeline.planner.cluster import NO_REPLICA, BadCluster, Broker, Cluster
from pipeline.planner.direct import move_directly
from pipeline.planner.leaders import spread_leaders
from pipeline.planner.paths import Chains

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray


class Plan(NamedTuple):
    """The changes. rows: of the cluster, ascending; replicas: the new list of each, padded with NO_REPLICA.

    moves: how many replicas are copied to a broker that does not hold them; moves_min: a lower bound for any plan with
    this result. load_before, load_after: replicas by broker id. uneven_before, uneven_after: partitions whose replicas
    are not spread over as many racks as possible.
    """

    cluster: Cluster
    rows: NDArray[np.int64]
    replicas: NDArray[np.int32]
    moves: int
    moves_min: int
    load_before: dict[int, int]
    load_after: dict[int, int]
    uneven_before: int
    uneven_after: int


def plan(
    cluster: Cluster, *, drain: Iterable[int] = (), rack_aware: bool = True, tolerance: float = 0.0, seed: int = 0,
    progress: Callable[[int, int], None] = lambda _made, _all: None,
) -> Plan:  # fmt: skip
    """The plan with the fewest moves after which racks and brokers are balanced.

    drain: brokers that are to hold nothing. tolerance: by which fraction of its share a broker may differ from it.
    seed: of the random choice among equal moves. progress: called with the moves made and the lower bound. Raises
    BadCluster if the cluster's state or the options allow no plan.
    """
    targets = _targets(cluster, frozenset(drain), rack_aware)
    ids = np.array([broker.id for broker in targets], np.int64)
    was = _indexes(cluster.replicas, ids)
    assignment = Assignment(was, _racks(targets, rack_aware), tolerance)
    least = _moves_min(assignment)
    made = 0

    def tell(moved: int) -> None:
        nonlocal made
        made += moved
        progress(made, least)

    evicted = bool((assignment.homeless() & (was >= 0)).any())
    # A chain can have cost 0 only if a replica was made homeless by choice, and another takes its place.
    chains = Chains(assignment, cost_min=0 if evicted else 1)
    if evicted:
        chains.take_all(tell, cost_max=0)
    move_directly(assignment, np.random.default_rng(seed), tell)
    Chains(assignment, max(chains.cost_min, 1)).take_all(tell)
    return _outcome(cluster, assignment, ids, least)


def _targets(cluster: Cluster, drained: frozenset[int], rack_aware: bool) -> list[Broker]:
    known = {broker.id for broker in cluster.brokers}
    for broker_id in sorted(drained - known):
        raise BadCluster(f"broker {broker_id} cannot be drained: it is not registered; registered are {sorted(known)}")
    targets = [broker for broker in cluster.brokers if broker.id not in drained]
    if not targets:
        raise BadCluster("no broker is left that can hold replicas")
    for broker in targets:
        if broker.fenced:
            raise BadCluster(f"broker {broker.id} is fenced, so nothing can move to it: start it, or drain it too")
    factors = (cluster.replicas != NO_REPLICA).sum(axis=1)
    if len(cluster) and (most := int(factors.max())) > len(targets):
        name = cluster.name(int(factors.argmax()))
        raise BadCluster(
            f"partition {name} has {most} replicas, and there are {len(targets)} brokers that may hold them: "
            f"{[broker.id for broker in targets]}"
        )
    without = [broker.id for broker in targets if broker.rack is None]
    if rack_aware and without and len(without) < len(targets):
        raise BadCluster(f"some brokers have a rack, and {without} have none: plan without racks, or give them one")
    return targets


def _racks(targets: list[Broker], rack_aware: bool) -> NDArray[np.int64]:
    names = [broker.rack or "" if rack_aware else "" for broker in targets]
    order = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([order[name] for name in names], np.int64)


def _indexes(replicas: NDArray[np.int32], ids: NDArray[np.int64]) -> NDArray[np.int32]:
    """Broker ids as numbers from 0; HOMELESS where the broker may hold nothing, EMPTY behind the end of a list."""
    at = np.minimum(np.searchsorted(ids, replicas), len(ids) - 1)
    indexes = np.where(ids[at] == replicas, at, HOMELESS)
    return np.where(replicas == NO_REPLICA, EMPTY, indexes).astype(np.int32)


def _moves_min(assignment: Assignment) -> int:
    """The largest of three lower bounds on the moves of any plan."""
    load = assignment.found_load
    return max(
        assignment.homeless_found,
        int(np.maximum(assignment.low - load, 0).sum()),
        assignment.total - int(np.minimum(assignment.high, load).sum()),
    )


def _outcome(cluster: Cluster, assignment: Assignment, ids: NDArray[np.int64], least: int) -> Plan:
    after = np.where(assignment.now >= 0, ids[np.maximum(assignment.now, 0)], NO_REPLICA).astype(np.int32)
    rows = np.flatnonzero((assignment.now != assignment.was).any(axis=1))
    spread_leaders(after, rows, cluster.replicas)
    held, counts = np.unique(cluster.replicas[cluster.replicas != NO_REPLICA], return_counts=True)
    before = dict.fromkeys((broker.id for broker in cluster.brokers), 0)
    before.update(zip(held.tolist(), counts.tolist(), strict=True))
    loads = dict.fromkeys(before, 0)
    loads.update(zip(ids.tolist(), assignment.load.tolist(), strict=True))
    return Plan(
        cluster, rows, after[rows], assignment.copies(), least, before, loads,
        assignment.uneven(assignment.was), assignment.uneven(assignment.now),
    )  # fmt: skip
