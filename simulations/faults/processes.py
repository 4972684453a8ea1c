"""Faults of processes and machines: they die at any point, shut down, stop running, and come back sooner or later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.inputs import Resign
from simulations.faults.targets import find
from simulations.world.files import Dead
from simulations.world.releases import RELEASES
from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.faults.interfaces import StruckRun
    from simulations.world.process import Node, Process

Args = dict[str, Any]


def _end(node: Node, how: str, down_ms: int) -> None:
    if how == "power":
        node.lose_power()
    else:
        node.kill()
    node.start_after(down_ms * MS)


def _strike(run: StruckRun, args: Args, struck: Process | None, how: str) -> bool:
    node = find(run, args["whom"], struck)
    if node is None or node.process is None:
        return False
    if node.process is struck:
        run.strikes(Dead(how, args["down_ms"] * MS))
        return True
    _end(node, how, args["down_ms"])
    return True


def kill(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """SIGKILL: written data stays in the page cache, and the kernel closes the connections. down_ms: until it is
    started again.
    """
    return _strike(run, args, struck, "kill")


def power(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The machine loses power: unsynced data is partly lost, and peers get no packet."""
    return _strike(run, args, struck, "power")


def shut_down(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A clean shutdown, and a start down_ms after the request, at the earliest when the process has ended."""
    node = find(run, args["whom"], struck)
    if node is None or node.process is None:
        return False
    node.shut_down()
    run.later(args["down_ms"], _start_again, run, node)
    return True


def _start_again(run: StruckRun, node: Node) -> None:
    if node.process is not None:
        run.later(100, _start_again, run, node)
    else:
        node.start_after(0)


def everybody(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """All nodes go down at once. how: kill or power; down_ms: for each node, in the order of their ids."""
    own = None
    for node, down_ms in zip(run.nodes.values(), args["down_ms"], strict=False):
        if struck is not None and node.process is struck:
            own = Dead(args["how"], down_ms * MS)
        else:
            _end(node, args["how"], down_ms)
    if own is not None:
        run.strikes(own)
    return True


def crash_loop(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A node is killed `times` times, each time up_ms after it was started. how: kill or power."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    period = args["down_ms"] + args["up_ms"]
    for time in range(args["times"]):
        run.later(time * period + 1, _end_if_on, node, args["how"], args["down_ms"])
    return True


def _end_if_on(node: Node, how: str, down_ms: int) -> None:
    if node.process is not None:
        _end(node, how, down_ms)


def rolling(run: StruckRun, args: Args, _struck: Process | None) -> bool:
    """All nodes are shut down cleanly and started again, one every gap_ms."""
    for place, node in enumerate(run.nodes.values()):
        run.later(place * args["gap_ms"], shut_down, run, {"whom": node.id, "down_ms": args["down_ms"]}, None)
    return True


def pause(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """SIGSTOP: the process does not run, while its clock advances and its kernel accepts packets."""
    node = find(run, args["whom"], struck)
    if node is None or node.process is None:
        return False
    node.pause()
    run.later(args["for_ms"], node.resume)
    return True


def suspend(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The virtual machine is suspended, its monotonic clock too."""
    node = find(run, args["whom"], struck)
    if node is None or node.process is None:
        return False
    node.freeze_clock(frozen=True)
    node.pause()

    def undo() -> None:
        node.freeze_clock(frozen=False)
        node.resume()

    run.later(args["for_ms"], undo)
    return True


def sluggish(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A node takes step_us for each step."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    node.step_us = args["step_us"]
    run.later(args["for_ms"], setattr, node, "step_us", 0)
    return True


def resign(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The state machine of a leader makes it resign."""
    node = find(run, args["whom"], struck)
    if node is None or node.process is None or not node.process.steps:
        return False
    node.process.receive_soon(Resign(node.process.replica.epoch))
    return True


def release(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """A node is stopped, and started with software of another release."""
    assert args["release"] in RELEASES, args
    node = find(run, args["whom"], struck)
    if node is None or (struck is not None and node.process is struck):
        return False
    _end_if_on(node, "kill", args["down_ms"])
    node.release = args["release"]
    run.network.uses_codec = True
    return True
