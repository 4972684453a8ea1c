"""The links between machines, one for each direction: how long a packet takes, and when nothing passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from simulations.world.world import World


class Latency(NamedTuple):
    """How long a packet takes, in microseconds: from `least` to `least + spread`; a share `tail` of them up to
    `tail_us`.
    """

    least: int = 200
    spread: int = 600
    tail: float = 0.0
    tail_us: int = 0


class Link:
    """From one machine to another. cuts: how many faults cut it now. latency: in force now; bytes_per_ms: 0 for no
    limit. cut_at: since when it is cut. waiting: packets that TCP will send again, as (pipe, act, arguments).
    """

    __slots__ = ("_random", "bytes_per_ms", "cut_at", "cuts", "extra_us", "latency", "waiting")

    def __init__(self, latency: Latency, rng: Random) -> None:
        self.latency = latency
        self.extra_us = 0
        self.bytes_per_ms = 0
        self.cuts = 0
        self.cut_at = 0
        self.waiting: list[tuple[Pipe, Callable[..., None], tuple[Any, ...]]] = []
        self._random = rng.random

    def delay(self, size: int = 0) -> int:
        """The delay of a packet of this many bytes, drawn for each packet."""
        least, spread, tail, tail_us = self.latency
        delay = least + self.extra_us
        if tail and self._random() < tail:
            delay += int(self._random() * tail_us)
        else:
            delay += int(self._random() * spread)
        if self.bytes_per_ms:
            delay += size * MS // self.bytes_per_ms
        return delay

    def resend_delay(self, now: int) -> int:
        """From the end of a cut until TCP sends again: the longer it lasted, the later, as each attempt waits twice as
        long as the one before.
        """
        return 1 + int(self._random() * min(now - self.cut_at, 2_000 * MS))


class Pipe:
    """One direction of one connection: bytes arrive in their order, or not at all. is_lost: nothing arrives."""

    __slots__ = ("arrived_us", "is_lost", "link", "resume_us")

    def __init__(self, link: Link) -> None:
        self.link = link
        self.arrived_us = 0
        self.resume_us = 0
        self.is_lost = False


class Links:
    """All links of a world. make: the rng of a link, by the ids of its ends. changed: called as
    `changed(source, target, is_cut)` when a link is cut or healed.
    """

    def __init__(self, world: World, latency: Latency, make: Callable[[int, int], Random]) -> None:
        self._world = world
        self._latency = latency
        self._make = make
        self.changed: Callable[[int, int, bool], None] = lambda _source, _target, _is_cut: None
        self._links: dict[tuple[int, int], Link] = {}

    def link(self, source: int, target: int) -> Link:
        link = self._links.get((source, target))
        if link is None:
            link = self._links[source, target] = Link(self._latency, self._make(source, target))
        return link

    def all(self) -> list[Link]:
        return list(self._links.values())

    def carry(self, pipe: Pipe, size: int, act: Callable[..., None], *args: Any) -> None:
        """Have `act(*args)` called when a packet of this many bytes arrives, after all packets sent
        on this pipe before.
        """
        when = max(self._world.now + pipe.link.delay(size), pipe.arrived_us)
        pipe.arrived_us = when
        self._world.at(when, self._arrive, pipe, act, args)

    def carry_after(self, delay: int, pipe: Pipe, act: Callable[..., None], *args: Any) -> None:
        """Carry a packet that leaves a while later."""
        self._world.after(delay, self.carry, pipe, 0, act, *args)

    def cut(self, source: int, target: int) -> None:
        """Cut the link; may be called several times."""
        link = self.link(source, target)
        if link.cuts == 0:
            link.cut_at = self._world.now
            self.changed(source, target, True)
        link.cuts += 1

    def heal(self, source: int, target: int) -> None:
        """Undo one `cut`: waiting packets arrive later, in order within each connection."""
        link = self.link(source, target)
        link.cuts -= 1
        assert link.cuts >= 0, f"more heals than cuts from {source} to {target}"
        if link.cuts:
            return
        self.changed(source, target, False)
        if not link.waiting:
            return
        waiting, link.waiting = link.waiting, []
        now = self._world.now
        for pipe, act, args in waiting:
            if pipe.resume_us <= now:
                pipe.resume_us = now + link.resend_delay(now)
            pipe.arrived_us = max(pipe.arrived_us, pipe.resume_us)
            self._world.at(pipe.resume_us, self._arrive, pipe, act, args)

    def heal_all(self) -> None:
        for source, target in self._links:
            while self._links[source, target].cuts:
                self.heal(source, target)

    def drop_unsent(self, source: int) -> None:
        """The machine lost power: packets that it would have sent again are lost."""
        for (sender, _), link in self._links.items():
            if sender == source:
                link.waiting = []

    def _arrive(self, pipe: Pipe, act: Callable[..., None], args: tuple[Any, ...]) -> None:
        if pipe.is_lost:
            return
        if pipe.link.cuts:
            pipe.link.waiting.append((pipe, act, args))
        elif pipe.resume_us > self._world.now:
            self._world.at(pipe.resume_us, self._arrive, pipe, act, args)  # behind what is sent again
        else:
            act(*args)
