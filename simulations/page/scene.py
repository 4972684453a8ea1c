"""The contents of the drawing of a run: bands of roles, curves of logs, disks, messages, cuts, clients, and events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.world.trace import ARRIVAL, CUT, DEED, DISK, FAULT, LIFE, MESSAGE, NOTE, RECORDS, STEP, SYNC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulations.world.trace import Entry

# With more messages the drawing is unreadable; only the newest are drawn.
MESSAGES_MAX = 3000


class Band(NamedTuple):
    """A node had one role for a while. what: a role, or `down`."""

    begin: int
    end: int
    what: str
    epoch: int


class Point(NamedTuple):
    """The ends of a log at one moment. end, durable, watermark: offsets; -1 where none is known."""

    time: int
    end: int
    durable: int
    watermark: int


class State(NamedTuple):
    """The state of a node, from a moment on until the next."""

    time: int
    role: str
    epoch: int
    end: int
    durable: int
    watermark: int


class DiskOperation(NamedTuple):
    """An operation on a file of a kind. end: that of a sync, which takes a while; how: done, fails or never done."""

    begin: int
    end: int
    operation: str
    kind: str
    how: str


class Arrow(NamedTuple):
    """A message. arrived: 0 if it was lost, or not accepted."""

    sent: int
    arrived: int
    sender: int
    target: int
    name: str
    says: tuple[Any, ...]


class Mark(NamedTuple):
    """An event at a node (0: of the world). kind: fault, life, note or deed."""

    time: int
    node: int
    kind: str
    text: str


class Cut(NamedTuple):
    """A link was cut from one moment to another."""

    begin: int
    end: int
    source: int
    target: int


class Commit(NamedTuple):
    """A batch that was committed. texts: of its records."""

    end_offset: int
    epoch: int
    texts: tuple[str, ...]


@dataclass(slots=True)
class Lane:
    """One node. bands, points, states and disk: in order of time."""

    bands: list[Band] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    disk: list[DiskOperation] = field(default_factory=list)


@dataclass(slots=True)
class Scene:
    """begin, end: of the drawing, in microseconds; lanes: by node id; commits: in the order of the log."""

    begin: int
    end: int
    lanes: dict[int, Lane] = field(default_factory=dict)
    arrows: list[Arrow] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)


def newest(entries: list[Entry]) -> list[Entry]:
    """The newest entries, as many as can be drawn."""
    count = 0
    for place in range(len(entries) - 1, -1, -1):
        count += entries[place][1] == MESSAGE
        if count > MESSAGES_MAX:
            return entries[place + 1 :]
    return entries


def fold(entries: Iterable[Entry], ends_at: int, details: Iterable[Entry] = ()) -> Scene:
    """The scene of a run's newest entries, oldest first; it ended at `ends_at`. details: of `closeup`."""
    entries = list(entries)
    scene = Scene(entries[0][0] if entries else 0, max(ends_at, 1))
    sent: dict[tuple[int, int, int, str], list[int]] = {}  # (sent at, sender, target, name): places in arrows
    cut_at: dict[tuple[int, int], int] = {}
    for entry in entries:
        time, kind, node, *rest = entry
        if kind == STEP:
            _step(scene, time, node, rest)
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
            _life(scene, time, node, rest)
        elif kind == FAULT:
            scene.marks.append(Mark(time, node, "fault", f"{rest[1]} (number {rest[0]} of the plan)"))
        elif kind in {NOTE, DEED}:
            name = "note" if kind == NOTE else "deed"
            scene.marks.append(Mark(time, node, name, " ".join(map(str, rest))))
    for lane in scene.lanes.values():
        _bands(lane, scene.end)
    scene.cuts += [Cut(begin, scene.end, *way) for way, begin in cut_at.items()]
    _add_details(scene, details)
    return scene


def _step(scene: Scene, time: int, node: int, rest: list[Any]) -> None:
    role, epoch, end, watermark = rest[1:5]
    lane = scene.lanes.setdefault(node, Lane())
    state = State(time, role, epoch, end, rest[6], -1 if watermark is None else watermark)
    if not lane.states or lane.states[-1][1:] != state[1:]:
        lane.states.append(state)
    point = Point(time, *state[3:])
    if not lane.points or lane.points[-1][1:] != point[1:]:
        lane.points.append(point)


def _life(scene: Scene, time: int, node: int, rest: list[Any]) -> None:
    lane = scene.lanes.setdefault(node, Lane())
    scene.marks.append(Mark(time, node, "life", " ".join(map(str, rest))))
    if rest[0] not in {"starts", "recovered"} and (not lane.states or lane.states[-1].role != "down"):
        last = lane.states[-1][3:] if lane.states else (-1, -1, -1)
        lane.states.append(State(time, "down", -1, *last))


def _bands(lane: Lane, end: int) -> None:
    """The times in which a node had one role in one epoch."""
    for state in lane.states:
        if not lane.bands or lane.bands[-1][2:] != state[1:3]:
            if lane.bands:
                lane.bands[-1] = lane.bands[-1]._replace(end=state.time)
            lane.bands.append(Band(state.time, end, state.role, state.epoch))


def _add_details(scene: Scene, details: Iterable[Entry]) -> None:
    syncing: dict[int, list[tuple[int, int]]] = {}  # by node, the syncs whose purpose is not known yet
    for entry in details:
        time, kind, node, *rest = entry
        if kind == RECORDS:
            scene.commits.append(Commit(*rest))
        if time < scene.begin or kind not in {SYNC, DISK}:
            continue
        if kind == SYNC:
            syncing.setdefault(node, []).append((time, time + rest[0]))
            continue
        operation, what, how = rest
        begin = end = time
        if operation == "sync":
            # A sync of the flush thread is reported when it ends; one that the process itself awaits, when it begins.
            sync = next((each for each in syncing.get(node, ()) if time in each), (time, time))
            syncing[node] = [each for each in syncing.get(node, ()) if each is not sync]
            begin, end = sync
        scene.lanes.setdefault(node, Lane()).disk.append(DiskOperation(begin, end, operation, what, how))
    for node, left in syncing.items():
        for begin, end in left:
            operation = DiskOperation(begin, min(end, scene.end), "sync", "under way", "never done")
            scene.lanes.setdefault(node, Lane()).disk.append(operation)
