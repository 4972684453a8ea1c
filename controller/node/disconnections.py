"""Connections that were closed: what waits of them is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface import inputs
from raft.interface import inputs as raft_inputs

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from controller.node.admission import Admission
    from controller.node.long_serving import LongServing
    from controller.node.replies import Replies


class Disconnections:
    """Drops the requests of closed connections, those that an iteration of the loop closes all at once: each time, what
    waits of all other connections is looked at.

    queue: queues an input for each core, None for none; drain: steps the cores with the queued inputs.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        admission: Admission,
        replies: Replies,
        long: LongServing,
        *,
        queue: Callable[[raft_inputs.Input | None, inputs.Input | None], None],
        drain: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._admission = admission
        self._replies = replies
        self._long = long
        self._queue = queue
        self._drain = drain
        self._closed: list[int] = []

    def add(self, connection: int) -> None:
        """A connection was closed."""
        self._closed.append(connection)
        if len(self._closed) == 1:
            self._loop.call_soon(self._drop)

    def _drop(self) -> None:
        connections, self._closed = self._closed, []
        closed = frozenset(connections)
        self._admission.drop(closed)
        self._replies.drop(closed)
        for connection in connections:
            self._long.drop(connection)
            self._queue(raft_inputs.Disconnected(connection), None)
        self._queue(None, inputs.Disconnected(closed))
        self._drain()
