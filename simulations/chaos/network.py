"""The network between real nodes: a proxy carries each connection to a node, and can hold, slow or break it.

The client id in the first request identifies who opened a connection: `raft-client-N` is node N, any other is outside.
Bytes on a cut link are held back, not lost, as with TCP: they arrive when the cut ends, if the connection still exists.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from simulations.chaos.frames import Requests

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

OUTSIDE = 0
CHUNK_BYTES = 64 << 10
# Length, api key, version, correlation id, length of the client id.
HEAD_BYTES = 14
_CLIENT = re.compile(rb"raft-client-(\d+)")


class Way:
    """The direction from one node to another, on any connection."""

    def __init__(self) -> None:
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.delay_s = 0.0


class Network:
    """A thread with a loop. targets: node -> the loopback port that it listens on.

    ports: node -> the port at which others reach it; requests: by name, how many nodes sent to nodes; all calls may
    come from any thread.
    """

    def __init__(self, targets: dict[int, int]) -> None:
        self.targets = targets
        self.ports: dict[int, int] = {}
        self.requests: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._ways: dict[tuple[int, int], Way] = {}
        self._connections: dict[frozenset[int], set[asyncio.StreamWriter]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._thread.start()
        self._call(self._listen())

    def cut(self, sender: int, receiver: int) -> None:
        """Let nothing pass from one to the other."""

        def close() -> None:
            self._way(sender, receiver).is_open.clear()

        self._loop.call_soon_threadsafe(close)

    def slow(self, sender: int, receiver: int, delay_s: float) -> None:
        """Delay each piece from one to the other by this time."""

        def change() -> None:
            self._way(sender, receiver).delay_s = delay_s

        self._loop.call_soon_threadsafe(change)

    def reset(self, one: int, other: int) -> None:
        """Break the connections between two nodes."""

        def abort() -> None:
            for writer in self._connections.pop(frozenset((one, other)), ()):
                writer.transport.abort()

        self._loop.call_soon_threadsafe(abort)

    def heal(self) -> None:
        """Let everything pass everywhere, without delay."""

        def mend() -> None:
            for way in self._ways.values():
                way.delay_s = 0.0
                way.is_open.set()

        self._loop.call_soon_threadsafe(mend)

    def close(self) -> None:
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work: Coroutine[None, None, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _way(self, sender: int, receiver: int) -> Way:
        return self._ways.setdefault((sender, receiver), Way())

    async def _listen(self) -> None:
        for node in self.targets:
            server = await asyncio.start_server(self._acceptor(node), "127.0.0.1", 0, limit=CHUNK_BYTES)
            self._servers.append(server)
            self.ports[node] = server.sockets[0].getsockname()[1]

    def _acceptor(self, node: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = self._loop.create_task(self._carry(node, reader, writer))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # A task that is cancelled before its first step does not come to its own end.
            task.add_done_callback(lambda _: writer.transport.abort())

        return accept

    async def _end(self) -> None:
        # A server that is closed while a task of asyncio accepts a connection leaves its socket open (in Python 3.11,
        # Server._attach asserts that it listens), so that accepting ends first. Each of those tasks starts one of
        # ours. A wait of some milliseconds does not cover them: other threads may take the interpreter for longer.
        for server in self._servers:
            for listener in server.sockets:
                self._loop.remove_reader(listener.fileno())
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        for server in self._servers:
            server.close()
        # Transports that were aborted close their sockets in the next iteration of the loop.
        for _ in range(3):
            await asyncio.sleep(0)

    async def _carry(self, node: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection to a node, from its first bytes to its end on either side."""
        writers = [writer]
        pair: frozenset[int] = frozenset()
        try:
            # Before anything else, so that a refused connection is reported as fast as without the proxy.
            target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self.targets[node])
            writers.append(target_writer)
            head = await reader.readexactly(HEAD_BYTES)
            head += await reader.readexactly(max(int.from_bytes(head[-2:], "big", signed=True), 0))
            peer = peer_of(head)
            pair = frozenset((peer, node))
            self._connections.setdefault(pair, set()).update(writers)
            counted = Requests(self.requests if peer != OUTSIDE else Counter())
            there = self._pump(reader, target_writer, self._way(peer, node), head, counted)
            back = self._pump(target_reader, writer, self._way(node, peer), b"")
            ways = [self._loop.create_task(there), self._loop.create_task(back)]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except (OSError, asyncio.IncompleteReadError):
            pass  # one side is closed, and the other will be
        finally:
            for each in writers:
                self._connections.get(pair, set()).discard(each)
                # As the kernel does for a process that was killed.
                each.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way, data: bytes,
        counted: Requests | None = None,
    ) -> None:  # fmt: skip
        with contextlib.suppress(OSError):
            while data or (data := await reader.read(CHUNK_BYTES)):
                if counted is not None:
                    counted.feed(data)
                if way.delay_s:
                    await asyncio.sleep(way.delay_s)
                await way.is_open.wait()
                writer.write(data)
                await writer.drain()
                data = b""


def peer_of(head: bytes) -> int:
    """The node that opened a connection, by the client id at the end of these bytes."""
    match = _CLIENT.fullmatch(head[HEAD_BYTES:])
    return int(match[1]) if match else OUTSIDE
