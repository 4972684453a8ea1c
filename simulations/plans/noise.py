"""Noise, and its limits: outside of them packets and disks take the least time that they can.

A plan may say for how long there is noise, and of which streams. Draws of all other streams give the least value:
packets pass at their quickest and so in the order in which they were sent, syncs take the least, nodes start together,
and no unsynced data survives. Draws of noise are counted: each is a decision of the schedule that differs from the
default.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.world.world import World

BEGIN, CLIENTS = "begin", "clients"


class Noise:
    """window_ms: from when to when there is noise, the end excluded; empty if it never ends. names: of the streams with
    noise, as `names` gives them; empty for all.

    decisions: how often the rng decided about a packet, a sync or a start; -1 without a window, where they are not
    counted.
    """

    def __init__(self, world: World, window_ms: list[int], names: list[str]) -> None:
        self.world = world
        self._names = names
        self.begin, self.end = (window_ms[0] * MS, window_ms[1] * MS) if window_ms else (0, 0)
        self.decisions = 0 if window_ms else -1
        self._is_bounded = bool(window_ms)

    def of(self, rng: Random, name: str) -> Random:
        """A stream limited to the window; the stream itself without a window."""
        is_selected = not self._names or name in self._names
        return _Muted(rng, self, is_selected=is_selected) if self._is_bounded else rng


def link_name(source: int, target: int, nodes: int) -> str:
    """The name of the stream of a link; those of clients share one. nodes: how many the quorum has."""
    return f"link {source} {target}" if max(source, target) <= nodes else CLIENTS


def names(ids: list[int]) -> list[str]:
    """All names of streams of a quorum of these nodes."""
    links = [link_name(one, other, len(ids)) for one in ids for other in ids if one != other]
    return [BEGIN, CLIENTS, *(disk_name(each) for each in ids), *links]


def disk_name(node_id: int) -> str:
    """The name of the stream of a disk."""
    return f"disk {node_id}"


class _Muted(Random):
    """Draws as the stream does, so that later draws are the same, whenever the noise begins."""

    def __init__(self, rng: Random, noise: Noise, *, is_selected: bool) -> None:
        super().__init__(0)
        self._draw = rng.random
        self._is_selected = is_selected
        self._noise = noise

    def random(self) -> float:
        number = self._draw()
        noise = self._noise
        if self._is_selected and noise.begin <= noise.world.now < noise.end:
            noise.decisions += 1
            return number
        return 0.0
