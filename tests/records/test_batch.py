"""Record batches: building, finding, reading, and refusing invalid ones."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.batch import (
    CONTROL_ATTRIBUTE,
    HEADER_BYTES,
    Batch,
    CorruptBatch,
    Record,
    batches,
    build_batch,
    is_intact,
    read_header,
    records_of,
    seal,
    zigzags,
)
from records.crc import crc32c
from records.wire import zigzag
from tests.records.golden import DATA

VALUES = [b"first", b"", bytes(300)]


@cache
def stock_batches() -> dict[str, bytes]:
    lines = (DATA / "stock-batches" / "batches.tsv").read_text().splitlines()
    return {name: bytes.fromhex(data) for name, data in (line.split("\t") for line in lines)}


def stock_records() -> list[Record]:
    """What `tests/data/stock-batches/README.md` says of the 40 records."""
    return [
        Record(
            offset=1234567890123 + i,
            timestamp=1700000000000 + 7 * i - 50,
            key=None if i % 3 == 0 else f"key-{i}".encode(),
            value=None if i % 5 == 4 else b"value " * (i + 1),
            headers=(("päyments", b"\1\2"), ("none", None)) if i % 4 == 0 else (),
        )
        for i in range(40)
    ]


def built(values: list[bytes] = VALUES) -> bytes:
    return build_batch(values, base_offset=7, leader_epoch=3, timestamp_ms=1000)


def resealed(data: bytes) -> bytes:
    """The batch with the CRC that fits its bytes."""
    return data[:17] + crc32c(data[21:]).to_bytes(4, "big") + data[21:]


def only(data: bytes) -> Batch:
    return next(batches(data))


@pytest.mark.parametrize("name", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_batch_of_stock_is_read_whole_in_each_compression(name: str) -> None:
    data = stock_batches()[name]
    batch = only(data)

    assert batch.compression == ["none", "gzip", "snappy", "lz4", "zstd"].index(name)
    assert (batch.base_offset, batch.last_offset, batch.leader_epoch) == (1234567890123, 1234567890162, 7)
    assert records_of(data, batch) == stock_records()


def test_an_empty_batch_of_stock_keeps_its_offsets() -> None:
    data = stock_batches()["empty"]
    batch = only(data)

    assert (batch.base_offset, batch.last_offset, batch.record_count, batch.producer_id) == (100, 109, 0, 9)
    assert records_of(data, batch) == []


def test_with_log_append_time_records_have_the_batchs_timestamp() -> None:
    data = bytearray(stock_batches()["none"])
    data[22] |= 0x08
    stamped = resealed(bytes(data))

    assert {record.timestamp for record in records_of(stamped, only(stamped))} == {only(stamped).max_timestamp}


@pytest.mark.parametrize("delta", [1 << 40, -(1 << 40)])
def test_a_timestamp_delta_has_up_to_64_bits(delta: int) -> None:
    record = b"\0" + zigzag(delta) + b"\0\1" + zigzag(1) + b"x\0"
    data = seal(zigzag(len(record)) + record, 1, 7, 3, 1 << 41)

    assert records_of(data, only(data)) == [Record(7, (1 << 41) + delta, None, b"x")]


def test_a_batch_holds_the_values_in_order() -> None:
    data = built()
    batch = only(data)

    assert batch == Batch(0, len(data), 7, 9, 3, batch.crc, 0, 1000, 1000, -1, -1, -1, 3)
    assert [(record.offset, record.key, record.value) for record in records_of(data, batch)] == [
        (7, None, b"first"),
        (8, None, b""),
        (9, None, bytes(300)),
    ]


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=200))
def test_every_batch_is_read_as_built(values: list[bytes]) -> None:
    data = built(values)

    assert [record.value for record in records_of(data, only(data))] == values


def test_a_large_batch_is_read_as_built() -> None:
    values = [bytes(i % 90) for i in range(20_000)]

    assert [record.value for record in records_of(built(values), only(built(values)))] == values


def test_successive_batches_are_read_and_a_torn_one_is_left_out() -> None:
    one, two = built(), built([b"x"])

    assert [(batch.position, batch.size) for batch in batches(one + two + one[:40])] == [
        (0, len(one)),
        (len(one), len(two)),
    ]
    assert read_header(one[:16]) is None
    assert read_header(one[:-1]) is None
    assert list(batches(b"")) == []


def test_a_memoryview_is_read_like_bytes() -> None:
    data = built()

    assert list(batches(memoryview(data))) == list(batches(data))


def test_attributes_give_the_kind_of_a_batch() -> None:
    data = seal(b"", 1, 0, 0, 0, attributes=CONTROL_ATTRIBUTE | 3)

    assert read_header(data) is not None
    assert only(data).is_control
    assert only(data).compression == 3
    assert not only(built()).is_control


def test_the_crc_detects_a_changed_byte() -> None:
    for place in (*range(21, 30), HEADER_BYTES + 4, len(built()) - 1):
        data = bytearray(built())
        data[place] ^= 1
        batch = read_header(bytes(data))

        assert batch is None or not is_intact(bytes(data), batch)
        with pytest.raises(CorruptBatch, match="batch of offset 7 at byte 0: CRC is"):
            list(batches(bytes(data)))


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (16, b"\1", "batch of offset 7 at byte 0: magic is 1, only 2 is read"),
        (8, b"\0\0\0\x30", "batch of offset 7 at byte 0: length is 48, a batch has at least 49"),
        (8, b"\xff\xff\xff\xff", "batch of offset 7 at byte 0: length is -1, a batch has at least 49"),
        (0, b"\xff" * 8, "batch of offset -1 at byte 0: negative offset"),
        (23, b"\xff" * 4, "batch of offset 7 at byte 0: negative offset, delta -1"),
        (57, b"\xff" * 4, "batch of offset 7 at byte 0: negative offset, delta 2, count -1"),
        (12, b"\xff\xff\xff\xfe", "epoch -2"),
    ],
)
def test_an_invalid_header_is_refused_with_its_position(place: int, change: bytes, message: str) -> None:
    data = built()
    data = data[:place] + change + data[place + len(change) :]

    with pytest.raises(CorruptBatch, match=message):
        read_header(data)


def body(*records: bytes, count: int | None = None) -> bytes:
    return seal(b"".join(records), len(records) if count is None else count, 7, 3, 1000)


def record(
    *, delta: int = 0, key: bytes = b"\1", value: bytes = b"\2v", headers: bytes = b"\0", more: bytes = b""
) -> bytes:
    inner = b"\0\0" + zigzag(delta) + key + value + headers + more
    return zigzag(len(inner)) + inner


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (body(record(), count=2), "2 records do not fit in 8 bytes"),
        (body(record(), record(), count=1), "8 bytes are left after the records"),
        (body(zigzag(-1) + bytes(9)), "record of -1 bytes"),
        (body(zigzag(100) + bytes(9)), "record of 100 bytes in the 9 that are left"),
        (body(record(delta=1)), "offset delta 1 behind -1 in a batch whose last is 0"),
        (body(record(delta=-1)), "offset delta -1 behind -1 in a batch whose last is 0"),
        (body(record(delta=1), record(delta=1)), "offset delta 1 behind 1 in a batch whose last is 1"),
        (body(record(value=zigzag(50) + b"v")), "50 bytes in the 2 that are left"),
        (body(record(value=zigzag(-2))), "negative length -2"),
        (body(record(key=zigzag(-3))), "negative length -3"),
        (body(record(more=b"xy")), "has 2 bytes too many"),
        (body(record(headers=zigzag(9))), "9 headers in 0 bytes"),
        (body(record(headers=zigzag(-1))), "-1 headers in 0 bytes"),
        (body(record(headers=zigzag(1) + zigzag(-1) + zigzag(0))), "null header key"),
        (body(record(headers=zigzag(1) + zigzag(1) + b"\xff" + zigzag(0))), "utf-8"),
        (body(b"\x80\x80\x80\x80\x80\x80\x80"), "varint is longer than 5 bytes"),
        (seal(b"zip", 1, 7, 3, 0, attributes=1), "gzip data are malformed"),
        (seal(b"any", 1, 7, 3, 0, attributes=5), "compression type is 5; there are 0 to 4"),
    ],
)
def test_invalid_records_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(CorruptBatch, match=message):
        records_of(data, only(data))


def test_the_varint_table_has_the_requested_size() -> None:
    table = zigzags(3000)

    assert [table[value] for value in (0, 63, 64, 2999)] == [zigzag(value) for value in (0, 63, 64, 2999)]
