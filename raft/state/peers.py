"""Requests to peers: one in flight for each, a backoff after a failure, a timeout (`RequestManager` of Kafka)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface.limits import NEVER

if TYPE_CHECKING:
    from random import Random

    from raft.interface.config import Endpoint


class _Entry:
    """number: of the request in flight, 0 for none; until_ms: when it times out, or the backoff ends."""

    __slots__ = ("number", "request", "until_ms")

    def __init__(self) -> None:
        self.number = 0
        self.request: Any = None
        self.until_ms = 0


class Peers:
    """The requests in flight and the backoffs, by peer. bootstrap: (peer, endpoint) of nodes that may know the leader.

    A peer without an entry is ready. Numbers of requests increase by one and are never used twice, so that a late
    answer is recognised. quiet_until_ms: until then no bootstrap server is asked.
    """

    __slots__ = ("_entries", "_number", "_request_timeout_ms", "_retry_backoff_ms", "bootstrap", "quiet_until_ms")

    def __init__(self, request_timeout_ms: int, retry_backoff_ms: int, bootstrap: list[tuple[int, Endpoint]]) -> None:
        self._entries: dict[int, _Entry] = {}
        self._number = 0
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self.bootstrap = bootstrap
        self.quiet_until_ms = 0

    def reset(self) -> None:
        """Forget all requests and backoffs: the role changed, and earlier requests no longer matter."""
        self._entries.clear()

    def record_sent(self, peer: int, request: Any, now_ms: int) -> int:
        """Record a request that is sent now; returns its number."""
        self._number += 1
        entry = self._entry(peer)
        entry.number = self._number
        entry.request = request
        entry.until_ms = now_ms + self._request_timeout_ms
        return self._number

    def take(self, peer: int, number: int, now_ms: int) -> Any:
        """The request with this number; None where it is not in flight (any more), or has timed out."""
        entry = self._entries.get(peer)
        if entry is None or entry.number != number or now_ms >= entry.until_ms:
            return None
        del self._entries[peer]
        return entry.request

    def back_off(self, peer: int, now_ms: int, pause_ms: int | None = None) -> None:
        """Send nothing to this peer for `pause_ms`, by default the retry backoff."""
        entry = self._entry(peer)
        entry.number = 0
        entry.request = None
        entry.until_ms = now_ms + (self._retry_backoff_ms if pause_ms is None else pause_ms)

    def is_ready(self, peer: int, now_ms: int) -> bool:
        entry = self._entries.get(peer)
        return entry is None or now_ms >= entry.until_ms

    def is_backing_off(self, peer: int, now_ms: int) -> bool:
        entry = self._entries.get(peer)
        return entry is not None and entry.number == 0 and now_ms < entry.until_ms

    def give_up(self, peer: int, now_ms: int) -> bool:
        """Whether the request to this peer has timed out; if so, forget it."""
        entry = self._entries.get(peer)
        if entry is None or entry.number == 0 or now_ms < entry.until_ms:
            return False
        del self._entries[peer]
        return True

    def is_waiting(self, now_ms: int) -> bool:
        """Whether any request is in flight."""
        for entry in self._entries.values():  # noqa: SIM110 - asked in each step: a generator costs more than the loop
            if entry.number and now_ms < entry.until_ms:
                return True
        return False

    def ready_bootstrap(self, rng: Random, now_ms: int) -> tuple[int, Endpoint] | None:
        """A random bootstrap server of those that are ready; None where there is none, any request is in flight, or
        the quiet time is not over.
        """
        count = len(self.bootstrap)
        if not count or now_ms < self.quiet_until_ms or self.is_waiting(now_ms):
            return None
        first = rng.randrange(count)
        for place in range(first, first + count):
            server = self.bootstrap[place % count]
            if self.is_ready(server[0], now_ms):
                return server
        return None

    def next_ms(self, now_ms: int) -> int:
        """When the next request times out, or the next backoff or the quiet time ends; NEVER where there is none."""
        next_ms = self.quiet_until_ms if now_ms < self.quiet_until_ms else NEVER
        for entry in self._entries.values():
            if now_ms < entry.until_ms < next_ms:
                next_ms = entry.until_ms
        return next_ms

    def _entry(self, peer: int) -> _Entry:
        entry = self._entries.get(peer)
        if entry is None:
            entry = self._entries[peer] = _Entry()
        return entry
