"""The encoding of protobuf: examples of its documentation, a round trip, and bytes that are no message."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.server.grpc.protobuf import BadMessage, delimited_field, fields, number


def test_the_examples_of_the_documentation_of_protobuf() -> None:
    assert number(1, 150) == b"\x08\x96\x01"
    assert delimited_field(2, "testing") == b"\x12\x07testing"
    assert delimited_field(3, number(1, 150)) == b"\x1a\x03\x08\x96\x01"


@given(st.lists(st.tuples(st.integers(1, 1 << 28), st.integers(0, (1 << 64) - 1) | st.binary(max_size=300))))
def test_what_is_written_is_read(values: list[tuple[int, int | bytes]]) -> None:
    message = b"".join(
        number(field, value) if isinstance(value, int) else delimited_field(field, value) for field, value in values
    )

    assert list(fields(message)) == values


@pytest.mark.parametrize(
    "message",
    [b"\x08", b"\x12", b"\x12\x05four", b"\x0d\x00\x00\x00\x00", b"\x09" + bytes(8), b"\x0b", b"\xff" * 11, b"\x80"],
    ids=lambda message: message.hex(),
)
def test_bytes_that_are_no_message_are_refused(message: bytes) -> None:
    with pytest.raises(BadMessage):
        list(fields(message))


@given(st.binary(max_size=100))
def test_no_bytes_do_anything_else(message: bytes) -> None:
    with contextlib.suppress(BadMessage):
        list(fields(message))
