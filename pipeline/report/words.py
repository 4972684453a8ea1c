"""Numbers, times and durations as text for readers."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"))


def duration(ms: float) -> str:
    """Two units at most: 3 d 4 h, 5 min 20 s, 1.25 s, 40 ms."""
    if ms < 1000:
        return f"{ms:.0f} ms"
    for (size, name), (smaller, smaller_name) in itertools.pairwise(_UNITS):
        rounded = round(ms / smaller)
        if rounded * smaller >= size:
            whole, rest = divmod(rounded, size // smaller)
            return f"{whole} {name} {rest} {smaller_name}" if rest else f"{whole} {name}"
    return f"{ms / 1000:.3g} s"


def number(value: float) -> str:
    """A number with commas; a fraction with one digit."""
    return f"{value:,.1f}" if isinstance(value, float) and not value.is_integer() else f"{int(value):,}"


def short_number(value: float) -> str:
    """A number for the axis of a plot: 1,200 is 1.2k."""
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"


def of_cluster(what: str, cluster: str, *, several: bool) -> str:
    """The label of something in a cluster; if there are several clusters, with the first characters
    of the cluster's id.
    """
    return f"{what} · {cluster[:8]}" if several else what


def time(ms: int) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def short_time(ms: int, span_ms: int) -> str:
    """A time for the axis of a plot over `span_ms`."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.strftime("%H:%M:%S" if span_ms < 600_000 else "%H:%M" if span_ms < 2 * 86_400_000 else "%b %d")
