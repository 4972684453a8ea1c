"""Very many brokers without processes, in a few client processes: each has a connection and sends heartbeats on it.

A broker does on its connection what a stock one does: ApiVersions first, then its registration, then a heartbeat every
2 s. After NOT_CONTROLLER or a lost connection it sends its request again, on a new connection, as soon as its process
knows the active controller. Frames are encoded once, and responses read by position, so that 10,000 of them cost little
CPU time.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import resource
import ssl
import time
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

import uvloop

from raft.network.framer import Framer
from raft.network.tls import TlsConnection
from records.errors import Error
from records.messages.versions import ApiVersionsRequest
from records.schema import replace
from simulations.chaos.brokers import heartbeat, registration
from tests.benchmarks.client import FEATURES, frame_of
from tests.interop.ask import describe_quorum
from tests.interop.cluster import CLUSTER_ID

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection as Pipe

# As the brokers of stock Kafka: broker.heartbeat.interval.ms, socket.connection.setup.timeout.ms, the backoff of a
# connection to the controller.
INTERVAL_S = 2.0
CONNECT_S = 10.0
BACKOFF_S = 0.05
# The heartbeats of a process are sent in so many groups, one after the other.
GROUPS = 400
# That are connected, or registered, at once at the beginning.
AT_ONCE = 32
# Of a response without its length: where the error code is, after the correlation id, tagged fields and throttle time.
# That of ApiVersions begins with it.
ERROR_AT, API_VERSIONS_ERROR_AT = 9, 4
EPOCH_AT, FENCED_AT = 11, 12
API_VERSIONS = frame_of(ApiVersionsRequest(client_software_name="bench", client_software_version="1"), 4)


class Plan(NamedTuple):
    """What a client process is given. ports: of the controllers; certificate: of the client, for TLS."""

    ids: range
    ports: tuple[int, ...]
    certificate: str | None


class Seen(NamedTuple):
    """What the brokers of a process have seen since the last report. Times in s; begun: of perf_counter.

    taken: until the answer of each request. served: from the end of all connections until each broker had an answer
    again. lags: how late each group was sent. fenced: the brokers that an answer
    called fenced; failures: connections that could not be opened; cpu: the CPU time of the process since its start.
    """

    begun: array[float]
    taken: array[float]
    served: array[float]
    lags: array[float]
    fenced: set[int]
    failures: int
    cpu: float


class Broker(asyncio.Protocol):
    """One broker. epoch: None before it is registered; sent: when its present request was begun, None without one;
    is_connecting: until the handshake of TLS is complete.
    """

    def __init__(self, number: int, fleet: Fleet) -> None:
        self.id = number
        self.fleet = fleet
        self.epoch: int | None = None
        self.sent: float | None = None
        self.frame = frame_of(replace(registration(number, FEATURES), cluster_id=CLUSTER_ID), 4)
        self.transport: Any = None
        self.is_connecting = False
        self.is_open = False  # from the answer to ApiVersions on
        self.framer = Framer()
        self.done: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Send the present frame, now or when there is a connection."""
        self.sent = time.perf_counter()
        if self.is_open:
            self.transport.write(self.frame)

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.is_connecting = False
        self.framer = Framer()
        transport.write(API_VERSIONS)

    def data_received(self, data: bytes) -> None:
        for frame in self.framer.feed(data):
            self._answered(frame)

    def _answered(self, frame: bytes) -> None:
        if not self.is_open:
            assert frame[API_VERSIONS_ERROR_AT : API_VERSIONS_ERROR_AT + 2] == b"\0\0", frame[:32]
            self.is_open = True
            if self.sent is not None:
                self.transport.write(self.frame)
            else:
                self._finish()
            return
        error = int.from_bytes(frame[ERROR_AT : ERROR_AT + 2], "big", signed=True)
        if error == Error.NOT_CONTROLLER:
            self.drop()
            self.fleet.search(self)
            return
        if error == Error.REQUEST_TIMED_OUT:  # a broker sends it again
            self.transport.write(self.frame)
            return
        assert error == 0, f"broker {self.id}: error {error}"
        assert self.sent is not None
        if self.epoch is None:
            self.epoch = int.from_bytes(frame[EPOCH_AT : EPOCH_AT + 8], "big")
            self.frame = frame_of(heartbeat(self.id, self.epoch), 1)
        else:
            self.fleet.note(self, frame[FENCED_AT] != 0)
        self.sent = None
        self._finish()

    def _finish(self) -> None:
        if self.done is not None and not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.transport is not None:
            self.transport = None
            self.is_open = False
            self.fleet.search(self)

    def drop(self) -> None:
        """Close the connection without a search."""
        transport, self.transport, self.is_open = self.transport, None, False
        if transport is not None:
            transport.abort()


