"""Frames: a length of four bytes, then that many bytes."""

from __future__ import annotations

FRAME_BYTES_MAX = 100 << 20  # socket.request.max.bytes
_SIZE = 4


class Framer:
    """Cuts received bytes into frames. It holds only the bytes received of an unfinished frame, not its announced size.

    held: bytes of the unfinished frame. bytes_max: of a frame. error: why the stream is invalid, None while it is
    valid; first: the bytes found in place of a length.
    """

    __slots__ = ("_need", "_rest", "bytes_max", "error", "first")

    def __init__(self, bytes_max: int = FRAME_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self._rest = bytearray()
        self._need = _SIZE
        self.error: str | None = None
        self.first = b""

    def drop(self) -> None:
        """Drop the unfinished frame."""
        self._rest = bytearray()

    @property
    def held_bytes(self) -> int:
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that are complete with these bytes, without their lengths."""
        if self._rest:
            self._rest += data
            if len(self._rest) < self._need:
                return []
            data = bytes(self._rest)
            self._rest = bytearray()
        self._need = _SIZE
        frames: list[bytes] = []
        position = 0
        while len(data) - position >= _SIZE:
            size = int.from_bytes(data[position : position + _SIZE], "big", signed=True)
            if not 0 <= size <= self.bytes_max:
                self.first = bytes(data[position : position + _SIZE])
                self.error = f"a frame of {size} bytes; at most {self.bytes_max} are taken"
                return frames
            stop = position + _SIZE + size
            if stop > len(data):
                self._need = stop - position
                break
            frames.append(data[position + _SIZE : stop])
            position = stop
        if position < len(data):
            self._rest += data[position:] if position else data
        return frames
