"""Encoding and decoding: for each class and version a pair of specialised functions, generated when first used.

When decoding fails, a second, careful function generated from the same schema reads field by field to find the position
of the error; see DESIGN.md.
"""

from __future__ import annotations

from struct import error as struct_error
from sys import maxsize

from records.generation.decoding import TooMany, make_decoder
from records.generation.encoding import make_encoder
from records.schema import Message, is_struct, schema_of
from records.wire import TYPE_CHECKING, DecodeError, EncodeError

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from records.schema import Schema

    T = TypeVar("T")

# Exceptions of a generated decoder for bytes that are not its message; of an encoder for a value of another type.
MALFORMED = (ValueError, IndexError, struct_error, OverflowError)
UNFIT = (struct_error, TypeError, AttributeError, OverflowError, UnicodeEncodeError)


def decode(cls: type[T], version: int, data: bytes) -> T:
    """The message of class `cls` that fills `data` exactly.

    Raises DecodeError where the bytes are not such a message, or bytes are left after it.
    """
    known: Any = cls
    run = known.__schema__.decoders.get(version) or decoder(cls, version)
    try:
        value, end = run(data, 0)
    except MALFORMED:
        raise _explain_error(cls, version, data, 0) from None
    if end != len(data):
        raise DecodeError(cls.__name__, version, "", end, f"{len(data) - end} bytes are left after the message")
    return value  # type: ignore[no-any-return]


def decode_prefix(cls: type[T], version: int, data: bytes, position: int) -> tuple[T, int]:
    """The message that starts at `position`, and the position after it; raises DecodeError."""
    run = schema_of(cls).decoders.get(version) or decoder(cls, version)
    try:
        return run(data, position)  # type: ignore[no-any-return]
    except MALFORMED:
        raise _explain_error(cls, version, data, position) from None


def decode_lenient(cls: type[T], version: int, data: bytes, position: int) -> tuple[T, int]:
    """As `decode_prefix`, and where that raises, whatever Kafka's own readers make of the bytes.

    Such a message may not encode: a tag may stand in it twice. Raises DecodeError where Kafka refuses the bytes too.
    """
    try:
        return decode_prefix(cls, version, data, position)
    except DecodeError:
        schema = schema_of(cls)
        if not schema.versions[0] <= version <= schema.versions[1]:
            raise
        try:
            return _lenient_decoder(schema, version)(data, position, [maxsize])  # type: ignore[no-any-return]
        except MALFORMED:
            pass
        raise  # it names the field


def decode_within(cls: type[T], version: int, data: bytes, position: int, entries_max: int) -> tuple[T, int]:
    """As `decode_lenient`, for a message that has at most so many elements in all its arrays, and unknown tags; two
    numbers count as one. Raises DecodeError before it takes memory for more.
    """
    schema = _schema_for(cls, version, DecodeError)
    try:
        return _lenient_decoder(schema, version)(data, position, [entries_max])  # type: ignore[no-any-return]
    except MALFORMED:
        raise _explain_error(cls, version, data, position) from None
    except TooMany:
        raise DecodeError(cls.__name__, version, "", -1, f"it has more than {entries_max} entries") from None


def _lenient_decoder(schema: Schema, version: int) -> Any:
    if version not in schema.lenient_decoders:
        schema.lenient_decoders[version] = make_decoder(schema, version, lenient=True)
    return schema.lenient_decoders[version]


def encode(message: Any, version: int) -> bytes:
    """The bytes of a message; raises EncodeError where the version cannot carry it."""
    run = message.__schema__.encoders.get(version) or encoder(type(message), version)
    out = bytearray()
    try:
        run(message, out)
    except (EncodeError, *UNFIT) as error:
        raise _unfit(message, version, error) from None
    return bytes(out)


def encode_into(message: Any, version: int, out: bytearray) -> None:
    """Append the message's bytes to `out`; raises EncodeError, and then `out` may contain a part of it."""
    run = message.__schema__.encoders.get(version) or encoder(type(message), version)
    try:
        run(message, out)
    except (EncodeError, *UNFIT) as error:
        raise _unfit(message, version, error) from None


