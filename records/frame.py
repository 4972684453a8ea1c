"""The frame around a metadata record: frame version, record type, record version, then the record (KIP-631)."""

from __future__ import annotations

from records.codec import MALFORMED, decode_prefix, decoder, encode_into
from records.registry import METADATA_RECORDS, metadata_class
from records.schema import schema_of
from records.wire import TYPE_CHECKING, DecodeError, read_uvarint, uvarint

if TYPE_CHECKING:
    from typing import Any

FRAME_VERSION = 1

# Frame, type and version as they stand before a record; and, by type and version, the function that reads what follows.
_heads: dict[tuple[type[Any], int], bytes] = {}
_decoders: dict[tuple[int, int], Any] = {}


def encode_record(record: Any, version: int) -> bytes:
    """The value of a record in `__cluster_metadata`; raises EncodeError where the version cannot carry it."""
    head = _heads.get((type(record), version))
    if head is None:
        schema = schema_of(type(record))
        assert schema.kind == "metadata", f"{schema.name} is no metadata record"
        assert schema.api_key is not None, schema.name
        head = uvarint(FRAME_VERSION) + uvarint(schema.api_key) + uvarint(version)
        encode_into(record, version, bytearray())  # a version that does not exist is refused before it is kept
        _heads[type(record), version] = head
    out = bytearray(head)
    encode_into(record, version, out)
    return bytes(out)


def decode_record(value: bytes) -> tuple[Any, int]:
    """The record in a value, and its version.

    Raises DecodeError if the frame or the record is malformed, of an unknown type or version, or bytes are left over.
    """
    record_type, version, position = read_frame(value)
    run = _decoders.get((record_type, version))
    if run is None:
        run = _decoders[record_type, version] = decoder(_class_of(record_type, version), version)
    try:
        record, end = run(value, position)
    except MALFORMED:
        decode_prefix(metadata_class(record_type), version, value, position)  # raises the error
        raise
    if end != len(value):
        reason = f"{len(value) - end} bytes are left after the record"
        raise DecodeError(type(record).__name__, version, "", end - position, reason)
    return record, version


def _class_of(record_type: int, version: int) -> type[Any]:
    if record_type not in METADATA_RECORDS:
        raise DecodeError("MetadataRecord", version, "type", 1, f"there is no record type {record_type}")
    return metadata_class(record_type)


def read_frame(value: bytes) -> tuple[int, int, int]:
    """Record type, record version, and the position of the record after them; raises DecodeError."""
    if len(value) > 2 and value[0] == FRAME_VERSION and value[1] < 128 and value[2] < 128:
        return value[1], value[2], 3
    try:
        frame, position = read_uvarint(value, 0)
        record_type, position = read_uvarint(value, position)
        version, position = read_uvarint(value, position)
    except IndexError:
        raise DecodeError("MetadataRecord", -1, "frame", 0, f"the data end at byte {len(value)}") from None
    except MALFORMED as error:
        raise DecodeError("MetadataRecord", -1, "frame", 0, str(error)) from None
    if frame != FRAME_VERSION:
        raise DecodeError("MetadataRecord", -1, "frame", 0, f"frame version is {frame}, only {FRAME_VERSION} is read")
    if record_type > 32767 or version > 32767:
        reason = f"type {record_type} or version {version} exceeds 32767"
        raise DecodeError("MetadataRecord", -1, "type", 1, reason)
    return record_type, version, position
