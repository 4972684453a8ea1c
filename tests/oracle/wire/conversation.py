"""The bytes sent and received on one connection, and the file format of both."""

from __future__ import annotations

import contextlib
import socket
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The request behind each part of a conversation: an ApiVersions of version 0, which every node answers at once.
SENTINEL_ID = 0x7FFF_FF00
_SENTINEL = struct.pack(">ihhih", 10, 18, 0, SENTINEL_ID, -1)
WAIT_S = 10.0
_SIZE = 4


class Conversation(NamedTuple):
    """One connection. frames: each with its length, sent without waiting for answers. tail: bytes that are no whole
    frame; after them the sending side is closed, and the node may not leave the connection open.
    """

    frames: tuple[bytes, ...]
    tail: bytes = b""


class Reply(NamedTuple):
    """What a client received. answers: frames without their lengths, in the order in which they came, up to the answer
    to the request behind the last frame; end: `open` where that came, `closed`, or `silent` where neither happened.
    """

    answers: tuple[bytes, ...]
    end: str


class Talk:
    """A conversation with one node: `send`, then `read_all`."""

    def __init__(self, port: int, conversation: Conversation, translate: Callable[[bytes], bytes]) -> None:
        self._conversation = conversation
        self._translate = translate
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        self._received = bytearray()

    def send(self) -> None:
        """Send the frames, and the request behind them."""
        data = b"".join(map(self._translate, self._conversation.frames)) + _SENTINEL
        with contextlib.suppress(OSError):  # the node has closed: what it answered is read all the same
            self._socket.sendall(data)

    def read_all(self) -> Reply:
        """Read all answers, send the tail, and read until the node closes."""
        with self._socket:
            answers, end = self._until_sentinel()
            if end == "open" and self._conversation.tail:
                with contextlib.suppress(OSError):
                    self._socket.sendall(self._translate(self._conversation.tail))
                    self._socket.shutdown(socket.SHUT_WR)
                more, end = self._until_sentinel()
                answers += more
        return Reply(tuple(answers), end)

    def _until_sentinel(self) -> tuple[list[bytes], str]:
        answers: list[bytes] = []
        while True:
            try:
                frame = self._frame()
            except (ConnectionError, EOFError):
                return answers, "closed"
            except TimeoutError:
                return answers, "silent"
            if int.from_bytes(frame[:_SIZE], "big") == SENTINEL_ID:
                return answers, "open"
            answers.append(frame)

    def _frame(self) -> bytes:
        self._fill(_SIZE)
        size = int.from_bytes(self._received[:_SIZE], "big")
        self._fill(_SIZE + size)
        frame = bytes(self._received[_SIZE : _SIZE + size])
        del self._received[: _SIZE + size]
        return frame

    def _fill(self, size: int) -> None:
        while len(self._received) < size:
            part = self._socket.recv(1 << 20)
            if not part:
                raise EOFError
            self._received += part


def framed(data: bytes) -> bytes:
    """A frame with its length."""
    return struct.pack(">i", len(data)) + data


def to_text(conversations: Sequence[Conversation], comment: str = "") -> str:
    """A line a frame, in hexadecimal: `>` before a frame, `|` before a tail; an empty line between connections."""
    lines = [f"# {line}" for line in comment.splitlines()]
    for conversation in conversations:
        lines += [f"> {frame.hex()}" for frame in conversation.frames]
        if conversation.tail:
            lines.append(f"| {conversation.tail.hex()}")
        lines.append("")
    return "\n".join(lines)


def from_text(text: str) -> list[Conversation]:
    """The conversations of a file; raises ValueError where a line is none of those that `to_text` writes."""
    found: list[Conversation] = []
    frames: list[bytes] = []
    tail = b""
    for line in [*text.splitlines(), ""]:
        mark, _, data = line.partition(" ")
        match mark:
            case "#":
                continue
            case ">":
                frames.append(bytes.fromhex(data))
            case "|":
                tail = bytes.fromhex(data)
            case "":
                if frames or tail:
                    found.append(Conversation(tuple(frames), tail))
                frames, tail = [], b""
            case _:
                raise ValueError(f"neither a frame nor a comment: {line[:80]!r}")
    return found
