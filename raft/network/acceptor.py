"""Accepting connections on uvloop, which takes one in each iteration of the loop.

An iteration with the requests of thousands of connections takes tens of milliseconds: 10,000 brokers that connect again
at once would wait for minutes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

ACCEPTED_PER_ITERATION = 64
# Until the next attempt, when the process or the system has no file left.
PAUSE_S = 0.1
_NO_FILES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class Acceptor:
    """Accepts for a server of the loop that is bound and does not listen: its sockets, many connections at a time.

    make: the protocol of a new connection.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        bound: asyncio.Server,
        make: Callable[[], asyncio.BaseProtocol],
        backlog: int,
    ) -> None:
        self._loop = loop
        self._bound = bound
        self._make = make
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening = [socket.socket(fileno=os.dup(one.fileno())) for one in bound.sockets]
        for one in self._listening:
            one.setblocking(False)
            one.listen(backlog)
            self._watch(one)

    def close(self) -> None:
        for one in self._listening:
            self._loop.remove_reader(one)
            one.close()
        self._listening.clear()
        self._bound.close()

    def _watch(self, listening: socket.socket) -> None:
        if listening in self._listening:
            self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTED_PER_ITERATION):
            try:
                accepted, _address = listening.accept()
            except OSError as error:  # none is left, or one has ended meanwhile
                if error.errno in _NO_FILES:
                    self._loop.remove_reader(listening)
                    self._loop.call_later(PAUSE_S, self._watch, listening)
                return
            task = self._loop.create_task(self._connect(accepted))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connect(self, accepted: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the client has closed it meanwhile
            await self._loop.connect_accepted_socket(self._make, accepted)
