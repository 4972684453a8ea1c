"""The server: listeners, their connections, and the answers to requests on them."""

from __future__ import annotations

import errno
import os
import socket
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

from raft.interface.inputs import Source
from raft.network.acceptor import Acceptor
from raft.network.connection import BufferedConnection, Connection, address_text
from raft.network.framer import FRAME_BYTES_MAX
from raft.network.handshakes import HANDSHAKE_S_MAX, Handshakes
from raft.network.requests import BadRequest, Incoming, parse_request, response_frame, unsupported_api_versions
from raft.network.security import NoteLimit
from raft.network.silent_connections import SilentConnections
from raft.network.turns import Turns

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence

    from raft.network.connection import Piece, Slot
    from raft.network.security import ListenerSecurity
    from raft.network.tls import TlsConnection

IDLE_MS_MAX = 600_000  # connections.max.idle.ms

# The limits on bytes of frames that are unfinished, or wait behind others: on all connections together, and on those
# where SASL is not complete. Above one a connection is closed (`_close_holder`).
HELD_BYTES_MAX = 32 << 20
UNAUTHENTICATED_BYTES_MAX = 4 << 20

# The limit on bytes of unsent answers, on all connections together. Above it the connection whose peer has read nothing
# for longest is closed.
UNSENT_BYTES_MAX = 32 << 20

CONNECTIONS_MAX = 1 << 20
# The TLS handshakes that may be under way, and the connections without a complete one that there may be where enough
# files are left: all brokers may connect at once.
HANDSHAKES_MAX = 1024
UNFINISHED_MAX = 16 << 10
# How long SASL may take, from the connection on: a client that sends a byte now and then must not keep its place.
AUTHENTICATION_S_MAX = 30.0
BACKLOG = 1024