def encode_parts(message: object, version: int) -> list[bytes | bytearray | memoryview]:
    """The bytes of a message in pieces, to be written one after the other; raises EncodeError.

    Record bytes and blobs of 4 KiB and more are separate pieces, the same objects as in the message: so a response with
    a megabyte of records is not copied.
    """
    schema = _schema_for(type(message), version, EncodeError)
    run = schema.part_encoders.get(version)
    if run is None:
        run = schema.part_encoders[version] = make_encoder(schema, version, parts=True)
    parts: list[bytes | bytearray | memoryview] = []
    try:
        parts.append(run(message, bytearray(), parts))
    except (EncodeError, *UNFIT) as error:
        raise _unfit(message, version, error) from None
    return parts


def prepare(cls: type, version: int) -> None:
    """Make the decoder and the encoder of `encode_parts` now, in 1 to 2 ms, so that the first message need not wait."""
    decoder(cls, version)
    schema = schema_of(cls)
    if version not in schema.part_encoders:
        schema.part_encoders[version] = make_encoder(schema, version, parts=True)


def decoder(cls: type, version: int) -> Any:
    """`decode(data, position) -> (message, end)`, to be kept by callers that decode many.

    It raises one of MALFORMED; call `decode_prefix` on the same bytes to get a DecodeError.
    """
    schema = _schema_for(cls, version, DecodeError)
    if version not in schema.decoders:
        schema.decoders[version] = make_decoder(schema, version)
    return schema.decoders[version]


def encoder(cls: type, version: int) -> Any:
    """`encode(message, out)`, which appends to a bytearray, to be kept by callers that encode many.

    It raises EncodeError, or one of UNFIT if a value is not of its field's type.
    """
    schema = _schema_for(cls, version, EncodeError)
    if version not in schema.encoders:
        schema.encoders[version] = make_encoder(schema, version)
    return schema.encoders[version]


def _schema_for(cls: type, version: int, error: type[Exception]) -> Schema:
    schema = schema_of(cls)
    first, last = schema.versions
    if first <= version <= last and schema.kind != "struct":
        return schema
    if error is EncodeError:
        raise EncodeError(f"{schema.name} has versions {first} to {last}, not {version}")
    raise DecodeError(schema.name, version, "", -1, f"there are versions {first} to {last}")


def _explain_error(cls: type, version: int, data: bytes, position: int) -> DecodeError:
    """The DecodeError with the field and offset of the error in `data`."""
    schema = schema_of(cls)
    run = schema.careful_decoders.get(version)
    if run is None:
        run = schema.careful_decoders[version] = make_decoder(schema, version, careful=True)
    at: list[Any] = ["", position]
    try:
        run(data, position, at)
    except MALFORMED as error:
        reason = str(error)
        if isinstance(error, (IndexError, struct_error)):
            reason = f"the data end at byte {len(data) - position}"
        elif isinstance(error, UnicodeDecodeError):
            reason = f"not UTF-8: {error.reason}"
        return DecodeError(cls.__name__, version, at[0], at[1] - position, reason)
    raise AssertionError(f"{cls.__name__} v{version}: careful decoding accepts what fast decoding refuses")


def _unfit(message: Any, version: int, error: Exception) -> EncodeError:
    """The EncodeError with the message, and the field if one has a value of another type."""
    name = f"{type(message).__name__} v{version}"
    if isinstance(error, EncodeError):
        return EncodeError(f"{name}: {error}")
    return EncodeError(f"{name}{_unfit_field(message, version)}: {error}")


def _unfit_field(message: Any, version: int, path: str = "") -> str:
    """The path of the first field that cannot be encoded, with a space before it; empty where none is found."""
    for field in schema_of(type(message)).at(version):
        value = getattr(message, field.name, None)
        here = f"{path}.{field.json_name}" if path else f" {field.json_name}"
        if value is None and field.nullable_at(version):
            continue
        if not field.is_array:
            values: list[tuple[str, Any]] = [(here, value)]
        elif isinstance(value, list | tuple):
            values = [(f"{here}[{index}]", item) for index, item in enumerate(value)]
        else:
            return here
        for place, item in values:
            if not is_struct(field.element):
                if not field.element.admits(item):
                    return place
            elif not isinstance(item, Message):
                return place
            elif unfit := _unfit_field(item, version, place):
                return unfit
    return ""


__all__ = [
    "MALFORMED", "UNFIT", "Message", "decode", "decode_prefix", "decoder", "encode", "encode_into", "encode_parts",
    "encoder",
]  # fmt: skip
