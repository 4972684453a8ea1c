"""One accepted connection: a request is handled when the one before it is answered (see DESIGN.md)."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from raft.network.framer import Framer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from raft.network.requests import Parsed
    from raft.network.turns import Place, Turns

Piece = bytes | bytearray | memoryview

# Requests of one connection handled in one iteration of the loop: a peer that sends very many must not delay others,
# such as the quorum's Fetches.
REQUESTS_PER_ITERATION = 16

# A connection is light when each of its last answers was below this size: a follower's, or a broker's with heartbeats.
LIGHT_ANSWERS = 3
LIGHT_BYTES = 64 << 10

# Unsent bytes above which no more requests of the peer are handled, and below which handling continues.
WRITE_HIGH_BYTES = 64 << 10
WRITE_LOW_BYTES = 16 << 10

# Bytes of answers given at once, above which they are written before the next request is handled.
CORKED_BYTES_MAX = 1 << 20

# Pieces up to this size are joined: one system call costs more than copying them.
_JOINED_BYTES = 64 << 10


class Slot:
    """A request that is not answered yet. number: its place among those of its connection, from 1 on."""

    __slots__ = ("correlation_id", "number", "version")

    def __init__(self, number: int, request: Parsed) -> None:
        self.number = number
        self.correlation_id = request.correlation_id
        self.version = request.version


class Gate(Protocol):
    """Decides which frames of a connection are requests to serve: SASL."""

    def passes(self, connection: Connection, frame: bytes) -> bool:
        """Whether a frame is a request to serve; if not, the gate has handled it."""

    def add_apis(self, response: Any) -> Any:
        """An ApiVersions answer with the APIs of the gate added; other answers unchanged."""


class Connection(asyncio.Protocol):
    """The protocol object. number: unique in the process; listener: its name; last_active: of the loop's clock, s;
    held: bytes of an unfinished frame, and of whole ones that wait; waiting_bytes: of these alone; error: why it was
    closed, None where the peer closed it or nothing is wrong; identity: the authenticated identity, None without
    authentication; gate: of SASL, None without SASL.

    on_frame: takes each frame in order; on_made, on_lost: called when the connection is made and lost; on_held: takes
    the change of `held`; on_stuck: called with True when the peer does not read its answers,
    and at each further answer, and with False when it reads again; turns: say whether a frame waits for a later
    iteration of the loop.
    """

    def __init__(
        self,
        number: int,
        listener: str,
        loop: asyncio.AbstractEventLoop,
        *,
        bytes_max: int,
        on_made: Callable[[Connection], None],
        on_frame: Callable[[Connection, bytes], None],
        on_lost: Callable[[Connection], None],
        on_held: Callable[[Connection, int], None],
        on_stuck: Callable[[Connection, bool], None],
        turns: Turns,
    ) -> None:
        self.number = number
        self.listener = listener
        self.last_active = loop.time()
        self.peer = ""
        self.is_closing = False
        self.held = 0
        self.waiting_bytes = 0
        self.error: str | None = None
        self.identity: Any = None
        self.gate: Gate | None = None
        self._loop = loop
        self._framer = Framer(bytes_max)
        self._on_made = on_made
        self._on_frame = on_frame
        self._on_lost = on_lost
        self._on_held = on_held
        self._on_stuck = on_stuck
        self._turns = turns
        self._transport: Any = None
        self._backlog: deque[bytes] = deque()
        self._slot: Slot | None = None
        self._count = 0
        self._out: list[Piece] = []
        self._kept_bytes = 0  # of answers that are not handed to the transport
        self._is_corked = False
        self._place: Place | None = None  # among those that wait for their turn
        self._light_answers = 0  # in a row
        self._is_write_paused = False
        self._is_read_paused = False
        self._bad_frame = ""  # what is wrong behind the frames of the backlog

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES, low=WRITE_LOW_BYTES)
        self.peer = peer_text(transport)
        set_socket_options(transport)
        self._on_made(self)

    def data_received(self, data: bytes) -> None:
        if self.is_closing or self._bad_frame:
            return
        self.last_active = self._loop.time()
        frames = self._framer.feed(data)
        if self._framer.error is not None:
            self._bad_frame = tls_hint(self._framer.first) or self._framer.error
        if frames or self._bad_frame:
            self._backlog.extend(frames)
            self.waiting_bytes += sum(map(len, frames))
            self._take()
        self._count_held()

    def limit_frames(self, bytes_max: int) -> None:
        """Set the maximum size of a frame, in bytes."""
        self._framer.bytes_max = bytes_max

    def eof_received(self) -> bool | None:
        """The peer has closed the connection: the answers to its requests are dropped."""
        return None

    def pause_writing(self) -> None:
        self._is_write_paused = True
        self._on_stuck(self, True)

    def resume_writing(self) -> None:
        self._is_write_paused = False
        self._on_stuck(self, False)
        self._take()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self._end()
        self._slot = None
        self._on_lost(self)

    # Called by the server.

    @property
    def client(self) -> Any:
        """Who sends on it: the authenticated identity, else the host."""
        return self.peer.rpartition(":")[0] if self.identity is None else self.identity

    @property
    def unsent_bytes(self) -> int:
        """The bytes of answers that were not sent yet."""
        return self._kept_bytes + int(self._transport.get_write_buffer_size())

    def expect_answer(self, request: Parsed) -> Slot:
        """Begin a request. Until its answer no other one is handled."""
        assert self._slot is None, f"request {self._count} of {self.peer} is not answered yet"
        self._count += 1
        self._slot = Slot(self._count, request)
        return self._slot

    def slot(self, number: int) -> Slot | None:
        """The request of this number; None where it is answered already, or the connection is lost."""
        return self._slot if self._slot is not None and self._slot.number == number else None

    def answer(self, slot: Slot, pieces: Sequence[Piece]) -> None:
        """Send the answer to the present request, and handle the next one."""
        assert slot is self._slot, f"request {slot.number} of {self.peer} is not the present one"
        self._slot = None
        size = sum(map(len, pieces))
        self._light_answers = self._light_answers + 1 if size < LIGHT_BYTES else 0
        self._kept_bytes += size
        self._out.extend(pieces)
        if not self._is_corked:
            self._write()
            self._take()
        if self._is_write_paused and not self.is_closing:
            self._on_stuck(self, True)

    def refuse(self, reason: str) -> None:
        """Close the connection behind the answers that were given; the server gives the reason."""
        if not self.is_closing:
            self.error = reason
            self.close()

    def abort(self) -> None:
        """Close at once, without sending the remaining answers."""
        self._end()
        self._transport.abort()

    def close(self) -> None:
        """Close when the answers that are complete were sent; no more requests are read."""
        if not self.is_closing:
            self._write()
            self._end()
            self._transport.close()

    def _end(self) -> None:
        self.is_closing = True
        if self._place is not None:
            self._turns.leave(self._place)
            self._place = None
        self._backlog.clear()
        self.waiting_bytes = 0
        self._out.clear()
        self._kept_bytes = 0
        self._framer.drop()
        self._count_held()

    def _count_held(self) -> None:
        held = self._framer.held_bytes + self.waiting_bytes
        if held != self.held:
            change, self.held = held - self.held, held
            self._on_held(self, change)

    def _take(self) -> None:
        """Pass on the frames that may be handled in this iteration of the loop; stop reading while others are left."""
        if self._is_corked or self._place is not None:
            return
        left = REQUESTS_PER_ITERATION
        may_take = self._may_take()
        while may_take:
            self._is_corked = True  # so that answers given at once leave in one write
            try:
                while may_take:
                    left -= 1
                    frame = self._backlog.popleft()
                    self.waiting_bytes -= len(frame)
                    self._on_frame(self, frame)
                    may_take = left > 0 and self._may_take()
            finally:
                self._is_corked = False
            self._write()
            # The write may have ended a pause.
            may_take = left > 0 and self._may_take()
        if self._bad_frame and not self._backlog and self._slot is None:
            self.refuse(self._bad_frame)
        self._count_held()
        if self.is_closing:
            return
        if self._backlog and not self._is_blocked():
            self._place = self._turns.wait(self, *self._next_frame())
        # While a request waits for its answer the connection is read up to the next request: its end is noticed.
        blocked = bool(self._backlog or self._bad_frame) or self._is_write_paused
        if blocked != self._is_read_paused:
            self._is_read_paused = blocked
            if blocked:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _may_take(self) -> bool:
        """Whether there is a frame that may be handled in this iteration of the loop."""
        if not self._backlog or self._is_blocked():
            return False
        return not self._turns.must_wait(*self._next_frame())

    def _next_frame(self) -> tuple[bytes, bool, bool]:
        """The next frame, whether the connection is light, and whether the frame is its first."""
        return self._backlog[0], self._light_answers >= LIGHT_ANSWERS, not self._count

    def take_more(self) -> None:
        """Pass on the frames that waited for this iteration of the loop."""
        self._place = None
        self._take()

    def _is_blocked(self) -> bool:
        return (
            self.is_closing or self._slot is not None or self._is_write_paused or self._kept_bytes >= CORKED_BYTES_MAX
        )

    def _write(self) -> None:
        if self._out and not self.is_closing:
            pieces, self._out = self._out, []
            self._kept_bytes = 0
            write_pieces(self._transport, pieces)


class BufferedConnection(asyncio.BufferedProtocol, Connection):
    """The same for asyncio's own loop, which otherwise allocates 256 KiB for each read.

    buffer: one for all connections of a loop, since it is filled and consumed within one call of the loop.
    """

    buffer = bytearray()

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - the loop's signature
        return self.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(memoryview(self.buffer)[:nbytes]))


def write_pieces(transport: Any, pieces: Sequence[Piece]) -> None:
    """Write pieces one after the other, without copying large ones."""
    small: list[Piece] = []
    size = 0
    for piece in pieces:
        if size + len(piece) > _JOINED_BYTES and small:
            transport.write(b"".join(small))
            small, size = [], 0
        if len(piece) > _JOINED_BYTES:
            transport.write(piece)
        else:
            small.append(piece)
            size += len(piece)
    if small:
        transport.write(small[0] if len(small) == 1 else b"".join(small))


def tls_hint(first: bytes) -> str | None:
    """The error text if the first bytes of a plaintext connection are a TLS record; else None."""
    if first[:1] not in {b"\x15", b"\x16"} or first[1:2] != b"\x03":
        return None
    return "it speaks TLS, and this side does not: set its security.protocol to PLAINTEXT, or ours to SSL"


def peer_text(transport: Any) -> str:
    """`host:port` of the other side; empty where it is unknown."""
    address = transport.get_extra_info("peername")
    return address_text(address[0], address[1]) if isinstance(address, tuple) else ""


def address_text(host: str, port: int) -> str:
    """`host:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def set_socket_options(transport: asyncio.BaseTransport) -> None:
    """No delay for small answers, and keepalive probes to detect peers that are gone."""
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family in {socket.AF_INET, socket.AF_INET6}:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
