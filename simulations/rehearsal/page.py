"""The report as one page of HTML: the layout, a bar for each scenario, and a timeline of one run of each."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from math import cos, pi, sin
from typing import TYPE_CHECKING

from simulations.page.style import STYLE
from simulations.rehearsal.observed import DOWN
from simulations.rehearsal.report import HEADS, KEY, layout_lines, row, seeds_text
from simulations.rehearsal.summary import STOPS, SURVIVES, UNSTABLE, Result, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulations.rehearsal.layout import Layout
    from simulations.rehearsal.play import Played
    from simulations.rehearsal.report import Report

WIDTH = 900
NAMES_WIDTH = 190
BAR, LANE = 22, 26
ROLES = ("Leader", "Follower", "Candidate", "Prospective", "Unattached", "Resigned", DOWN)

OWN_STYLE = """
svg { max-width: 100%; height: auto; } figure { margin: .5rem 0; overflow-x: auto; }
figcaption { color: var(--soft); } th[scope="row"] { font-weight: 600; color: var(--ink); white-space: nowrap; }
.site { fill: var(--panel); stroke: var(--line); } .wire { stroke: var(--soft); stroke-width: 1.5; }
.voter { fill: var(--follower); stroke: var(--line); } .bar { fill: var(--link); } .mid { fill: var(--follower); }
.none { fill: var(--bad); opacity: .75; } svg text.light { fill: var(--paper); } .commit { stroke: var(--leader); }
.mark { stroke: var(--bad); stroke-width: 1.5; } svg text.mark { fill: var(--bad); stroke: none; }
.stop { color: var(--bad); font-weight: 600; } details { margin: .5rem 0; } summary { cursor: pointer; }
.table { overflow-x: auto; }
"""


def page(report: Report, again: str) -> str:
    """The HTML of a report. again: the command that makes it."""
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<title>Rehearsal of {len(report.layout.voters)} voters</title><link rel="icon" href="data:,">',
        f"<style>{STYLE}{OWN_STYLE}</style></head><body>",
        '<a class="skip" href="#figures">To the figures</a>',
        f"<header><h1>Rehearsal of {len(report.layout.voters)} voters</h1>",
        *(f"<p>{escape(line)}</p>" for line in layout_lines(report)),
        *(f"<p><strong>Warning:</strong> {escape(text)}</p>" for text in report.warnings),
        f'<p class="soft">{len(report.seeds)} runs of each scenario, {seeds_text(report.seeds)}.',
        f"Again: <code>{escape(again)}</code></p></header><main>",
        '<section aria-labelledby="h-layout"><h2 id="h-layout">Layout</h2>',
        _layout(report.layout),
        "</section>",
        *_summary(report),
        '<section aria-labelledby="figures"><h2 id="figures">Figures</h2>',
        _bars(report.results),
        _table(report),
        f'<p class="soft">{escape(KEY)}</p></section>',
        '<section aria-labelledby="h-runs"><h2 id="h-runs">One run of each scenario</h2>',
        f'<ul class="key" aria-label="Key">{_key()}</ul>',
        *(_run(report.layout, each) for each in report.results),
        "</section></main></body></html>\n",
    ]
    return "\n".join(parts)


def _summary(report: Report) -> Iterator[str]:
    yield '<section aria-labelledby="h-survived"><h2 id="h-survived">What this layout survives</h2>'
    for heading, writes in (("Survived", SURVIVES), ("Not survived", STOPS), ("Survived in some runs", UNSTABLE)):
        results = report.of(writes)
        if results:
            yield f"<h3>{heading}</h3><ul>"
            yield from (
                f"<li><strong>{escape(each.scenario.title)}</strong>: {escape(each.why)}</li>" for each in results
            )
            yield "</ul>"
    if report.advice:
        yield "<h3>Other layouts</h3><ul>"
        yield from (f"<li>{escape(text)}</li>" for text in report.advice)
        yield "</ul>"
    yield "</section>"


def _svg(name: str, width: float, height: float, title: str, description: str, inner: str) -> str:
    """A picture that a screen reader can name."""
    return (
        f'<svg role="img" aria-labelledby="t-{name} d-{name}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}"><title id="t-{name}">{escape(title)}</title>'
        f'<desc id="d-{name}">{escape(description)}</desc>{inner}</svg>'
    )


def _layout(layout: Layout) -> str:
    """The sites in a circle, with their voters, and the links between them."""
    names = layout.site_names
    count = len(names)
    radius = 0 if count == 1 else 150 if count == 2 else 110 + 18 * count
    # Two sites stand side by side, more of them in a circle that begins at the top.
    first = pi if count == 2 else -pi / 2
    at = {
        name: (
            radius * cos(first + 2 * pi * place / count),
            radius * sin(first + 2 * pi * place / count),
        )
        for place, name in enumerate(names)
    }
    half = max(24 + 34 * len(layout.at(name)) for name in names) / 2 + 8
    left, top = min(x for x, _ in at.values()) - half, min(y for _, y in at.values()) - 42
    at = {name: (x - left, y - top) for name, (x, y) in at.items()}
    width, height = max(x for x, _ in at.values()) + half, max(y for _, y in at.values()) + 42
    parts = []
    for one, other in layout.pairs_of_sites():
        (x1, y1), (x2, y2) = at[one], at[other]
        ms = layout.links.get((one, other), layout.between_round_trip_ms)
        parts.append(f'<line class="wire" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')
        parts.append(f'<text x="{(x1 + x2) / 2:.1f}" y="{(y1 + y2) / 2 - 5:.1f}" text-anchor="middle">{ms:g} ms</text>')
    for name in names:
        x, y = at[name]
        voters = layout.at(name)
        wide = 24 + 34 * len(voters)
        parts.append(
            f'<rect class="site" x="{x - wide / 2:.1f}" y="{y - 34:.1f}" width="{wide}" height="68" rx="8"/>'
            f'<text class="node" x="{x:.1f}" y="{y - 18:.1f}" text-anchor="middle">{escape(name)}</text>'
        )
        for place, voter in enumerate(voters):
            left = x - wide / 2 + 29 + 34 * place
            parts.append(
                f'<circle class="voter" cx="{left:.1f}" cy="{y + 9:.1f}" r="14"/>'
                f'<text class="node" x="{left:.1f}" y="{y + 13:.1f}" text-anchor="middle">{voter}</text>'
            )
    sites = "; ".join(f"site {name} has the voters {', '.join(map(str, layout.at(name)))}" for name in names)
    trips = "; ".join(
        f"{layout.links.get(pair, layout.between_round_trip_ms):g} ms between {pair[0]} and {pair[1]}"
        for pair in layout.pairs_of_sites()
    )
    description = f"{sites}. Round trips: {trips or 'within one site'}."
    drawn = _svg(
        "layout", width, height, "Sites, voters and the round trips between sites", description, "".join(parts)
    )
    return f"<figure>{drawn}<figcaption>{escape(description)}</figcaption></figure>"


def worst(result: Result) -> float:
    return max(result.struck.worst, result.others.worst)


def _bars(results: list[Result]) -> str:
    """A bar for each scenario: the longest time without a commit, the median and the worst; full if writes stop."""
    going = [worst(each) for each in results if each.writes != STOPS]
    longest = max(going, default=0.0) or 1.0
    scale = (WIDTH - NAMES_WIDTH - 120) / longest
    parts = []
    for place, each in enumerate(results):
        y = BAR * place + 4
        parts.append(f'<text x="{NAMES_WIDTH - 8}" y="{y + 12}" text-anchor="end">{escape(each.scenario.name)}</text>')
        if each.writes == STOPS:
            parts.append(
                f'<rect class="none" x="{NAMES_WIDTH}" y="{y}" width="{WIDTH - NAMES_WIDTH - 8}" height="{BAR - 6}"/>'
                f'<text class="light" x="{NAMES_WIDTH + 8}" y="{y + 12}">no commits</text>'
            )
            continue
        value = worst(each)
        middle = max(each.struck.median, 0.0) if each.struck.runs else max(each.others.median, 0.0)
        text = f"{milliseconds(value)} at worst, {milliseconds(middle)} in the median"
        parts.append(
            f"<g><title>{escape(each.scenario.title)}: {text}</title>"
            f'<rect class="mid" x="{NAMES_WIDTH}" y="{y}" width="{max(value * scale, 1):.1f}" height="{BAR - 6}"/>'
            f'<rect class="bar" x="{NAMES_WIDTH}" y="{y}" width="{max(middle * scale, 1):.1f}" height="{BAR - 6}"/>'
            f'<text x="{NAMES_WIDTH + value * scale + 6:.1f}" y="{y + 12}">{milliseconds(value)}</text></g>'
        )
    description = (
        "For each scenario the longest time without a commit: dark the median where the leader was struck, light the "
        "worst run. The table below has the same figures."
    )
    drawn = _svg("bars", WIDTH, BAR * len(results) + 8, "Longest time without a commit", description, "".join(parts))
    return f"<figure>{drawn}<figcaption>{escape(description)}</figcaption></figure>"


def _table(report: Report) -> str:
    heads = "".join(f'<th scope="col">{escape(head.lower())}</th>' for head in HEADS)
    rows = []
    for each in report.results:
        name, writes, *cells = row(each)
        mark = ' class="stop"' if each.writes != SURVIVES else ""
        rest = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td{mark}>{escape(writes)}</td>{rest}</tr>')
    return (
        '<div class="table" tabindex="0" role="group" aria-label="Figures of each scenario"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _key() -> str:
    items = [
        '<li><svg aria-hidden="true" viewBox="0 0 18 10">'
        f'<rect class="{role}" width="18" height="10"/></svg>{role}</li>'
        for role in ROLES
    ]
    tick = '<line class="commit" x1="9" x2="9" y1="0" y2="10"/>'
    items.append(f'<li><svg aria-hidden="true" viewBox="0 0 18 10">{tick}</svg>acknowledged write</li>')
    return "".join(items)


def _run(layout: Layout, result: Result) -> str:
    """The timeline of one run, and the same as a table."""
    played = result.shown
    said = "went on" if played.goes_on else "stopped"
    title = f"{result.scenario.title}: seed {played.seed}, led by node {played.led_by}; writes {said}"
    rows = "".join(
        f'<tr><td>{at:.1f}</td><th scope="row">{"" if node < 0 else f"node {node}"}</th><td>{escape(what)}</td></tr>'
        for at, node, what in _events(played)
    )
    return (
        f"<details><summary>{escape(title)}</summary><p>{escape(result.why)}</p>"
        f"<figure>{_timeline(layout, result)}</figure>"
        '<div class="table" tabindex="0" role="group" aria-label="Events of this run"><table><thead><tr>'
        '<th scope="col">ms since it began</th><th scope="col">where</th><th scope="col">what</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _events(played: Played) -> list[tuple[float, int, str]]:
    events = [(at, node, what if epoch < 0 else f"{what} of epoch {epoch}") for at, node, what, epoch in played.roles]
    events += [(at, -1, text) for at, text in played.marks]
    points = list(played.commits)
    for before, after in pairwise(points):
        if after - before >= 200:
            events.append((after, -1, f"first commit after {milliseconds(after - before)} without one"))
    return sorted(events, key=lambda each: each[0])


def _timeline(layout: Layout, result: Result) -> str:
    played = result.shown
    begin = -1000.0
    latest = [*(each[0] for each in played.roles), *(at for at, _ in played.marks), *played.commits]
    end = max([*latest, 1000.0]) + 200
    scale = (WIDTH - NAMES_WIDTH - 8) / (end - begin)

    def x(at: float) -> float:
        return round(NAMES_WIDTH + (at - begin) * scale, 1)

    parts: list[str] = []
    step = next(each for each in (500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 600_000) if (end - begin) / each <= 16)
    height = 34 + LANE * (len(layout.voters) + 1)
    for tick in range(-1000 // step * step + (step if -1000 % step else 0), int(end), step):
        parts.append(f'<line class="time" x1="{x(tick)}" x2="{x(tick)}" y1="18" y2="{height}"/>')
        parts.append(f'<text class="time" x="{x(tick)}" y="12" text-anchor="middle">{tick / 1000:g} s</text>')
    for place, voter in enumerate(layout.voters):
        y = 24 + LANE * place
        parts.append(f'<text class="node" x="8" y="{y + 13}">node {voter} ({escape(layout.sites[voter])})</text>')
        own = [each for each in played.roles if each[1] == voter]
        for now, (at, _, role, epoch) in enumerate(own):
            until = own[now + 1][0] if now + 1 < len(own) else end
            width = max(x(until) - x(at), 0.5)
            label = role if epoch < 0 else f"{role} of epoch {epoch}"
            parts.append(
                f'<rect class="{role}" x="{x(at)}" y="{y}" width="{width:.1f}" height="{LANE - 8}">'
                f"<title>node {voter}: {label}</title></rect>"
            )
            if width > 110:
                parts.append(f'<text class="on-{role}" x="{x(at) + 4}" y="{y + 13}">{label}</text>')
    y = 24 + LANE * len(layout.voters)
    parts.append(f'<text class="node" x="8" y="{y + 13}">commits</text>')
    shown = sorted({x(at) for at in played.commits})
    ticks = "".join(f"M{at} {y}v{LANE - 8}" for at in shown)
    parts.append(f'<path class="commit" d="{ticks}"/>')
    for at, text in played.marks:
        parts.append(
            f'<g><title>{escape(text)}</title><line class="mark" x1="{x(at)}" x2="{x(at)}" y1="18" y2="{height}"/></g>'
        )
    last = f"{milliseconds(played.gap_ms)} was the longest time without a commit"
    description = f"The roles of each node and the acknowledged writes, from 1 s before it began; {last}."
    return _svg(f"run-{result.scenario.name}", WIDTH, height + 4, result.scenario.title, description, "".join(parts))