class Server:
    """Receives requests and sends answers.

    versions: first and last version of each API that is served. on_request: takes each request, may answer at once;
    on_disconnected: takes the number of a connection that was closed; note: takes events for the log.
    is_left: whether a request is passed on undecoded, by its API key and the size of its frame. connections: the open
    ones, by number. held_bytes: of unfinished and waiting frames, on all of them. urgent: API keys of requests that
    wait for no others; prompt: of those that wait only where very many of them come at once; clock: s, for the time
    that requests take. small_bytes_max: the frame of a request, but of those whose API keys are in `large`, which have
    the limit `request_bytes_max`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        versions: Mapping[int, tuple[int, int]],
        *,
        on_request: Callable[[Incoming], None],
        on_disconnected: Callable[[int], None],
        note: Callable[[str, dict[str, Any]], None],
        is_left: Callable[[int, int], bool] = lambda _key, _size: False,
        urgent: frozenset[int] = frozenset(),
        prompt: frozenset[int] = frozenset(),
        large: frozenset[int] = frozenset(),
        small_bytes_max: int = FRAME_BYTES_MAX,
        clock: Callable[[], float] | None = None,
        request_bytes_max: int = FRAME_BYTES_MAX,
        idle_ms_max: int = IDLE_MS_MAX,
        held_bytes_max: int = HELD_BYTES_MAX,
        unauthenticated_bytes_max: int = UNAUTHENTICATED_BYTES_MAX,
        unsent_bytes_max: int = UNSENT_BYTES_MAX,
        connections_max: int = CONNECTIONS_MAX,
        backlog: int = BACKLOG,
        handshake_s_max: float = HANDSHAKE_S_MAX,
        authentication_s_max: float = AUTHENTICATION_S_MAX,
    ) -> None:
        self.connections: dict[int, Connection] = {}
        self.held_bytes = 0
        self._loop = loop
        self._versions = versions
        self._on_request = on_request
        self._on_disconnected = on_disconnected
        self._note = note
        self._is_left = is_left
        self._request_bytes_max = request_bytes_max
        self._idle_s_max = idle_ms_max / 1000
        self._held_bytes_max = held_bytes_max
        self._unauthenticated_bytes = 0  # of `held_bytes`, on connections where SASL is not complete
        self._unauthenticated_bytes_max = unauthenticated_bytes_max
        self._unsent_bytes_max = unsent_bytes_max
        self._stuck: dict[int, Connection] = {}  # in the order in which they stopped to fetch
        self._silent = SilentConnections()
        self._turns = Turns(loop, urgent, prompt)
        self._large = frozenset(key.to_bytes(2, "big") for key in large)
        self._small_bytes_max = small_bytes_max
        self._clock = loop.time if clock is None else clock
        self._connections_max = connections_max
        self._backlog = backlog
        self._numbers = count(1)
        self._servers: list[asyncio.Server | Acceptor] = []
        self._sweep: asyncio.TimerHandle | None = None
        self._handshakes_max = max(min(connections_max // 4, HANDSHAKES_MAX), 16)
        self._handshakes = Handshakes(
            loop,
            self._handshakes_max,
            self._note_failed,
            handshake_s_max,
            self._unfinished_max,
            clock=self._clock,
            share_s=self._turns.handshakes_s,
        )
        self._authentication_s_max = authentication_s_max
        # The connections on which SASL is not complete, by number, the oldest first.
        self._unauthenticated: dict[int, asyncio.TimerHandle] = {}
        self._has_tls = False
        self._note_limit = NoteLimit(loop.time)
        # uvloop reads into fresh objects of the right size by itself.
        self._buffer = bytearray(64 << 10)
        self._protocol = Connection if type(loop).__module__.startswith("uvloop") else BufferedConnection
        self._accepts_one = type(loop).__module__ == "uvloop"  # in each iteration; not the simulated one

    async def listen(self, name: str, host: str, port: int, security: ListenerSecurity | None = None) -> int:
        """Accept connections; returns the port, which the system chooses for 0.

        host: a name, an IPv4 or IPv6 address; empty for all of them; security: None for PLAINTEXT. Raises OSError, with
        the address in its text.
        """
        make = self._protocol_of(name, security)
        try:
            server = await self._loop.create_server(
                make, host or None, port, reuse_address=True, backlog=self._backlog, start_serving=not self._accepts_one
            )
            bound_port = int(server.sockets[0].getsockname()[1])
            accepting = Acceptor(self._loop, server, make, self._backlog) if self._accepts_one else server
        except OSError as error:
            # The loop's own text repeats the address in another form; a name that is not found has numbers of its own.
            is_name = isinstance(error, socket.gaierror)
            reason = os.strerror(error.errno) if error.errno and not is_name else error.strerror or str(error)
            raise OSError(error.errno, f"{name} cannot listen on {address_text(host, port)}: {reason}") from None
        except UnicodeError as error:  # an empty label, or one of more than 63 bytes
            text = f"{name} cannot listen on {address_text(host, port)}: that is no name of a host: {error}"
            raise OSError(errno.EADDRNOTAVAIL, text) from None
        self._servers.append(accepting)
        if self._sweep is None:
            self._sweep = self._loop.call_later(self._sweep_interval(), self._close_idle)
        return bound_port

    def reply(self, source: Source, response: Any) -> None:
        """Answer a request, in its version; does nothing if its connection is closed.

        Raises EncodeError where the version cannot carry the answer.
        """
        asked = self._find_request(source)
        if asked is not None:
            connection, slot = asked
            if connection.gate is not None:
                response = connection.gate.add_apis(response)
            self._send(connection, slot, response_frame(response, slot.version, slot.correlation_id))

    def encoder(self, source: Source) -> Callable[[Any], Sequence[Piece]] | None:
        """The function that encodes the answer to a request, for `send`; another thread may call it. None where the
        connection is closed. Not for ApiVersions.
        """
        asked = self._find_request(source)
        if asked is None:
            return None
        version, correlation_id = asked[1].version, asked[1].correlation_id
        return lambda response: response_frame(response, version, correlation_id)

    def send(self, source: Source, pieces: Sequence[Piece]) -> None:
        """Answer a request with the bytes of its answer; does nothing if its connection is closed."""
        asked = self._find_request(source)
        if asked is not None:
            self._send(*asked, pieces)

    def _send(self, connection: Connection, slot: Slot, pieces: Sequence[Piece]) -> None:
        if len(pieces) > 1:
            self._turns.spend_bytes(sum(map(len, pieces)))
        connection.answer(slot, pieces)

    def _find_request(self, source: Source) -> tuple[Connection, Slot] | None:
        """A request that is not answered, with its connection; None where that is closed."""
        connection = self.connections.get(source.connection)
        if connection is None:
            return None
        slot = connection.slot(source.correlation)
        return None if slot is None else (connection, slot)

    def disconnect(self, source: Source, reason: str) -> None:
        """Close the connection of a request that cannot be answered, once the requests before it are answered."""
        connection = self.connections.get(source.connection)
        if connection is not None and connection.slot(source.correlation) is not None:
            connection.refuse(reason)

    def stop_listening(self) -> None:
        """Accept no more connections; the open ones stay."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    def close(self) -> None:
        """Stop listening, and close each connection when its answers are written."""
        self.stop_listening()
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        self._handshakes.close()
        for connection in list(self.connections.values()):
            connection.close()

    def _protocol_of(self, name: str, security: ListenerSecurity | None) -> Callable[[], asyncio.BaseProtocol]:
        """The function that makes the protocol of a new connection."""
        if security is None:
            return lambda: self._make(name)
        if security.context is None:
            return lambda: self._make_secured(name, security, None)
        if not self._has_tls:
            # Each handshake has a file, too.
            self._has_tls = True
            self._connections_max = max(self._connections_max - self._handshakes_max, 1)
        return lambda: self._handshakes.make(name, security, lambda tls: self._make_secured(name, security, tls))

    def _unfinished_max(self) -> int:
        left = self._connections_max - len(self.connections)
        return max(min(self._handshakes_max + left, UNFINISHED_MAX), self._handshakes_max)

    def _make_secured(self, name: str, security: ListenerSecurity, tls: TlsConnection | None) -> Connection:
        connection = self._make(name)
        if tls is not None and security.identity_of is not None:
            connection.identity = security.identity_of(tls.session)
        if security.sasl is not None:
            from raft.network.sasl_gate import SaslGate  # a server without SASL does not need it

            connection.identity = None
            connection.limit_frames(min(security.sasl.bytes_max, self._request_bytes_max, self._small_bytes_max))
            connection.gate = SaslGate(
                self._loop, security.sasl, self._versions, on_open=self._open_gate, on_failed=self._note_unauthenticated
            )
        return connection

    def _await_authentication(self, connection: Connection) -> None:
        late = f"it is not authenticated within {self._authentication_s_max:g} s"
        self._unauthenticated[connection.number] = self._loop.call_later(
            self._authentication_s_max, self._end_unauthenticated, connection.number, late
        )
        if len(self._unauthenticated) > self._handshakes_max:
            many = f"{self._handshakes_max} connections are not authenticated yet, and this one is the oldest of them"
            self._end_unauthenticated(next(iter(self._unauthenticated)), many)

    def _end_unauthenticated(self, number: int, reason: str) -> None:
        self._forget_unauthenticated(number)
        connection = self.connections.get(number)
        if connection is not None:
            self._note_unauthenticated(connection, reason)
            connection.abort()

    def _forget_unauthenticated(self, number: int) -> None:
        timer = self._unauthenticated.pop(number, None)
        if timer is not None:
            timer.cancel()
            self._unauthenticated_bytes -= self.connections[number].held

    def _open_gate(self, connection: Connection, identity: Any) -> None:
        self._forget_unauthenticated(connection.number)
        connection.identity = identity
        connection.limit_frames(self._request_bytes_max)

    def _note_unauthenticated(self, connection: Connection, reason: str) -> None:
        self._note_failed("authentication_failed", connection.listener, connection.peer, reason)

    def _note_failed(self, event: str, listener: str, peer: str, reason: str) -> None:
        """Log a failed authentication, once a minute for each host and reason."""
        omitted = self._note_limit.passes(event, listener, peer.rpartition(":")[0], reason)
        if omitted is not None:
            fields = {"peer": peer, "listener": listener, "reason": reason}
            self._note(event, fields | {"omitted": omitted} if omitted else fields)

    def _make(self, listener: str) -> Connection:
        connection = self._protocol(
            next(self._numbers),
            listener,
            self._loop,
            bytes_max=self._request_bytes_max,
            on_made=self._on_made,
            on_frame=self._take,
            on_lost=self._on_lost,
            on_held=self._hold,
            on_stuck=self._note_stuck,
            turns=self._turns,
        )
        if isinstance(connection, BufferedConnection):
            connection.buffer = self._buffer
        return connection

    def _on_made(self, connection: Connection) -> None:
        self.connections[connection.number] = connection
        if connection.gate is not None:
            self._await_authentication(connection)
        if len(self.connections) > self._connections_max:
            silent = self._silent_besides(connection)
            silent.error = f"{len(self.connections)} connections are open, and this one was silent for longest"
            silent.abort()

    def _silent_besides(self, new: Connection) -> Connection:
        """The connection to close for a new one: a client that is not authenticated goes first, however busy it is."""
        waiting = [self.connections[number] for number in self._unauthenticated if number != new.number]
        if waiting:
            return min(waiting, key=lambda one: (one.is_closing, one.last_active))
        return self._silent.find(self.connections, new)

    def _on_lost(self, connection: Connection) -> None:
        if connection.error is not None:
            fields = {"peer": connection.peer, "listener": connection.listener, "reason": connection.error}
            self._note("connection_refused", fields)
        self._stuck.pop(connection.number, None)
        self._forget_unauthenticated(connection.number)
        if self.connections.pop(connection.number, None) is not None:
            self._on_disconnected(connection.number)

    def _take(self, connection: Connection, frame: bytes) -> None:
        begin_s = self._clock()
        try:
            self._handle(connection, frame)
        finally:
            taken_s = self._clock() - begin_s
            if taken_s:
                self._turns.spend_s(taken_s)

    def _handle(self, connection: Connection, frame: bytes) -> None:
        if len(frame) > self._small_bytes_max and frame[:2] not in self._large:
            key = int.from_bytes(frame[:2], "big")
            connection.refuse(
                f"a frame of {len(frame)} bytes with API key {key}, which has at most {self._small_bytes_max}"
            )
            return
        if connection.gate is not None and not connection.gate.passes(connection, frame):
            return
        try:
            request = parse_request(frame, self._versions, self._is_left)
        except BadRequest as error:
            connection.refuse(str(error))
            return
        slot = connection.expect_answer(request)
        if request.message is None and not self._is_left(request.api_key, len(frame)):
            self._answer_unsupported(connection, slot)
            return
        self._on_request(
            Incoming(
                Source(connection.number, slot.number), request.api_key, request.version, request.correlation_id,
                request.client_id, request.message, frame, request.body_at, connection.listener, connection.peer,
                connection.identity,
            )
        )  # fmt: skip

    def _answer_unsupported(self, connection: Connection, slot: Slot) -> None:
        answer = unsupported_api_versions(self._versions)
        connection.answer(slot, response_frame(answer, 0, slot.correlation_id))

    def _hold(self, connection: Connection, change: int) -> None:
        self.held_bytes += change
        waiting = self._unauthenticated
        if connection.number in waiting:
            self._unauthenticated_bytes += change
        while self._unauthenticated_bytes > self._unauthenticated_bytes_max:
            self._close_holder()
        while self.held_bytes > self._held_bytes_max:
            self._close_holder()

    def _close_holder(self) -> None:
        """Close a connection with unfinished or waiting frames: one that is not authenticated if there is any, and the
        largest of the principal or host that holds most with all of its connections. Many that hold little each must
        not outlive the large request of another client.
        """
        waiting = [self.connections[number] for number in self._unauthenticated]
        holders = [one for one in waiting if one.held] or [one for one in self.connections.values() if one.held]
        by_client: Counter[Any] = Counter()
        for one in holders:
            by_client[one.client] += one.held
        largest = max(holders, key=lambda one: (by_client[one.client], one.held))
        largest.refuse(
            f"unfinished and waiting requests hold {self.held_bytes} bytes, {self._unauthenticated_bytes} of them "
            f"without authentication, and this client holds {by_client[largest.client]} of them"
        )

    def _note_stuck(self, connection: Connection, is_stuck: bool) -> None:
        if not is_stuck:
            self._stuck.pop(connection.number, None)
            return
        self._stuck[connection.number] = connection
        unsent = sum(one.unsent_bytes for one in self._stuck.values())
        while unsent > self._unsent_bytes_max:
            first = self._stuck.pop(next(iter(self._stuck)))
            unsent -= first.unsent_bytes
            first.error = "unread answers hold too much memory, and this connection has read nothing for longest"
            first.abort()

    def _sweep_interval(self) -> float:
        return min(max(self._idle_s_max / 4, 0.05), 30.0)

    def _close_idle(self) -> None:
        oldest = self._loop.time() - self._idle_s_max
        for connection in list(self.connections.values()):
            # Also a connection that is closing, and whose peer does not read the remaining answers.
            if connection.last_active < oldest:
                connection.abort()
        self._sweep = self._loop.call_later(self._sweep_interval(), self._close_idle)
