"""Counters of a controller, for display; no decision depends on them."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

# So many of the last durations are kept: enough for the quantiles that Kafka's histograms show.
KEPT = 1024


class Durations:
    """Durations in whole milliseconds: the last ones, and the count and sum of all (`Histogram` of Kafka)."""

    __slots__ = ("_last", "count", "sum_ms")

    def __init__(self) -> None:
        self._last = array("i")
        self.count = 0
        self.sum_ms = 0

    def add(self, ms: int) -> None:
        if self.count < KEPT:
            self._last.append(ms)
        else:
            self._last[self.count % KEPT] = ms
        self.count += 1
        self.sum_ms += ms

    def quantiles(self, wanted: tuple[float, ...]) -> list[float]:
        """Each of the wanted quantiles, from 0 to 1, of the last durations; 0 where there is none, as in Kafka."""
        last = sorted(self._last)
        if not last:
            return [0.0] * len(wanted)
        return [float(last[min(int(quantile * len(last)), len(last) - 1)]) for quantile in wanted]


@dataclass(slots=True)
class Metrics:
    """Counters since the start of the process. The names in Kafka's JMX are those of its `QuorumControllerMetrics`.

    last_applied_timestamp_ms: of the last batch in the state, by the wall clock of the leader that wrote it.
    snapshot_bytes, snapshot_ms: of the last snapshot written, when by the monotonic clock; None before the first.
    queue_ms: from a request's arrival to the call of its handler; processing_ms: from its arrival to its response, the
    wait for the commit included.
    """

    new_active_controllers: int = 0
    timed_out_broker_heartbeats: int = 0
    operations_started: int = 0
    operations_timed_out: int = 0
    last_applied_timestamp_ms: int = 0
    snapshots_loaded: int = 0
    snapshot_bytes: int = 0
    snapshot_ms: int | None = None
    queue_ms: Durations = field(default_factory=Durations)
    processing_ms: Durations = field(default_factory=Durations)
