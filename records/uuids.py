"""Kafka's uuids: 16 raw bytes here and on the wire, 22 characters of url-safe base64 in text (KIP-516)."""

from __future__ import annotations

from binascii import b2a_base64

from records.java.java_base64 import url_safe_bytes
from records.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ZERO_UUID = bytes(16)
METADATA_TOPIC_ID = bytes(15) + b"\x01"

# Directory ids with a meaning of their own (KIP-858); the first 100 values are reserved.
MIGRATING_DIRECTORY = bytes(16)
UNASSIGNED_DIRECTORY = bytes(15) + b"\x01"
LOST_DIRECTORY = bytes(15) + b"\x02"
RESERVED_MAX = 99

_TO_URL_SAFE = bytes.maketrans(b"+/", b"-_")
_TEXT_MAX = 24


def uuid_text(value: bytes) -> str:
    """The 22 characters that Kafka prints for a uuid of 16 bytes."""
    return b2a_base64(value, newline=False)[:22].translate(_TO_URL_SAFE).decode()


def parse_uuid(text: str) -> bytes:
    """The 16 bytes of a uuid in Kafka's text form, with or without the padding of base64.

    Raises ValueError where the text is none, in the words that Kafka's tools print.
    """
    if len(text) > _TEXT_MAX:
        raise ValueError(f"Input string with prefix `{text[:_TEXT_MAX]}` is too long to be decoded as a base64 UUID")
    value = url_safe_bytes(text.encode("latin-1", "replace"))
    if len(value) != 16:
        raise ValueError(
            f"Input string `{text}` decoded as {len(value)} bytes, which is not equal to the expected 16 bytes of a "
            "base64-encoded UUID"
        )
    return value


def is_reserved(value: bytes) -> bool:
    """Whether a directory id is one of the 100 that Kafka keeps for itself."""
    return int.from_bytes(value, "big") <= RESERVED_MAX


def random_uuid(draw: Callable[[int], int]) -> bytes:
    """A uuid of version 4. draw: gives so many random bits.

    As Kafka's own, it is none of the reserved ones, and its text does not begin with `-`: it can stand as an argument.
    """
    while True:
        bits = draw(128) & ~(0xF << 76) & ~(0x3 << 62) | 4 << 76 | 2 << 62
        value = bits.to_bytes(16, "big")
        if not uuid_text(value).startswith("-"):
            return value


def java_order(value: bytes) -> tuple[int, int]:
    """A sort key for Kafka's order of uuids: both halves as signed numbers."""
    return int.from_bytes(value[:8], "big", signed=True), int.from_bytes(value[8:], "big", signed=True)
