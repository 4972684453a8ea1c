"""Decompression of record batches: gzip, snappy, lz4 and zstd, with a limit on the output.

The controller writes no compressed batches; it reads those of other writers. A package is imported when first used.
"""

from __future__ import annotations

from struct import Struct as Layout

from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
DECOMPRESSED_MAX = 64 << 20

# Java's snappy streams: this magic, version and lowest compatible version, then blocks with their lengths. Other
# clients write one raw block.
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16
_INT32 = Layout(">i")
_FIRST_GUESS = 1 << 16


def decompress(kind: int, data: bytes, bytes_max: int = DECOMPRESSED_MAX) -> bytes:
    """The decompressed bytes; kind: the low three bits of a batch's attributes.

    At most bytes_max bytes are allocated. Raises ValueError if the output would be larger, if the data are not of this
    kind, or if the kind is unknown.
    """
    if not 0 <= kind < len(NAMES):
        raise ValueError(f"compression type is {kind}; there are 0 to {len(NAMES) - 1} ({', '.join(NAMES)})")
    if kind == NONE:
        if len(data) > bytes_max:
            raise _too_large(kind, bytes_max)
        return data
    if kind == GZIP:
        return _gzip(data, bytes_max)
    if kind == SNAPPY:
        return _snappy(data, bytes_max)
    import cramjam

    return _compress_frame(cramjam.lz4 if kind == LZ4 else cramjam.zstd, kind, data, bytes_max)


def _too_large(kind: int, bytes_max: int) -> ValueError:
    return ValueError(f"{NAMES[kind]} data have more than the {bytes_max} bytes that are allowed")


def _gzip(data: bytes, bytes_max: int) -> bytes:
    import zlib

    parts: list[bytes] = []
    left = bytes_max
    while data:  # a stream may have several members
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(data, left + 1)
        except zlib.error as error:
            raise ValueError(f"gzip data are malformed: {error}") from None
        left -= len(part)
        if left < 0:
            raise _too_large(GZIP, bytes_max)
        if not member.eof:
            raise ValueError("gzip data end before their stream does")
        parts.append(part)
        data = member.unused_data
    if not parts:
        raise ValueError("gzip data are empty")
    return b"".join(parts)


def _snappy(data: bytes, bytes_max: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        return _snappy_block(data, bytes_max, bytes_max)
    if len(data) < _XERIAL_HEADER_BYTES:
        raise ValueError("snappy data end within their header")
    parts: list[bytes] = []
    left = bytes_max
    position = _XERIAL_HEADER_BYTES
    while position < len(data):
        if position + 4 > len(data):
            raise ValueError("snappy data end within the length of a block")
        size = _INT32.unpack_from(data, position)[0]
        position += 4
        if not 0 < size <= len(data) - position:
            raise ValueError(f"snappy block of {size} bytes in the {len(data) - position} that are left")
        parts.append(_snappy_block(data[position : position + size], left, bytes_max))
        left -= len(parts[-1])
        position += size
    return b"".join(parts)


def _snappy_block(block: bytes, left: int, bytes_max: int) -> bytes:
    """A raw block, which states its size before anything is allocated; `left` of the `bytes_max` are not used yet."""
    from cramjam import DecompressionError, snappy

    try:
        if snappy.decompress_raw_len(block) > left:
            raise _too_large(SNAPPY, bytes_max)
        return bytes(snappy.decompress_raw(block))
    except DecompressionError as error:
        raise ValueError(f"snappy data are malformed: {error}") from None


def _compress_frame(codec: Any, kind: int, data: bytes, bytes_max: int) -> bytes:
    """An lz4 or zstd frame, into a buffer that is doubled up to the limit while it is too small.

    The size in a frame comes from its sender and may be wrong, so the buffer starts from the size of the data.
    """
    from cramjam import DecompressionError

    if not data:
        raise ValueError(f"{NAMES[kind]} data are empty")
    size = min(bytes_max, max(_FIRST_GUESS, 4 * len(data)))
    while True:
        out = bytearray(size)
        try:
            return bytes(memoryview(out)[: codec.decompress_into(data, out)])
        except DecompressionError as error:
            # The only error that is not caused by the data: cramjam passes on the text of Rust's WriteZero.
            if "write whole buffer" not in str(error):
                raise ValueError(f"{NAMES[kind]} data are malformed: {error}") from None
        if size == bytes_max:
            raise _too_large(kind, bytes_max)
        size = min(bytes_max, 2 * size)
