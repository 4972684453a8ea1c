"""The parts of protobuf's encoding that the port needs, without its library, which would take 5 MiB of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

VARINT, DELIMITED = 0, 2
# 7 bits each: enough for 64 bits.
VARINT_BYTES_MAX = 10


class BadMessage(ValueError):
    """The bytes are no message, or have a field of a type that no message here has."""


def varint(value: int) -> bytes:
    """value: from 0 on."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field: int, value: int) -> bytes:
    """A field with an integer, a bool or an enum. value: from 0 on."""
    return varint(field << 3 | VARINT) + varint(value)


def delimited_field(field: int, content: bytes | str) -> bytes:
    """A field with a string, bytes or a message."""
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | DELIMITED) + varint(len(data)) + data


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The number and the value of each field, in their order. Raises BadMessage."""
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        value, at = _read_varint(message, at)
        if tag & 7 == VARINT:
            yield tag >> 3, value
        elif tag & 7 == DELIMITED and value <= len(message) - at:
            yield tag >> 3, message[at : at + value]
            at += value
        else:
            raise BadMessage(f"the field with the tag {tag} is of another type, or ends behind the message")


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count, byte in enumerate(message[at : at + VARINT_BYTES_MAX]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, at + count + 1
    raise BadMessage("the message ends within a number")
