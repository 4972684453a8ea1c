"""The figures by the number of partitions as an SVG: a panel for each, both axes logarithmic."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = 3
WIDTH, HEIGHT = 320, 200
# Of a panel, around its axes.
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 26
COLORS = {"ours": "#0a6", "stock": "#c40"}
STYLE = (
    "text{font:11px sans-serif;fill:#333}.name{font-weight:bold}.grid{stroke:#ddd}"
    "polyline{fill:none;stroke-width:2}rect{fill:#fff}"
)

Points = dict[str, "list[tuple[int, float]]"]


def plot(found: Mapping[tuple[int, str], Mapping[str, float]]) -> str:
    """found: partitions and kind -> figure -> value, above 0; some may be missing."""
    names = list(dict.fromkeys(name for figures in found.values() for name in figures))
    rows = ceil(len(names) / COLUMNS)
    size = f'width="{COLUMNS * WIDTH}" height="{rows * HEIGHT + 20}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{STYLE}</style>"]
    parts.append('<rect width="100%" height="100%"/>')
    for number, name in enumerate(names):
        points: Points = {}
        for (partitions, kind), figures in found.items():
            if name in figures:
                points.setdefault(kind, []).append((partitions, figures[name]))
        x, y = number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{panel(name, points)}</g>')
    for number, kind in enumerate(dict.fromkeys(kind for _, kind in found)):
        color, x, y = COLORS[kind], LEFT + 80 * number, rows * HEIGHT + 12
        parts.append(f'<text x="{x}" y="{y}" style="fill:{color}">● {kind}</text>')
    return "\n".join([*parts, "</svg>\n"])


def panel(name: str, points: Points) -> str:
    """One figure. points: kind -> partitions and value of each size."""
    values = [value for line in points.values() for _, value in line]
    sizes = sorted({partitions for line in points.values() for partitions, _ in line})
    low, high = floor(log10(min(values))), max(ceil(log10(max(values))), floor(log10(min(values))) + 1)
    # One size alone is in the middle.
    first, last = log10(sizes[0]) - 0.1, log10(sizes[-1]) + 0.1

    def across(partitions: int) -> float:
        return LEFT + (log10(partitions) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text class="name" x="{LEFT}" y="18">{escape(name)}</text>']
    for power in range(low, high + 1):
        y = up(10.0**power)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for partitions in sizes:
        text = f"{partitions // 1_000_000} M" if partitions >= 1_000_000 else f"{partitions // 1000} k"
        parts.append(f'<text x="{across(partitions):.1f}" y="{HEIGHT - 8}" text-anchor="middle">{text}</text>')
    for kind, line in points.items():
        places = [(across(partitions), up(value)) for partitions, value in line]
        parts.append(f'<polyline stroke="{COLORS[kind]}" points="{joined(places)}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLORS[kind]}"/>' for x, y in places]
    return "".join(parts)


def joined(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
