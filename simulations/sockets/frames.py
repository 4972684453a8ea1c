"""The bytes on the wire, cut into frames, and the frames decoded as requests and answers."""

from __future__ import annotations

from struct import Struct as Layout
from typing import TYPE_CHECKING, Any, Protocol

from controller.core.apis import APIS
from records.codec import decode_prefix
from records.headers import RequestHeader, request_header_version
from records.registry import request_class
from records.wire import DecodeError
from simulations.world.messages import KINDS, Frame

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 4
FRAME_BYTES_MAX = 100 << 20
_START = Layout(">hhi")  # api key, api version, correlation id
API_VERSIONS = 18


class HeldEnd(Protocol):
    """See `tcp.End`."""

    is_gone: bool


class Carrier(Protocol):
    """The connection that carries a request. See `tcp.TcpConnection`."""

    @property
    def client_end(self) -> HeldEnd: ...


class Seen(Frame):
    """A frame that was written. data: its bytes without the length; rest: the bytes that completed it."""

    __slots__ = ("data", "rest")

    data: bytes
    rest: bytes


class Asked(Seen):
    """A request. message: None if the bytes are none; place: its number on the connection, from 1 on; body_at: where
    its message begins. taken_at: when the server handled it, -1 before. response: the node's response and its bytes,
    None before; answer: the frame that carried it.
    """

    __slots__ = (
        "answer",
        "body_at",
        "connection",
        "correlation_id",
        "message",
        "place",
        "response",
        "said",
        "taken_at",
    )

    def __init__(self, connection: Carrier, data: bytes, place: int) -> None:
        self.connection = connection
        self.data = data
        self.place = place
        self.taken_at = -1
        self.response: Any = None
        self.said: bytes | None = None
        self.answer: Answer | None = None
        self.body_at = 0
        self.message: Any = None
        api_key, version, self.correlation_id = _START.unpack_from(data) if len(data) >= _START.size else (-1, -1, -1)
        name, gist = "Garbage", (len(data),)
        try:
            self.message = self._decode(api_key, version)
        except (DecodeError, KeyError, AssertionError):
            pass  # the sender is not one of our nodes, or it violates W01
        else:
            kind = KINDS.get(type(self.message))
            name = type(self.message).__name__ if kind is None else kind.name
            gist = () if kind is None else kind.gist(self.message)
        super().__init__(name, gist, 0, version, data[self.body_at :], len(data))

    def _decode(self, api_key: int, version: int) -> Any:
        cls = request_class(api_key)
        _, at = decode_prefix(RequestHeader, request_header_version(cls, version), self.data, 0)
        # Bytes after the message are ignored, as in Kafka.
        message, _ = decode_prefix(cls, version, self.data, at)
        self.body_at = at
        return message


def is_unsupported(asked: Asked) -> bool:
    """Whether it is an ApiVersions in a version that the server does not know, which the server answers by itself
    (KIP-511).
    """
    return (
        int.from_bytes(asked.data[:2], "big") == API_VERSIONS
        and not 0 <= asked.version <= APIS[API_VERSIONS].versions[1]
        and _has_header(asked)
    )


def _has_header(asked: Asked) -> bool:
    cls = request_class(API_VERSIONS)
    try:
        decode_prefix(RequestHeader, request_header_version(cls, asked.version), asked.data, 0)
    except DecodeError:
        return False
    return True


def is_nonsense(asked: Asked) -> bool:
    """Whether it is not a request that a server answers: not a message, or one of an unknown API or version."""
    if is_unsupported(asked):
        return False
    api = APIS.get(int.from_bytes(asked.data[:2], "big"))
    return asked.message is None or api is None or not api.versions[0] <= asked.version <= api.versions[1]


class Answer(Seen):
    """The answer to a request."""

    __slots__ = ()

    def __init__(self, data: bytes, asked: Asked) -> None:
        self.data = data
        name, gist = "VersionsRefused", ()
        if asked.response is not None:
            kind = KINDS.get(type(asked.response))
            name = type(asked.response).__name__ if kind is None else kind.name
            gist = () if kind is None else kind.gist(asked.response)
        super().__init__(name, gist, asked.number, asked.version, data, len(data))
        self.stamp, self.stray = asked.stamp, asked.stray


class Tap:
    """Cuts the bytes that one end writes. whole: called with each frame's bytes, gives the frame;
    None for unchecked ones. rest_bytes: those after the last whole frame.
    """

    __slots__ = ("_held", "_need", "_whole", "is_answer", "rest_bytes")

    def __init__(self, whole: Callable[[bytes], Seen | None], *, is_answer: bool) -> None:
        self._whole = whole
        self._held = bytearray()
        self._need = SIZE
        self.is_answer = is_answer
        self.rest_bytes = 0

    @property
    def is_broken(self) -> bool:
        """Whether a length was invalid, so that no more frames can be found."""
        return not self._need

    def cut(self, data: bytes) -> list[tuple[bytes, Any]]:
        """The same bytes in pieces, each with the frame that it completes, or None."""
        pieces: list[tuple[bytes, Any]] = []
        position = begin = 0
        while position < len(data) and self._need:
            taken = data[position : position + self._need - len(self._held)]
            self._held += taken
            position += len(taken)
            if len(self._held) < self._need:
                break
            if self._need == SIZE:
                size = int.from_bytes(self._held, "big", signed=True)
                # After an invalid length no more frames can be found.
                self._need = SIZE + size if 0 <= size <= FRAME_BYTES_MAX else 0
                if size:
                    continue
            frame = self._whole(bytes(self._held[SIZE:]))
            pieces.append((data[begin:position], frame))
            begin = position
            self._held.clear()
            self._need = SIZE
        self.rest_bytes = len(data) - begin + (0 if begin else self.rest_bytes)
        if begin < len(data):
            pieces.append((data[begin:], None))
        return pieces
