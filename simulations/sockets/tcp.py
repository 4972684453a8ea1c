"""TCP between two kernels: bytes in order, in pieces of any size, with a window of bytes in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from simulations.world.process import Connection

if TYPE_CHECKING:
    from simulations.sockets.frames import Asked, Tap
    from simulations.world.links import Links, Pipe
    from simulations.world.messages import Frame
    from simulations.world.process import Process
    from simulations.world.world import World

# What a process takes at once.
READ_BYTES = 64 << 10


class Owner(Protocol):
    """The holder of an end, which is called with arrived data while its process is awake."""

    def on_received(self, data: bytes) -> None: ...

    def on_ended(self, error: OSError | None) -> None: ...

    def on_drained(self) -> None: ...


class Opener(Protocol):
    """The client of a connection: a channel of a process (`loop.Opening`), or a rogue client. channels: of the process,
    None if there are none; peer: whose channel it is.
    """

    host: str
    peer: int

    @property
    def channels(self) -> Any: ...
    def on_accepted(self, connection: TcpConnection) -> None: ...
    def on_refused(self, connection: TcpConnection) -> None: ...


class Kernels(Protocol):
    """The methods of the network that an end calls. See `network.SocketNetwork`."""

    window: int
    world: World
    links: Links

    @property
    def rules(self) -> list[Any]: ...
    def is_ruled(self, connection: TcpConnection, frame: Frame, is_answer: bool) -> bool: ...
    def segment(self, size: int) -> int: ...
    def forget(self, end: End) -> None: ...
    def answer_for_nobody(self, end: End) -> None: ...


class TcpConnection(Connection):
    """One connection, with its ends. requests: those that were written completely and have no answer yet, by their
    number on the connection; written: how many were. taken: the number of the last that the server handled.
    """

    __slots__ = ("client_end", "opening", "requests", "server_end", "taken", "written")

    def __init__(self, client: Process, opening: Opener, to_server: Pipe, to_client: Pipe) -> None:
        super().__init__(client, opening, to_server, to_client)  # type: ignore[arg-type]
        self.opening = opening
        self.client_end: End
        self.server_end: End
        self.requests: dict[int, Asked] = {}
        self.written = 0
        self.taken = 0


class End:
    """One end of a connection, in its kernel, and the bytes that its process has not written to the kernel yet.

    unsent: bytes that wait in the process. under_way: those that left, and were not read at the other end. arrived:
    those that came, and were not read. is_gone: no process has it open any more.
    """

    __slots__ = (
        "arrived", "connection", "is_finishing", "is_gone", "is_read_due", "is_reading", "is_reset", "network", "other",
        "owner", "pipe", "process", "saw_end", "tap", "under_way", "unsent",
    )  # fmt: skip

    def __init__(self, network: Kernels, connection: TcpConnection, process: Process, pipe: Pipe) -> None:
        self.network = network
        self.connection = connection
        self.process = process
        self.pipe = pipe
        self.other: End
        self.owner: Owner | None = None
        self.tap: Tap
        self.unsent = bytearray()
        self.arrived = bytearray()
        self.under_way = 0
        self.is_reading = True
        self.is_read_due = False
        self.is_finishing = False
        self.is_reset = self.saw_end = self.is_gone = False

    # Called by the process

    def send(self, data: bytes) -> None:
        """Send bytes; they leave as the window allows."""
        if self.is_reset:
            self.process.when_awake(self._report_reset)
        if self.is_gone or self.is_reset:
            return
        for piece, frame in self.tap.cut(data):
            if frame is not None and not self.unsent and self.network.rules:
                frame.rest = piece
                self.under_way += len(piece)
                if self.network.is_ruled(self.connection, frame, self.tap.is_answer):
                    continue
                self.under_way -= len(piece)
            self.unsent += piece
        self._push()

    def finish(self) -> None:
        """No more bytes follow; the other end learns that when it has read all."""
        self.is_finishing = True
        self._push()

    def reset(self) -> None:
        """Break the connection, with the unsent bytes."""
        if not self.is_gone:
            self.is_gone = True
            self.unsent.clear()
            self.network.forget(self)
            self.network.links.carry(self.pipe, 0, self.other.break_off)

    def die(self) -> None:
        """The process has ended. Its kernel sends the bytes it has, and then the end."""
        self.unsent.clear()
        if not self.is_gone:
            self.is_gone = True
            on_arrival = self.other.break_off if self.arrived else self.other.finish_reading
            self.network.links.carry(self.pipe, 0, on_arrival)

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True
        self._read_soon()

    # Called by the kernels

    def arrive(self, data: bytes) -> None:
        """Bytes have arrived."""
        if self.is_gone or self.process.is_dead:
            self.network.answer_for_nobody(self)
        elif not self.is_reset:
            self.arrived += data
            self._read_soon()

    def finish_reading(self) -> None:
        """The other end sends no more bytes."""
        self.saw_end = True
        self._read_soon()

    def break_off(self) -> None:
        """The connection is broken: unread bytes are lost."""
        self.is_reset = True
        self.arrived.clear()
        if self.is_reading or self.unsent:  # else the next read or write notices it
            self.process.when_awake(self._report_reset)

    def on_acknowledged(self) -> None:
        """The other end has read bytes: more may be sent."""
        if not (self.is_gone or self.is_reset):
            self._push()
            if self.owner is not None:
                self.owner.on_drained()

    def _push(self) -> None:
        window = self.network.window
        while self.unsent and self.under_way < window:
            size = min(self.network.segment(len(self.unsent)), window - self.under_way)
            piece = bytes(self.unsent[:size])
            del self.unsent[:size]
            self.under_way += size
            self.network.links.carry(self.pipe, size, self.other.arrive, piece)
        if self.is_finishing and not self.unsent and not self.is_gone:
            self.is_gone = True
            self.network.forget(self)
            self.network.links.carry(self.pipe, 0, self.other.finish_reading)

    def _read_soon(self) -> None:
        if not (self.is_read_due or self.is_gone) and self.is_reading and self.owner is not None:
            self.is_read_due = True
            self.process.when_awake(self._read)

    def _read(self) -> None:
        self.is_read_due = False
        owner = self.owner
        if self.is_gone or owner is None or not self.is_reading:
            return
        if self.is_reset:
            self._report_reset()
        elif self.arrived:
            data = bytes(self.arrived[:READ_BYTES])
            del self.arrived[: len(data)]
            self.other.under_way -= len(data)
            if self.other.unsent:
                self.network.links.carry(self.pipe, 0, self.other.process.when_awake, self.other.on_acknowledged)
            owner.on_received(data)
            if self.arrived or self.saw_end:
                self.network.world.after(0, self._read_soon)
        elif self.saw_end:
            owner.on_ended(None)

    def _report_reset(self) -> None:
        if not self.is_gone and self.owner is not None:
            self.is_gone = True
            self.network.forget(self)
            self.owner.on_ended(ConnectionResetError("Connection reset by peer"))
