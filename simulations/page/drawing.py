"""A scene as SVG: a lane for each node with its log and its disk, below them a lane for each client."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from simulations.page.clients import ROWS_MAX
from simulations.page.lanes import CURVES_HEIGHT, disk_lane, log_curves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simulations.page.clients import Operation
    from simulations.page.scene import Arrow, Lane, Scene

LEFT = 110
TOP = 44
LANE = 206
BAND = 18
ANCHOR = 104
"""Where in a lane messages leave and arrive; below it is the disk, and then what happened."""

DISK = 116
MARKS = 146
CLIENT_ROW = 11
CLIENT_LANE = CLIENT_ROW * ROWS_MAX + 14
OPEN_WIDTH = 40.0
"""The label of a request that was never answered: how long it took is unknown."""

LABEL_EVERY = 1100
WIDTH_MIN = 1200
WIDTH_MAX = 24_000
PIXELS_EACH = 6
"""Of width for each message, so that few lie on each other."""

ROLES = ("Leader", "Follower", "Candidate", "Prospective", "Unattached", "Resigned", "down")
MESSAGES = ("Vote", "Begin", "End", "Fetch", "FetchSnapshot", "other")
_ROW_OF = {"fault": 0, "life": 14, "note": 28, "deed": 42}


class Drawing:
    """The SVG of a scene. fields: by name of a message, the names of its fields; clients: by name, the operations of
    each; blamed: nodes at which the property was violated.
    """

    def __init__(
        self,
        scene: Scene,
        fields: Mapping[str, tuple[str, ...]],
        clients: Mapping[str, Sequence[Operation]],
        blamed: Sequence[int] = (),
    ) -> None:
        self._scene = scene
        self._fields = fields
        self._clients = clients
        self._blamed = blamed
        self._nodes = sorted(scene.lanes)
        self._below = TOP + LANE * len(self._nodes)
        self._anchors = {node: self.y(node) + ANCHOR for node in self._nodes}
        for place, name in enumerate(clients):
            self._anchors[machine_of(name)] = self._below + CLIENT_LANE * place + 10
        self.width = LEFT + min(WIDTH_MAX, max(WIDTH_MIN, PIXELS_EACH * len(scene.arrows)))
        self.height = self._below + CLIENT_LANE * len(clients) + 20
        self._scale = (self.width - LEFT - 20) / max(1, scene.end - scene.begin)

    def x(self, time: int) -> float:
        """The x coordinate of a moment."""
        return round(LEFT + (max(time, self._scene.begin) - self._scene.begin) * self._scale, 1)

    def y(self, node: int) -> int:
        """The y coordinate of a node's lane."""
        return TOP + LANE * self._nodes.index(node)

    def svg(self, broken: str) -> str:
        """The whole drawing. broken: the violated property, empty if all hold."""
        scene = self._scene
        shown = f"{scene.begin / 1e6:.3f} s to {scene.end / 1e6:.3f} s, with {len(scene.arrows)} messages"
        parts = [
            f'<svg id="scene" xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"',
            f' role="img" aria-labelledby="scene-title" data-begin="{scene.begin}" data-scale="{self._scale}"',
            f' data-left="{LEFT}">',
            f'<title id="scene-title">Lanes of {len(self._nodes)} nodes and {len(self._clients)} clients from',
            f" {shown}; the state at each moment is described below</title>",
            *self._times(), *self._cuts(),
        ]  # fmt: skip
        for node in self._nodes:
            parts += self._lane(node, scene.lanes[node])
        for place, (name, operations) in enumerate(self._clients.items()):
            parts += self._client(name, operations, self._below + CLIENT_LANE * place)
        parts += (self._arrow(arrow) for arrow in scene.arrows)
        parts += self._marks()
        if broken:
            parts += self._break(broken)
        parts.append('<line id="cursor" x1="0" x2="0" y1="0" y2="0"/></svg>')
        return "\n".join(part for part in parts if part)

    def _break(self, broken: str) -> Iterator[str]:
        """The moment of the violation, and the lanes of the nodes that caused it."""
        x = self.x(self._scene.end)
        yield f'<line class="broken" x1="{x}" x2="{x}" y1="0" y2="{self.height}"/>'
        yield f'<text class="broken" x="{x - 6}" y="14" text-anchor="end">{escape(broken)} is broken</text>'
        for node in self._blamed:
            if node in self._nodes:
                y = self.y(node)
                yield f'<rect class="blamed" x="{x - 60}" y="{y - 3}" width="63" height="{LANE - 20}"/>'
                yield f'<text class="broken" x="{x - 64}" y="{y + 30}" text-anchor="end">here</text>'

    def _times(self) -> Iterator[str]:
        span = self._scene.end - self._scene.begin
        step = 1000
        while span / step > (self.width - LEFT) / 100:
            step *= 10 if str(step)[0] == "1" and span / step > (self.width - LEFT) / 20 else 2
        first = -(-self._scene.begin // step) * step
        for time in range(first, self._scene.end + 1, step):
            x = self.x(time)
            yield f'<line class="time" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{self.height}"/>'
            yield f'<text class="time" x="{x}" y="{TOP - 14}">{time / 1_000_000:.3f}</text>'

    def _cuts(self) -> Iterator[str]:
        for cut in self._scene.cuts:
            if cut.source in self._anchors and cut.target in self._anchors:
                one, other = self._anchors[cut.source], self._anchors[cut.target]
                x, width = self.x(cut.begin), max(1.0, self.x(cut.end) - self.x(cut.begin))
                yield (
                    f'<rect class="cut" x="{x}" y="{min(one, other)}" width="{width:.1f}" height="{abs(one - other)}">'
                    f"<title>nothing passes from {cut.source} to {cut.target}</title></rect>"
                )

    def _lane(self, node: int, lane: Lane) -> Iterator[str]:
        y = self.y(node)
        for place in range(8, self.width, LABEL_EVERY):
            yield f'<text class="node" x="{place}" y="{y - 5}">node {node}</text>'
        for band in lane.bands:
            x, width = self.x(band.begin), self.x(band.end) - self.x(band.begin)
            epoch = "" if band.epoch < 0 else f" of epoch {band.epoch}"
            yield (
                f'<rect class="{band.what}" x="{x}" y="{y}" width="{max(width, 0.5):.1f}" height="{BAND}">'
                f"<title>node {node}: {band.what}{epoch}</title></rect>"
            )
            if width > 90:
                yield f'<text class="on-{band.what}" x="{x + 4}" y="{y + 13}">{band.what}{epoch}</text>'
        yield from log_curves(lane, y + BAND + 6, self.x, self._scene.end)
        yield f'<text class="soft" x="8" y="{y + BAND + 6 + CURVES_HEIGHT}">0</text>'
        yield f'<text class="soft" x="8" y="{y + DISK + 12}">disk</text>'
        yield from disk_lane(lane, node, y + DISK, self.x)

    def _client(self, name: str, operations: Sequence[Operation], top: int) -> Iterator[str]:
        for place in range(8, self.width, LABEL_EVERY):
            yield f'<text class="node" x="{place}" y="{top + 10}">{escape(name)}</text>'
        for operation in operations:
            if (operation.end or operation.begin) < self._scene.begin:
                continue
            x = self.x(operation.begin)
            y = top + 12 + CLIENT_ROW * operation.row
            said = f"{name}: {operation.asked} → {operation.answer or 'never answered'}"
            point = "" if operation.point is None else f", took effect at {operation.point / 1e6:.6f} s"
            kind, width = "open", OPEN_WIDTH
            if operation.end is not None:
                kind, width = "asked", max(2.0, self.x(operation.end) - x)
            yield (
                f'<rect class="{kind}" x="{x}" y="{y}" width="{width:.1f}" height="7">'
                f"<title>{escape(said + point)}</title></rect>"
            )
            if operation.point is not None and operation.point >= self._scene.begin:
                yield f'<circle class="point" cx="{self.x(operation.point)}" cy="{y + 3.5}" r="2.5"/>'

    def _arrow(self, arrow: Arrow) -> str:
        if arrow.sender not in self._anchors or arrow.target not in self._anchors:
            return ""
        kind = arrow.name.removesuffix("Answer")
        says = self._fields.get(arrow.name, ())
        details = ", ".join([f"{name} {value}" for name, value in zip(says, arrow.says, strict=False)])
        y1, y2 = self._anchors[arrow.sender], self._anchors[arrow.target]
        x1, x2 = self.x(arrow.sent), self.x(arrow.arrived)
        lost, took = "", f", {(arrow.arrived - arrow.sent) / 1000:.2f} ms"
        if not arrow.arrived:
            lost, took = " lost", ", never taken"
            x2, y2 = x1 + 12, y1 + (18 if y2 > y1 else -18)
        title = escape(f"{arrow.sender} → {arrow.target} {arrow.name}: {details}{took}")
        return (
            f'<line class="message m-{kind if kind in MESSAGES else "other"}{lost}" x1="{x1}" y1="{y1}" x2="{x2}"'
            f' y2="{y2}"><title>{title}</title></line>'
        )

    def _marks(self) -> Iterator[str]:
        for mark in self._scene.marks:
            if mark.kind == "note" and not mark.text.startswith("role"):
                continue  # the list of what happened has them
            y = self.y(mark.node) + MARKS + _ROW_OF[mark.kind] if mark.node in self._nodes else TOP - 6
            yield (
                f'<circle class="k-{mark.kind}" cx="{self.x(mark.time)}" cy="{y}" r="3.5">'
                f"<title>{escape(mark.text)}</title></circle>"
            )


def machine_of(client: str) -> int:
    """The id of the machine that messages name for a client; 0 if it has none of its own."""
    name, _, number = client.partition("-")
    return {"broker": 0, "admin": 200}.get(name, 0) + int(number) if number.isdecimal() else 0
