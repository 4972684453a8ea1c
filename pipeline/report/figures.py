"""The contents of the report, as rows. `gather` queries the tables for them; `page` draws them, and does not know
Spark.

Times are in ms of the Unix epoch, by the clocks of the clusters' leaders. Intervals without an end count up to the end
of the history of their cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pipeline.anomalies.anomaly import Anomaly, ClusterFacts


MOMENTS = 288
# 1 s to 1 d, what a reader can divide by.
MOMENT_LENGTHS_MS = (
    *(1000 * one for one in (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200)), 86_400_000,
)  # fmt: skip


class TopicOutages(NamedTuple):
    """How long partitions of a topic had no leader. lasting: how many have none now. unclean: ended with data loss."""

    cluster: str
    topic: str
    outages: int
    partitions: int
    total_ms: int
    longest_ms: int
    lasting: int
    unclean: int


class TopicChurn(NamedTuple):
    """How often the leaders of a topic's partitions changed. unpreferred: to a leader that is not the preferred one."""

    cluster: str
    topic: str
    changes: int
    partitions: int
    unpreferred: int


class Moment(NamedTuple):
    """The events in an interval that begins at start_ms and lasts `moment_ms` of the cluster.

    changes: of leaders; shrinks: of ISRs.
    """

    cluster: str
    start_ms: int
    changes: int
    outages: int
    shrinks: int


def moment_ms(span_ms: int) -> int:
    """The length of a moment in a history of this length: about MOMENTS of them fit, or fewer."""
    return next((one for one in MOMENT_LENGTHS_MS if span_ms <= one * MOMENTS), MOMENT_LENGTHS_MS[-1])


class Failover(NamedTuple):
    """Partitions that lost one leader at one time, and got another. topic: one of their topics.

    longest_ms, mean_ms: the time without a leader. unclean: how many had an unclean election.
    """

    cluster: str
    start_ms: int
    last_leader: int
    partitions: int
    topics: int
    topic: str
    longest_ms: int
    mean_ms: int
    unclean: int


class FailoverTimes(NamedTuple):
    """How many partitions had no leader for at least 10 ** bucket ms, and less than ten times that."""

    cluster: str
    bucket: int
    failovers: int


class ControllerFailover(NamedTuple):
    """An election of an active controller. silence_ms: the time without any record before it."""

    cluster: str
    time_ms: int
    epoch: int
    previous_leader: int | None
    leader: int
    silence_ms: int | None


class BrokerFacts(NamedTuple):
    """A registered broker. leads: partitions now; led_ms: partitions times time. fenced: how often."""

    cluster: str
    broker: int
    rack: str | None
    state: str
    leads: int
    replicas: int
    led_ms: int
    fenced: int
    fenced_ms: int


class ConfigChange(NamedTuple):
    """A change of a config. before, after: None where it is not set."""

    cluster: str
    time_ms: int
    resource_type: str
    resource: str
    config: str
    before: str | None
    after: str | None


class Figures(NamedTuple):
    """The contents of the report. until_ms: the end of the newest history."""

    until_ms: int
    clusters: tuple[ClusterFacts, ...]
    outages: tuple[TopicOutages, ...]
    churn: tuple[TopicChurn, ...]
    moments: tuple[Moment, ...]
    failovers: tuple[Failover, ...]
    failover_times: tuple[FailoverTimes, ...]
    controllers: tuple[ControllerFailover, ...]
    brokers: tuple[BrokerFacts, ...]
    configs: tuple[ConfigChange, ...]
    anomalies: tuple[Anomaly, ...]
