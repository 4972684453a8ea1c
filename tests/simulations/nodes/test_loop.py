"""The simulated event loop: its timers on the node's clock."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from simulations.nodes.loop import SimLoop
from simulations.world.clocks import NodeClock
from simulations.world.world import World


def a_loop(world: World) -> SimLoop:
    process: Any = SimpleNamespace(
        world=world, clock=NodeClock(), is_dead=False, when_awake=lambda run, act, *args: run(act, *args)
    )
    return SimLoop(cast("Any", process), lambda act, *args: act(*args))


def test_one_who_waits_for_the_rest_of_a_term_asks_again_once() -> None:
    world = World()
    loop = a_loop(world)
    asked: list[float] = []
    end_s = 0.6000003  # between two microseconds of the clock

    def ask() -> None:
        asked.append(loop.time())
        if loop.time() < end_s:
            loop.call_later(end_s - loop.time(), ask)

    world.at(600_000, ask)
    world.run(1_000_000, events_max=100)

    assert asked == [0.6, 0.601]


def test_a_timer_is_due_after_its_delay_and_not_before() -> None:
    world = World()
    loop = a_loop(world)
    called: list[float] = []

    for delay in (0.0, 3e-7, 0.002):
        loop.call_later(delay, lambda: called.append(loop.time()))
    world.run(1_000_000)

    assert called == [0.0, 0.001, 0.002]
