"""The report as one page of HTML: every plot has a table, and nothing is loaded from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pipeline.report import availability, load, timeline
from pipeline.report.html import bad, code, nothing, section, table, tiles
from pipeline.report.style import CSS
from pipeline.report.words import duration, number, time

if TYPE_CHECKING:
    from pipeline.report.figures import Figures

_SECTIONS = (
    ("clusters", "Clusters"),
    ("unavailability", "Unavailability"),
    ("failovers", "Failovers"),
    ("churn", "Leadership churn"),
    ("brokers", "Hot brokers"),
    ("skew", "Skew"),
    ("anomalies", "Anomalies"),
    ("configs", "Configs"),
)


def page(figures: Figures) -> str:
    """The report as HTML, in UTF-8."""
    links = "".join(f'<a href="#{id_}">{escape(name)}</a>' for id_, name in _SECTIONS)
    parts = [
        _clusters(figures),
        availability.unavailability(figures),
        availability.failovers(figures),
        load.churn(figures),
        load.hot_brokers(figures),
        load.skew(figures),
        _anomalies(figures),
        _configs(figures),
    ]
    names = ", ".join(one.cluster for one in figures.clusters[:3]) + (", …" if len(figures.clusters) > 3 else "")
    controls = timeline.controls(one.cluster for one in figures.clusters)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Kafka metadata: {escape(names or 'nothing')}</title><style>{CSS}{timeline.CSS}</style></head>"
        f"<body><main><header><h1>What the metadata logs tell</h1><p>{escape(_span(figures))}</p>"
        f'<nav aria-label="Sections">{links}</nav></header>{controls}'
        f"{_tiles(figures)}{''.join(parts)}"
        "<footer>Made by kraft-pipeline report. Times are UTC, by the clocks of the active controllers; what lasted at "
        "the end of a cluster's history is counted up to there.</footer></main>"
        f"<script>{timeline.SCRIPT}</script></body></html>\n"
    )


def _span(figures: Figures) -> str:
    if not figures.clusters:
        return "The tables are empty."
    first = min(one.first_ms for one in figures.clusters)
    count = len(figures.clusters)
    return f"{_count(count, 'cluster')}, from {time(first)} to {time(figures.until_ms)} UTC."


def _count(count: int, what: str) -> str:
    return f"{number(count)} {what}{'s' * (count != 1)}"


def _tiles(figures: Figures) -> str:
    clusters = figures.clusters
    total = sum(one.total_ms for one in figures.outages)
    of_partitions = max((one.longest_ms for one in figures.failovers), default=None)
    of_controllers = max((one.silence_ms for one in figures.controllers if one.silence_ms is not None), default=None)
    slowest = max((taken for taken in (of_partitions, of_controllers) if taken is not None), default=None)
    lasting = sum(one.lasting for one in figures.outages)
    unclean = sum(one.unclean for one in figures.outages)
    topics = sum(one.topics for one in clusters)
    about_failovers = (
        f"partitions: {_or_none(of_partitions)}; active controller: {_or_none(of_controllers)}; "
        f"{number(unclean)} unclean elections"
    )
    return tiles([
        ("Partitions", number(sum(one.partitions for one in clusters)), f"of {number(topics)} topics"),
        ("Brokers", number(sum(one.brokers for one in clusters)), f"in {_count(len(clusters), 'cluster')}"),
        ("Time without a leader", duration(total), f"partitions × time; {number(lasting)} without one now"),
        ("Slowest failover", _or_none(slowest), about_failovers),
        ("Changes of leaders", number(sum(one.changes for one in figures.churn)), "elections of partitions' leaders"),
        ("Anomalies", number(len(figures.anomalies)), "flapping brokers, ISR storms, ghost voters"),
    ])  # fmt: skip


def _or_none(time_ms: int | None) -> str:
    return "none" if time_ms is None else duration(time_ms)


def _clusters(figures: Figures) -> str:
    rows = [
        (
            one.cluster, time(one.first_ms), time(one.last_ms), number(one.records),
            bad(f"{number(one.problems)} bad") if one.problems else "0",
            number(one.topics), number(one.partitions), number(one.brokers),
        )
        for one in figures.clusters
    ]  # fmt: skip
    heads = ("Cluster", "From", "To", ">Records", ">Problems", ">Topics", ">Partitions", ">Brokers")
    about = "What was read. Problems are rows of the table records that are no sound record: torn, missing, unknown."
    shown = table("Clusters and what was read of them", heads, rows) if rows else nothing("No cluster was read.")
    return section("clusters", "Clusters", about, shown)


def _anomalies(figures: Figures) -> str:
    rows = [
        (one.kind, one.cluster, one.subject, time(one.start_ms), duration(one.end_ms - one.start_ms), one.seen)
        for one in figures.anomalies
    ]
    heads = ("What", "Cluster", "Who", "Since", ">For", "What is seen")
    about = "Patterns that call for a look. What counts as each is defined in pipeline/DESIGN.md."
    shown = table("Anomalies, the newest first", heads, rows) if rows else nothing("None was found.")
    return section("anomalies", "Anomalies", about, shown)


def _configs(figures: Figures) -> str:
    rows = [
        (
            one.config, one.cluster, time(one.time_ms), f"{one.resource_type} {one.resource}".strip(),
            code(one.before), code(one.after),
        )
        for one in figures.configs
    ]  # fmt: skip
    heads = ("Config", "Cluster", "When", "Of", "Before", "After")
    shown = table("The last changes of configs", heads, rows) if rows else nothing("None was changed.")
    return section("configs", "Configs", "The last changes of configs, quotas and features, the newest first.", shown)
