"""The forms of a body: a bare msgpack map, or a protobuf message `Body` with JSON or msgpack in it (metadata.proto).

    message Body { string json = 1; bytes msgpack = 2; }

A response has the form of its request. `Body` is encoded here, because protobuf would take 5 MiB of memory.
"""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

import msgpack

from controller.server.grpc.protobuf import delimited_field

JSON_FIELD, MSGPACK_FIELD = 1, 2
# The tag of a field with a length before it is (number << 3) | 2.
JSON_TAG = 0x0A
MSGPACK_TAG = 0x12
# The longest length that is read: 2 bytes of 7 bits hold the bound of a request, 64 KiB, with the third.
LENGTH_BYTES_MAX = 3


class Form(IntEnum):
    """The form of a request, and so of the responses to it."""

    BARE = 0
    JSON = 1
    MSGPACK = 2


class BadBody(ValueError):
    """A body is not valid; the text says what is accepted."""


def read_body(body: bytes) -> tuple[Form, Any]:
    """The form and the value of a request; an empty one is an empty map. Raises BadBody."""
    if not body:
        return Form.BARE, {}
    if body[0] == JSON_TAG:
        return Form.JSON, _from_json(_field(body))
    if body[0] == MSGPACK_TAG:
        return Form.MSGPACK, _from_msgpack(_field(body))
    return Form.BARE, _from_msgpack(body)


def in_form(form: Form, packed: bytes) -> bytes:
    """A response in a form. packed: the msgpack map."""
    if form is Form.BARE:
        return packed
    if form is Form.MSGPACK:
        return delimited_field(MSGPACK_FIELD, packed)
    return delimited_field(
        JSON_FIELD, json.dumps(msgpack.unpackb(packed), separators=(",", ":"), ensure_ascii=False).encode()
    )


def _field(body: bytes) -> bytes:
    """The content of a message with one field. Raises BadBody."""
    length = 0
    for at, byte in enumerate(body[1 : 1 + LENGTH_BYTES_MAX]):
        length |= (byte & 0x7F) << (7 * at)
        if byte < 0x80:
            content = body[2 + at :]
            if len(content) != length:
                raise BadBody(
                    f"the field of the request has {len(content)} bytes, and its length says {length}; a Body has one "
                    "field, json or msgpack"
                )
            return content
    raise BadBody("the field of the request has no valid length; a Body has one field, json or msgpack")


def _from_json(text: bytes) -> Any:
    try:
        return json.loads(text.decode()) if text else {}
    except (ValueError, RecursionError) as error:
        raise BadBody(f"the request is not JSON: {error}") from None


def _from_msgpack(body: bytes) -> Any:
    try:
        # Each limit is the size of the body, so no length in it can make the decoder allocate more memory.
        return msgpack.unpackb(body, raw=False, strict_map_key=True) if body else {}
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        raise BadBody(f"the request is not msgpack: {error}") from None
