"""The value of a record in `__cluster_metadata`, read as Kafka reads it: each fault has the text its tools print."""

from __future__ import annotations

from records.codec import decode_prefix
from records.registry import metadata_class
from records.wire import DecodeError, read_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class MetadataError(ValueError):
    """A value that is not a metadata record, with the text of Kafka's parser."""


def metadata_record(value: bytes | None) -> tuple[Any, int]:
    """A metadata record and its version; raises MetadataError."""
    if value is None:
        raise MetadataError("Error while reading frame version")
    frame, position = _short(value, 0, "frame version")
    if frame == 0:
        raise MetadataError(
            "Could not deserialize metadata record with frame version 0. Note that upgrades from the preview release "
            "of KRaft in 2.8 to newer versions are not supported."
        )
    if frame != 1:
        raise MetadataError(
            f"Could not deserialize metadata record due to unknown frame version {frame}(only frame version 1 is "
            "supported)"
        )
    record_type, position = _short(value, position, "type")
    version, position = _short(value, position, "version")
    try:
        cls = metadata_class(record_type)
    except KeyError:
        raise MetadataError(
            f"org.apache.kafka.common.errors.UnsupportedVersionException: Unknown metadata id {record_type}"
        ) from None
    try:
        record, end = decode_prefix(cls, version, value, position)
    except DecodeError:
        raise MetadataError(f"Failed to deserialize record with type {record_type}") from None
    if end < len(value):
        raise MetadataError(f"Found {len(value) - end} byte(s) of garbage after {record_type}")
    return record, version


def _short(value: bytes, position: int, entity: str) -> tuple[int, int]:
    try:
        number, position = read_uvarint(value, position)
    except (ValueError, IndexError):
        raise MetadataError(f"Error while reading {entity}") from None
    if number > 32767:
        raise MetadataError(f"Value for {entity} was too large.")
    return number, position
