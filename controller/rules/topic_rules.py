"""The configs of topics that elections depend on, for many partitions at once (KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.rules.partition_elections import MIN_ISR, UNCLEAN_ELECTION, allows_unclean_election, min_isr
from controller.state.partitions.columns import NOBODY
from controller.state.partitions.topics import NO_ROW
from controller.state.partitions.uncommon_fields import IS_WIDE
from controller.state.tables.configs import TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from controller.interface.env import Env
    from controller.state.partitions.columns import Int32s
    from controller.state.partitions.partitions import Partitions, Rows
    from controller.state.partitions.topics import Topic
    from controller.state.state import State

# No topic has an empty name, so no config is set for it: its values are the defaults.
_ANY_TOPIC = ""
_REPLICAS_MAX = 2**31 - 1
# So many rows of a column are searched in the time of one look at a topic.
ROWS_OF_TOPIC = 50


def topic_rules(state: State, env: Env, rows: Rows) -> tuple[Int32s, NDArray[np.bool_]]:
    """For each row its topic's effective min ISR, and whether it allows unclean elections.

    The effective min ISR is min.insync.replicas, but at most the number of replicas of the topic's partition 0.
    """
    topic = state.partitions.columns.topic[rows]
    count = len(state.partitions.topics)
    min_isrs = np.full(count, min(min_isr(state, env, _ANY_TOPIC), _REPLICAS_MAX), np.int32)
    unclean = np.full(count, allows_unclean_election(state, env, _ANY_TOPIC), np.bool_)
    used = np.zeros(count, np.bool_)
    used[topic] = True
    indexes = np.flatnonzero(used).tolist()
    for configured in _configured_topics(state, indexes):
        min_isrs[configured.index] = min(min_isr(state, env, configured.name), _REPLICAS_MAX)
        unclean[configured.index] = allows_unclean_election(state, env, configured.name)
    return np.minimum(min_isrs, _replication_factors(state.partitions, indexes))[topic], unclean[topic]


def _configured_topics(state: State, indexes: list[int]) -> Iterator[Topic]:
    """The topics among these with configs of their own; it may include some without election configs."""
    topics, configs = state.partitions.topics, state.configs
    if len(indexes) <= len(configs):
        for index in indexes:
            configured = topics[index]
            if configured is not None and (TOPIC, configured.name) in configs:
                yield configured
        return
    for (resource_type, name), values in configs.items():
        if resource_type == TOPIC and (MIN_ISR in values or UNCLEAN_ELECTION in values):
            configured = state.topic(name)
            if configured is not None:
                yield configured


def _replication_factors(partitions: Partitions, indexes: list[int]) -> Int32s:
    """The number of replicas of partition 0, by topic index; those of other topics may be left out."""
    columns, topics = partitions.columns, partitions.topics
    if len(indexes) * ROWS_OF_TOPIC < (end := columns.end):
        listed = [topic.row(0) for topic in map(topics.__getitem__, indexes) if topic is not None]
        first = np.array([row for row in listed if row != NO_ROW], np.intp)
    else:
        first = np.flatnonzero((columns.partition_id[:end] == 0) & (columns.topic[:end] >= 0))
    size = np.zeros(len(first), np.int32)
    for column in columns.replicas:
        size += column[first] != NOBODY
    for number in np.flatnonzero(columns.uncommon_values.of_kind(IS_WIDE)[columns.uncommon[first]]).tolist():
        size[number] = len(columns.get(int(first[number])).replicas)
    factors = np.full(len(topics), _REPLICAS_MAX, np.int32)
    factors[columns.topic[first]] = size
    return factors
