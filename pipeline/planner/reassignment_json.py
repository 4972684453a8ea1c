"""The files of stock's reassignment tool, compact, and sorted by topic and partition like its output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from pipeline.planner.cluster import NO_REPLICA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from pipeline.planner.plan import Plan


def propose(plan: Plan, partitions_max: int = 0) -> Iterator[str]:
    """The input of --execute: one file, or several with at most this many partitions each, to be executed in order."""
    order = _order(plan)
    return _files(plan, order, plan.replicas[order], partitions_max)


def current(plan: Plan) -> str:
    """The present replicas of the same partitions: the input of --execute to revert the plan."""
    order = _order(plan)
    return next(_files(plan, order, plan.cluster.replicas[plan.rows[order]], 0))


def _order(plan: Plan) -> NDArray[np.int64]:
    """Indexes into the plan's rows."""
    names = np.argsort(np.argsort(np.array(plan.cluster.topics, object))) if plan.cluster.topics else np.empty(0, int)
    return np.lexsort((plan.cluster.partition_id[plan.rows], names[plan.cluster.topic[plan.rows]]))


def _files(
    plan: Plan, order: NDArray[np.int64], replicas: NDArray[np.int32], partitions_max: int
) -> Iterator[str]:  # fmt: skip
    size = partitions_max or max(len(order), 1)
    rows = plan.rows[order]
    topics = [json.dumps(name) for name in plan.cluster.topics]
    for start in range(0, max(len(rows), 1), size):
        part = rows[start : start + size]
        entries = [
            _entry(topics[topic], partition, [one for one in held if one != NO_REPLICA])
            for topic, partition, held in zip(
                plan.cluster.topic[part].tolist(),
                plan.cluster.partition_id[part].tolist(),
                replicas[start : start + size].tolist(),
                strict=True,
            )
        ]
        yield f'{{"version":1,"partitions":[{",".join(entries)}]}}'


def _entry(topic: str, partition: int, replicas: list[int]) -> str:
    ids = ",".join(map(str, replicas))
    directories = ",".join(['"any"'] * len(replicas))
    return f'{{"topic":{topic},"partition":{partition},"replicas":[{ids}],"log_dirs":[{directories}]}}'
