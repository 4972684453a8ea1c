"""The clocks of one node: a monotonic one that drifts, and a wall clock that operators set."""

from __future__ import annotations

from simulations.world.world import MS

MILLION = 1_000_000


class NodeClock:
    """An affine map from the world's time to the node's, changed at moments; in integers, so it never goes back.

    start_us: the monotonic clock when the world begins. drift_ppm: how much faster it goes than the world, in
    millionths. wall_offset_ms: how far the wall clock is ahead of the monotonic one; operators and time servers set it.
    """

    __slots__ = ("_from", "_shown", "drift_ppm", "frozen", "wall_offset_ms")

    def __init__(self, start_us: int = 0, drift_ppm: int = 0, wall_offset_ms: int = 1_700_000_000_000) -> None:
        self._from = 0
        self._shown = start_us
        self.drift_ppm = drift_ppm
        self.frozen = False
        self.wall_offset_ms = wall_offset_ms

    def micros(self, now: int) -> int:
        """The monotonic clock at a moment of the world."""
        if self.frozen:
            return self._shown
        return self._shown + (now - self._from) * (MILLION + self.drift_ppm) // MILLION

    def ms(self, now: int) -> int:
        """The time in whole milliseconds, as the cores get it."""
        if self.frozen:
            return self._shown // MS
        return (self._shown + (now - self._from) * (MILLION + self.drift_ppm) // MILLION) // MS

    def wall_ms(self, now: int) -> int:
        return self.ms(now) + self.wall_offset_ms

    def when(self, deadline_ms: int) -> int:
        """The first moment of the world at which the monotonic clock shows at least this."""
        ahead = deadline_ms * MS - self._shown
        if ahead <= 0:
            return self._from
        rate = MILLION + self.drift_ppm
        return self._from + -(-ahead * MILLION // rate)

    def set_drift(self, now: int, drift_ppm: int) -> None:
        """Change the rate from now on."""
        self._shown, self._from = self.micros(now), now
        self.drift_ppm = drift_ppm

    def freeze(self, now: int) -> None:
        """Stop the clock, as while a virtual machine is suspended."""
        self._shown, self._from = self.micros(now), now
        self.frozen = True

    def thaw(self, now: int) -> None:
        """Continue from the time at which it stopped."""
        self._from = now
        self.frozen = False
