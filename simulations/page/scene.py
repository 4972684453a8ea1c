"""What there is to draw of a trace: bands of roles, curves of logs, messages, cuts, and marks of what happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.trace import ARRIVAL, CUT, DEED, FAULT, LIFE, MESSAGE, NOTE, STEP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulations.trace import Entry

# Beyond so many messages nobody sees anything; only the newest are drawn.
MESSAGES_MAX = 3000


class Band(NamedTuple):
    """A node was something for a while. what: a role, or `down`."""

    begin: int
    end: int
    what: str
    epoch: int


class Point(NamedTuple):
    """Where a log was. end, durable, watermark: offsets; -1 where none is known."""

    time: int
    end: int
    durable: int
    watermark: int


class Arrow(NamedTuple):
    """A message. arrived: 0 where it never did, or nobody took it."""

    sent: int
    arrived: int
    sender: int
    target: int
    name: str
    says: tuple[Any, ...]


class Mark(NamedTuple):
    """Something that happened at a node (0: to the world). kind: fault, life, note or deed."""

    time: int
    node: int
    kind: str
    text: str


class Cut(NamedTuple):
    """Nothing passed from one machine to another."""

    begin: int
    end: int
    source: int
    target: int


@dataclass(slots=True)
class Lane:
    """One node. bands and points: in order of time."""

    bands: list[Band] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)


@dataclass(slots=True)
class Scene:
    """begin, end: of what is drawn, in microseconds; lanes: by node id."""

    begin: int
    end: int
    lanes: dict[int, Lane] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)


def newest(entries: list[Entry]) -> list[Entry]:
    """The newest entries, as far as they can be drawn."""
    count = 0
    for place in range(len(entries) - 1, -1, -1):
        count += entries[place][1] == MESSAGE
        if count > MESSAGES_MAX:
            return entries[place + 1 :]
    return entries


def fold(entries: Iterable[Entry], ends_at: int) -> Scene:
    """The scene of a run's newest entries, oldest first; it ended at `ends_at`."""
    entries = list(entries)
    scene = Scene(entries[0][0] if entries else 0, max(ends_at, 1))
    sent: dict[tuple[int, int, int, str], list[int]] = {}  # (sent at, sender, target, name): places in arrows
    cut_at: dict[tuple[int, int], int] = {}
    roles: dict[int, tuple[int, str, int]] = {}  # node id: since when it is what, in which epoch
    for entry in entries:
        time, kind, node, *rest = entry
        if kind == STEP:
            _step(scene, roles, time, node, rest)
        elif kind == MESSAGE:
            target, name, *says = rest
            sent.setdefault((time, node, target, name), []).append(len(scene.arrows))
            scene.arrows.append(Arrow(time, 0, node, target, name, tuple(says)))
        elif kind == ARRIVAL:
            sender, name, sent_at = rest
            places = sent.get((sent_at, sender, node, name))
            if places:
                place = places.pop(0)
                scene.arrows[place] = scene.arrows[place]._replace(arrived=max(time, sent_at + 1))
        elif kind == CUT:
            if rest[1]:
                cut_at[node, rest[0]] = time
            elif (begin := cut_at.pop((node, rest[0]), None)) is not None:
                scene.cuts.append(Cut(begin, time, node, rest[0]))
        elif kind == LIFE:
            _life(scene, roles, time, node, rest)
        elif kind == FAULT:
            scene.marks.append(Mark(time, node, "fault", f"{rest[1]} (number {rest[0]} of the plan)"))
        elif kind in {NOTE, DEED}:
            name = "note" if kind == NOTE else "deed"
            scene.marks.append(Mark(time, node, name, " ".join(map(str, rest))))
    for node, (since, what, epoch) in roles.items():
        scene.lanes[node].bands.append(Band(since, scene.end, what, epoch))
    scene.cuts += [Cut(begin, scene.end, *way) for way, begin in cut_at.items()]
    return scene


def _step(scene: Scene, roles: dict[int, tuple[int, str, int]], time: int, node: int, rest: list[Any]) -> None:
    role, epoch, end, watermark = rest[1:5]
    lane = scene.lanes.setdefault(node, Lane())
    _turn(scene, roles, time, node, role, epoch)
    durable = rest[6] if len(rest) > 6 else -1
    point = Point(time, end, durable, -1 if watermark is None else watermark)
    if not lane.points or lane.points[-1][1:] != point[1:]:
        lane.points.append(point)


def _life(scene: Scene, roles: dict[int, tuple[int, str, int]], time: int, node: int, rest: list[Any]) -> None:
    scene.lanes.setdefault(node, Lane())
    scene.marks.append(Mark(time, node, "life", " ".join(map(str, rest))))
    if rest[0] not in {"starts", "recovered"}:
        _turn(scene, roles, time, node, "down", -1)


def _turn(scene: Scene, roles: dict[int, tuple[int, str, int]], time: int, node: int, what: str, epoch: int) -> None:
    since = roles.get(node)
    if since is not None and since[1:] == (what, epoch):
        return
    if since is not None:
        scene.lanes[node].bands.append(Band(since[0], time, *since[1:]))
    roles[node] = (time, what, epoch)
