"""A stand-in for TLS without cryptography: each side sends a hello with its certificate, then plain bytes.

The product's `raft.network.tls` and `raft.network.handshakes` run above it. A hello is a record of type 22 with the
name and the issuer of a certificate, or empty. Later bytes are not changed, so that the wire rules can read the frames.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from simulations.sockets.frames import Tap

HELLO = 22
HEAD = 5  # its type and its size
HELLO_BYTES = 100  # no certificate has more
FIRST_ISSUER = "authority"


class Certificate(NamedTuple):
    """issuer: the name of its authority; serial: distinguishes certificates of one name."""

    name: str
    issuer: str = FIRST_ISSUER
    serial: int = 1


def hello(certificate: Certificate | None) -> bytes:
    """The first record of one side; None: it has no certificate."""
    text = "" if certificate is None else f"{certificate.name}|{certificate.issuer}|{certificate.serial}"
    data = text.encode()
    return bytes([HELLO]) + len(data).to_bytes(HEAD - 1, "big") + data


def read_hello(data: bytes) -> Certificate | None:
    """The certificate in a hello. Raises ssl.SSLError."""
    if not data:
        return None
    parts = data.decode("latin-1").split("|")
    if len(parts) != 3 or not parts[2].isdecimal():
        raise ssl.SSLError(1, "DECODE_ERROR")
    return Certificate(parts[0], parts[1], int(parts[2]))


class Context:
    """Replaces `ssl.SSLContext`. trusted: names of authorities; asks: whether a client must have a certificate."""

    def __init__(self, own: Certificate | None, trusted: frozenset[str], *, asks: bool = True) -> None:
        self.own, self.trusted, self.asks = own, trusted, asks

    def wrap_bio(
        self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_side: bool, _hostname: str | None
    ) -> Session:
        return Session(self, incoming, outgoing, server_side)


class Session:
    """Replaces `ssl.SSLObject`. peer: the certificate of the other side; None if it has none."""

    def __init__(self, context: Context, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, server_side: bool) -> None:
        self.peer: Certificate | None = None
        self._context = context
        self._incoming, self._outgoing = incoming, outgoing
        self._server_side = server_side
        self._has_greeted = False
        self._head = b""
        self._body = b""

    def do_handshake(self) -> None:
        if not self._server_side:
            self._greet()
        self._head += self._incoming.read(HEAD - len(self._head)) if len(self._head) < HEAD else b""
        if len(self._head) < HEAD:
            raise ssl.SSLWantReadError(2, "WANT_READ")
        if self._head[0] != HELLO:
            raise ssl.SSLError(1, "UNEXPECTED_MESSAGE")
        size = int.from_bytes(self._head[1:], "big")
        if len(self._body) < size:
            self._body += self._incoming.read(size - len(self._body))
        if len(self._body) < size:
            raise ssl.SSLWantReadError(2, "WANT_READ")
        self.peer = read_hello(self._body)
        self._check()
        self._greet()

    def _check(self) -> None:
        if self.peer is None:
            if self._context.asks or not self._server_side:
                raise ssl.SSLError(1, "PEER_DID_NOT_RETURN_A_CERTIFICATE")
        elif self.peer.issuer not in self._context.trusted:
            raise ssl.SSLError(1, "CERTIFICATE_VERIFY_FAILED")

    def _greet(self) -> None:
        if not self._has_greeted:
            self._has_greeted = True
            self._outgoing.write(hello(self._context.own))

    def read(self, size: int) -> bytes:
        if not self._incoming.pending:
            raise ssl.SSLWantReadError(2, "WANT_READ")
        return self._incoming.read(size)

    def pending(self) -> int:
        """Nothing is read ahead."""
        return 0

    def version(self) -> str:
        return "TLSv1.3"

    def write(self, data: Any) -> int:
        return self._outgoing.write(data)

    def unwrap(self) -> None:
        """Sends no close_notify, like Kafka's own clients."""


class Skipping:
    """A tap that passes the hello of one side on, and has another cut the bytes after it into frames."""

    def __init__(self, inner: Tap) -> None:
        self.is_answer = inner.is_answer
        self._inner = inner
        self._head = b""
        self._body = b""
        self._left: int | None = None  # bytes of the hello that have not come; None while unknown

    @property
    def rest_bytes(self) -> int:
        """Those after the last whole frame."""
        return self._inner.rest_bytes

    @property
    def is_broken(self) -> bool:
        """Whether a length was invalid, so that no more frames can be found."""
        return self._inner.is_broken

    def certificate(self) -> Certificate | None:
        """The certificate in the hello. Raises ssl.SSLError."""
        return read_hello(self._body)

    def cut(self, data: bytes) -> list[tuple[bytes, Any]]:
        """Cut the data into pieces, each with the frame that it completes, as `frames.Tap` does."""
        passed = b""
        while data and self._left != 0:
            if self._left is None:
                taken = data[: HEAD - len(self._head)]
                self._head += taken
                if self._head[0] != HELLO:
                    self._left = 1 << 60  # not TLS: there are no frames
                elif len(self._head) == HEAD:
                    self._left = int.from_bytes(self._head[1:], "big")
            else:
                taken = data[: self._left]
                self._left -= len(taken)
                self._body += taken[:HELLO_BYTES]
            passed += taken
            data = data[len(taken) :]
        pieces: list[tuple[bytes, Any]] = [(passed, None)] if passed else []
        return pieces + (self._inner.cut(data) if data else [])
