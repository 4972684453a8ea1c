"""The log and the disk in the lane of a node."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulations.page.scene import Lane

    Place = Callable[[int], float]

CURVES_HEIGHT = 60
DISK_HEIGHT = 14


def log_curves(lane: Lane, top: int, x: Place, end: int) -> Iterator[str]:
    """The log's end, its flushed end, and the high watermark: as steps, up to the moment `end`."""
    if not lane.points:
        return
    highest = max(1, *(point.end for point in lane.points))
    yield f'<text class="soft" x="8" y="{top + 8}">up to {highest}</text>'
    for name, place in (("end", 1), ("durable", 2), ("watermark", 3)):
        path = []
        last = None
        for point in lane.points:
            value = point[place]
            if value < 0:
                last = None
                continue
            y = round(top + CURVES_HEIGHT * (1 - value / highest), 1)
            path.append(f"M{x(point.time)} {y}" if last is None else f"H{x(point.time)}V{y}")
            last = y
        if last is not None:
            path.append(f"H{x(end)}")
        yield f'<path class="{name}" d="{"".join(path)}"/>'


def disk_lane(lane: Lane, node: int, top: int, x: Place) -> Iterator[str]:
    """Syncs as bars of their duration, other changes as ticks; failed ones in red, unfinished ones open."""
    for each in lane.disk:
        begin = x(each.begin)
        how = "" if each.how == "done" else f" {each.how}"
        took = f", {(each.end - each.begin) / 1000:.2f} ms" if each.end > each.begin else ""
        title = escape(f"node {node}: {each.operation} {each.kind}{how}{took}")
        if each.operation == "sync":
            yield (
                f'<rect class="sync{how}" x="{begin}" y="{top + 4}" width="{max(1.5, x(each.end) - begin):.1f}"'
                f' height="{DISK_HEIGHT - 6}"><title>{title}</title></rect>'
            )
        else:
            yield (
                f'<line class="change{how}" x1="{begin}" x2="{begin}" y1="{top}" y2="{top + DISK_HEIGHT}">'
                f"<title>{title}</title></line>"
            )
