"""Preferred leaders: in the partitions that change, the first replica is chosen to spread leaders over brokers.

A change of the leader costs nothing once the replicas are copied; partitions that need no other change keep theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipeline.planner.cluster import NO_REPLICA

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spread_leaders(after: NDArray[np.int32], rows: NDArray[np.int64], before: NDArray[np.int32]) -> None:
    """Put a replica first in each of these rows, in place.

    after, before: replicas by broker id. The leader stays where it is unless another replica of the partition leads
    at least two fewer.
    """
    if not len(rows):
        return
    leads = np.bincount(after[:, 0], minlength=int(after.max()) + 1)
    leads -= np.bincount(after[rows, 0], minlength=len(leads))
    counts = leads.tolist()
    lists = after[rows].tolist()
    for number, (replicas, old) in enumerate(zip(lists, before[rows, 0].tolist(), strict=True)):
        alive = [one for one in replicas if one != NO_REPLICA]
        least = min(alive, key=lambda one: counts[one])
        leader = old if old in alive and counts[old] < counts[least] + 2 else least
        counts[leader] += 1
        if replicas[0] != leader:
            place = replicas.index(leader)
            replicas[0], replicas[place] = leader, replicas[0]
            lists[number] = replicas
    after[rows] = lists
