"""Time, clocks and random streams of a world."""

from __future__ import annotations

import pytest

from simulations.world.clocks import NodeClock
from simulations.world.streams import between, stream
from simulations.world.world import MS, SECOND, TooBusy, World


def test_events_happen_in_order_of_time_and_then_of_insertion() -> None:
    world, seen = World(), []
    world.at(20, seen.append, "c")
    world.at(10, seen.append, "a")
    world.at(10, seen.append, "b")
    world.at(30, seen.append, "later")

    world.run(20)

    assert (seen, world.now, world.events) == (["a", "b", "c"], 20, 3)


def test_events_after_the_end_of_a_run_happen_in_the_next_run() -> None:
    world, seen = World(), []
    world.at(30, seen.append, "x")

    world.run(29)
    world.run(30)

    assert seen == ["x"]


def test_a_world_that_is_too_busy_ends() -> None:
    world = World()

    def again() -> None:
        world.after(0, again)

    again()
    with pytest.raises(TooBusy):
        world.run(1, events_max=1000)


def test_a_drifting_clock_gives_the_moment_at_which_it_shows_a_time() -> None:
    for ppm in (-50_000, -150, 0, 150, 50_000):
        clock = NodeClock(start_us=7 * SECOND, drift_ppm=ppm)
        clock.set_drift(3 * SECOND, -ppm)
        for deadline_ms in range(10_200, 12_000, 37):
            when = clock.when(deadline_ms)
            assert clock.ms(when) >= deadline_ms > clock.ms(when - 1)


def test_a_monotonic_clock_never_goes_back() -> None:
    clock = NodeClock(drift_ppm=20_000)
    shown = []
    for now in range(0, 10 * SECOND, 100 * MS):
        if now == 2 * SECOND:
            clock.freeze(now)
        if now == 4 * SECOND:
            clock.thaw(now)
        if now == 6 * SECOND:
            clock.set_drift(now, -50_000)
        shown.append(clock.micros(now))

    assert shown == sorted(shown)
    assert shown[20:40] == [shown[20]] * 20


def test_streams_of_different_names_are_independent() -> None:
    assert stream(1, "a").random() == stream(1, "a").random()
    assert len({stream(*names).random() for names in ((1, "a"), (1, "b"), (2, "a"), (1, "a", 1))}) == 4


def test_between_includes_both_ends() -> None:
    rng = stream(1)

    assert {between(rng, 3, 5) for _ in range(100)} == {3, 4, 5}
