"""Turns: which connections an iteration of the event loop serves, where very many have requests at once.

An iteration handles requests until their time or the bytes of their answers reach a limit. The connections that wait
stand in a queue for each kind of request, and a later iteration takes those whose limits leave room, the oldest first.
One that waits costs nothing meanwhile: with a callback of its own in each iteration, some hundreds of them took most of
a core.
"""

from __future__ import annotations

from collections import deque
from math import inf
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

# The time of an iteration within which requests are served: urgent ones, prompt ones, others. Each of these has two
# queues, for connections with small answers alone, and for those that also wait for the bytes of others.
_LIMITS_S = (inf, PROMPT_ITERATION_S_MAX, ITERATION_S_MAX)
_URGENT, _PROMPT, _OTHER = range(0, 6, 2)

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
        self._queues: tuple[deque[Place], ...] = tuple(deque() for _ in range(6))
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
        """Whether a frame waits for a later iteration. is_light: its connection has small answers alone; is_first: it
        is the first frame of its connection.
        """
        if self._spent_s < ITERATION_S_MAX and self._spent_bytes < ITERATION_BYTES_MAX:
            return False
        return not self._has_room(self._kind(frame, is_light, is_first))

    def wait(self, connection: Waiting, frame: bytes, is_light: bool, is_first: bool) -> Place:
        """Call `take_more` of the connection, which has this frame next, in a later iteration; returns its place."""
        place = Place(self._number, connection)
        self._number += 1
        self._queues[self._kind(frame, is_light, is_first)].append(place)
        self._count_iteration()
        return place

    def leave(self, place: Place) -> None:
        """The connection of this place, which it still waits in, is closed."""
        place.connection = None
        self._empty += 1
        if self._empty > _EMPTY_MAX + sum(map(len, self._queues)) // 2:
            for queue in self._queues:
                left = [each for each in queue if each.connection is not None]
                queue.clear()
                queue.extend(left)
            self._empty = 0

    def _kind(self, frame: bytes, is_light: bool, is_first: bool) -> int:
        """The number of the queue of a connection that has this frame next, which stays the same while it waits."""
        name = frame[:2]
        if name in self._urgent:
            kind = _URGENT
        elif name in self._prompt or (is_first and name == _API_VERSIONS):
            kind = _PROMPT  # a broker's heartbeat on a new connection comes behind an ApiVersions
        else:
            kind = _OTHER
        return kind if is_light else kind + 1

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
                    place.connection.take_more()
        finally:
            if any(self._queues):
                self._count_iteration()

    def _next(self, end: int) -> Place | None:
        """Take the oldest place out, of those with a number below `end` and in a queue whose limits leave room."""
        first: deque[Place] | None = None
        for kind, queue in enumerate(self._queues):
            if queue and queue[0].number < (end if first is None else first[0].number) and self._has_room(kind):
                first = queue
        return None if first is None else first.popleft()

    def _has_room(self, kind: int) -> bool:
        return self._spent_s < _LIMITS_S[kind // 2] and (kind % 2 == 0 or self._spent_bytes < ITERATION_BYTES_MAX)
