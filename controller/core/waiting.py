"""Responses that wait: for the commit of what they rest on, and for proof that this node still leads.

A response may leave when every record up to its offset is committed and, where it needs that, when leadership was
confirmed after its request arrived. One confirmation is requested at a time; responses that come meanwhile wait for the
next one.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from controller.interface.inputs import RequestContext


@dataclass(slots=True)
class Waiter:
    """One response. offset: of the last record that it rests on. confirmation: the number of the confirmation that it
    waits for, 0 for none.
    """

    context: RequestContext
    request: Any
    response: Any
    offset: int
    confirmation: int = 0


class Waiting:
    """All responses that wait on an active controller.

    committed_end_offset: all records below it are committed. asked, confirmed: the number of the last confirmation that
    was requested, and of the last that was received.
    """

    __slots__ = ("_by_offset", "_order", "_unconfirmed", "asked", "committed_end_offset", "confirmed", "reply")

    def __init__(self, reply: Callable[[RequestContext, Any], None]) -> None:
        self.reply = reply
        self.committed_end_offset = 0
        self.asked = self.confirmed = 0
        self._by_offset: list[tuple[int, int, Waiter]] = []
        self._unconfirmed: deque[Waiter] = deque()
        self._order = 0

    def __len__(self) -> int:
        return len(self._by_offset) + len(self._unconfirmed)

    def __iter__(self) -> Iterator[Waiter]:
        for _, _, waiter in self._by_offset:
            yield waiter
        yield from self._unconfirmed

    def add(self, context: RequestContext, request: Any, response: Any, offset: int, *, confirm: bool) -> None:
        """Send the response when it may leave: at once, or later."""
        waiter = Waiter(context, request, response, offset)
        if confirm:
            # A confirmation that is under way may rest on a moment before this request came.
            waiter.confirmation = self.asked + 1
            self._unconfirmed.append(waiter)
        else:
            self._send_or_keep(waiter)

    def question(self) -> int:
        """The number of the confirmation to request now; 0 where none is needed, or one is under way."""
        if not self._unconfirmed or self.asked > self.confirmed:
            return 0
        self.asked += 1
        return self.asked

    def on_confirmed(self, number: int) -> None:
        """The confirmation of this number came: this node led at some moment after it was requested."""
        self.confirmed = max(self.confirmed, number)
        while self._unconfirmed and self._unconfirmed[0].confirmation <= number:
            self._send_or_keep(self._unconfirmed.popleft())

    def on_committed(self, end_offset: int) -> None:
        """All records below `end_offset` are committed: send responses in the order of their offsets."""
        self.committed_end_offset = end_offset
        while self._by_offset and self._by_offset[0][0] < end_offset:
            waiter = heappop(self._by_offset)[2]
            self.reply(waiter.context, waiter.response)

    def drop(self, closed: AbstractSet[int]) -> None:
        """Drop the responses to connections that are closed.

        Those to requests that wrote records stay: the driver does not send them, but learns the outcome from them, for
        the audit log.
        """
        kept = [
            entry
            for entry in self._by_offset
            if entry[2].context.source.connection not in closed or entry[2].context.written is not None
        ]
        if len(kept) < len(self._by_offset):
            self._by_offset = sorted(kept)
        if self._unconfirmed:
            left = (waiter for waiter in self._unconfirmed if waiter.context.source.connection not in closed)
            self._unconfirmed = deque(left)

    def clear(self) -> list[tuple[RequestContext, Any]]:
        """Drop all responses; returns their requests, by offset."""
        waiters = [*(entry[2] for entry in sorted(self._by_offset)), *self._unconfirmed]
        self._by_offset = []
        self._unconfirmed.clear()
        self.confirmed = self.asked
        return [(waiter.context, waiter.request) for waiter in waiters]

    def _send_or_keep(self, waiter: Waiter) -> None:
        if waiter.offset < self.committed_end_offset:
            self.reply(waiter.context, waiter.response)
            return
        self._order += 1
        heappush(self._by_offset, (waiter.offset, self._order, waiter))
