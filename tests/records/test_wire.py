"""Varints as Kafka writes them, and the texts of errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.wire import (
    DecodeError,
    blob,
    float64,
    int8,
    int64,
    read_uvarint,
    read_zigzag,
    string,
    uint16,
    uuid,
    uvarint,
    zigzag,
)

CANONICAL = [
    (0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (300, "ac02"), (16383, "ff7f"), (16384, "808001"),
    (2**31 - 1, "ffffffff07"), (2**32 - 1, "ffffffff0f"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "data"), CANONICAL)
def test_an_unsigned_varint_has_seven_bits_a_byte_the_lowest_first(value: int, data: str) -> None:
    assert uvarint(value) == bytes.fromhex(data)
    assert read_uvarint(b"x" + bytes.fromhex(data) + b"y", 1) == (value, 1 + len(data) // 2)


@pytest.mark.parametrize(
    ("value", "data"),
    [(0, "00"), (-1, "01"), (1, "02"), (-2, "03"), (63, "7e"), (-64, "7f"), (64, "8001"), (-(2**31), "ffffffff0f")],
)
def test_a_signed_varint_is_in_zigzag(value: int, data: str) -> None:
    assert zigzag(value) == bytes.fromhex(data)
    assert read_zigzag(bytes.fromhex(data), 0) == (value, len(data) // 2)


@given(st.integers(0, 2**32 - 1))
def test_every_unsigned_varint_is_read_as_written(value: int) -> None:
    assert read_uvarint(uvarint(value), 0) == (value, len(uvarint(value)))


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_signed_varlong_is_read_as_written(value: int) -> None:
    assert read_zigzag(zigzag(value), 0, 10) == (value, len(zigzag(value)))


@pytest.mark.parametrize("data", ["ffffffff10", "ffffffff7f", "808080808000", "ffffffffffff01"])
def test_a_varint_beyond_32_bits_or_5_bytes_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match="varint"):
        read_uvarint(bytes.fromhex(data), 0)
    with pytest.raises(ValueError, match="varint"):
        read_zigzag(bytes.fromhex(data), 0)


def test_a_varlong_beyond_64_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="exceeds 64 bits"):
        read_zigzag(b"\xff" * 9 + b"\x02", 0, 10)
    with pytest.raises(ValueError, match="longer than 10 bytes"):
        read_zigzag(b"\x80" * 10 + b"\x00", 0, 10)


def test_a_varint_that_ends_too_soon_raises_an_index_error() -> None:
    for read in (read_uvarint, read_zigzag):
        with pytest.raises(IndexError):
            read(b"\x80\x80", 0)


def test_an_error_has_message_version_field_and_offset() -> None:
    assert str(DecodeError("VoteRequest", 2, "topics[1].topicName", 17, "not UTF-8")) == (
        "VoteRequest v2 topics[1].topicName at byte 17: not UTF-8"
    )
    assert str(DecodeError("MetadataRecord", -1, "", -1, "odd")) == "MetadataRecord: odd"


def test_integer_types_know_their_range() -> None:
    types: list[Any] = [int8, uint16, int64, string]

    assert [type_.range for type_ in types] == [(-128, 127), (0, 65535), (-(2**63), 2**63 - 1), None]


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        (int8, [-128, 127, True], [128, -129, 1.0, "1", None]),
        (uint16, [0, 65535], [-1, 65536]),
        (float64, [1, 1.5, float("inf")], ["1", None]),
        (string, ["", "ä" * 16383], ["ä" * 16384, b"x", None]),
        (uuid, [bytes(16)], [bytes(15), bytes(17), "x" * 16]),
        (blob, [b"", bytearray(1), memoryview(b"x")], ["x", [1], None]),
    ],
)
def test_a_type_accepts_the_values_that_it_can_encode(type_: Any, good: list[object], bad: list[object]) -> None:
    assert all(type_.admits(value) for value in good)
    assert not any(type_.admits(value) for value in bad)
