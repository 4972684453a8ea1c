"""The sections on load: churn of leadership, hot brokers, and skew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.report.availability import over_time
from pipeline.report.html import bad, nothing, section, table
from pipeline.report.svg import Bar, bars, dots
from pipeline.report.words import duration, number, of_cluster

if TYPE_CHECKING:
    from pipeline.report.figures import BrokerFacts, Figures

_BARS_MAX = 12
_GROUPS_MAX = 12


def churn(figures: Figures) -> str:
    """The topics whose leaders changed most, and when."""
    about = "Each change of a leader makes clients look for the new one. The first leader of a partition is no change."
    rows = [one for one in figures.churn if one.changes]
    if not rows:
        return section("churn", "Leadership churn", about, nothing("No leader ever changed."))
    several = len({one.cluster for one in rows}) > 1
    shown = [
        Bar(of_cluster(one.topic, one.cluster, several=several), one.changes, number(one.changes))
        for one in rows[:_BARS_MAX]
    ]
    heads = ("Topic", "Cluster", ">Changes", ">Partitions", ">Of each", ">By second choice")
    entries = [
        (
            one.topic, one.cluster, number(one.changes), number(one.partitions),
            number(one.changes / max(one.partitions, 1)), number(one.unpreferred),
        )
        for one in rows
    ]  # fmt: skip
    return section(
        "churn", "Leadership churn", about,
        "<h3>Changes of leaders, by topic</h3>", bars(shown, "Changes of leaders, by topic"),
        *over_time(figures, "changes", "Changes of leaders", "changes"),
        *over_time(figures, "shrinks", "ISRs that shrank", "ISRs shrank"),
        table("Topics by changes of their partitions' leaders", heads, entries),
    )  # fmt: skip


def hot_brokers(figures: Figures) -> str:
    """The brokers that lead far more partitions than others of their cluster."""
    about = (
        "All reads and writes of a partition go to its leader. Beside a broker stands how many times the mean of its "
        "cluster it leads; led time is partitions times time."
    )
    means = _means(figures)
    rows = sorted(figures.brokers, key=lambda one: (-_times(one, means), one.cluster, one.broker))[:20]
    if not rows:
        return section("brokers", "Hot brokers", about, nothing("No broker is registered."))
    several = len({one.cluster for one in rows}) > 1
    shown = [
        Bar(
            of_cluster(f"broker {one.broker}", one.cluster, several=several), _times(one, means),
            f"{_times(one, means):.2f}× ({number(one.leads)})",
        )
        for one in rows[:_BARS_MAX]
    ]  # fmt: skip
    heads = (
        "Broker", "Cluster", "Rack", "State", ">Leads", ">Of the mean", ">Replicas", ">Led time", ">Fenced",
        ">Fenced for",
    )  # fmt: skip
    entries = [
        (
            one.broker, one.cluster, one.rack, one.state if one.state == "active" else bad(one.state),
            number(one.leads), f"{_times(one, means):.2f}×", number(one.replicas), duration(one.led_ms),
            number(one.fenced), duration(one.fenced_ms),
        )
        for one in rows
    ]  # fmt: skip
    return section(
        "brokers", "Hot brokers", about,
        "<h3>Partitions led, as a multiple of the cluster's mean</h3>", bars(shown, "Partitions led beside the mean"),
        table("Brokers by what they lead", heads, entries),
    )  # fmt: skip


def skew(figures: Figures) -> str:
    """How unevenly replicas and leaders are distributed over a cluster's brokers."""
    about = (
        "Each dot is a broker: the replicas it holds, as a multiple of its cluster's mean. On an even cluster all dots "
        "lie on the dashed line. `kraft-pipeline plan` makes a cluster even with the fewest moves."
    )
    groups: dict[str, list[BrokerFacts]] = {}
    for one in figures.brokers:
        groups.setdefault(one.cluster, []).append(one)
    shown, rows = [], []
    for cluster, brokers in groups.items():
        mean = sum(one.replicas for one in brokers) / len(brokers)
        leads = sum(one.leads for one in brokers) / len(brokers)
        if not mean:
            continue
        shown.append((cluster, [(f"broker {one.broker}", one.replicas / mean) for one in brokers]))
        fullest = max(brokers, key=lambda one: one.replicas)
        leader = max(brokers, key=lambda one: one.leads)
        least = min(brokers, key=lambda one: one.replicas)
        rows.append(
            (
                cluster, number(len(brokers)), number(round(mean, 1)),
                f"{number(least.replicas)} ({least.broker})", f"{number(fullest.replicas)} ({fullest.broker})",
                f"{fullest.replicas / mean:.2f}×", f"{leader.leads / leads:.2f}× ({leader.broker})" if leads else None,
            )
        )  # fmt: skip
    if not rows:
        return section("skew", "Skew", about, nothing("No broker holds a replica."))
    worst = sorted(shown, key=lambda row: -max(value for _, value in row[1]))[:_GROUPS_MAX]
    heads = (
        "Cluster",
        ">Brokers",
        ">Mean",
        ">Least (broker)",
        ">Most (broker)",
        ">Most of mean",
        ">Leads of mean (broker)",
    )
    return section(
        "skew", "Skew", about,
        dots(worst, "Replicas of each broker beside the mean of its cluster", lambda value: f"{value:.2f}×"),
        table("Replicas of brokers", heads, rows),
    )  # fmt: skip


def _means(figures: Figures) -> dict[str, float]:
    """The mean number of partitions that a broker leads, by cluster."""
    sums: dict[str, list[int]] = {}
    for one in figures.brokers:
        sums.setdefault(one.cluster, []).append(one.leads)
    return {cluster: sum(leads) / len(leads) for cluster, leads in sums.items()}


def _times(broker: BrokerFacts, means: dict[str, float]) -> float:
    mean = means[broker.cluster]
    return broker.leads / mean if mean else 0.0
