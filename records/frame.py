"""The frame around a metadata record: frame version, record type, record version, then the record (KIP-631)."""

from __future__ import annotations

from records.codec import MALFORMED, decode_prefix, encode_into
from records.registry import metadata_class
from records.schema import schema_of
from records.wire import TYPE_CHECKING, DecodeError, read_uvarint, uvarint

if TYPE_CHECKING:
    from typing import Any

FRAME_VERSION = 1


def encode_record(record: Any, version: int) -> bytes:
    """The value of a record in `__cluster_metadata`; raises EncodeError where the version cannot carry it."""
    api_key = schema_of(type(record)).api_key
    assert api_key is not None
    out = bytearray((FRAME_VERSION,))
    out += uvarint(api_key)
    out += uvarint(version)
    encode_into(record, version, out)
    return bytes(out)


def decode_record(value: bytes) -> tuple[Any, int]:
    """The record in a value, and its version.

    Raises DecodeError where the frame or the record is malformed, of an unknown type or version, or bytes are left.
    """
    record_type, version, position = read_frame(value)
    try:
        cls = metadata_class(record_type)
    except KeyError:
        raise DecodeError("MetadataRecord", version, "type", 1, f"there is no record type {record_type}") from None
    record, end = decode_prefix(cls, version, value, position)
    if end != len(value):
        reason = f"{len(value) - end} bytes are left after the record"
        raise DecodeError(cls.__name__, version, "", end, reason)
    return record, version


def read_frame(value: bytes) -> tuple[int, int, int]:
    """Record type, record version, and the position of the record behind them; raises DecodeError."""
    try:
        frame, position = read_uvarint(value, 0)
        record_type, position = read_uvarint(value, position)
        version, position = read_uvarint(value, position)
    except MALFORMED as error:
        raise DecodeError("MetadataRecord", -1, "frame", 0, str(error)) from None
    if frame != FRAME_VERSION:
        raise DecodeError("MetadataRecord", -1, "frame", 0, f"frame version is {frame}, only {FRAME_VERSION} is read")
    if record_type > 32767 or version > 32767:
        raise DecodeError("MetadataRecord", version, "type", 1, f"type {record_type} or version exceeds 32767")
    return record_type, version, position
