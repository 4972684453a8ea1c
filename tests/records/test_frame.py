"""The frame around metadata records."""

from __future__ import annotations

import pytest
from hypothesis import given

from records.control import SnapshotFooterRecord
from records.frame import decode_record, encode_record, read_frame
from records.metadata.topics import TopicRecord
from records.metadata.transactions import NoOpRecord
from records.strategies import metadata_records
from records.wire import DecodeError, EncodeError

TOPIC = TopicRecord(name="a", topic_id=bytes(16))


def test_a_frame_is_its_version_the_type_and_the_record_version() -> None:
    value = encode_record(TOPIC, 0)

    assert value == bytes.fromhex("010200") + b"\x02a" + bytes(17)
    assert read_frame(value) == (2, 0, 3)
    assert decode_record(value) == (TOPIC, 0)


@given(metadata_records(unknown_tags=True))
def test_every_record_is_decoded_as_encoded(drawn: tuple[object, int]) -> None:
    assert decode_record(encode_record(*drawn)) == drawn


def test_a_frame_of_longer_varints_is_read_too() -> None:
    assert decode_record(bytes.fromhex("8100 9400 8000 00")) == (NoOpRecord(), 0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "MetadataRecord frame at byte 0: the data end at byte 0"),
        ("01", "MetadataRecord frame at byte 0: the data end at byte 1"),
        ("0102", "MetadataRecord frame at byte 0: the data end at byte 2"),
        ("000200", "MetadataRecord frame at byte 0: frame version is 0, only 1 is read"),
        ("020200", "MetadataRecord frame at byte 0: frame version is 2, only 1 is read"),
        ("ffffffff7f0200", "MetadataRecord frame at byte 0: varint 34359738367 exceeds 32 bits"),
        ("01ffff0300", "MetadataRecord type at byte 1: type 65535 or version 0 exceeds 32767"),
        ("0106 00", "MetadataRecord v0 type at byte 1: there is no record type 6"),
        ("0114 01 00", "NoOpRecord v1: there are versions 0 to 0"),
        ("0114 00 00 05", "NoOpRecord v0 at byte 1: 1 bytes are left after the record"),
        ("0102 00 0261", "TopicRecord v0 topicId at byte 2: the data end at byte 2"),
    ],
)
def test_a_malformed_value_is_refused(value: str, message: str) -> None:
    with pytest.raises(DecodeError) as error:
        decode_record(bytes.fromhex(value))

    assert str(error.value) == message


def test_an_unknown_version_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(EncodeError, match="TopicRecord has versions 0 to 0, not 3"):
            encode_record(TOPIC, 3)


def test_only_metadata_records_are_framed() -> None:
    with pytest.raises(AssertionError, match="SnapshotFooterRecord is no metadata record"):
        encode_record(SnapshotFooterRecord(version=0), 0)
