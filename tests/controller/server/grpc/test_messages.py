"""Decoding requests of the watch service, and encoding its messages."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.server.grpc.filters import BadFilter
from controller.server.grpc.messages import Asked, BadRequest, message

KEYS = ("allow_stale", "cluster_id", "filter", "from_offset")


def test_a_request_is_decoded() -> None:
    asked = Asked(msgpack.packb({"from_offset": 7, "cluster_id": "abc", "allow_stale": True}), KEYS)

    assert (asked.from_offset, asked.cluster_id, asked.allow_stale) == (7, "abc", True)


@pytest.mark.parametrize("body", [b"", msgpack.packb({}), msgpack.packb({"from_offset": None, "filter": None})])
def test_a_missing_key_has_its_default(body: bytes) -> None:
    asked = Asked(body, KEYS)

    assert (asked.from_offset, asked.cluster_id, asked.allow_stale, asked.filter.types) == (None, None, False, None)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ([], "a map"),
        ({"offset": 1}, "the request has 'offset'; known keys: allow_stale, cluster_id"),
        ({"from_offset": -1}, "an offset from 0 to 9223372036854775807"),
        ({"from_offset": 1 << 63}, "an offset from 0 to 9223372036854775807"),
        ({"from_offset": True}, "from_offset is True"),
        ({"from_offset": "1"}, "from_offset is '1'"),
        ({"cluster_id": 1}, "cluster_id is 1; it must be a string, or nil"),
        ({"allow_stale": 1}, "allow_stale is 1; it must be true, false or nil"),
    ],
)
def test_a_malformed_request_is_refused_with_what_is_accepted(request_: Any, text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        Asked(msgpack.packb(request_), KEYS)

    assert text in str(refused.value)


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: b"\x81\xa6filter" + tail))
def test_arbitrary_bytes_are_decoded_or_refused(body: bytes) -> None:
    try:
        Asked(body, KEYS)
    except (BadRequest, BadFilter):
        return


@pytest.mark.parametrize(
    "body",
    [b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\x91" * 60_000, b"\x81\x91\x01\x01"],
)
def test_a_length_beyond_the_body_or_an_excessive_depth_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        Asked(body, KEYS)


def test_a_message_has_its_fields_and_the_packed_changes() -> None:
    packed = [msgpack.packb({"offset": offset}) for offset in range(20)]

    body = message({"kind": "changes", "next_offset": 20}, packed)

    changes = [{"offset": offset} for offset in range(20)]
    assert msgpack.unpackb(body) == {"kind": "changes", "next_offset": 20, "changes": changes}
