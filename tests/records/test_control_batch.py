"""Control records: their keys, and reading them by their types."""

from __future__ import annotations

import pytest

from records.batch import CorruptBatch, batches, build_batch, build_control_batch
from records.control import (
    EndTxnMarker,
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
)
from records.control_batch import (
    ABORT,
    COMMIT,
    CONTROL_RECORDS,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    control_key,
    control_records_of,
    control_type,
    decode_control,
    encode_control,
)
from records.wire import DecodeError
from tests.records.test_batch import stock_batches

RECORDS = {
    LEADER_CHANGE: LeaderChangeMessage(version=0, leader_id=1, voters=(), granting_voters=()),
    SNAPSHOT_HEADER: SnapshotHeaderRecord(version=0, last_contained_log_timestamp=5),
    SNAPSHOT_FOOTER: SnapshotFooterRecord(version=0),
    KRAFT_VERSION: KRaftVersionRecord(version=0, kraft_version=1),
    KRAFT_VOTERS: VotersRecord(version=0, voters=()),
}


def test_the_types_are_those_of_kafka() -> None:
    assert [(number, name) for number, (name, _) in CONTROL_RECORDS.items()] == [
        (0, "ABORT"),
        (1, "COMMIT"),
        (2, "LEADER_CHANGE"),
        (3, "SNAPSHOT_HEADER"),
        (4, "SNAPSHOT_FOOTER"),
        (5, "KRAFT_VERSION"),
        (6, "KRAFT_VOTERS"),
    ]


@pytest.mark.parametrize("number", list(RECORDS))
def test_a_control_record_is_decoded_as_encoded(number: int) -> None:
    key, value = encode_control(RECORDS[number])

    assert key == control_key(number) == bytes((0, 0, 0, number))
    assert decode_control(key, value) == (number, RECORDS[number])


def test_a_leader_change_of_version_1_is_read_by_the_version_it_states() -> None:
    voter = LeaderChangeMessage.Voter(voter_id=1, voter_directory_id=bytes(range(16)))
    record = LeaderChangeMessage(version=1, leader_id=1, voters=(voter,), granting_voters=(voter,))

    assert decode_control(*encode_control(record, 1)) == (LEADER_CHANGE, record)


def test_a_batch_is_read_with_offsets_and_types() -> None:
    pairs = [encode_control(record) for record in RECORDS.values()]
    data = build_control_batch(pairs, base_offset=9, leader_epoch=1, timestamp_ms=0)

    assert control_records_of(data, next(batches(data))) == [
        (9 + place, number, record) for place, (number, record) in enumerate(RECORDS.items())
    ]


def test_the_marker_that_ends_a_transaction_of_stock_is_read() -> None:
    data = stock_batches()["end transaction"]

    assert control_records_of(data, next(batches(data))) == [(77, COMMIT, EndTxnMarker(coordinator_epoch=11))]


def test_a_data_batch_is_refused_as_control_batch() -> None:
    data = build_batch([b"x"], base_offset=3, leader_epoch=1, timestamp_ms=0)

    with pytest.raises(CorruptBatch, match="batch of offset 3 at byte 0: not a control batch"):
        control_records_of(data, next(batches(data)))


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    data = build_control_batch([(control_key(7), b"\0\0")], base_offset=3, leader_epoch=1, timestamp_ms=0)

    with pytest.raises(CorruptBatch, match=r"control record 3: .* control record type 7 is none of 0 ABORT, 1 COMMIT"):
        control_records_of(data, next(batches(data)))


def test_a_key_of_a_later_version_is_read_as_kafka_reads_it() -> None:
    assert control_type(bytes.fromhex("0009 0002 ffff")) == LEADER_CHANGE
    assert control_type(bytes.fromhex("0000 ffff")) == -1


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (None, b"\0\0", "no key where version and type take 4 bytes"),
        (b"\0\0\0", b"\0\0", "3 bytes where version and type take 4 bytes"),
        (b"\xff\xff\0\2", b"\0\0", "negative version of the key"),
        (control_key(LEADER_CHANGE), None, "a LEADER_CHANGE record without a version"),
        (control_key(LEADER_CHANGE), b"\0", "a LEADER_CHANGE record without a version"),
        (control_key(LEADER_CHANGE), b"\0\2", "a LEADER_CHANGE record of version 2; there are versions 0 to 1"),
        (control_key(KRAFT_VERSION), b"\xff\xff", "a KRAFT_VERSION record of version -1; there are versions 0 to 0"),
        (control_key(SNAPSHOT_FOOTER), b"\0\0", "SnapshotFooterRecord v0 at byte 2: the data end at byte 2"),
        (control_key(ABORT), b"\0\0\0", "EndTxnMarker v0 coordinatorEpoch at byte 0"),
    ],
)
def test_malformed_control_records_are_refused(key: bytes | None, value: bytes | None, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        decode_control(key, value)
