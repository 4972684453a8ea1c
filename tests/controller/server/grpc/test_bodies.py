"""The forms of a body, against bytes that protobuf libraries make, and any bytes of a client."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.server.grpc.bodies import BadBody, Form, in_form, read_body

LONG = {"cluster_id": "x" * 200}
LONG_JSON = json.dumps(LONG, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("body", "form", "value"),
    [
        (b"", Form.BARE, {}),
        (msgpack.packb({"from_offset": 7}), Form.BARE, {"from_offset": 7}),
        # As protobuf encodes Body(json='{"from_offset":7}'), and Body(msgpack=…).
        (b'\n\x11{"from_offset":7}', Form.JSON, {"from_offset": 7}),
        (b"\x12\x0e\x81\xabfrom_offset\x07", Form.MSGPACK, {"from_offset": 7}),
        (b"\n\xd9\x01" + LONG_JSON, Form.JSON, LONG),
        (b"\n\x00", Form.JSON, {}),
        (b"\x12\x00", Form.MSGPACK, {}),
    ],
)
def test_the_first_byte_says_the_form(body: bytes, form: Form, value: Any) -> None:
    assert read_body(body) == (form, value)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\n", "no valid length"),
        (b"\n\x80\x80\x80\x80\x01x", "no valid length"),
        (b"\n\x05{}", "has 2 bytes, and its length says 5"),
        (b"\n\x02{}\n\x02{}", "has 6 bytes, and its length says 2"),
        (b"\n\x02{]", "is not JSON"),
        (b"\n\x01\xff", "is not JSON"),
        (b"\x12\x01\xc1", "is not msgpack"),
        (b"\n\xd0\x86\x03" + b"[" * 50_000, "is not JSON"),
    ],
)
def test_a_malformed_body_is_refused(body: bytes, text: str) -> None:
    with pytest.raises(BadBody) as refused:
        read_body(body)

    assert text in str(refused.value)


@given(st.binary(max_size=100) | st.binary(max_size=100).map(lambda tail: b"\n" + tail))
def test_arbitrary_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        read_body(body)
    except BadBody:
        return


@given(st.sampled_from([Form.JSON, Form.MSGPACK]), st.text(max_size=300), st.integers(-(1 << 63), (1 << 63) - 1))
def test_a_response_can_be_read_in_its_form(form: Form, text: str, number: int) -> None:
    value = {"changes": [{"data": text}], "next_offset": number}

    assert read_body(in_form(form, msgpack.packb(value))) == (form, value)


def test_a_bare_response_is_the_map_itself() -> None:
    packed = msgpack.packb({"a": 1})

    assert in_form(Form.BARE, packed) is packed
