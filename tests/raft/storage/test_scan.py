"""Batches are found by their headers, and a read ends at batch boundaries."""

from __future__ import annotations

import pytest

from raft.storage.scan import cut, head_at, heads
from records.batch import CorruptBatch, batches
from tests.raft.storage.batches import batch, bounds, run
from tests.raft.storage.golden import LOG, partition

DATA = batch(10, count=3) + batch(13) + batch(14, count=2)  # 10-12, 13, 14-15


def test_headers_have_the_fields_of_the_batches() -> None:
    log = (partition("4.3-static", "node-1") / LOG).read_bytes()

    assert [
        (head.position, head.size, head.base_offset, head.last_offset, head.epoch, head.attributes, head.crc)
        for head in heads(log)
    ] == [
        (one.position, one.size, one.base_offset, one.last_offset, one.leader_epoch, one.attributes, one.crc)
        for one in batches(log)
    ]


@pytest.mark.parametrize(
    ("offset", "end_offset", "bytes_max", "expected"),
    [
        (10, 16, 1 << 20, [(10, 12), (13, 13), (14, 15)]),
        (11, 16, 1 << 20, [(10, 12), (13, 13), (14, 15)]),
        (13, 16, 1, [(13, 13)]),
        (13, 16, len(batch(13)) + len(batch(14, count=2)), [(13, 13), (14, 15)]),
        (13, 16, len(batch(13)) + len(batch(14, count=2)) - 1, [(13, 13)]),
        (10, 14, 1 << 20, [(10, 12), (13, 13)]),
        (13, 15, 1 << 20, [(13, 13)]),  # a batch that reaches above the end is left out whole
        (14, 15, 1 << 20, []),
        (16, 20, 1 << 20, []),
    ],
)
def test_a_read_is_whole_batches_at_least_one(
    offset: int, end_offset: int, bytes_max: int, expected: list[tuple[int, int]]
) -> None:
    assert bounds(cut(DATA, offset, end_offset, bytes_max)) == expected


def test_a_part_of_a_batch_at_the_end_is_left_out() -> None:
    assert cut(DATA[:-1], 10, 16, 1 << 20) == DATA[: -len(batch(14, count=2))]


@pytest.mark.parametrize(
    ("at", "bytes_", "reason"),
    [
        (16, b"\1", "magic is 1"),
        (8, b"\0\0\0\0", "size is 12"),
        (8, b"\x7f\xff\xff\xff", "size is 2147483659"),
        (8, b"\xff\xff\xff\xff", "size is 11"),
        (0, b"\xff", "negative offset"),
        (23, b"\xff", "negative offset"),
        (12, b"\xff", "negative offset"),
    ],
)
def test_an_invalid_header_is_refused(at: int, bytes_: bytes, reason: str) -> None:
    data = bytearray(batch(0))
    data[at : at + len(bytes_)] = bytes_

    with pytest.raises(CorruptBatch, match=reason):
        head_at(bytes(data), 0)


def test_bytes_that_are_not_whole_batches_are_refused() -> None:
    for size in (1, 60, 61, len(run(0, 2)) - 1):
        with pytest.raises(CorruptBatch):
            list(heads(run(0, 2)[:size] if size != len(batch(0)) else run(0, 2)[: size + 1]))
