"""The report of a rehearsal as text and as JSON. Both are functions of the layout, the metadata and the seeds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from simulations.rehearsal.scenarios import CUT, LOST
from simulations.rehearsal.summary import STOPS, SURVIVES, UNSTABLE, Result, advice, milliseconds

if TYPE_CHECKING:
    from simulations.rehearsal.layout import Layout
    from simulations.rehearsal.metadata import Metadata
    from simulations.rehearsal.play import Played

WIDTH = 116
HEADS = ("SCENARIO", "WRITES", "LEADER HIT", "MEDIAN", "95%", "WORST", "ELSE WORST", "ELECTIONS", "LOST", "SERVING")
KEY = (
    "LEADER HIT: runs in which the leader, or its way to a majority, was struck; MEDIAN, 95%, WORST: their longest\n"
    "time without a commit. ELSE WORST: that of the other runs. ELECTIONS: the most of a run. LOST: acknowledged\n"
    "writes that the best log that is left lacks, the most of a run. SERVING: the nodes that lead or follow at the end."
)


@dataclass(slots=True, frozen=True)
class Report:
    """All that a rehearsal has found. played: in the order of the scenarios, then of the seeds."""

    layout: Layout
    metadata: Metadata | None
    seeds: range
    results: list[Result]
    played: list[Played]
    warnings: list[str]

    @property
    def losses(self) -> list[Result]:
        """The results of losses of nodes, sites and links."""
        return [each for each in self.results if each.scenario.kind in {LOST, CUT}]

    @property
    def advice(self) -> list[str]:
        return advice(self.layout)

    def of(self, writes: str) -> list[Result]:
        return [each for each in self.losses if each.writes == writes]

    @property
    def is_finding(self) -> bool:
        """Whether a run shows what a sound quorum never does."""
        return any(each.is_finding for each in self.results)


def layout_lines(report: Report) -> list[str]:
    """The layout and the metadata, for people."""
    layout = report.layout
    sites = "; ".join(f"{site}: {', '.join(map(str, layout.at(site)))}" for site in layout.site_names)
    count = len(layout.voters)
    voters = "1 voter" if count == 1 else f"{count} voters"
    trips = [f"{layout.round_trip_ms:g} ms in a site"]
    trips += [
        f"{layout.links.get(pair, layout.between_round_trip_ms):g} ms between {pair[0]} and {pair[1]}"
        for pair in layout.pairs_of_sites()
    ]
    fetch_ms = layout.number("controller.quorum.fetch.timeout.ms", 2000)
    election_ms = layout.number("controller.quorum.election.timeout.ms", 1000)
    lines = [
        f"{voters}, a majority is {layout.majority}; by site: {sites}; kraft.version {layout.kraft_version}",
        f"round trip {', '.join(trips)}; {layout.disk_sync_ms:g} ms a sync; a start takes {layout.start_ms:g} ms",
        f"controller.quorum.fetch.timeout.ms {fetch_ms}, controller.quorum.election.timeout.ms {election_ms}",
    ]
    metadata = report.metadata
    if metadata is None:
        lines.append("metadata: that of a new cluster")
    else:
        load = milliseconds(len(metadata.values) / layout.records_per_s * 1000)
        lines.append(
            f"metadata of {metadata.source}: {len(metadata.values)} records at offset {metadata.end_offset}, "
            f"{len(metadata.brokers)} live brokers; replay at a start: {load}"
        )
    return lines


def seeds_text(seeds: range) -> str:
    last = seeds[-1]
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {last}"


def serving_text(result: Result) -> str:
    """The nodes that serve afterwards; the most frequent set of them."""
    if not result.serving:
        return "none"
    first = ", ".join(map(str, result.serving[0][0]))
    return first if len(result.serving) == 1 else f"{first} or others"


def row(result: Result) -> tuple[str, ...]:
    struck, others = result.struck, result.others

    def text(value: float) -> str:
        return "–" if value < 0 else milliseconds(value)

    return (
        result.scenario.name, result.writes, f"{struck.runs} of {result.runs}" if result.writes != STOPS else "–",
        text(struck.median), text(struck.p95), text(struck.worst), text(others.worst), str(result.elections),
        str(result.lost), serving_text(result),
    )  # fmt: skip


def align(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(each, widths, strict=True)).rstrip() for each in rows]


def indent(text: str) -> str:
    """A paragraph of a list; a command in it is not broken at a hyphen."""
    return fill(
        text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def text_of(report: Report) -> str:
    """The report as text."""
    lines = [*layout_lines(report)]
    lines += [f"warning: {text}" for text in report.warnings]
    runs = f"{len(report.seeds)} runs" if len(report.seeds) > 1 else "1 run"
    lines += ["", f"{runs} of each scenario, {seeds_text(report.seeds)}", ""]
    lines += align([HEADS, *map(row, report.results)])
    lines += ["", KEY]
    for heading, writes in (("Survived", SURVIVES), ("Not survived", STOPS), ("Survived in some runs", UNSTABLE)):
        results = report.of(writes)
        if results:
            lines += ["", f"{heading}:"]
            lines += [indent(f"{each.scenario.title}: {each.why}") for each in results]
    others = [each for each in report.results if each not in report.losses]
    if others:
        lines += ["", "Without a loss:"]
        lines += [indent(f"{each.scenario.title}: {each.why}") for each in others]
    if report.advice:
        lines += ["", "Other layouts:"]
        lines += [indent(text) for text in report.advice]
    return "\n".join(lines)


def as_json(report: Report) -> str:
    """The report as JSON, with the figures of each run."""
    layout = report.layout
    tree: dict[str, Any] = {
        "layout": {
            "voters": {str(voter): site for voter, site in layout.sites.items()},
            "majority": layout.majority,
            "kraft_version": layout.kraft_version,
            "links": [{"sites": pair, "round_trip_ms": ms} for pair, ms in sorted(layout.links.items())],
            "properties": dict(sorted(layout.properties.items())),
            **{
                name: getattr(layout, name)
                for name in (
                    "round_trip_ms", "between_round_trip_ms", "disk_sync_ms", "start_ms", "records_per_s",
                    "slow_sync_ms", "slow_link_ms",
                )
            },
        },
        "metadata": None
        if report.metadata is None
        else {
            "source": report.metadata.source,
            "records": len(report.metadata.values),
            "end_offset": report.metadata.end_offset,
            "brokers": len(report.metadata.brokers),
        },
        "seeds": list(report.seeds),
        "warnings": report.warnings,
        "scenarios": [_scenario(report, each) for each in report.results],
        "survived": [each.scenario.name for each in report.of(SURVIVES)],
        "not_survived": [each.scenario.name for each in report.of(STOPS)],
        "unstable": [each.scenario.name for each in report.of(UNSTABLE)],
        "advice": report.advice,
    }  # fmt: skip
    return json.dumps(tree, indent=1)


def _scenario(report: Report, result: Result) -> dict[str, Any]:
    tree = asdict(result)
    for name in ("scenario", "shown", "serving"):
        del tree[name]
    scenario = result.scenario
    return {
        "name": scenario.name,
        "title": scenario.title,
        "kind": scenario.kind,
        "nodes": list(scenario.nodes),
        **tree,
        "agrees": result.agrees,
        "serving": [{"nodes": list(nodes), "runs": count} for nodes, count in result.serving],
        "by_run": [_run(each) for each in report.played if each.scenario == scenario.name],
    }


def _run(played: Played) -> dict[str, Any]:
    tree = played._asdict()
    for name in ("scenario", "roles", "commits", "marks"):
        del tree[name]
    return tree
