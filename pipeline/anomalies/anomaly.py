"""An anomaly: one pattern, of one subject, from one time to another; and the cluster that it is of."""

from __future__ import annotations

from typing import NamedTuple


class ClusterFacts(NamedTuple):
    """A cluster. first_ms, last_ms: of its first and last record. problems: rows that are not valid records."""

    cluster: str
    first_ms: int
    last_ms: int
    records: int
    problems: int
    topics: int
    partitions: int
    brokers: int


class Anomaly(NamedTuple):
    """kind: flapping broker, ISR storm or ghost voter. Times in ms of the Unix epoch. seen: a sentence with figures."""

    cluster: str
    kind: str
    subject: str
    start_ms: int
    end_ms: int
    seen: str
