"""The input of the planner: brokers with their racks, and the replicas of each partition."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

NO_REPLICA = -1  # pads the list of a partition that has fewer replicas than others


class BadCluster(ValueError):
    """The planner's input contradicts itself, or the request cannot be satisfied."""


class Broker(NamedTuple):
    """A registered broker. rack: None where it has none."""

    id: int
    rack: str | None = None
    fenced: bool = False


class Cluster:
    """Brokers, and partitions as columns.

    topics: the names; topic: for each partition the index of its topic; partition_id: its number; replicas: of shape
    (partitions, largest replication factor), broker ids in the order of preference, padded with NO_REPLICA.
    Raises BadCluster if a broker or a partition occurs twice, or a partition has a replica twice or none at all.
    """

    __slots__ = ("brokers", "partition_id", "replicas", "topic", "topics")

    def __init__(
        self, brokers: Sequence[Broker], topics: Sequence[str], topic: NDArray[np.int32],
        partition_id: NDArray[np.int32], replicas: NDArray[np.int32],
    ) -> None:  # fmt: skip
        self.brokers = tuple(sorted(brokers, key=lambda broker: broker.id))
        self.topics = tuple(topics)
        self.topic = np.ascontiguousarray(topic, np.int32)
        self.partition_id = np.ascontiguousarray(partition_id, np.int32)
        self.replicas = np.ascontiguousarray(replicas, np.int32)
        if self.replicas.ndim != 2 or not len(self.topic) == len(self.partition_id) == len(self.replicas):
            raise BadCluster("the columns of the partitions differ in length")
        self._check()

    def __len__(self) -> int:
        return len(self.topic)

    def name(self, row: int) -> str:
        return f"{self.topics[self.topic[row]]}-{self.partition_id[row]}"

    def _check(self) -> None:
        ids = [broker.id for broker in self.brokers]
        if len(set(ids)) != len(ids):
            twice = next(one for one, other in pairwise(ids) if one == other)
            raise BadCluster(f"broker {twice} is listed twice")
        key = self.topic.astype(np.int64) << 32 | self.partition_id
        unique, first = np.unique(key, return_index=True)
        if len(unique) != len(key):
            twice = int(np.setdiff1d(np.arange(len(key)), first)[0])
            raise BadCluster(f"partition {self.name(twice)} is listed twice")
        ordered = np.sort(self.replicas, axis=1)
        doubled = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_REPLICA)).any(axis=1)
        if doubled.any():
            row = int(np.flatnonzero(doubled)[0])
            raise BadCluster(f"partition {self.name(row)} has a replica twice: {self.replicas_of(row)}")
        empty = ~(self.replicas >= 0).any(axis=1) if len(self) else np.zeros(0, bool)
        if empty.any():
            raise BadCluster(f"partition {self.name(int(np.flatnonzero(empty)[0]))} has no replica")

    def replicas_of(self, row: int) -> list[int]:
        return [int(one) for one in self.replicas[row] if one != NO_REPLICA]

    def only(self, topics: Iterable[str]) -> Cluster:
        """The same brokers with the partitions of these topics; raises BadCluster if a topic is missing."""
        wanted = set(topics)
        for name in sorted(wanted - set(self.topics)):
            raise BadCluster(f"there is no topic {name!r}")
        chosen = np.array([name in wanted for name in self.topics], bool)[self.topic]
        return Cluster(
            self.brokers, self.topics, self.topic[chosen], self.partition_id[chosen], self.replicas[chosen]
        )  # fmt: skip


def cluster_of(brokers: Iterable[Broker], partitions: Iterable[tuple[str, int, Sequence[int]]]) -> Cluster:
    """A cluster from rows (topic, partition, replicas), in the order of topic and partition."""
    rows = sorted(partitions, key=lambda row: (row[0], row[1]))
    topics = sorted({name for name, _, _ in rows})
    index = {name: number for number, name in enumerate(topics)}
    width = max((len(replicas) for _, _, replicas in rows), default=1)
    matrix = np.full((len(rows), width), NO_REPLICA, np.int32)
    for number, (_, _, replicas) in enumerate(rows):
        matrix[number, : len(replicas)] = replicas
    return Cluster(
        tuple(brokers),
        topics,
        np.array([index[name] for name, _, _ in rows], np.int32),
        np.array([partition for _, partition, _ in rows], np.int32),
        matrix,
    )
