"""The JSON form of messages, as Kafka's own converters write and read it.

A uuid is its text, bytes are base64, a tagged field is left out if it has its default, and keys are in the order of the
schema. Record bytes are base64, which Kafka's converters read, although they write an empty string.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64

from records.schema import LATEST, is_struct, schema_of
from records.uuids import parse_uuid, uuid_text
from records.wire import TYPE_CHECKING, DecodeError, EncodeError, record_bytes

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from records.schema import Field, Schema

    T = TypeVar("T")

# In place of NaN; Kafka writes it so, and cannot read it back.
_NO_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_MISSING = object()


def to_json(message: Any, version: int, *, records_as_sizes: bool = False) -> dict[str, Any]:
    """The tree of dicts, lists, strings, numbers, booleans and None for a message in this version.

    records_as_sizes: in place of a field `records`, write `recordsSizeInBytes`, as Kafka's request log does. Unknown
    tagged fields are left out. Raises EncodeError if the version cannot carry the message.
    """
    schema = schema_of(type(message))
    first, last = schema.versions
    if not first <= version <= last:
        raise EncodeError(f"{schema.name} has versions {first} to {last}, not {version}")
    try:
        return _tree(message, schema, version, records_as_sizes=records_as_sizes)
    except (EncodeError, TypeError, AttributeError) as error:
        raise EncodeError(f"{schema.name} v{version}: {error}") from None


def _tree(message: Any, schema: Schema, version: int, *, records_as_sizes: bool) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for field in schema.fields:
        value = getattr(message, field.name)
        if not field.at(version):
            if not field.ignorable and _differs(field, value):
                raise EncodeError(f"{field.json_name} has a value, which version {version} cannot carry")
            continue
        if field.tag is not None and not _differs(field, value):
            continue
        name = field.json_name_at(version)
        if value is None:
            if not field.nullable_at(version):
                raise EncodeError(f"{name} has null, which version {version} cannot carry")
            tree[name] = None
        elif field.type is record_bytes and records_as_sizes:
            tree[f"{name}SizeInBytes"] = len(value)
        elif field.is_array:
            tree[name] = [_value(field.element, item, version, records_as_sizes=records_as_sizes) for item in value]
        else:
            tree[name] = _value(field.type, value, version, records_as_sizes=records_as_sizes)
    return tree


def _differs(field: Field, value: Any) -> bool:
    default = field.default_of()
    return len(value) > 0 if field.is_array and default == () and value is not None else bool(value != default)


def _value(type_: Any, value: Any, version: int, *, records_as_sizes: bool) -> Any:
    if isinstance(type_, type):
        return _tree(value, schema_of(type_), version, records_as_sizes=records_as_sizes)
    if not type_.admits(value):
        raise EncodeError(f"{value!r} is no {type_.name}")
    if type_.range is not None:
        return value
    if type_.name == "uuid":
        return uuid_text(value)
    if type_.name in ("bytes", "records"):
        return b2a_base64(value, newline=False).decode()
    if type_.name == "float64":
        return float(value)
    return bool(value) if type_.name == "bool" else value


def from_json(cls: type[T], version: int, tree: Any) -> T:
    """The message of a JSON tree.

    As in Kafka's converters, a missing tagged field has its default, unknown keys are ignored, and a field that the
    version lacks is accepted. Raises DecodeError, with offset -1, for any other deviation.
    """
    schema = schema_of(cls)
    first, last = schema.versions
    if not first <= version <= last:
        raise DecodeError(schema.name, version, "", -1, f"there are versions {first} to {last}")
    return _Reader(schema.name, version).struct(cls, tree, "")


class _Reader:
    """Reads trees of one message and version; both are named in each error."""

    def __init__(self, message: str, version: int) -> None:
        self.message = message
        self.version = version

    def fault(self, path: str, reason: str) -> DecodeError:
        return DecodeError(self.message, self.version, path, -1, reason)

    def struct(self, cls: type[T], tree: Any, path: str) -> T:
        if not isinstance(tree, dict):
            raise self.fault(path, f"an object is wanted, not {_kind(tree)}")
        fields = schema_of(cls).fields
        renamed = {field.json_name_at(self.version) for field in fields if field.formerly}
        values: dict[str, Any] = {}
        for field in fields:
            name = field.json_name_at(self.version)
            present = field.at(self.version)
            if not present and name in renamed:
                values[field.name] = field.default_of()
                continue
            given = tree.get(name, tree.get(field.json_name, _MISSING))
            here = f"{path}.{name}" if path else name
            if given is not _MISSING:
                values[field.name] = self.field(field, given, here)
            elif present and field.tag is None:
                raise self.fault(here, "is missing")
            else:
                values[field.name] = field.default_of()
        return cls(**values)

    def field(self, field: Field, given: Any, path: str) -> Any:
        if given is None:
            if field.nullable_at(self.version) or (not field.at(self.version) and field.null_since <= LATEST):
                return None
            raise self.fault(path, "null where a value is required")
        if not field.is_array:
            return self.value(field.type, given, path)
        if not isinstance(given, list):
            raise self.fault(path, f"an array is wanted, not {_kind(given)}")
        return tuple([self.value(field.element, item, f"{path}[{index}]") for index, item in enumerate(given)])

    def value(self, type_: Any, given: Any, path: str) -> Any:
        if is_struct(type_):
            return self.struct(type_, given, path)
        if type_.range is not None:
            return self.integer(type_, given, path)
        if type_.name == "bool":
            if not isinstance(given, bool):
                raise self.fault(path, f"true or false is wanted, not {_kind(given)}")
            return given
        if type_.name == "float64":
            if isinstance(given, str) and given in _NO_NUMBERS:
                return _NO_NUMBERS[given]
            if not isinstance(given, float):
                raise self.fault(path, f"a number with a fraction is wanted, as 1.0, not {_kind(given)}")
            return given
        if not isinstance(given, str):
            raise self.fault(path, f"a string is wanted, not {_kind(given)}")
        if type_.name == "string":
            return given
        try:
            if type_.name == "uuid":
                return parse_uuid(given)
            return a2b_base64(given.encode("ascii"), strict_mode=True)
        except Base64Error as error:
            raise self.fault(path, f"{_quote(given)} is not base64: {error}") from None
        except UnicodeEncodeError:
            raise self.fault(path, f"{_quote(given)} is not base64") from None
        except ValueError as error:
            raise self.fault(path, str(error)) from None

    def integer(self, type_: Any, given: Any, path: str) -> int:
        if isinstance(given, bool) or not isinstance(given, int):
            raise self.fault(path, f"a whole number is wanted, not {_kind(given)}")
        least, greatest = type_.range
        if not least <= given <= greatest:
            raise self.fault(path, f"{given} is not within {least} to {greatest}")
        return given


def _kind(given: Any) -> str:
    """The JSON name of a value's type."""
    if given is None:
        return "null"
    if isinstance(given, bool):
        return "a boolean"
    if isinstance(given, int | float):
        return f"the number {given}"
    return "a string" if isinstance(given, str) else "an array" if isinstance(given, list) else "an object"


def _quote(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
