"""ISR storms: many ISRs shrink at once although no broker stopped.

Definition. A replica is dropped when it leaves its partition's ISR while its broker is active. ISRs that shrink because
a broker is fenced, shuts down or restarts, or because a reassignment completes, do not count. A storm is a minute in
which at least 10 replicas are dropped, and at least one for every hundred partitions of the cluster. Minutes that
overlap or touch are one storm. Possible causes are a slow disk, a long pause of a broker's JVM, or a bad network.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from pipeline.anomalies.anomaly import Anomaly

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DROPS_MIN = 10
PARTITIONS_PER_DROP = 100
WITHIN_MS = 60_000
SPAN_MS = 1000
KIND = "ISR storm"


class Drops(NamedTuple):
    """How many replicas on a broker were dropped in the SPAN_MS that begin at start_ms."""

    cluster: str
    start_ms: int
    broker: int
    drops: int


def storms(drops: Iterable[Drops], partitions: Mapping[str, int]) -> list[Anomaly]:
    """The storms, by cluster and time. partitions: how many a cluster has."""
    by_cluster: dict[str, list[Drops]] = {}
    for one in sorted(drops):
        by_cluster.setdefault(one.cluster, []).append(one)
    anomalies: list[Anomaly] = []
    for cluster, spans in sorted(by_cluster.items()):
        least = max(DROPS_MIN, -(-partitions.get(cluster, 0) // PARTITIONS_PER_DROP))
        anomalies += [_anomaly(storm) for storm in _storms(spans, least)]
    return anomalies


def _storms(spans: list[Drops], least: int) -> Iterable[list[Drops]]:
    window: deque[Drops] = deque()
    total = 0
    storm: list[Drops] = []
    for span in spans:
        window.append(span)
        total += span.drops
        while span.start_ms - window[0].start_ms >= WITHIN_MS:
            total -= window.popleft().drops
        if total < least:
            continue
        if storm and storm[-1].start_ms < window[0].start_ms - WITHIN_MS:
            yield storm
            storm = []
        storm += [one for one in window if not storm or one > storm[-1]]
    if storm:
        yield storm


def _anomaly(storm: list[Drops]) -> Anomaly:
    by_broker: dict[int, int] = {}
    for span in storm:
        by_broker[span.broker] = by_broker.get(span.broker, 0) + span.drops
    total = sum(by_broker.values())
    worst = max(sorted(by_broker), key=lambda broker: by_broker[broker])
    first, last = storm[0], storm[-1]
    seen = f"{total:,} replicas of active brokers left their ISRs, {by_broker[worst]:,} of them on broker {worst}."
    return Anomaly(first.cluster, KIND, f"broker {worst}", first.start_ms, last.start_ms + SPAN_MS, seen)
