"""Turns: which connections an iteration of the event loop serves, where very many have requests at once.

An iteration handles requests until their time or the bytes of their answers reach a limit. The connections that wait
stand in a queue for each limit, and a later iteration takes those whose limit leaves room, the oldest first. One that
waits costs nothing meanwhile: with a callback of its own in each iteration, some hundreds of them took most of a core.
"""

from __future__ import annotations

from collections import deque
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
PROMPT_ITERATION_S_MAX = 0.05

_API_VERSIONS = (18).to_bytes(2, "big")

# What a connection waits for: the next iteration alone, as it had its requests of this one, or for a limit.
_ITERATION, _BYTES, _PROMPT, _TIME = range(4)


class Waiting(Protocol):
    """A connection that waits for its turn."""

    def take_more(self) -> None:
        """Handle what may be handled in this iteration, and wait again with the rest."""


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
        self._is_counted = False
        self._number = 0  # of the next connection that waits
        self._queues: tuple[deque[tuple[int, Waiting]], ...] = (deque(), deque(), deque(), deque())

    def spend_bytes(self, size: int) -> None:
        """An answer of this size, in bytes, was given."""
        self._count_iteration()
        self._spent_bytes += size

    def spend_s(self, taken_s: float) -> None:
        """A request took this time, in s."""
        self._count_iteration()
        self._spent_s += taken_s

    def must_wait(self, frame: bytes, is_light: bool, is_first: bool) -> bool:
        """Whether a frame waits for a later iteration. is_light: its connection has small answers alone; is_first: it
        is the first frame of its connection.
        """
        return self._missing(frame, is_light, is_first) != _ITERATION

    def wait(self, connection: Waiting, frame: bytes, is_light: bool, is_first: bool) -> None:
        """Call `take_more` of the connection, which has this frame next, in a later iteration."""
        self._queues[self._missing(frame, is_light, is_first)].append((self._number, connection))
        self._number += 1
        self._count_iteration()

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
            while (connection := self._next(end)) is not None:
                connection.take_more()
        finally:
            if any(self._queues):
                self._count_iteration()

    def _next(self, end: int) -> Waiting | None:
        """Take the connection out that waits for longest, of those below number `end` and below their limits."""
        waits_on = _PROMPT if self._spent_s >= ITERATION_S_MAX else len(self._queues) - 1
        if self._spent_s >= PROMPT_ITERATION_S_MAX:
            waits_on = _BYTES
        first: deque[tuple[int, Waiting]] | None = None
        for kind, queue in enumerate(self._queues[: waits_on + 1]):
            if kind == _BYTES and self._spent_bytes >= ITERATION_BYTES_MAX:
                continue
            if queue and queue[0][0] < (end if first is None else first[0][0]):
                first = queue
        return None if first is None else first.popleft()[1]
