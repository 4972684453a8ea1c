"""Turns: which connections an iteration of the event loop serves, where very many have requests at once.

An iteration handles requests until their time or the bytes of their answers reach a limit. The connections that wait
stand in a queue for each limit, and a later iteration takes those whose limit leaves room, the oldest first. One that
waits costs nothing meanwhile: with a callback of its own in each iteration, some hundreds of them took most of a core.
A connection that is taken out of one queue and reaches another limit keeps its place.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio

# Bytes of large answers per iteration of the loop. A thousand peers that request a megabyte each are answered one after
# the other, and connections with small answers continue meanwhile.
ITERATION_BYTES_MAX = 8 << 20

# The time for requests per iteration of the loop, s. After the first one only urgent and prompt requests are handled,
# after the second one only urgent ones; the others go on in the next iterations, in turn: so the times of very many
# clients, or the heartbeats of all brokers at once, do not add up to what a Fetch waits.
ITERATION_S_MAX = 0.01
PROMPT_ITERATION_S_MAX = 0.025

_API_VERSIONS = (18).to_bytes(2, "big")

# What a connection waits for: the next iteration alone, as it had its requests of this one, or for a limit.
_ITERATION, _BYTES, _PROMPT, _TIME = range(4)

# Places of closed connections that stay in the queues, beside as many as of open ones.
_EMPTY_MAX = 64


class Waiting(Protocol):
    """A connection that waits for its turn."""

    def take_more(self) -> None:
        """Handle what may be handled in this iteration, and wait again with the rest."""


class Place:
    """A place in a queue. number: the older ones have lower ones; connection: None where it is closed."""

    __slots__ = ("connection", "number")

    def __init__(self, number: int, connection: Waiting) -> None:
        self.number = number
        self.connection: Waiting | None = connection

    def __lt__(self, other: Place) -> bool:
        return self.number < other.number


class Turns:
    """The turns of the connections of one server. urgent: the API keys of requests that wait for no time; prompt: of
    those that wait for the longer one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, urgent: frozenset[int], prompt: frozenset[int]) -> None:
        self._loop = loop
        self._urgent = frozenset(key.to_bytes(2, "big") for key in urgent)
        self._prompt = frozenset(key.to_bytes(2, "big") for key in prompt)
        self._spent_bytes = 0
        self._spent_s = 0.0
        self._since_handshakes_s = 0.0
        self._is_counted = False
        self._number = 0  # of the next place
        self._kept: int | None = None  # the number of the connection that is taken out, until it is served
        self._queues: tuple[list[Place], ...] = ([], [], [], [])
        self._empty = 0  # places without a connection

    def spend_bytes(self, size: int) -> None:
        """An answer of this size, in bytes, was given."""
        self._count_iteration()
        self._spent_bytes += size

    def spend_s(self, taken_s: float) -> None:
        """A request took this time, in s."""
        self._count_iteration()
        self._spent_s += taken_s
        self._since_handshakes_s += taken_s

    def handshakes_s(self) -> float:
        """The time that handshakes may take now, in s: as much as requests took since the last call."""
        spent_s, self._since_handshakes_s = self._since_handshakes_s, 0.0
        return min(spent_s, PROMPT_ITERATION_S_MAX)

    def must_wait(self, frame: bytes, is_light: bool, is_first: bool) -> bool:
        """Whether a frame waits for a later iteration; if not, it is served now. is_light: its connection has small
        answers alone; is_first: it is the first frame of its connection.
        """
        if self._missing(frame, is_light, is_first) != _ITERATION:
            return True
        self._kept = None
        return False

    def wait(self, connection: Waiting, frame: bytes, is_light: bool, is_first: bool) -> Place:
        """Call `take_more` of the connection, which has this frame next, in a later iteration; returns its place."""
        number, self._kept = self._kept, None
        if number is None:
            number = self._number
            self._number += 1
        place = Place(number, connection)
        heappush(self._queues[self._missing(frame, is_light, is_first)], place)
        self._count_iteration()
        return place

    def leave(self, place: Place) -> None:
        """The connection of this place, which it still waits in, is closed."""
        place.connection = None
        self._empty += 1
        if self._empty > _EMPTY_MAX + sum(map(len, self._queues)) // 2:
            for queue in self._queues:
                queue[:] = [each for each in queue if each.connection is not None]
                heapify(queue)
            self._empty = 0

    def _missing(self, frame: bytes, is_light: bool, is_first: bool) -> int:
        if self._spent_s >= ITERATION_S_MAX and (name := frame[:2]) not in self._urgent:
            # A broker's heartbeat on a new connection comes behind an ApiVersions.
            if name not in self._prompt and not (is_first and name == _API_VERSIONS):
                return _TIME
            if self._spent_s >= PROMPT_ITERATION_S_MAX:
                return _PROMPT
        return _BYTES if self._spent_bytes >= ITERATION_BYTES_MAX and not is_light else _ITERATION

    def _count_iteration(self) -> None:
        if not self._is_counted:
            self._is_counted = True
            self._loop.call_soon(self._begin_iteration)

    def _begin_iteration(self) -> None:
        self._is_counted = False
        self._spent_bytes = 0
        self._spent_s = 0.0
        end = self._number  # those that wait from now on have had their turn
        try:
            while (place := self._next(end)) is not None:
                if place.connection is None:
                    self._empty -= 1
                else:
                    self._kept = place.number
                    place.connection.take_more()
        finally:
            self._kept = None
            if any(self._queues):
                self._count_iteration()

    def _next(self, end: int) -> Place | None:
        """Take the oldest place out, of those with a number below `end` and in a queue whose limit leaves room."""
        first: list[Place] | None = None
        for kind, queue in enumerate(self._queues):
            if queue and queue[0].number < (end if first is None else first[0].number) and self._has_room(kind):
                first = queue
        return None if first is None else heappop(first)

    def _has_room(self, kind: int) -> bool:
        if kind == _BYTES:
            return self._spent_bytes < ITERATION_BYTES_MAX
        if kind == _PROMPT:
            return self._spent_s < PROMPT_ITERATION_S_MAX
        return kind == _ITERATION or self._spent_s < ITERATION_S_MAX
