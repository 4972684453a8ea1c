"""Transports, which connect a protocol with a simulated socket, as in asyncio."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.sockets.tcp import End

WRITE_HIGH_BYTES = 64 << 10


class SimSocket:
    """A socket, with the methods that `raft.network` uses. options: those that were set."""

    family = socket.AF_INET

    def __init__(self) -> None:
        self.options: list[tuple[int, int, int]] = []

    def setsockopt(self, level: int, option: int, value: int) -> None:
        self.options.append((level, option, value))


class Iterations(Protocol):
    """See `loop.SocketLoop`."""

    @property
    def run(self) -> Callable[..., None]: ...
    def call_soon(self, act: Callable[..., Any], *args: Any) -> None: ...
    def time(self) -> float: ...


class SimTransport:
    """One transport, over one end of a connection. All its callbacks run in an iteration of its loop."""

    def __init__(
        self,
        loop: Iterations,
        end: End,
        protocol: Any,
        peer_id: int,
        on_close: Callable[[float], None] = lambda _silent_s: None,
    ) -> None:
        """on_close: called before this side closes the connection, with the time since the last bytes came, in s."""
        self._loop = loop
        self._end = end
        self._protocol = protocol
        self._peer = f"10.0.{peer_id >> 8}.{peer_id & 255}", 1000 + end.connection.id
        self._socket = SimSocket()
        self._is_buffered = isinstance(protocol, asyncio.BufferedProtocol)
        self._high = WRITE_HIGH_BYTES
        self._low = WRITE_HIGH_BYTES // 4
        self._is_closing = False
        self._is_paused = False
        self._is_over = False
        self._on_close = on_close
        self._read_at = loop.time()

    def begin(self) -> None:
        """Call connection_made, and read from now on."""
        self._end.owner = self
        self._loop.run(self._protocol.connection_made, self)
        self._end.resume_reading()

    # Called by protocols

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": self._peer, "socket": self._socket}.get(name, default)

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        self._high, self._low = high, low

    def get_write_buffer_size(self) -> int:
        return len(self._end.unsent)

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self._end.pause_reading()

    def resume_reading(self) -> None:
        self._end.resume_reading()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing and self._end.is_finishing:
            return
        self._end.send(bytes(data))
        if not self._is_paused and len(self._end.unsent) > self._high:
            self._is_paused = True
            self._protocol.pause_writing()

    def close(self) -> None:
        """Close when all bytes are written."""
        if not self._is_closing:
            self._on_close(self._loop.time() - self._read_at)
            self._is_closing = True
            self._end.pause_reading()
            self._end.finish()
            if not self._end.unsent:
                self._lose(None)

    def abort(self) -> None:
        """Close at once."""
        if not self._is_closing:
            self._on_close(self._loop.time() - self._read_at)
        self._is_closing = True
        self._end.reset()
        self._lose(None)

    # Called by the end, while the process is awake

    def on_received(self, data: bytes) -> None:
        self._read_at = self._loop.time()
        if not self._is_buffered:
            self._loop.run(self._protocol.data_received, data)
            return
        while data and not self._is_over:
            buffer = self._protocol.get_buffer(-1)
            count = min(len(buffer), len(data))
            buffer[:count] = data[:count]
            data = data[count:]
            self._loop.run(self._protocol.buffer_updated, count)

    def on_ended(self, error: OSError | None) -> None:
        if error is None:
            self._loop.run(self._at_eof)
        else:
            self._is_closing = True
            self._lose(error)

    def on_drained(self) -> None:
        """More bytes can be written."""
        unsent = len(self._end.unsent)
        if self._is_closing:
            if not unsent:
                self._lose(None)
        elif self._is_paused and unsent <= self._low:
            self._is_paused = False
            self._loop.run(self._protocol.resume_writing)

    def _at_eof(self) -> None:
        if not self._protocol.eof_received():
            self.close()

    def _lose(self, error: OSError | None) -> None:
        if not self._is_over:
            self._is_over = True
            self._loop.call_soon(self._protocol.connection_lost, error)