class Fleet:
    """All brokers of one process. port: of the active controller, as far as known."""

    def __init__(self, plan: Plan, loop: asyncio.AbstractEventLoop) -> None:
        self.plan = plan
        self.loop = loop
        self.brokers = [Broker(number, self) for number in plan.ids]
        self.context: ssl.SSLContext | None = None
        if plan.certificate is not None:
            # Brokers verify the controller's certificate with CPU time of their own, which is not to be measured here.
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.context.check_hostname = False
            self.context.verify_mode = ssl.CERT_NONE
            self.context.load_cert_chain(plan.certificate)
        self.port = 0
        self.waiting: set[Broker] = set()
        self.searching: asyncio.Task[None] | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.is_beating = False
        self.seen = nothing_seen()

    def report(self) -> Seen:
        """What was seen since the last report."""
        seen, self.seen = self.seen, nothing_seen()
        return seen._replace(cpu=time.process_time())

    def note(self, broker: Broker, fenced: bool) -> None:
        assert broker.sent is not None
        self.seen.begun.append(broker.sent)
        self.seen.taken.append(time.perf_counter() - broker.sent)
        if fenced:
            self.seen.fenced.add(broker.id)

    # Connections.

    def search(self, broker: Broker) -> None:
        """Connect a broker again when the active controller is known, if it is not connecting."""
        if broker.is_connecting:
            return
        self.waiting.add(broker)
        if self.searching is None:
            self.searching = self.loop.create_task(self._search())

    async def _search(self) -> None:
        while self.waiting:
            port = await self.loop.run_in_executor(None, active_port, self.plan.ports, self.context)
            if port:
                self.port = port
                for broker in sorted(self.waiting, key=lambda one: one.id):
                    broker.is_connecting = True
                    task = self.loop.create_task(self.connect(broker))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                self.waiting.clear()
            await asyncio.sleep(BACKOFF_S)
        self.searching = None

    async def connect(self, broker: Broker) -> None:
        context, loop = self.context, self.loop
        failed: asyncio.Future[str | None] = loop.create_future()

        def secured() -> TlsConnection:
            assert context is not None
            return TlsConnection(
                loop, context, lambda _tls: broker, hostname="127.0.0.1", server_side=False, schedule=loop.call_soon,
                on_started=lambda _tls: None, on_done=lambda _tls, reason: failed.set_result(reason),
            )  # fmt: skip

        make: Callable[[], asyncio.BaseProtocol] = (lambda: broker) if context is None else secured
        try:
            async with asyncio.timeout(CONNECT_S):
                await loop.create_connection(make, "127.0.0.1", self.port)
            if context is not None and (reason := await failed) is not None:
                raise ConnectionError(reason)
        except OSError:  # TimeoutError is one
            broker.is_connecting = False
            self.seen = self.seen._replace(failures=self.seen.failures + 1)
            self.search(broker)

    # The phases of the benchmark.

    def look(self) -> None:
        """Report alone."""

    async def connect_all(self) -> None:
        """Connect all brokers, a few at a time."""
        self.port = active_port(self.plan.ports, self.context)
        await self._each(self.connect)

    async def register_all(self) -> None:
        async def register(broker: Broker) -> None:
            broker.begin()

        await self._each(register)

    async def _each(self, act: Callable[[Broker], Any]) -> None:
        """Act on all, a few at a time, each until its next answer."""
        for first in range(0, len(self.brokers), AT_ONCE):
            some = self.brokers[first : first + AT_ONCE]
            for broker in some:
                broker.done = self.loop.create_future()
                await act(broker)
            await asyncio.gather(*(broker.done for broker in some if broker.done is not None))

    def beat_from_now(self) -> None:
        """Send heartbeats, in equal groups over the interval, until the process ends."""
        if not self.is_beating:
            self.is_beating = True
            groups = [self.brokers[number::GROUPS] for number in range(GROUPS)]
            self._beat(groups, 0, self.loop.time())

    def _beat(self, groups: list[list[Broker]], number: int, due: float) -> None:
        self.seen.lags.append(self.loop.time() - due)
        for broker in groups[number]:
            if broker.sent is None:
                broker.begin()
        due += INTERVAL_S / GROUPS
        self.loop.call_at(due, self._beat, groups, (number + 1) % GROUPS, due)

    async def reconnect_all(self) -> None:
        """Drop all connections, and send a heartbeat on new ones as soon as possible."""
        begin = time.perf_counter()
        for broker in self.brokers:
            broker.drop()
            broker.done = self.loop.create_future()
            broker.done.add_done_callback(lambda _: self.seen.served.append(time.perf_counter() - begin))
            broker.begin()
            self.search(broker)
        await asyncio.gather(*(broker.done for broker in self.brokers if broker.done is not None))


def nothing_seen() -> Seen:
    return Seen(array("d"), array("d"), array("d"), array("d"), set(), 0, 0.0)


def active_port(ports: tuple[int, ...], context: ssl.SSLContext | None) -> int:
    """The port of the controller that says that it is active; 0 where none does."""
    for number, port in enumerate(ports, start=1):
        # A controller that stops or starts may answer with an error and no partition.
        with contextlib.suppress(OSError, IndexError, AssertionError):
            found = describe_quorum(port, context)
            if found.error_code == 0 and found.leader_id == number:
                return port
    return 0


def run(plan: Plan, pipe: Pipe) -> None:
    """A client process. It gets the names of phases, and sends what was seen when a phase is over."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, hard), hard))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        parent = multiprocessing.parent_process()
        assert parent is not None
        loop.add_reader(parent.sentinel, os._exit, 1)  # within a phase it would go on for ever
        fleet = Fleet(plan, loop)
        gc.freeze()
        while (phase := await loop.run_in_executor(None, pipe.recv)) != "end":
            done = getattr(fleet, phase)()
            if asyncio.iscoroutine(done):
                await done
            pipe.send(fleet.report())

    uvloop.run(main())
