"""The event loop of a process with sockets: the part of asyncio's that `raft.network` uses, in virtual time.

Futures and tasks are asyncio's own; time, order and transports are simulated.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import weakref
from asyncio import events
from typing import TYPE_CHECKING, Any, NamedTuple

from raft.network.tls import TlsConnection
from simulations.nodes.loop import SimLoop
from simulations.sockets.transport import SimTransport
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from simulations.sockets.interfaces import Opens
    from simulations.sockets.tcp import TcpConnection
    from simulations.world.process import Process

# How often a name has several addresses, each of which refuses.
TWO_ADDRESSES = 0.2
OPENINGS_MAX = 32
# Far more attempts of one channel in a second than its backoff allows.
ATTEMPTS = 40


class Listening(NamedTuple):
    """A listening socket, with the methods that `Server` uses."""

    port: int

    def getsockname(self) -> tuple[str, int]:
        return "0.0.0.0", self.port  # noqa: S104 - a simulated address


class Listener:
    """What `create_server` returns. is_open: until it is closed."""

    def __init__(self, loop: SocketLoop, factory: Callable[[], Any], port: int) -> None:
        self.sockets = (Listening(port),)
        self.factory = factory
        self._loop = loop

    def close(self) -> None:
        self._loop.listener = None


class SocketLoop(SimLoop):
    """listener: accepts connections, None if none does. run: runs a callback in an iteration of this loop. openings:
    the connections to peers that are open, or were opened within the last second. handshakes: when each connection
    with TLS was accepted.
    """

    def __init__(self, process: Any, run: Callable[..., None]) -> None:
        def turn(act: Callable[..., Any], *args: Any) -> None:
            before = events._get_running_loop()  # noqa: SLF001 - as each loop does
            events._set_running_loop(self)  # type: ignore[arg-type]  # noqa: SLF001
            try:
                run(act, *args)
            finally:
                events._set_running_loop(before)  # noqa: SLF001

        super().__init__(process, turn)
        self.run = turn
        self.process: Process = process
        self.network: Opens = process.network
        self.listener: Listener | None = None
        self.openings: list[Opening] = []
        self.handshakes: dict[TlsConnection, float] = {}
        self._unnumbered = 0

    def call_at(self, when: float, act: Callable[..., Any], *args: Any) -> Any:
        """when: seconds, of this loop's clock."""
        return self.call_later(when - self.time(), act, *args)

    def get_debug(self) -> bool:
        return False

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)  # type: ignore[arg-type]

    def create_task(self, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=self)  # type: ignore[arg-type]
        task.add_done_callback(_raise_again)
        weakref.finalize(task, coroutine.close)  # its process may end before it began: Python would warn
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Called for tasks that ended with their process; errors of other tasks are raised again."""

    async def create_server(self, factory: Callable[[], Any], _host: Any, port: int, **_options: Any) -> Listener:
        self.listener = Listener(self, factory, port)
        return self.listener

    def open(self, factory: Callable[[], Any], host: str, channels: Any, peer: int) -> asyncio.Future[Any]:
        """The equivalent of `create_connection` for a channel: a future of the transport and the protocol."""
        opening = Opening(self, factory, host, channels, peer)
        _count_opening(opening, [each for each in self.openings if each.is_alike(opening)])
        if len(self.openings) > OPENINGS_MAX:
            self.openings = [each for each in self.openings if not each.is_over or each.since > self.time() - 1]
        self.openings.append(opening)
        if host in self.network.hosts:
            opening.connection = self.network.open(self.process, opening)
        else:
            error = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            opening.waiter.set_exception(error)
        return opening.waiter

    def accept(self, connection: TcpConnection, on_close: Callable[[float], None]) -> None:
        """Accept a connection from the kernel. Its number is the server's. on_close: as of a transport."""
        if self.listener is None:
            connection.server_end.reset()
            return
        protocol = self.listener.factory()
        if isinstance(protocol, TlsConnection):
            self._unnumbered -= 1
            connection.id = self._unnumbered  # until its handshake is done
            self.handshakes[protocol] = self.time()
        else:
            connection.id = protocol.number
            self.process.connections[connection.id] = connection
        SimTransport(self, connection.server_end, protocol, connection.client.node.id, on_close).begin()


class UvloopLoop(SocketLoop):
    """The same as uvloop's, whose protocols get each read as a new object."""


# By this `raft.network.server` distinguishes them.
UvloopLoop.__module__ = "uvloop.simulated"


class Opening:
    """A connection that a process opens. channels, peer: whose it is; waiter: done when it is open. since: when opening
    began, or ended, by the loop's clock.
    """

    def __init__(self, loop: SocketLoop, factory: Callable[[], Any], host: str, channels: Any, peer: int) -> None:
        self.host = host
        self.channels = channels
        self.peer = peer
        self.connection: TcpConnection | None = None
        self.loop = loop
        self.since = loop.time()
        self.is_made = False
        self._factory = factory
        self.waiter = loop.create_future()
        self.waiter.add_done_callback(self._on_settled)

    def is_alike(self, other: Opening) -> bool:
        """Whether it is of the same channel."""
        return self.channels is other.channels and self.peer == other.peer

    @property
    def is_over(self) -> bool:
        """Whether it is closed completely."""
        return self.waiter.done() and (self.connection is None or self.connection.client_end.is_gone)

    def on_accepted(self, connection: TcpConnection) -> None:
        """The connection is open."""
        if self.waiter.done():
            return
        self.is_made = True
        self.since = self.loop.time()
        protocol = self._factory()
        server = connection.server
        assert server is not None, "it was accepted"
        transport = SimTransport(self.loop, connection.client_end, protocol, server.node.id)
        transport.begin()
        self.loop.call_soon(self._connection_made, (transport, protocol))

    def on_refused(self, _connection: TcpConnection) -> None:
        """The peer's machine refused the connection."""
        if self.waiter.done():
            return
        text = f"[Errno {errno.ECONNREFUSED}] Connect call failed"
        if self.loop.process.rng.random() < TWO_ADDRESSES:
            self.waiter.set_exception(OSError(f"Multiple exceptions: {text}, {text}"))
        else:
            self.waiter.set_exception(ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"))

    def _connection_made(self, made: tuple[SimTransport, Any]) -> None:
        if not self.waiter.done():
            self.waiter.set_result(made)

    def _on_settled(self, waiter: asyncio.Future[Any]) -> None:
        if waiter.cancelled() and self.connection is not None:
            self.loop.network.abandon(self.connection)


def _count_opening(opening: Opening, others: list[Opening]) -> None:
    """A channel connects again; others: its last attempts."""
    recent = sum(each.since > opening.since - 1 for each in others)
    if recent > ATTEMPTS:
        raise Violation("W05", f"a channel to {opening.host} connects {recent} times within a second")


def _raise_again(task: asyncio.Task[Any]) -> None:
    """An exception of a task is a finding, or the end of its process. An OSError is not: the task that waits for this
    one handles it.
    """
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, OSError):
        raise error


def run_now(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that never waits; returns its result."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits for something")
