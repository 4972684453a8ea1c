"""Uuids in Kafka's text form, read as strictly as Java reads them."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.uuids import (
    LOST_DIRECTORY,
    MIGRATING_DIRECTORY,
    UNASSIGNED_DIRECTORY,
    is_reserved,
    java_order,
    parse_uuid,
    random_uuid,
    uuid_text,
)

TEXT = "J8aAPcfLQt2bqs1JT_rMgQ"
VALUE = bytes.fromhex("27c6803dc7cb42dd9baacd494ffacc81")
WANTED = "which is not equal to the expected 16 bytes of a base64-encoded UUID"


def test_a_uuid_is_22_characters_of_url_safe_base64() -> None:
    assert uuid_text(VALUE) == TEXT
    assert parse_uuid(TEXT) == VALUE
    assert parse_uuid(TEXT + "==") == VALUE


@given(st.binary(min_size=16, max_size=16))
def test_every_uuid_is_read_as_written(value: bytes) -> None:
    assert parse_uuid(uuid_text(value)) == value


def test_bits_beyond_the_last_byte_are_dropped_as_java_drops_them() -> None:
    assert parse_uuid("AAAAAAAAAAAAAAAAAAAAAR") == bytes(15) + b"\1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"Input string `` decoded as 0 bytes, {WANTED}"),
        ("invalid", f"Input string `invalid` decoded as 5 bytes, {WANTED}"),
        ("A" * 25, "Input string with prefix `" + "A" * 24 + "` is too long to be decoded as a base64 UUID"),
        ("AAAAAAAAAAAAAAAAAAAA+/", "Illegal base64 character 2b"),
        ("AAAAAAAAAAAAAAAAAAAA A", "Illegal base64 character 20"),
        ("日" * 22, "Illegal base64 character 3f"),
        ("A", "Input byte[] should at least have 2 bytes for base64 bytes"),
        ("AAAAA", "Last unit does not have enough valid bits"),
        ("AAAAAAAAAAAAAAAAAAAAAQ=", "Input byte array has wrong 4-byte ending unit"),
        ("AAAAAAAAAAAAAAAAAAAA=AQ=", "Input byte array has wrong 4-byte ending unit"),
    ],
)
def test_other_texts_are_refused_with_stocks_texts(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse_uuid(text)


def test_the_first_hundred_uuids_are_reserved() -> None:
    assert all(map(is_reserved, (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY, bytes(15) + bytes([99]))))
    assert not is_reserved(bytes(15) + bytes([100]))


def test_a_random_uuid_is_of_version_4_and_can_be_used_as_an_argument() -> None:
    rng = Random(1)

    drawn = [random_uuid(rng.getrandbits) for _ in range(500)]

    assert {(value[6] >> 4, value[8] >> 6) for value in drawn} == {(4, 2)}
    assert not any(uuid_text(value).startswith("-") or is_reserved(value) for value in drawn)
    assert len(set(drawn)) == 500


def test_uuids_are_ordered_as_java_orders_their_signed_halves() -> None:
    first, low, zero, last = b"\x80" + bytes(15), bytes(8) + b"\xff" * 8, bytes(16), b"\x7f" + bytes(15)

    assert sorted([last, zero, low, first], key=java_order) == [first, low, zero, last]
