"""A scene as SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simulations.page.scene import Arrow, Lane, Scene

LEFT = 110
TOP = 40
LANE = 170
BAND = 18
CURVES = 60
LABEL_EVERY = 1100
WIDTH_MIN = 1200
WIDTH_MAX = 24_000
PIXELS_EACH = 6
"""Of width for each message, so that few lie on each other."""

COLOURS = {
    "Leader": "#2e8b57", "Follower": "#9ec9e2", "Candidate": "#e8a33d", "Prospective": "#f3d27a",
    "Unattached": "#d9d9d9", "Resigned": "#b58ed1", "down": "#555555",
}  # fmt: skip
MESSAGES = {"Vote": "#d2691e", "Begin": "#2e8b57", "End": "#8a2be2", "Fetch": "#4a78a8", "FetchSnapshot": "#b8437a"}
MARKS = {"fault": "#c00000", "life": "#000000", "note": "#888888", "deed": "#2e8b57"}


class Drawing:
    """The SVG of a scene. fields: by name of a message, the names of what it says."""

    def __init__(self, scene: Scene, fields: Mapping[str, tuple[str, ...]]) -> None:
        self._scene = scene
        self._fields = fields
        self._nodes = sorted(scene.lanes)
        self.width = LEFT + min(WIDTH_MAX, max(WIDTH_MIN, PIXELS_EACH * len(scene.arrows)))
        self.height = TOP + LANE * len(self._nodes) + 20
        self._scale = (self.width - LEFT - 20) / max(1, scene.end - scene.begin)

    def x(self, time: int) -> float:
        """Where a moment is."""
        return round(LEFT + (max(time, self._scene.begin) - self._scene.begin) * self._scale, 1)

    def y(self, node: int) -> int:
        """Where a node's lane begins."""
        return TOP + LANE * self._nodes.index(node)

    def svg(self, broken: str) -> str:
        """All of it. broken: the property that does not hold at the end, empty where all do."""
        parts = [
            (
                f'<svg id="scene" xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
                f' data-begin="{self._scene.begin}" data-scale="{self._scale}" data-left="{LEFT}">'
            ),
            *self._times(), *self._cuts(),
        ]  # fmt: skip
        for node in self._nodes:
            parts += self._lane(node, self._scene.lanes[node])
        parts += (self._arrow(arrow) for arrow in self._scene.arrows)
        parts += self._marks()
        if broken:
            x = self.x(self._scene.end)
            parts.append(f'<line class="broken" x1="{x}" x2="{x}" y1="0" y2="{self.height}"/>')
            parts.append(f'<text class="broken" x="{x - 6}" y="14" text-anchor="end">{escape(broken)} is broken</text>')
        parts.append('<line id="cursor" x1="0" x2="0" y1="0" y2="0"/></svg>')
        return "\n".join(parts)

    def _times(self) -> Iterator[str]:
        span = self._scene.end - self._scene.begin
        step = 1000
        while span / step > (self.width - LEFT) / 100:
            step *= 10 if str(step)[0] == "1" and span / step > (self.width - LEFT) / 20 else 2
        first = -(-self._scene.begin // step) * step
        for time in range(first, self._scene.end + 1, step):
            x = self.x(time)
            yield f'<line class="time" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{self.height}"/>'
            yield f'<text class="time" x="{x}" y="{TOP - 12}">{time / 1_000_000:.3f}</text>'

    def _cuts(self) -> Iterator[str]:
        for cut in self._scene.cuts:
            if cut.source in self._nodes and cut.target in self._nodes:
                one, other = self.y(cut.source), self.y(cut.target)
                x, width = self.x(cut.begin), max(1.0, self.x(cut.end) - self.x(cut.begin))
                top, height = min(one, other) + LANE // 2, abs(one - other)
                yield (
                    f'<rect class="cut" x="{x}" y="{top}" width="{width:.1f}" height="{height}">'
                    f"<title>nothing passes from {cut.source} to {cut.target}</title></rect>"
                )

    def _lane(self, node: int, lane: Lane) -> Iterator[str]:
        y = self.y(node)
        for place in range(8, self.width, LABEL_EVERY):
            yield f'<text class="node" x="{place}" y="{y - 4}">node {node}</text>'
        for band in lane.bands:
            x, width = self.x(band.begin), self.x(band.end) - self.x(band.begin)
            epoch = "" if band.epoch < 0 else f" of epoch {band.epoch}"
            yield (
                f'<rect x="{x}" y="{y}" width="{max(width, 0.5):.1f}" height="{BAND}"'
                f' fill="{COLOURS.get(band.what, "#ffffff")}"><title>{band.what}{epoch}</title></rect>'
            )
            if width > 70:
                yield f'<text class="band" x="{x + 3}" y="{y + 13}">{band.what}{epoch}</text>'
        yield from self._curves(y + BAND + 6, lane)

    def _curves(self, top: int, lane: Lane) -> Iterator[str]:
        """The log's end, what of it is flushed, and the high watermark: as steps."""
        if not lane.points:
            return
        highest = max(1, *(point.end for point in lane.points))
        yield f'<text class="curve" x="8" y="{top + 10}">up to {highest}</text>'
        for name, place in (("end", 1), ("durable", 2), ("watermark", 3)):
            path = []
            last = None
            for point in lane.points:
                value = point[place]
                if value < 0:
                    last = None
                    continue
                y = round(top + CURVES * (1 - value / highest), 1)
                path.append(f"M{self.x(point.time)} {y}" if last is None else f"H{self.x(point.time)}V{y}")
                last = y
            if last is not None:
                path.append(f"H{self.x(self._scene.end)}")
            yield f'<path class="{name}" d="{"".join(path)}"/>'

    def _arrow(self, arrow: Arrow) -> str:
        if arrow.sender not in self._nodes or arrow.target not in self._nodes:
            return ""
        kind = arrow.name.removesuffix("Answer")
        says = self._fields.get(arrow.name, ())
        told = ", ".join([f"{name} {value}" for name, value in zip(says, arrow.says, strict=False)])
        down = self.y(arrow.target) > self.y(arrow.sender)
        y1 = self.y(arrow.sender) + LANE - 75
        y2 = self.y(arrow.target) + LANE - 75
        x1, x2 = self.x(arrow.sent), self.x(arrow.arrived)
        lost = "" if arrow.arrived else " lost"
        if lost:
            x2, y2 = x1 + 12, y1 + (18 if down else -18)
        took = f", {(arrow.arrived - arrow.sent) / 1000:.2f} ms" if arrow.arrived else ", never taken"
        title = escape(f"{arrow.sender} → {arrow.target} {arrow.name}: {told}{took}")
        return (
            f'<line class="message{lost}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"'
            f' stroke="{MESSAGES.get(kind, "#777777")}"><title>{title}</title></line>'
        )

    def _marks(self) -> Iterator[str]:
        for mark in self._scene.marks:
            if mark.kind == "note" and not mark.text.startswith("role"):
                continue  # the list of what happened has them
            y = self.y(mark.node) + LANE - 50 if mark.node in self._nodes else TOP - 4
            row = {"fault": 0, "life": 12, "note": 24, "deed": 36}[mark.kind]
            yield (
                f'<circle cx="{self.x(mark.time)}" cy="{y + row}" r="3.5" fill="{MARKS[mark.kind]}">'
                f"<title>{escape(mark.text)}</title></circle>"
            )
