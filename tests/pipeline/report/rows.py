"""Figures of a small fleet, with something in each section."""

from __future__ import annotations

from pipeline.anomalies.anomaly import Anomaly, ClusterFacts
from pipeline.report.figures import (
    BrokerFacts,
    ConfigChange,
    ControllerFailover,
    Failover,
    FailoverTimes,
    Figures,
    Moment,
    TopicChurn,
    TopicOutages,
)

DAY = 1_795_910_400_000  # 2026-11-29 00:00:00 UTC
HOUR = 3_600_000


def fleet() -> Figures:
    return Figures(
        until_ms=DAY + 48 * HOUR,
        clusters=(
            ClusterFacts("north", DAY, DAY + 48 * HOUR, 12_345, 2, 3, 60, 3),
            ClusterFacts("south", DAY + HOUR, DAY + 40 * HOUR, 900, 0, 1, 6, 1),
        ),
        outages=(
            TopicOutages("north", "orders", 12, 4, 5_400_000, 3_600_000, 1, 2),
            TopicOutages("south", "clicks", 1, 1, 250, 250, 0, 0),
        ),
        churn=(TopicChurn("north", "orders", 40, 20, 7), TopicChurn("south", "clicks", 0, 6, 0)),
        moments=(Moment("north", DAY + HOUR, 30, 10, 12), Moment("north", DAY + 47 * HOUR, 10, 2, 0)),
        failovers=(
            Failover("north", DAY + HOUR, 2, 1200, 14, "orders", 61_500, 800, 2),
            Failover("south", DAY + 2 * HOUR, 9, 1, 1, "clicks", 250, 250, 0),
        ),
        failover_times=(FailoverTimes("north", 2, 5), FailoverTimes("north", 4, 7), FailoverTimes("south", 2, 1)),
        controllers=(ControllerFailover("north", DAY + HOUR, 7, 1, 3, 1500),),
        brokers=(
            BrokerFacts("north", 1, "a", "active", 30, 60, 90 * HOUR, 0, 0),
            BrokerFacts("north", 2, "b", "fenced", 0, 60, HOUR, 3, 2 * HOUR),
            BrokerFacts("north", 3, None, "active", 30, 30, 80 * HOUR, 1, 900),
            BrokerFacts("south", 9, None, "active", 6, 6, 9 * HOUR, 0, 0),
        ),
        configs=(ConfigChange("north", DAY + HOUR, "TOPIC", "orders", "retention.ms", None, "86400000"),),
        anomalies=(Anomaly("north", "flapping broker", "broker 2", DAY, DAY + HOUR, "It fell 3 times."),),
    )


def empty() -> Figures:
    return Figures(0, (), (), (), (), (), (), (), (), (), ())
