"""Control records: their types and keys, and reading a control batch (KIP-98, KIP-595, KIP-630, KIP-853)."""

from __future__ import annotations

from records.batch import CorruptBatch, records_of
from records.codec import decode, encode
from records.control import (
    EndTxnMarker,
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from records.schema import schema_of
from records.wire import INT16, TYPE_CHECKING, DecodeError

if TYPE_CHECKING:
    from typing import Any

    from records.batch import Batch

ABORT, COMMIT, LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, KRAFT_VERSION, KRAFT_VOTERS = range(7)

# type: (name as Kafka's tools print it, class of the value)
CONTROL_RECORDS: dict[int, tuple[str, type[Any]]] = {
    ABORT: ("ABORT", EndTxnMarker),
    COMMIT: ("COMMIT", EndTxnMarker),
    LEADER_CHANGE: ("LEADER_CHANGE", LeaderChangeMessage),
    SNAPSHOT_HEADER: ("SNAPSHOT_HEADER", SnapshotHeaderRecord),
    SNAPSHOT_FOOTER: ("SNAPSHOT_FOOTER", SnapshotFooterRecord),
    KRAFT_VERSION: ("KRAFT_VERSION", KRaftVersionRecord),
    KRAFT_VOTERS: ("KRAFT_VOTERS", VotersRecord),
}
_TYPES: dict[type[Any], int] = {cls: number for number, (_, cls) in CONTROL_RECORDS.items() if cls is not EndTxnMarker}


def control_key(number: int) -> bytes:
    """The key of a control record of this type: the version of the key, which is 0, and the type."""
    return INT16.pack(0) + INT16.pack(number)


def control_type(key: bytes | None) -> int:
    """The type in a control record's key, known or not.

    Raises DecodeError if the key is too short or of a negative version. A later version is read as this one, and bytes
    after the type are ignored, as in Kafka.
    """
    if key is None or len(key) < 4:
        held = "no key" if key is None else f"{len(key)} bytes"
        raise DecodeError("ControlRecordTypeSchema", 0, "type", 0, f"{held} where version and type take 4 bytes")
    if INT16.unpack_from(key, 0)[0] < 0:
        raise DecodeError("ControlRecordTypeSchema", INT16.unpack_from(key, 0)[0], "", 0, "negative version of the key")
    return INT16.unpack_from(key, 2)[0]  # type: ignore[no-any-return]


def encode_control(record: Any, version: int = 0) -> tuple[bytes, bytes]:
    """Key and value of a control record of the quorum; raises EncodeError if the version cannot carry it.

    The quorum's records have their version in their first field, which must be `version`.
    """
    assert record.version == version, (record, version)
    return control_key(_TYPES[type(record)]), encode(record, version)


def decode_control(key: bytes | None, value: bytes | None) -> tuple[int, Any]:
    """The type of a control record, and its value.

    Raises DecodeError where key or value is malformed, or the type or version is one that this release does not know.
    """
    number = control_type(key)
    if number not in CONTROL_RECORDS:
        known = ", ".join(f"{known} {name}" for known, (name, _) in CONTROL_RECORDS.items())
        raise DecodeError("ControlRecordTypeSchema", 0, "type", 2, f"control record type {number} is none of {known}")
    name, cls = CONTROL_RECORDS[number]
    if value is None or len(value) < 2:
        raise DecodeError(cls.__name__, -1, "version", 0, f"a {name} record without a version")
    version = INT16.unpack_from(value, 0)[0]
    first, last = schema_of(cls).versions
    if not first <= version <= last:
        reason = f"a {name} record of version {version}; there are versions {first} to {last}"
        raise DecodeError(cls.__name__, version, "version", 0, reason)
    if cls is EndTxnMarker:  # its version stands before it, not in it
        return number, decode(cls, version, value[2:])
    return number, decode(cls, version, value)


def control_records_of(data: bytes, batch: Batch) -> list[tuple[int, int, Any]]:
    """Offset, type and value of each record of a control batch.

    Raises CorruptBatch if the batch is not a control batch, its records are malformed, or one is of an unknown type.
    """
    if not batch.is_control:
        raise CorruptBatch(batch.base_offset, batch.position, "not a control batch")
    controls = []
    for record in records_of(data, batch):
        try:
            controls.append((record.offset, *decode_control(record.key, record.value)))
        except DecodeError as error:
            raise CorruptBatch(batch.base_offset, batch.position, f"control record {record.offset}: {error}") from None
    return controls
