from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from records.batch import CorruptBatch, build_batch, read_header, seal
from records.batch import records_of as strictly_read
from records.wire import zigzag
from tools.offline.log_file import DamagedLog, InvalidRecord, StoredBatch
from tools.offline.stored_records import records_of


def stored(data: bytes) -> StoredBatch:
    return StoredBatch(0, data)


def test_records_have_offsets_times_and_values() -> None:
    batch = stored(build_batch([b"a", b""], base_offset=7, leader_epoch=1, timestamp_ms=9))

    assert [
        (one.offset, one.timestamp, one.sequence, one.key, one.value, one.header_keys) for one in records_of(batch)
    ] == [
        (7, 9, -1, None, b"a", ()),
        (8, 9, -1, None, b"", ()),
    ]


def test_headers_are_returned_by_their_keys() -> None:
    body = b"\0" + zigzag(0) + zigzag(0) + zigzag(1) + b"k" + zigzag(-1) + zigzag(1) + zigzag(1) + b"h" + zigzag(-1)
    batch = stored(seal(zigzag(len(body)) + body, 1, 0, 0, 5))

    (record,) = records_of(batch)

    assert (record.key, record.value, record.header_keys) == (b"k", None, ("h",))


def test_records_before_a_damaged_one_are_returned() -> None:
    data = bytearray(build_batch([b"aaaa", b"bbbb"], base_offset=0, leader_epoch=1, timestamp_ms=9))
    data[-11] = 60  # the length of the second record

    records = records_of(stored(bytes(data)))

    assert next(records).value == b"aaaa"
    with pytest.raises(InvalidRecord, match="expected 30 bytes in record payload"):
        next(records)


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (3, "premature EOF reached"),
        (1, "records still remaining in file"),
        (-1, "Found invalid record count -1 in magic v2 batch"),
    ],
)
def test_a_wrong_count_is_reported(count: int, message: str) -> None:
    data = bytearray(build_batch([b"a", b"b"], base_offset=0, leader_epoch=1, timestamp_ms=9))
    data[57:61] = count.to_bytes(4, "big", signed=True)

    with pytest.raises(InvalidRecord, match=message):
        list(records_of(stored(bytes(data))))


@given(some.lists(some.binary(max_size=40), min_size=1, max_size=5), some.data())
def test_damaged_bytes_end_in_one_error_and_sound_ones_read_as_a_node_reads_them(
    values: list[bytes], data: some.DataObject
) -> None:
    batch = bytearray(build_batch(values, base_offset=3, leader_epoch=1, timestamp_ms=9))
    for _ in range(data.draw(some.integers(0, 2))):
        batch[data.draw(some.integers(61, len(batch) - 1))] = data.draw(some.integers(0, 255))

    try:
        found = [(one.offset, one.timestamp, one.key, one.value) for one in records_of(stored(bytes(batch)))]
    except DamagedLog:
        return

    header = read_header(bytes(batch))
    assert header is not None
    try:
        strict = [(one.offset, one.timestamp, one.key, one.value) for one in strictly_read(bytes(batch), header)]
    except CorruptBatch:
        return  # a node is stricter than a reader
    assert found == strict
