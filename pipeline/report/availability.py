"""The sections on unavailability: partitions without a leader, and how long they had none."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pipeline.report.figures import moment_ms
from pipeline.report.html import bad, nothing, section, table
from pipeline.report.svg import Bar, bars, columns
from pipeline.report.words import duration, number, of_cluster, time

if TYPE_CHECKING:
    from pipeline.report.figures import Figures

_PLOTS_MAX = 6
_BARS_MAX = 12


def unavailability(figures: Figures) -> str:
    """The section of partitions without a leader: by topic, and over time."""
    about = (
        "A partition without a leader takes no records and gives none. Time is summed over the partitions of a topic."
    )
    if not figures.outages:
        return section("unavailability", "Unavailability", about, nothing("Every partition had a leader all the time."))
    several = len({one.cluster for one in figures.outages}) > 1
    shown = [
        Bar(of_cluster(one.topic, one.cluster, several=several), one.total_ms, duration(one.total_ms))
        for one in figures.outages[:_BARS_MAX]
    ]
    rows = [
        (
            one.topic, one.cluster, number(one.outages), number(one.partitions), duration(one.total_ms),
            duration(one.longest_ms), bad(f"{number(one.lasting)} down") if one.lasting else "0",
            bad(f"{number(one.unclean)} unclean") if one.unclean else "0",
        )
        for one in figures.outages
    ]  # fmt: skip
    heads = ("Topic", "Cluster", ">Times", ">Partitions", ">In all", ">Longest", ">Now", ">Lost data")
    return section(
        "unavailability", "Unavailability", about,
        "<h3>Time without a leader, by topic</h3>", bars(shown, "Time without a leader, by topic"),
        *over_time(figures, "outages", "Partitions that lost their leader", "lost their leader"),
        table("Topics by the time that their partitions had no leader", heads, rows),
    )  # fmt: skip


def failovers(figures: Figures) -> str:
    """How long they took, the slowest, and those of the active controller."""
    about = (
        "For how long partitions had no leader; and, before each election of an active controller, for how long no "
        "record was written. There was no active controller for at most that time. A stop of the whole cluster counts."
    )
    parts = []
    if figures.failover_times:
        counts: dict[int, int] = {}
        for one in figures.failover_times:
            counts[one.bucket] = counts.get(one.bucket, 0) + one.failovers
        shown = [
            Bar(_bucket_name(bucket), counts.get(bucket, 0), number(counts.get(bucket, 0)))
            for bucket in range(min(counts), max(counts) + 1)
        ]
        parts += ["<h3>How long partitions were without a leader</h3>", bars(shown, "Failovers by their time")]
    if figures.failovers:
        rows = [
            (
                duration(one.longest_ms), duration(one.mean_ms), time(one.start_ms), one.cluster, one.last_leader,
                number(one.partitions), one.topic if one.topics == 1 else f"{number(one.topics)} topics",
                bad(f"{number(one.unclean)} unclean") if one.unclean else "0",
            )
            for one in figures.failovers
        ]  # fmt: skip
        heads = ("Took", ">In the mean", "When", "Cluster", ">Broker lost", ">Partitions", "Of", ">Lost data")
        parts.append(table("The slowest failovers: partitions that lost one leader at one time", heads, rows))
    if figures.controllers:
        elections = [
            (
                f"epoch {one.epoch}", one.cluster, time(one.time_ms),
                None if one.silence_ms is None else duration(one.silence_ms), one.previous_leader, one.leader,
            )
            for one in figures.controllers
        ]  # fmt: skip
        parts.append(
            table(
                "The slowest failovers of the active controller",
                ("Election", "Cluster", "When", ">No record for", ">From", ">To"),
                elections,
            )
        )
    return section("failovers", "Slowest failovers", about, *(parts or [nothing("There was none.")]))


def over_time(figures: Figures, field: str, title: str, unit: str) -> list[str]:
    """A plot for each cluster with data, the busiest first."""
    sums: dict[str, int] = {}
    for moment in figures.moments:
        sums[moment.cluster] = sums.get(moment.cluster, 0) + getattr(moment, field)
    busiest = sorted((name for name, total in sums.items() if total), key=lambda name: -sums[name])
    spans = {one.cluster: (one.first_ms, one.last_ms) for one in figures.clusters}
    parts = []
    for name in busiest[:_PLOTS_MAX]:
        values = [(one.start_ms, getattr(one, field)) for one in figures.moments if one.cluster == name]
        values = [(start, value) for start, value in values if value]
        first, last = spans.get(name, (values[0][0], values[-1][0]))
        length = moment_ms(last - first)
        begin, end = first - first % length, last - last % length
        plot = columns(values, begin, end, length, f"{title}, cluster {name}", unit, name)
        heading = escape(f"{title} in {duration(length)}, cluster {name}")
        parts.append(f'<div class="over"><h3>{heading}</h3>{plot}</div>')
    return parts


def _bucket_name(bucket: int) -> str:
    high = _round_time(bucket + 1)
    return f"below {high}" if bucket <= 0 else f"{_round_time(bucket)} to {high}"


def _round_time(power: int) -> str:
    return f"{10**power} ms" if power < 3 else f"{10 ** (power - 3):,} s"
