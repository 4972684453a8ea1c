"""One reading of a node, for metrics, views and probes: values that are expensive are computed once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from controller.state.partitions.columns import NO_TOPIC, NOBODY
from controller.state.partitions.uncommon_fields import IS_WIDE
from raft.state.roles import Follower

if TYPE_CHECKING:
    from controller.node.node import Node
    from controller.server.http.counted import Counted
    from controller.server.http.watchdog import Watchdog
    from controller.state.partitions.partitions import Counts, Rows
    from controller.state.tables.brokers import Broker

FENCED = 10
IN_CONTROLLED_SHUTDOWN = 20
ACTIVE = 30


class Reading:
    """The node at one moment. Used within one iteration of the event loop, and not kept.

    The state of the active controller includes records that are not committed yet, for some milliseconds.
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
        self.uptime_ms = int((node.loop.time() - watchdog.began_s) * 1000)

    @cached_property
    def brokers(self) -> list[Broker]:
        """The registered brokers, by ascending id."""
        return [self.state.brokers[broker_id] for broker_id in sorted(self.state.brokers)]

    @property
    def is_loading(self) -> bool:
        """Whether a snapshot is partly loaded, so that its partitions are not sorted yet."""
        return self.state.partitions.is_unsettled

    @cached_property
    def counts(self) -> Counts:
        return self.state.partitions.counts()

    def silent_ms(self, broker: Broker) -> int | None:
        """The time since the broker's last heartbeat, on the active controller; None elsewhere, or before the first."""
        sessions = self.env.sessions
        contact_ms = None if sessions is None else sessions.contact_ms(broker.broker_id, broker.epoch)
        return None if contact_ms is None else self.now_ms - contact_ms

    def heard_ms(self, broker: Broker) -> int | None:
        """As `silent_ms`, also of a broker whose session expired since this node leads."""
        sessions = self.env.sessions
        contact_ms = None if sessions is None else sessions.last_contact_ms(broker.broker_id, broker.epoch)
        return None if contact_ms is None else self.now_ms - contact_ms

    def registration_state(self, broker: Broker) -> int:
        """The value of Kafka's metric BrokerRegistrationState."""
        if broker.fenced:
            return FENCED
        return IN_CONTROLLED_SHUTDOWN if broker.in_controlled_shutdown else ACTIVE

    def behind(self) -> int:
        """The number of records known to be committed that are not in the state yet."""
        role = self.replica.role
        known = self.replica.high_watermark or 0
        if isinstance(role, Follower):
            known = max(known, role.state.leader_high_watermark)
        return max(known - self.state.end_offset, 0)

    def count_led(self) -> dict[int, int]:
        """Broker id -> the number of partitions it leads; -1 for partitions without a leader."""
        columns = self.state.partitions.columns
        end = columns.end
        leaders, counts = np.unique(columns.leader[:end][columns.topic[:end] != NO_TOPIC], return_counts=True)
        return dict(zip(leaders.tolist(), counts.tolist(), strict=True))

    @property
    def under_replicated_rows(self) -> Rows:
        """The under-replicated partitions; computed again after partitions have changed."""
        version = self.state.partitions.version
        known = self.counted.under_replicated
        if known is None or known[0] != version:
            known = self.counted.under_replicated = (version, self._compute_under_replicated())
        return known[1]

    def _compute_under_replicated(self) -> Rows:
        columns = self.state.partitions.columns
        end = columns.end
        missing = np.zeros(end, np.int8)
        for column in columns.replicas:
            missing += column[:end] != NOBODY
        for column in columns.isr:
            missing -= column[:end] != NOBODY
        for row in np.flatnonzero(columns.uncommon_values.of_kind(IS_WIDE)[columns.uncommon[:end]]).tolist():
            partition = columns.get(row)
            missing[row] = len(partition.isr) < len(partition.replicas)
        rows: Rows = np.flatnonzero((missing > 0) & (columns.topic[:end] != NO_TOPIC))
        return rows
