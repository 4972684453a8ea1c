"""Converts the tree of a request's body to the message, with defaults for absent fields, and resolves lookups."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from records.codec import encode
from records.registry import request_class
from records.schema import is_struct, schema_of
from records.uuids import parse_uuid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.commands import Request

    Lookup = Callable[[str], Any]


def body_of(request: Request, look_up: Lookup) -> bytes:
    """The bytes of the body in the version of the request; fields that the version lacks are dropped.

    Raises EncodeError, ValueError, TypeError or AttributeError where a value does not fit its field.
    """
    return bytes_of(request_class(request.api_key), request.body, request.version, look_up)


def bytes_of(cls: type[Any], tree: dict[str, Any], version: int, look_up: Lookup) -> bytes:
    """The bytes of a message of this class; as `body_of`."""
    return encode(_struct(cls, tree, version, look_up), version)


def _struct(cls: type[Any], tree: dict[str, Any], version: int, look_up: Lookup) -> Any:
    values = {}
    for field in schema_of(cls).fields:
        if field.json_name not in tree or not field.at(version):
            values[field.name] = field.default_of()
            continue
        given = resolved(tree[field.json_name], look_up)
        if given is None:
            values[field.name] = None
        elif field.is_array:
            values[field.name] = tuple([_value(field.element, item, version, look_up) for item in given])
        else:
            values[field.name] = _value(field.type, given, version, look_up)
    return cls(**values)


def _value(type_: Any, given: Any, version: int, look_up: Lookup) -> Any:
    given = resolved(given, look_up)
    if is_struct(type_):
        return _struct(type_, given, version, look_up)
    if type_.name == "uuid" and isinstance(given, str):
        return parse_uuid(given)
    if type_.name == "bytes" and isinstance(given, str):
        return b64decode(given)
    return given


def resolved(given: Any, look_up: Lookup) -> Any:
    """A value, or the value of the lookup in a string that begins with `$`; `$$` is a dollar."""
    if not isinstance(given, str) or not given.startswith("$"):
        return given
    if given.startswith("$$"):
        return given[1:]
    return look_up(given[1:])
