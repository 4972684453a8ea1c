"""Worlds for tests: they run without faults up to a moment, and then the test controls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.state.roles import Leader
from simulations.plans.plan import Load, Plan
from simulations.raft.run import Run
from simulations.world.messages import Frame
from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.world.process import Connection, Node, Process


def lived(ms: int = 600, **of_plan: Any) -> Run:
    """A world that has run for this many milliseconds, without any fault."""
    of_plan.setdefault("load", Load(every_ms=10))
    run = Run(Plan(seed=1, chaos_ms=60_000, **of_plan))
    run.begin()
    run.world.run(ms * MS)
    return run


def live(run: Run, ms: int) -> None:
    """Run it for this many milliseconds more."""
    run.world.run(run.world.now + ms * MS)


def process(node: Node) -> Process:
    """The process that runs on a node."""
    assert node.process is not None
    return node.process


def leader(run: Run) -> Process:
    """The leader."""
    return next(each for each in run.ledger.running() if isinstance(each.replica.role, Leader))


def followers(run: Run) -> list[Process]:
    """All others."""
    return [each for each in run.ledger.running() if not isinstance(each.replica.role, Leader)]


def connection_to(run: Run, server: Process) -> Connection:
    """A connection that another node has to this one."""
    return next(each for each in run.network.open_connections() if each.server is server)


def frame(name: str, *gist: Any, stamp: Any = None, stray: str = "") -> Frame:
    """A message with this content."""
    made = Frame(name, gist, 0, 0, b"", 0)
    made.stamp, made.stray = stamp, stray
    return made


def leave_unreplicated(run: Run) -> Process:
    """A leader whose log ends with a record that no other node has."""
    for each in followers(run):
        each.node.pause()
    found = leader(run)
    run.clients.stop()
    found.machine.write([1], 1_000_000, 0)
    live(run, 20)
    assert found.replica.log.end == found.replica.log.durable_end > found.replica.log.committed
    return found
