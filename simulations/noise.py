"""Noise, and its absence: when packets take no longer than the least they can, and disks neither.

A plan may say for how long there is noise. Outside of that every draw of its streams comes out as nothing: packets pass
at their quickest and so in the order in which they were sent, syncs take the least, nodes start together, and of
what was not synced nothing survives. What is drawn within is counted: so many decisions of a schedule are not the plain
ones.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from simulations.world import MS

if TYPE_CHECKING:
    from simulations.world import World


class Noise:
    """window_ms: from when to when there is noise, the end excluded; empty where it never ends.

    decisions: how often luck decided about a packet, a sync or a start; -1 where nobody counts, as there is no window.
    """

    def __init__(self, world: World, window_ms: list[int]) -> None:
        self.world = world
        self.begin, self.end = (window_ms[0] * MS, window_ms[1] * MS) if window_ms else (0, 0)
        self.decisions = 0 if window_ms else -1
        self._is_bounded = bool(window_ms)

    def of(self, luck: Random) -> Random:
        """A stream as it is heard within the window; the stream itself where there is none."""
        return _Muted(luck, self) if self._is_bounded else luck


class _Muted(Random):
    """Draws as the stream does, so that what is drawn later is the same, whenever the noise begins."""

    def __init__(self, luck: Random, noise: Noise) -> None:
        super().__init__(0)
        self._draw = luck.random
        self._noise = noise

    def random(self) -> float:
        found = self._draw()
        noise = self._noise
        if noise.begin <= noise.world.now < noise.end:
            noise.decisions += 1
            return found
        return 0.0
