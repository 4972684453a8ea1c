"""Counters of a controller, for whoever shows them; none of them decides anything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Metrics:
    """Since the start of the process. The names in Kafka's JMX are those of its `QuorumControllerMetrics`.

    last_applied_timestamp_ms: of the last batch in the state, by the wall clock of who wrote it.
    """

    new_active_controllers: int = 0
    timed_out_broker_heartbeats: int = 0
    operations_started: int = 0
    operations_timed_out: int = 0
    last_applied_timestamp_ms: int = 0
