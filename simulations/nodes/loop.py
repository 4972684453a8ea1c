"""The event loop of one simulated process: as much of asyncio's as `controller.node.node` uses, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.world.world import MS, SECOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.world.process import Process

# From a call on another thread until the loop runs it.
HANDOFF_US = 20


class Timer:
    """A pending callback. when_us: on the node's own monotonic clock."""

    __slots__ = ("act", "args", "is_over", "when_us")

    def __init__(self, when_us: int, act: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.when_us = when_us
        self.act = act
        self.args = args
        self.is_over = False

    def cancel(self) -> None:
        self.is_over = True


class SimLoop:
    """Callbacks run while the process is awake, one at a time. run: called with a callback and its arguments."""

    def __init__(self, process: Process, run: Callable[..., None]) -> None:
        self._process = process
        self._run = run
        self._timers: list[Timer] = []  # all that wait, for when the clock changes its pace

    def time(self) -> float:
        """The node's monotonic clock, in seconds."""
        return self._process.clock.micros(self._process.world.now) / SECOND

    def call_soon(self, act: Callable[..., Any], *args: Any, context: Any = None) -> None:  # noqa: ARG002 - asyncio's own
        process = self._process
        process.world.after(0, process.when_awake, self._run, act, *args)

    def call_soon_threadsafe(self, act: Callable[..., Any], *args: Any) -> None:
        process = self._process
        process.world.after(HANDOFF_US, process.when_awake, self._run, act, *args)

    def call_later(self, delay: float, act: Callable[..., Any], *args: Any) -> Timer:
        """delay: seconds on the node's clock. A delay below a microsecond lasts one: with none, who waits for the rest
        of a term would ask again for ever.
        """
        process = self._process
        delay_us = int(delay * SECOND) or int(delay > 0)
        timer = Timer(process.clock.micros(process.world.now) + delay_us, act, args)
        if len(self._timers) > 16:
            self._timers = [each for each in self._timers if not each.is_over]
        self._timers.append(timer)
        self._set(timer)
        return timer

    def on_clock_changed(self) -> None:
        """The clock changes its rate, or continues."""
        for timer in self._timers:
            if not timer.is_over:
                self._set(timer)

    def _set(self, timer: Timer) -> None:
        clock = self._process.clock
        if not clock.frozen:
            self._process.world.at(clock.when(-(-timer.when_us // MS)), self._due, timer)

    def _due(self, timer: Timer) -> None:
        process = self._process
        if timer.is_over or process.is_dead or process.clock.micros(process.world.now) < timer.when_us:
            return  # another comes later, if the clock was set back
        timer.is_over = True
        process.when_awake(self._run, timer.act, *timer.args)
