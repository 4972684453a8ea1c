"""Plots as inline SVG: bars, columns over time, and dots beside a mean. No font, no link.

Colours are classes of the page's style, so that a dark page has dark plots. Each mark has its value as a title, for
pointers and screen readers; the table beside the plot has all values.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from pipeline.report.words import short_number, short_time, time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_WIDTH = 720
_ROW = 26
_LABEL = 230
_VALUE = 90
_CHARACTERS_MAX = 34


class Bar(NamedTuple):
    """A bar: its label, its value, and what is written behind it."""

    label: str
    value: float
    shown: str


def bars(rows: Sequence[Bar], title: str) -> str:
    """Horizontal bars, one per row, the first on top."""
    height = _ROW * len(rows) + 4
    top = max((row.value for row in rows), default=0) or 1
    room = _WIDTH - _LABEL - _VALUE
    parts = [_open(_WIDTH, height, title)]
    for at, row in enumerate(rows):
        y = at * _ROW + 4
        width = max(row.value / top * room, 1.5 if row.value else 0)
        hint = f"{row.label}: {row.shown}"
        parts += [
            f"<g><title>{escape(hint)}</title>",
            f'<rect class="hit" x="0" y="{y - 2}" width="{_WIDTH}" height="{_ROW}"/>',
            f'<text class="label" x="{_LABEL - 10}" y="{y + 14}" text-anchor="end">{escape(_cut(row.label))}</text>',
            f'<path class="mark" d="{_rounded_bar(_LABEL, y + 3, width, _ROW - 12)}"/>',
            f'<text class="value" x="{_LABEL + width + 7:.1f}" y="{y + 14}">{escape(row.shown)}</text></g>',
        ]
    parts.append(f'<path class="axis" d="M{_LABEL} 2V{height - 2}"/></svg>')
    return "".join(parts)


def columns(
    values: Sequence[tuple[int, float]], first_ms: int, last_ms: int, step_ms: int, title: str, unit: str, cluster: str
) -> str:  # fmt: skip
    """Columns over time. values: (start of an interval in ms, value), without intervals whose value is 0.

    The script of `timeline` takes the times, the place and the cluster from attributes.
    """
    height, left, bottom = 130, 44, 22
    room, tall = _WIDTH - left - 10, height - bottom - 12
    span = max(last_ms - first_ms + step_ms, step_ms)
    top = _round_up(max((value for _, value in values), default=0))
    data = {
        "first": first_ms, "last": first_ms + span, "step": step_ms, "left": left, "room": room, "cluster": cluster,
    }  # fmt: skip
    parts = [_open(_WIDTH, height, title, data)]
    for part in (0.0, 0.5, 1.0):
        y = 12 + tall * (1 - part)
        style = "axis" if part == 0 else "grid"
        parts.append(f'<path class="{style}" d="M{left} {y:.1f}H{_WIDTH - 10}"/>')
        parts.append(
            f'<text class="tick" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{short_number(top * part)}</text>'
        )
    width = max(room * step_ms / span - 1, 1)
    for start, value in values:
        x = left + room * (start - first_ms) / span
        tip = max(tall * value / top, 1)
        hint = f"{time(start)[:16]}: {short_number(value)} {unit}"
        parts.append(
            f'<g><title>{escape(hint)}</title><rect class="mark" data-at="{start}" x="{x:.1f}" '
            f'y="{12 + tall - tip:.1f}" width="{width:.1f}" height="{tip:.1f}" rx="{min(2.0, width / 2):.1f}"/></g>'
        )
    for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        when = short_time(int(first_ms + span * part), span)
        parts.append(
            f'<text class="tick when" data-whole="{when}" x="{left + room * part:.1f}" y="{height - 5}" '
            f'text-anchor="{anchor}">{when}</text>'
        )
    return "".join([*parts, "</svg>"])


def dots(rows: Sequence[tuple[str, Sequence[tuple[str, float]]]], title: str, shown: Callable[[float], str]) -> str:
    """A row of dots for each group, on one scale, with a line at 1. rows: (group, its (name, value))."""
    height = _ROW * len(rows) + 30
    room = _WIDTH - _LABEL - 20
    top = _round_up(max([1.25, *(value for _, points in rows for _, value in points)]))

    def place(value: float) -> float:
        return _LABEL + room * value / top

    parts = [_open(_WIDTH, height, title)]
    for value in (0.0, top / 2, top):
        parts.append(f'<path class="grid" d="M{place(value):.1f} 2V{height - 24}"/>')
        parts.append(
            f'<text class="tick" x="{place(value):.1f}" y="{height - 8}" text-anchor="middle">{value:.3g}×</text>'
        )
    parts.append(f'<path class="mean" d="M{place(1):.1f} 2V{height - 24}"/>')
    for at, (group, points) in enumerate(rows):
        y = at * _ROW + 14
        parts.append(
            f'<text class="label" x="{_LABEL - 10}" y="{y + 4}" text-anchor="end">{escape(_cut(group))}</text>'
        )
        parts += [
            f"<g><title>{escape(f'{group}, {name}: {shown(value)}')}</title>"
            f'<circle class="dot" cx="{place(value):.1f}" cy="{y}" r="5"/></g>'
            for name, value in points
        ]
    return "".join([*parts, "</svg>"])


def _open(width: int, height: int, title: str, data: Mapping[str, object] | None = None) -> str:
    attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in (data or {}).items())
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height}"{attributes} '
        'xmlns="http://www.w3.org/2000/svg">'
    )


def _rounded_bar(x: float, y: float, width: float, height: float) -> str:
    """A bar with square corners at its start and round ones at its end."""
    r = min(4.0, width, height / 2)
    return f"M{x} {y}h{width - r:.1f}q{r:.1f} 0 {r:.1f} {r:.1f}v{height - 2 * r:.1f}q0 {r:.1f} -{r:.1f} {r:.1f}H{x}z"


def _cut(label: str) -> str:
    """A long label without its middle: names differ at their ends."""
    if len(label) <= _CHARACTERS_MAX:
        return label
    half = _CHARACTERS_MAX // 2
    return f"{label[: half - 1]}…{label[-half:]}"


def _round_up(value: float) -> float:
    """To 1, 2, 2.5 or 5 times a power of ten; at least 1."""
    size = 1.0
    while size * 10 < value:
        size *= 10
    return next(size * step for step in (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if size * step >= value)
