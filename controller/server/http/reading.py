"""One look at a node, for all who show it: what is read once, is read once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from controller.columns import NO_TOPIC, NOBODY
from controller.rare import IS_WIDE

if TYPE_CHECKING:
    from controller.node import Node
    from controller.partitions import Counts, Rows
    from controller.server.http.counted import Counted
    from controller.server.http.watchdog import Watchdog
    from controller.tables.brokers import Broker


class Reading:
    """The node as it is now. Used within one turn of the loop, and not kept.

    The state of the active controller has what it wrote and nobody has committed yet; that is so for milliseconds.
    """

    def __init__(self, node: Node, counted: Counted, watchdog: Watchdog) -> None:
        self.node = node
        self.counted = counted
        self.watchdog = watchdog
        self.replica = node.replica
        self.controller = node.controller
        self.state = node.controller.state
        self.env = node.controller.env
        self.metrics = node.controller.metrics
        self.now_ms = node.now_ms()
        self.wall_ms = self.now_ms + node.replica.wall_offset_ms
        self.now_s = counted.clock_s()

    @cached_property
    def brokers(self) -> list[Broker]:
        """All that are registered, by ascending id."""
        return [self.state.brokers[broker_id] for broker_id in sorted(self.state.brokers)]

    @property
    def is_loading(self) -> bool:
        """Whether the state is that of a snapshot of which a part is still to come: its partitions are not in order."""
        return self.state.partitions.is_unsettled

    @cached_property
    def counts(self) -> Counts:
        return self.state.partitions.counts()

    def silent_ms(self, broker: Broker) -> int | None:
        """How long ago an active controller heard of the broker; None elsewhere, or where it never did."""
        sessions = self.env.sessions
        contact_ms = None if sessions is None else sessions.contact_ms(broker.broker_id, broker.epoch)
        return None if contact_ms is None else self.now_ms - contact_ms

    @cached_property
    def under_replicated(self) -> Rows:
        """The partitions whose ISR lacks a replica."""
        columns = self.state.partitions.columns
        end = columns.end
        missing = np.zeros(end, np.int8)
        for column in columns.replicas:
            missing += column[:end] != NOBODY
        for column in columns.isr:
            missing -= column[:end] != NOBODY
        for row in np.flatnonzero(columns.rares.of_kind(IS_WIDE)[columns.rare[:end]]).tolist():
            partition = columns.get(row)
            missing[row] = len(partition.isr) < len(partition.replicas)
        rows: Rows = np.flatnonzero((missing > 0) & (columns.topic[:end] != NO_TOPIC))
        return rows
