"""Requests to peers: one in flight for each, a pause after a failure, an end to waiting (`RequestManager` of Kafka)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.limits import NEVER

if TYPE_CHECKING:
    from random import Random

    from raft.config import Endpoint


class _Peer:
    """number: of the request in flight, 0 for none; until_ms: when it is given up, or the pause ends."""

    __slots__ = ("number", "request", "until_ms")

    def __init__(self) -> None:
        self.number = 0
        self.request: Any = None
        self.until_ms = 0


class Peers:
    """What is under way to whom. bootstrap: (peer, endpoint) of who may tell where the leader is.

    A peer that is not in the books is ready. Numbers of requests increase by one and are never used twice, so that an
    answer of the past is known for one.
    """

    __slots__ = ("_books", "_number", "_request_timeout_ms", "_retry_backoff_ms", "bootstrap")

    def __init__(self, request_timeout_ms: int, retry_backoff_ms: int, bootstrap: list[tuple[int, Endpoint]]) -> None:
        self._books: dict[int, _Peer] = {}
        self._number = 0
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self.bootstrap = bootstrap

    def reset(self) -> None:
        """Forget everything: the role changed, and what was asked before no longer matters."""
        self._books.clear()

    def sent(self, peer: int, request: Any, now_ms: int) -> int:
        """A request leaves; returns its number."""
        self._number += 1
        book = self._book(peer)
        book.number = self._number
        book.request = request
        book.until_ms = now_ms + self._request_timeout_ms
        return self._number

    def take(self, peer: int, number: int, now_ms: int) -> Any:
        """The request that is answered by this number; None where none is in flight, or it was given up."""
        book = self._books.get(peer)
        if book is None or book.number != number or now_ms >= book.until_ms:
            return None
        del self._books[peer]
        return book.request

    def back_off(self, peer: int, now_ms: int, pause_ms: int | None = None) -> None:
        """Send nothing to this peer for a while."""
        book = self._book(peer)
        book.number = 0
        book.request = None
        book.until_ms = now_ms + (self._retry_backoff_ms if pause_ms is None else pause_ms)

    def is_ready(self, peer: int, now_ms: int) -> bool:
        book = self._books.get(peer)
        return book is None or now_ms >= book.until_ms

    def is_backing_off(self, peer: int, now_ms: int) -> bool:
        book = self._books.get(peer)
        return book is not None and book.number == 0 and now_ms < book.until_ms

    def give_up(self, peer: int, now_ms: int) -> bool:
        """Whether the request to this peer waited for too long; then it is forgotten."""
        book = self._books.get(peer)
        if book is None or book.number == 0 or now_ms < book.until_ms:
            return False
        del self._books[peer]
        return True

    def is_waiting(self, now_ms: int) -> bool:
        """Whether any request is in flight."""
        for book in self._books.values():  # noqa: SIM110 - asked in each step: a generator costs more than the loop
            if book.number and now_ms < book.until_ms:
                return True
        return False

    def ready_bootstrap(self, rng: Random, now_ms: int) -> tuple[int, Endpoint] | None:
        """One of the bootstrap servers that are ready, by luck; None while any request is in flight."""
        count = len(self.bootstrap)
        if not count or self.is_waiting(now_ms):
            return None
        first = rng.randrange(count)
        for place in range(first, first + count):
            found = self.bootstrap[place % count]
            if self.is_ready(found[0], now_ms):
                return found
        return None

    def next_ms(self, now_ms: int) -> int:
        """When the first of the requests is given up, or of the pauses ends."""
        next_ms = NEVER
        for book in self._books.values():
            if now_ms < book.until_ms < next_ms:
                next_ms = book.until_ms
        return next_ms

    def _book(self, peer: int) -> _Peer:
        book = self._books.get(peer)
        if book is None:
            book = self._books[peer] = _Peer()
        return book
