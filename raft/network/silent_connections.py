"""Which connection is closed where there are too many: the one that was silent for longest."""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raft.network.connection import Connection

# One in so many is found by a look at all of them. A look for each one would take all the time of the loop where a
# client opens very many.
SHARE = 64


class SilentConnections:
    """The connections that were silent for longest at the last look, and their order."""

    def __init__(self) -> None:
        self._next: list[tuple[float, int]] = []  # the last one first, with its time

    def find(self, connections: Mapping[int, Connection], new: Connection) -> Connection:
        """The connection that was silent for longest, besides a new one that is returned where there is no other.

        Connections in use are never silent for long: voters and brokers send a request every second or so.
        """
        while True:
            while self._next:
                last_active, number = self._next.pop()
                one = connections.get(number)
                if one is not None and not one.is_closing and one.last_active == last_active:
                    return one
            others = [
                (one.last_active, one.number) for one in connections.values() if one is not new and not one.is_closing
            ]
            if not others:
                return new
            self._next = nsmallest(len(others) // SHARE + 1, others)[::-1]
