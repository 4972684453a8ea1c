"""Noise, and its absence: when packets take no longer than the least they can, and disks neither.

A plan may say for how long there is noise, and of what. All else that is drawn of these streams comes out as nothing:
packets pass at their quickest and so in the order in which they were sent, syncs take the least, nodes start together,
and of what was not synced nothing survives. What is drawn as noise is counted: so many decisions of a schedule are not
the plain ones.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from simulations.world.world import MS

if TYPE_CHECKING:
    from simulations.world.world import World

BEGIN, CLIENTS = "begin", "clients"


class Noise:
    """window_ms: from when to when there is noise, the end excluded; empty where it never ends. names: of the streams
    that have any, as `names` tells them; empty for all.

    decisions: how often the rng decided about a packet, a sync or a start; -1 without a window, where none is counted.
    """

    def __init__(self, world: World, window_ms: list[int], names: list[str]) -> None:
        self.world = world
        self._names = names
        self.begin, self.end = (window_ms[0] * MS, window_ms[1] * MS) if window_ms else (0, 0)
        self.decisions = 0 if window_ms else -1
        self._is_bounded = bool(window_ms)

    def of(self, rng: Random, name: str) -> Random:
        """A stream as it is heard within the window; the stream itself where there is none."""
        is_heard = not self._names or name in self._names
        return _Muted(rng, self, is_heard=is_heard) if self._is_bounded else rng


def link_name(source: int, target: int, nodes: int) -> str:
    """How the stream of a link is called; those of clients are one. nodes: how many the quorum has."""
    return f"link {source} {target}" if max(source, target) <= nodes else CLIENTS


def names(ids: list[int]) -> list[str]:
    """All names of streams of a quorum of these nodes."""
    links = [link_name(one, other, len(ids)) for one in ids for other in ids if one != other]
    return [BEGIN, CLIENTS, *(disk_name(each) for each in ids), *links]


def disk_name(node_id: int) -> str:
    """How the stream of a disk is called."""
    return f"disk {node_id}"


class _Muted(Random):
    """Draws as the stream does, so that what is drawn later is the same, whenever the noise begins."""

    def __init__(self, rng: Random, noise: Noise, *, is_heard: bool) -> None:
        super().__init__(0)
        self._draw = rng.random
        self._is_heard = is_heard
        self._noise = noise

    def random(self) -> float:
        found = self._draw()
        noise = self._noise
        if self._is_heard and noise.begin <= noise.world.now < noise.end:
            noise.decisions += 1
            return found
        return 0.0
