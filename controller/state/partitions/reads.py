"""The partitions of some topics, as what a handler reads (`controller.interface.slices`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from controller.state.partitions.columns import NO_TOPIC

if TYPE_CHECKING:
    from collections.abc import Container

    from controller.state.partitions.partitions import Partitions
    from controller.state.state import State
    from controller.state.tables.undo import Undoable


class RowsOf:
    """The keys of partitions of these topics: a row, or rows that were changed together.

    A row without a topic was removed since: with its topic, whose own change tells that.
    """

    def __init__(self, partitions: Partitions, topics: Container[str | bytes]) -> None:
        self._partitions = partitions
        self._topics = topics

    def __contains__(self, key: Any) -> bool:
        indices = np.unique(self._partitions.columns.topic[key if isinstance(key, int) else key.rows]).tolist()
        topics = [self._partitions.topics[index] for index in indices if index != NO_TOPIC]
        return any(topic.name in self._topics or topic.topic_id in self._topics for topic in topics if topic)


def partitions_of(state: State, topics: Container[str | bytes]) -> dict[Undoable, Container[Any]]:
    """The partitions of topics, each given by its name or its id."""
    rows = RowsOf(state.partitions, topics)
    return {state.partitions: rows, state.partitions.bulk: rows}
