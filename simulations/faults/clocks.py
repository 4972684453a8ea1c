"""Faults of clocks: the wall clock is set, and the monotonic clock drifts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.inputs import WallClock
from simulations.faults.targets import find

if TYPE_CHECKING:
    from simulations.faults.interfaces import StruckRun
    from simulations.world.process import Process

Args = dict[str, Any]


def wall_jump(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The wall clock is set by_ms ahead, or back."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    node.clock.wall_offset_ms += args["by_ms"]
    if node.process is not None:
        node.process.receive_soon(WallClock(node.clock.wall_offset_ms))
    return True


def drift(run: StruckRun, args: Args, struck: Process | None) -> bool:
    """The monotonic clock goes faster or slower for a while, by ppm millionths."""
    node = find(run, args["whom"], struck)
    if node is None:
        return False
    before = node.clock.drift_ppm
    node.set_drift(args["ppm"])
    run.later(args["for_ms"], node.set_drift, before)
    return True
