"""The table of faults: each kind with its function, and how a plan draws its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from simulations.faults import clocks, confusion, disks, network, processes
from simulations.plans.plan import Fault
from simulations.world.messages import NAMES
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from simulations.faults.interfaces import StruckRun
    from simulations.world.process import Process

Args = dict[str, Any]
T = TypeVar("T")


class Scale(NamedTuple):
    """The quorum that a fault is drawn for. ids, voter_ids: of the nodes; timeouts_ms: of the protocol and of the
    properties: durations are drawn far below, about, and far above them; chaos_ms: the length of the fault phase.
    """

    ids: list[int]
    voter_ids: list[int]
    timeouts_ms: list[int]
    chaos_ms: int


class FaultKind(NamedTuple):
    """strike: injects the fault, and returns whether it had a target; draw: its args; weight: its share of about a
    hundred draws, where it is in the swarm.
    """

    name: str
    strike: Callable[[StruckRun, Args, Process | None], bool]
    draw: Callable[[Random, Scale], Args]
    weight: int = 10


def pick(rng: Random, items: Sequence[T]) -> T:
    """One of them, with equal chances."""
    return items[int(rng.random() * len(items))]


def often(rng: Random, chaos_ms: int, every_ms: int, fault: Callable[[], Fault]) -> list[Fault]:
    """A fault repeated at this mean interval, in ms."""
    faults = []
    at_ms = between(rng, 0, every_ms)
    while at_ms < chaos_ms:
        each = fault()
        each.at_ms = at_ms
        faults.append(each)
        at_ms += between(rng, every_ms // 2, every_ms * 3 // 2)
    return faults


def make_isolation(rng: Random, whom: str, least_ms: int, most_ms: int, direction: str = "both") -> Fault:
    """A fault that isolates a node, for a duration between the two."""
    return Fault("isolate", {"whom": whom, "direction": direction, "for_ms": between(rng, least_ms, most_ms)})


def whom(rng: Random, scale: Scale) -> int | str:
    """A node by its role, or by its id."""
    if rng.random() < 0.5:
        return pick(rng, scale.ids)
    return pick(rng, ("leader", "leader", "leader", "follower", "candidate", "shortest", "longest"))


def span(rng: Random, scale: Scale) -> int:
    """A duration in ms: far below, about, or far above one of the timeouts."""
    timeout = pick(rng, scale.timeouts_ms)
    low, high = pick(rng, ((5, 50), (50, 130), (80, 130), (130, 500)))
    return max(1, timeout * between(rng, low, high) // 100)


def down(rng: Random, scale: Scale) -> int:
    """How long a process is down, in ms: often so short that it is back before others notice."""
    kind = rng.random()
    if kind < 0.35:
        return between(rng, 1, 30)
    if kind < 0.6:
        return between(rng, 30, 500)
    return span(rng, scale)


def _direction(rng: Random) -> str:
    return str(pick(rng, ("both", "both", "in", "out")))


def _split(rng: Random, scale: Scale) -> Args:
    ids = list(scale.ids)
    rng.shuffle(ids)
    count = 2 if rng.random() < 0.75 else 3
    groups: list[list[int]] = [[] for _ in range(count)]
    for place, node_id in enumerate(ids):
        groups[place if place < count else int(rng.random() * count)].append(node_id)
    return {"groups": [sorted(group) for group in groups if group], "for_ms": span(rng, scale)}


def _isolate(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "direction": _direction(rng), "for_ms": span(rng, scale)}


def _part(rng: Random, scale: Scale) -> Args:
    one = whom(rng, scale)
    return {"whom": one, "other": whom(rng, scale), "direction": _direction(rng), "for_ms": span(rng, scale)}


def _one(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale)}


def _one_for(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "for_ms": span(rng, scale)}


def _all_for(rng: Random, scale: Scale) -> Args:
    return {"for_ms": span(rng, scale)}


def _flap(rng: Random, scale: Scale) -> Args:
    on_ms, off_ms = span(rng, scale), span(rng, scale)
    times = max(1, min(10, scale.chaos_ms // (2 * (on_ms + off_ms))))
    return {
        "whom": whom(rng, scale), "direction": _direction(rng), "on_ms": on_ms, "off_ms": off_ms, "times": times,
    }  # fmt: skip


def _swizzle(rng: Random, scale: Scale) -> Args:
    order = list(scale.ids)
    rng.shuffle(order)
    return {"order": order, "gap_ms": max(1, span(rng, scale) // 2)}


def _slow(rng: Random, scale: Scale) -> Args:
    return {
        "whom": whom(rng, scale), "direction": _direction(rng), "extra_ms": max(1, span(rng, scale) // 3),
        "for_ms": span(rng, scale),
    }  # fmt: skip


def _tail(rng: Random, scale: Scale) -> Args:
    return {"share": pick(rng, (0.02, 0.1, 0.3)), "tail_ms": span(rng, scale), "for_ms": span(rng, scale)}


def _narrow(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "bytes_per_ms": pick(rng, (1, 5, 50)), "for_ms": span(rng, scale)}


def _hold(rng: Random, scale: Scale) -> Args:
    return {"name": pick(rng, NAMES), "sender": pick(rng, [0, *scale.ids]), "for_ms": span(rng, scale)}


def _drop(rng: Random, scale: Scale) -> Args:
    return {**_hold(rng, scale), "share": pick(rng, (0.3, 1.0)), "number": int(rng.random() * 1_000_000)}


def _lose_answer(rng: Random, scale: Scale) -> Args:
    answers = [name for name in NAMES if name.endswith("Answer")]
    return {"name": pick(rng, answers), "sender": pick(rng, [0, *scale.ids])}


def _cross(rng: Random, scale: Scale) -> Args:
    ids = list(scale.ids)
    rng.shuffle(ids)
    one, other, third = (ids * 3)[:3]
    return {"whom": one, "other": other, "third": third, "for_ms": span(rng, scale)}


def _odd_answers(rng: Random, scale: Scale) -> Args:
    confused = pick(rng, (0, *scale.voter_ids))
    return {"whom": confused, "of_100": pick(rng, (10, 40, 90)), "for_ms": span(rng, scale)}


def _stray(rng: Random, scale: Scale) -> Args:
    return {"whom": pick(rng, scale.voter_ids), "what": pick(rng, ("cluster", "voter")), "for_ms": span(rng, scale)}


def _crash(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "down_ms": down(rng, scale)}


def _everybody(rng: Random, scale: Scale) -> Args:
    return {"how": pick(rng, ("kill", "power", "power")), "down_ms": [down(rng, scale) for _ in scale.ids]}


def _crash_loop(rng: Random, scale: Scale) -> Args:
    return {
        "whom": whom(rng, scale), "how": pick(rng, ("kill", "power")), "times": between(rng, 2, 6),
        "up_ms": between(rng, 1, 400), "down_ms": between(rng, 1, 200),
    }  # fmt: skip


def _rolling(rng: Random, scale: Scale) -> Args:
    return {"gap_ms": span(rng, scale), "down_ms": between(rng, 1, 500)}


def _sluggish(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "step_us": pick(rng, (100, 2_000, 20_000)), "for_ms": span(rng, scale)}


def _release(rng: Random, scale: Scale) -> Args:
    return {"whom": pick(rng, scale.ids), "release": pick(rng, ("4.0", "4.4", "4.4")), "down_ms": down(rng, scale)}


def _wall_jump(rng: Random, scale: Scale) -> Args:
    by_ms = pick(rng, (1_000, 60_000, 3_600_000, 30 * 86_400_000))
    return {"whom": pick(rng, scale.ids), "by_ms": by_ms if rng.random() < 0.5 else -by_ms}


def _drift(rng: Random, scale: Scale) -> Args:
    ppm = pick(rng, (200, 10_000, 50_000))
    return {"whom": pick(rng, scale.ids), "ppm": ppm if rng.random() < 0.5 else -ppm, "for_ms": span(rng, scale)}


def _slow_syncs(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "times": pick(rng, (10, 100, 1000)), "for_ms": span(rng, scale)}


def _fails(rng: Random, scale: Scale) -> Args:
    operation = pick(rng, ("sync", "sync", "write", "rename", "create", "truncate", "read"))
    file = pick(rng, ("", "log", "election", "part", "names", "snapshot"))
    code = "EIO" if operation in {"sync", "read"} else pick(rng, ("EIO", "ENOSPC"))
    return {"whom": whom(rng, scale), "operation": operation, "file": file, "code": code}


def _restore(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "after_ms": span(rng, scale), "down_ms": down(rng, scale)}


def _churn(rng: Random, scale: Scale) -> Args:
    on_ms = max(scale.timeouts_ms[:2]) * between(rng, 60, 250) // 100
    return {
        "direction": _direction(rng), "on_ms": on_ms, "off_ms": between(rng, 1, 2 * scale.timeouts_ms[0]),
        "times": between(rng, 2, 5),
    }  # fmt: skip


def _succession(rng: Random, scale: Scale) -> Args:
    return {"times": between(rng, 2, 5), "for_ms": span(rng, scale)}


def _stall(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "for_ms": pick(rng, (5, 20, 60, 200)), "down_ms": down(rng, scale)}


def _garble(rng: Random, scale: Scale) -> Args:
    return {**_crash(rng, scale), "what": pick(rng, ("version", "cut", "zeros"))}


def _rot(rng: Random, scale: Scale) -> Args:
    file = pick(rng, ("log", "log", "snapshot"))
    return {"file": file, "whom": whom(rng, scale), "place": between(rng, 0, 999), "bit": between(rng, 0, 7)}


def _draw_sector(rng: Random, scale: Scale) -> Args:
    return {"whom": whom(rng, scale), "place": between(rng, 0, 999), "down_ms": down(rng, scale)}


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
        FaultKind("lost_sector", disks.lose_sector, _draw_sector, 2),
        FaultKind("garble", disks.garble, _garble, 2),
        FaultKind("lose_snapshot", disks.lose_snapshot, _crash, 3),
    )
}
