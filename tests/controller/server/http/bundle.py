"""A replica and a controller in the form of a node, for code that only reads from a node."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from controller.node.autopilot_task import AutopilotTask
from controller.node.logging.problems import Problems
from controller.server.http.counted import Counted
from controller.server.http.reading import Reading

if TYPE_CHECKING:
    from tests.controller.rig import Rig
    from tests.raft.building import Bench


def node_of(bench: Bench, rig: Rig) -> Any:
    """Real parts, with the attributes of `controller.node.node.Node`."""
    nothing: Any = None
    autopilot = AutopilotTask(
        bench.replica, rig.controller, nothing, log=nothing, now_ms=lambda: bench.now, to_raft=nothing,
        to_controller=nothing,
    )  # fmt: skip
    return SimpleNamespace(
        autopilot=autopilot,
        replica=bench.replica,
        controller=rig.controller,
        is_ending=False,
        now_ms=lambda: bench.now,
        loop=SimpleNamespace(time=lambda: bench.now / 1000),
        server=SimpleNamespace(connections={}),
        log=SimpleNamespace(problems=Problems(lambda: bench.now / 1000)),
    )


def reading_of(bench: Bench, rig: Rig) -> Reading:
    """One reading of the node."""
    watchdog = SimpleNamespace(began_s=0.0, late_s=[0.0], idle_ratio=lambda: 1.0, process_io=lambda _: 0.0)
    counted = Counted(bench.replica, lambda: bench.now)
    return Reading(node_of(bench, rig), counted, watchdog)  # type: ignore[arg-type]
