"""The texts of keys and values: metadata records, control records, plain values."""

from __future__ import annotations

from struct import Struct

from records.printing.type_names import type_name
from records.wire import DecodeError
from tools.command_line.java_texts import Uncaught
from tools.offline.metadata_values import MetadataError, metadata_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from tools.command_line.options import Options
    from tools.offline.stored_records import StoredRecord

    Value = str | dict[str, Any]
    Parser = Callable[[StoredRecord], tuple[str | None, Value | None]]

_ABORT, _COMMIT, _LEADER_CHANGE, _HEADER, _FOOTER, _VERSION, _VOTERS = range(7)
_MARKERS = {_ABORT: "ABORT", _COMMIT: "COMMIT"}
# Control record type: (its name, its class in `records.control`)
_CONTROLS = {
    _LEADER_CHANGE: ("LeaderChange", "LeaderChangeMessage"),
    _HEADER: ("SnapshotHeader", "SnapshotHeaderRecord"),
    _FOOTER: ("SnapshotFooter", "SnapshotFooterRecord"),
    _VERSION: ("KRaftVersion", "KRaftVersionRecord"),
    _VOTERS: ("KRaftVoters", "VotersRecord"),
}
_NUMBERS = {"IntegerDecoder": Struct(">i"), "LongDecoder": Struct(">q")}
_INVALID_RECORD = "org.apache.kafka.common.InvalidRecordException"


def parser_of(options: Options) -> Parser:
    """The function for the texts of a record's key and value (None: not printed), by the options."""
    if options.has("cluster-metadata-decoder"):
        return metadata_trees if options.has("json") else metadata_texts
    decode_value = decoder_of(options.value("value-decoder-class"))
    decode_key = decoder_of(options.value("key-decoder-class"))

    def texts(record: StoredRecord) -> tuple[str | None, str | None]:
        key = None if record.key is None else decode_key(record.key)
        return key, None if record.value is None else decode_value(record.value)

    return texts


def decoder_of(class_name: str) -> Callable[[bytes], str]:
    """Kafka's decoder class of this name; raises Uncaught if it is not one of Kafka's."""
    name = class_name.rpartition(".")[2]
    if class_name == f"org.apache.kafka.tools.api.{name}":
        if name == "StringDecoder":
            return lambda data: data.decode("utf-8", "replace")
        if name in _NUMBERS:
            return lambda data: number(data, _NUMBERS[name])
        if name == "DefaultDecoder":  # stock prints an object's hash here, which differs each time
            return bytes.hex
    raise Uncaught(
        "java.lang.RuntimeException",
        "Failed to load decoder class",
        Uncaught("java.lang.ClassNotFoundException", class_name),
    )


def number(data: bytes, layout: Struct) -> str:
    if len(data) < layout.size:
        raise Uncaught("java.nio.BufferUnderflowException")
    return str(layout.unpack_from(data)[0])


def metadata_texts(record: StoredRecord) -> tuple[None, Value]:
    """A metadata record as JSON text; the error text if it cannot be read."""
    from tools.kafka.dump_log.payload_texts import text_writer

    try:
        message, version = metadata_record(record.value)
    except MetadataError as error:
        return None, f"Error at {record.offset}, skipping. {error}"
    cls: type = type(message)
    data = text_writer(cls, version)(message)
    return None, f'{{"type":"{type_name(cls.__name__)}","version":{version},"data":{data}}}'


def metadata_trees(record: StoredRecord) -> tuple[None, Value]:
    """A metadata record as a tree; the error text if it cannot be read."""
    from records.printing.json_form import to_json

    try:
        message, version = metadata_record(record.value)
    except MetadataError as error:
        return None, f"Error at {record.offset}, skipping. {error}"
    return None, {"type": type_name(type(message).__name__), "version": version, "data": to_json(message, version)}


def control_fields(record: StoredRecord) -> Iterator[tuple[str, Any]]:
    """The printed fields of a control record; raises Uncaught if it cannot be read."""
    kind = control_type(record.key)
    if kind in _MARKERS:
        value = record.value or b""
        if len(value) < 6:
            raise Uncaught("java.nio.BufferUnderflowException")
        yield "endTxnMarker", _MARKERS[kind]
        yield "coordinatorEpoch", int.from_bytes(value[2:6], "big", signed=True)
    elif kind in _CONTROLS:
        from records.printing.json_form import to_json
        from records.schema import schema_of

        message = control_message(record)
        last = schema_of(type(message)).versions[1]
        yield _CONTROLS[kind][0], to_json(message, min(max(message.version, 0), last))
    else:
        yield "controlType", f"UNKNOWN({kind})"


def control_message(record: StoredRecord) -> Any:
    """The message in a control record of the quorum; raises Uncaught if it cannot be read."""
    from records import control
    from records.codec import decode_prefix
    from records.schema import schema_of

    cls = getattr(control, _CONTROLS[control_type(record.key)][1])
    value = record.value or b""
    version = int.from_bytes(value[:2], "big", signed=True)
    if len(value) < 2:
        raise Uncaught("java.nio.BufferUnderflowException")
    # An unknown version is read as the first version, as stock does.
    version = version if 0 <= version <= schema_of(cls).versions[1] else 0
    try:
        return decode_prefix(cls, version, value, 0)[0]
    except DecodeError as error:
        raise Uncaught(_INVALID_RECORD, str(error)) from None


def control_type(key: bytes | None) -> int:
    """The type in the key of a control record; -1, like any unlisted number, means unknown."""
    key = key or b""
    if len(key) < 4:
        raise Uncaught(
            _INVALID_RECORD,
            f"Invalid value size found for control record key. Must have at least 4 bytes, but found only {len(key)}",
        )
    version, kind = int.from_bytes(key[:2], "big", signed=True), int.from_bytes(key[2:4], "big", signed=True)
    if version < 0:
        raise Uncaught(
            _INVALID_RECORD, f"Invalid version found for control record: {version}. May indicate data corruption"
        )
    return kind
