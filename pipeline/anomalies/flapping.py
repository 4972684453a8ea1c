"""Flapping brokers: brokers that fail repeatedly.

Definition. A broker falls when it was active (neither fenced nor shutting down) and is fenced, or registers again
because its process died. It flaps when it falls at least 3 times within 10 minutes. Falls that follow each other within
that time are one episode, from its first fall to its last. A controlled shutdown is no fall.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipeline.anomalies.anomaly import Anomaly

if TYPE_CHECKING:
    from collections.abc import Iterable

FALLS_MIN = 3
WITHIN_MS = 10 * 60_000
KIND = "flapping broker"


class Fall(NamedTuple):
    """The end of an active session. reason: fenced, or registered (again)."""

    cluster: str
    broker: int
    time_ms: int
    reason: str


def is_fall(state: str, end_reason: str | None) -> bool:
    """Whether the end of a broker's session, as the table of sessions has it, is a fall."""
    return state == "active" and end_reason in ("fenced", "registered")


def flapping(falls: Iterable[Fall]) -> list[Anomaly]:
    """The episodes, by cluster, broker and time."""
    by_broker: dict[tuple[str, int], list[Fall]] = {}
    for fall in sorted(falls):
        by_broker.setdefault((fall.cluster, fall.broker), []).append(fall)
    return [
        _anomaly(episode)
        for _, broker_falls in sorted(by_broker.items())
        for episode in _episodes(sorted(broker_falls, key=lambda fall: fall.time_ms))
    ]


def _episodes(falls: list[Fall]) -> Iterable[list[Fall]]:
    """Runs of falls in which each lies in some window of FALLS_MIN falls that is short enough."""
    flaps = [False] * len(falls)
    for at in range(len(falls) - FALLS_MIN + 1):
        if falls[at + FALLS_MIN - 1].time_ms - falls[at].time_ms <= WITHIN_MS:
            flaps[at : at + FALLS_MIN] = [True] * FALLS_MIN
    episode: list[Fall] = []
    for fall, flap in zip(falls, flaps, strict=True):
        if episode and (not flap or fall.time_ms - episode[-1].time_ms > WITHIN_MS):
            yield episode
            episode = []
        if flap:
            episode.append(fall)
    if episode:
        yield episode


def _anomaly(falls: list[Fall]) -> Anomaly:
    first, last = falls[0], falls[-1]
    fenced = sum(fall.reason == "fenced" for fall in falls)
    seen = f"It fell {len(falls)} times: {fenced} by being fenced, {len(falls) - fenced} by starting anew."
    return Anomaly(first.cluster, KIND, f"broker {first.broker}", first.time_ms, last.time_ms, seen)
