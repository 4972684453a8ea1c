"""Somebody on the network alters what a server says in an exchange of SCRAM. Without TLS that is possible, and a client
must notice it: a server proves too that it knows the password.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

from records.codec import encode
from records.schema import replace
from simulations.secured.intruders import TOKEN_VERSION
from simulations.secured.scram import FEW, MANY
from simulations.secured.scram_clients import read_answer

if TYPE_CHECKING:
    from simulations.secured.authentication import Authentication
    from simulations.sockets.frames import Tap
    from simulations.sockets.tcp import TcpConnection

# Change -> the message of the server that it alters: the first, or the final one.
CHANGES = ("nonce", "few", "many", "signature", "silence")
OF_FIRST = CHANGES[:3]


class AlteredTap:
    """A tap of the answers on one connection, which alters them while the network says so."""

    def __init__(self, tap: Tap, connection: TcpConnection, network: Any) -> None:
        self.is_answer = True
        self._tap = tap
        self._connection = connection
        self._network = network

    def cut(self, data: bytes) -> list[tuple[bytes, Any]]:
        """Cut the data into pieces, each with the frame that it completes, as `frames.Tap` does."""
        pieces = self._tap.cut(data)
        what = self._network.meddling
        if what is None or self._connection.opening.channels is None:
            return pieces
        authentication: Authentication = self._network.wire_rules.of(self._connection)
        return [(self._alter(authentication, what, piece, frame), frame) for piece, frame in pieces]

    def _alter(self, authentication: Authentication, what: str, piece: bytes, frame: Any) -> bytes:
        """The bytes in place of a frame, where it is a message that this change alters."""
        data = b"" if frame is None else bytes(frame.data)
        if not data or authentication.scram_answer is not frame or len(piece) != len(data) + 4:
            return piece
        answer = read_answer(data)
        text = bytes(answer.auth_bytes).decode()
        if answer.error_code or text.startswith("r=") != (what in OF_FIRST):
            return piece
        authentication.deceived = what
        body = encode(replace(answer, auth_bytes=change_message(what, text).encode()), TOKEN_VERSION)
        head = data[: len(data) - len(encode(answer, TOKEN_VERSION))]
        return (len(head) + len(body)).to_bytes(4, "big") + head + body


def change_message(what: str, text: str) -> str:
    """A message of a server after a change."""
    if what == "nonce":
        return text.replace("r=", "r=x", 1)
    if what in ("few", "many"):
        return text.replace(",i=4096", f",i={FEW if what == 'few' else MANY}")
    if what == "signature":
        return f"v={b64encode(bytes(32)).decode()}"
    return ""
