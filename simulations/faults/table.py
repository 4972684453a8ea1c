"""The table of faults: each kind with what it does, and how a plan draws its particulars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from simulations.faults import clocks, confusion, disks, network, processes
from simulations.messages import NAMES
from simulations.plans import Fault
from simulations.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from simulations.process import Process
    from simulations.runs import Run

Args = dict[str, Any]
T = TypeVar("T")


class Scale(NamedTuple):
    """What a fault is drawn for. ids, voter_ids: of the nodes; timeouts_ms: of the protocol and of the properties, to
    be far below, about, and far above; chaos_ms: how long all of it lasts.
    """

    ids: list[int]
    voter_ids: list[int]
    timeouts_ms: list[int]
    chaos_ms: int


class FaultKind(NamedTuple):
    """strike: does it, and returns whether there was anything to do it to; draw: its args; weight: how often, of a
    hundred or so, it is chosen where it is in the swarm.
    """

    name: str
    strike: Callable[[Run, Args, Process | None], bool]
    draw: Callable[[Random, Scale], Args]
    weight: int = 10


def pick(luck: Random, items: Sequence[T]) -> T:
    """One of them, each as likely."""
    return items[int(luck.random() * len(items))]


def often(luck: Random, chaos_ms: int, every_ms: int, fault: Callable[[], Fault]) -> list[Fault]:
    """A fault again and again, about once in so many ms."""
    found = []
    at_ms = between(luck, 0, every_ms)
    while at_ms < chaos_ms:
        each = fault()
        each.at_ms = at_ms
        found.append(each)
        at_ms += between(luck, every_ms // 2, every_ms * 3 // 2)
    return found


def isolated(luck: Random, whom: str, least_ms: int, most_ms: int, direction: str = "both") -> Fault:
    """Who is meant is cut off for a while between these times."""
    return Fault("isolate", {"whom": whom, "direction": direction, "for_ms": between(luck, least_ms, most_ms)})


def whom(luck: Random, scale: Scale) -> int | str:
    """A node by what it is, or by its number."""
    if luck.random() < 0.5:
        return pick(luck, scale.ids)
    return pick(luck, ("leader", "leader", "leader", "follower", "candidate", "shortest", "longest"))


def span(luck: Random, scale: Scale) -> int:
    """A time in ms: far below, about, or far above one of the time-outs."""
    timeout = pick(luck, scale.timeouts_ms)
    low, high = pick(luck, ((5, 50), (50, 130), (80, 130), (130, 500)))
    return max(1, timeout * between(luck, low, high) // 100)


def down(luck: Random, scale: Scale) -> int:
    """How long a process is gone: often for an instant, so that it is back before others notice."""
    kind = luck.random()
    if kind < 0.35:
        return between(luck, 1, 30)
    if kind < 0.6:
        return between(luck, 30, 500)
    return span(luck, scale)


def _direction(luck: Random) -> str:
    return str(pick(luck, ("both", "both", "in", "out")))


def _split(luck: Random, scale: Scale) -> Args:
    ids = list(scale.ids)
    luck.shuffle(ids)
    count = 2 if luck.random() < 0.75 else 3
    groups: list[list[int]] = [[] for _ in range(count)]
    for place, node_id in enumerate(ids):
        groups[place if place < count else int(luck.random() * count)].append(node_id)
    return {"groups": [sorted(group) for group in groups if group], "for_ms": span(luck, scale)}


def _isolate(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "direction": _direction(luck), "for_ms": span(luck, scale)}


def _part(luck: Random, scale: Scale) -> Args:
    one = whom(luck, scale)
    return {"whom": one, "other": whom(luck, scale), "direction": _direction(luck), "for_ms": span(luck, scale)}


def _one(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale)}


def _one_for(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "for_ms": span(luck, scale)}


def _all_for(luck: Random, scale: Scale) -> Args:
    return {"for_ms": span(luck, scale)}


def _flap(luck: Random, scale: Scale) -> Args:
    on_ms, off_ms = span(luck, scale), span(luck, scale)
    times = max(1, min(10, scale.chaos_ms // (2 * (on_ms + off_ms))))
    return {
        "whom": whom(luck, scale), "direction": _direction(luck), "on_ms": on_ms, "off_ms": off_ms, "times": times,
    }  # fmt: skip


def _swizzle(luck: Random, scale: Scale) -> Args:
    order = list(scale.ids)
    luck.shuffle(order)
    return {"order": order, "gap_ms": max(1, span(luck, scale) // 2)}


def _slow(luck: Random, scale: Scale) -> Args:
    return {
        "whom": whom(luck, scale), "direction": _direction(luck), "extra_ms": max(1, span(luck, scale) // 3),
        "for_ms": span(luck, scale),
    }  # fmt: skip


def _tail(luck: Random, scale: Scale) -> Args:
    return {"share": pick(luck, (0.02, 0.1, 0.3)), "tail_ms": span(luck, scale), "for_ms": span(luck, scale)}


def _narrow(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "bytes_per_ms": pick(luck, (1, 5, 50)), "for_ms": span(luck, scale)}


def _hold(luck: Random, scale: Scale) -> Args:
    return {"name": pick(luck, NAMES), "sender": pick(luck, [0, *scale.ids]), "for_ms": span(luck, scale)}


def _drop(luck: Random, scale: Scale) -> Args:
    return {**_hold(luck, scale), "share": pick(luck, (0.3, 1.0)), "number": int(luck.random() * 1_000_000)}


def _lose_answer(luck: Random, scale: Scale) -> Args:
    answers = [name for name in NAMES if name.endswith("Answer")]
    return {"name": pick(luck, answers), "sender": pick(luck, [0, *scale.ids])}


def _cross(luck: Random, scale: Scale) -> Args:
    ids = list(scale.ids)
    luck.shuffle(ids)
    one, other, third = (ids * 3)[:3]
    return {"whom": one, "other": other, "third": third, "for_ms": span(luck, scale)}


def _odd_answers(luck: Random, scale: Scale) -> Args:
    confused = pick(luck, (0, *scale.voter_ids))
    return {"whom": confused, "of_100": pick(luck, (10, 40, 90)), "for_ms": span(luck, scale)}


def _stray(luck: Random, scale: Scale) -> Args:
    return {"whom": pick(luck, scale.voter_ids), "what": pick(luck, ("cluster", "voter")), "for_ms": span(luck, scale)}


def _crash(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "down_ms": down(luck, scale)}


def _everybody(luck: Random, scale: Scale) -> Args:
    return {"how": pick(luck, ("kill", "power", "power")), "down_ms": [down(luck, scale) for _ in scale.ids]}


def _crash_loop(luck: Random, scale: Scale) -> Args:
    return {
        "whom": whom(luck, scale), "how": pick(luck, ("kill", "power")), "times": between(luck, 2, 6),
        "up_ms": between(luck, 1, 400), "down_ms": between(luck, 1, 200),
    }  # fmt: skip


def _rolling(luck: Random, scale: Scale) -> Args:
    return {"gap_ms": span(luck, scale), "down_ms": between(luck, 1, 500)}


def _sluggish(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "step_us": pick(luck, (100, 2_000, 20_000)), "for_ms": span(luck, scale)}


def _release(luck: Random, scale: Scale) -> Args:
    return {"whom": pick(luck, scale.ids), "release": pick(luck, ("4.0", "4.4", "4.4")), "down_ms": down(luck, scale)}


def _wall_jump(luck: Random, scale: Scale) -> Args:
    by_ms = pick(luck, (1_000, 60_000, 3_600_000, 30 * 86_400_000))
    return {"whom": pick(luck, scale.ids), "by_ms": by_ms if luck.random() < 0.5 else -by_ms}


def _drift(luck: Random, scale: Scale) -> Args:
    ppm = pick(luck, (200, 10_000, 50_000))
    return {"whom": pick(luck, scale.ids), "ppm": ppm if luck.random() < 0.5 else -ppm, "for_ms": span(luck, scale)}


def _slow_syncs(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "times": pick(luck, (10, 100, 1000)), "for_ms": span(luck, scale)}


def _fails(luck: Random, scale: Scale) -> Args:
    operation = pick(luck, ("sync", "sync", "write", "rename", "create", "truncate", "read"))
    file = pick(luck, ("", "log", "election", "part", "names", "snapshot"))
    code = "EIO" if operation in {"sync", "read"} else pick(luck, ("EIO", "ENOSPC"))
    return {"whom": whom(luck, scale), "operation": operation, "file": file, "code": code}


def _restore(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "after_ms": span(luck, scale), "down_ms": down(luck, scale)}


def _churn(luck: Random, scale: Scale) -> Args:
    on_ms = max(scale.timeouts_ms[:2]) * between(luck, 60, 250) // 100
    return {
        "direction": _direction(luck), "on_ms": on_ms, "off_ms": between(luck, 1, 2 * scale.timeouts_ms[0]),
        "times": between(luck, 2, 5),
    }  # fmt: skip


def _succession(luck: Random, scale: Scale) -> Args:
    return {"times": between(luck, 2, 5), "for_ms": span(luck, scale)}


def _stall(luck: Random, scale: Scale) -> Args:
    return {"whom": whom(luck, scale), "for_ms": pick(luck, (5, 20, 60, 200)), "down_ms": down(luck, scale)}


def _garble(luck: Random, scale: Scale) -> Args:
    return {**_crash(luck, scale), "what": pick(luck, ("version", "cut", "zeros"))}


def _rot(luck: Random, scale: Scale) -> Args:
    file = pick(luck, ("log", "log", "snapshot"))
    return {"file": file, "whom": whom(luck, scale), "place": between(luck, 0, 999), "bit": between(luck, 0, 7)}


KINDS: dict[str, FaultKind] = {
    kind.name: kind
    for kind in (
        # the network
        FaultKind("split", network.split, _split, 14),
        FaultKind("isolate", network.isolate, _isolate, 20),
        FaultKind("part", network.part, _part, 14),
        FaultKind("bridge", network.bridge, _one_for, 5),
        FaultKind("ring", network.ring, _all_for, 3),
        FaultKind("flap", network.flap, _flap, 6),
        FaultKind("churn", network.churn, _churn, 14),
        FaultKind("succession", network.succession, _succession, 8),
        FaultKind("swizzle", network.swizzle, _swizzle, 4),
        FaultKind("slow", network.slow, _slow, 10),
        FaultKind("tail", network.tail, _tail, 8),
        FaultKind("narrow", network.narrow, _narrow, 3),
        FaultKind("reset", network.reset, _one, 8),
        FaultKind("hang", network.hang, _one, 8),
        FaultKind("hold", network.hold, _hold, 14),
        FaultKind("drop", network.drop, _drop, 8),
        FaultKind("lose_answer", network.lose_answer, _lose_answer, 10),
        FaultKind("cross", network.cross, _cross, 4),
        FaultKind("stray", network.stray, _stray, 3),
        FaultKind("odd_answers", confusion.odd_answers, _odd_answers, 4),
        # processes
        FaultKind("kill", processes.kill, _crash, 22),
        FaultKind("power", processes.power, _crash, 30),
        FaultKind("shut_down", processes.shut_down, _crash, 8),
        FaultKind("everybody", processes.everybody, _everybody, 8),
        FaultKind("crash_loop", processes.crash_loop, _crash_loop, 5),
        FaultKind("rolling", processes.rolling, _rolling, 3),
        FaultKind("pause", processes.pause, _one_for, 10),
        FaultKind("suspend", processes.suspend, _one_for, 6),
        FaultKind("sluggish", processes.sluggish, _sluggish, 5),
        FaultKind("resign", processes.resign, _one, 6),
        FaultKind("release", processes.release, _release, 2),
        # clocks
        FaultKind("wall_jump", clocks.wall_jump, _wall_jump, 4),
        FaultKind("drift", clocks.drift, _drift, 4),
        # disks
        FaultKind("slow_syncs", disks.slow_syncs, _slow_syncs, 8),
        FaultKind("stall", disks.stall, _stall, 8),
        FaultKind("fails", disks.fails, _fails, 8),
        FaultKind("read_only", disks.read_only, _one_for, 3),
        FaultKind("full", disks.full, _one_for, 3),
        FaultKind("wipe", disks.wipe, _crash, 4),
        FaultKind("restore", disks.restore, _restore, 3),
        FaultKind("rot", disks.rot, _rot, 4),
        FaultKind("garble", disks.garble, _garble, 2),
        FaultKind("lose_snapshot", disks.lose_snapshot, _crash, 3),
    )
}
