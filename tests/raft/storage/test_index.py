"""The indexes are, byte for byte, those that Kafka builds from the same log."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raft.storage.index import FILE_BYTES_MAX, SparseIndex, is_sound
from raft.storage.scan import heads
from tests.raft.storage.golden import LOG, partition

BATCHES = st.lists(st.tuples(st.integers(1, 3), st.integers(61, 3000), st.integers(0, 50)), max_size=60)


def built(batches: list[tuple[int, int, int]], base: int = 7) -> tuple[SparseIndex, list[tuple[int, int, int, int]]]:
    """The index of batches of (records, bytes, timestamp), and each one's (last offset, timestamp, position, bytes)."""
    index = SparseIndex(base)
    entries = []
    offset, position = base, 0
    for records, size, timestamp in batches:
        entries.append((offset + records - 1, timestamp, position, size))
        index.add(*entries[-1])
        offset, position = offset + records, position + size
    return index, entries


# Nodes that were not restarted: Kafka begins to count anew at a restart, ours goes on.
@pytest.mark.parametrize(
    ("quorum", "node"),
    [
        ("4.3-static", "node-3"),
        ("4.0-static", "node-2"),
        ("4.0-static", "node-3"),
        ("4.3-dynamic", "node-1"),
        ("4.3-dynamic", "node-2"),
    ],
)
def test_both_index_files_are_those_that_kafka_wrote(quorum: str, node: str) -> None:
    directory = partition(quorum, node)
    index = SparseIndex(0)

    for head in heads((directory / LOG).read_bytes()):
        index.add(head.last_offset, head.max_timestamp, head.position, head.size)

    assert bytes(index.offsets) == (directory / LOG).with_suffix(".index").read_bytes()
    assert index.closed_times() == (directory / LOG).with_suffix(".timeindex").read_bytes()


@given(BATCHES, st.integers(0, 80))
def test_a_search_begins_at_or_before_the_batch_and_not_more_than_an_interval_before(
    batches: list[tuple[int, int, int]], ahead: int
) -> None:
    index, entries = built(batches)
    offset = 7 + ahead

    position = index.position_before(offset)

    starts = [start for last, _, start, _ in entries if last >= offset]
    sought = starts[0] if starts else sum(size for *_, size in entries)
    assert position in {0, *(start for *_, start, _ in entries)}
    assert position <= sought
    assert sought - position <= 4096 + 2 * 3000


@given(BATCHES, st.integers(0, 80))
def test_a_truncated_index_is_the_one_that_would_have_been_built(
    batches: list[tuple[int, int, int]], ahead: int
) -> None:
    index, entries = built(batches)
    kept = [entry for entry in entries if entry[0] < 7 + ahead]
    expected, _ = built([batch for batch, entry in zip(batches, entries, strict=True) if entry in kept])

    start = index.truncate(7 + ahead)
    for last, timestamp, position, size in kept:
        if position >= start:
            index.resume(last, timestamp, size)

    assert (index.offsets, index.closed_times()) == (expected.offsets, expected.closed_times())
    more = [(200, 70, 0, 5000), (201, 71, 5000, 5000), (202, 72, 10000, 100)]
    for entry in more:
        index.add(*entry)
        expected.add(*entry)
    assert (index.offsets, index.times) == (expected.offsets, expected.times)


@given(BATCHES, st.integers(0, 60))
def test_the_entries_before_a_position_are_those_of_the_batches_before_it(
    batches: list[tuple[int, int, int]], count: int
) -> None:
    index, entries = built(batches)
    expected, _ = built(batches[:count])
    position = entries[count][2] if count < len(entries) else sum(size for *_, size in entries)

    assert index.before(position) == (bytes(expected.offsets), bytes(expected.times))


@given(BATCHES)
def test_a_built_index_is_valid(batches: list[tuple[int, int, int]]) -> None:
    index, entries = built(batches)
    end = entries[-1][0] + 1 if entries else 7
    size = sum(entry[3] for entry in entries)

    assert is_sound(7, end, size, bytes(index.offsets), bytes(index.times))


@pytest.mark.parametrize(
    ("offsets", "times"),
    [
        (b"\0\0\0", b""),
        (b"", b"\0" * 11),
        (bytes.fromhex("0000000a 00000000"), b""),  # an offset that the segment does not hold
        (bytes.fromhex("00000001 00002000"), b""),  # a position behind its end
        (bytes.fromhex("00000002 00000010 00000001 00000020"), b""),
        (bytes.fromhex("00000001 00000020 00000002 00000020"), b""),
        (b"", bytes.fromhex("0000000000000001 0000000a")),
        (b"", bytes.fromhex("0000000000000002 00000001 0000000000000001 00000002")),
    ],
)
def test_entries_that_do_not_fit_the_segment_are_invalid(offsets: bytes, times: bytes) -> None:
    assert not is_sound(7, 17, 0x2000, offsets, times)


def test_an_index_is_full_where_kafka_would_roll() -> None:
    index = SparseIndex(0, bytes(FILE_BYTES_MAX - 8))
    almost = index.is_full

    index.offsets += bytes(8)

    assert (almost, index.is_full) == (False, True)


def test_the_last_entry_of_a_time_index_is_left_for_the_close_of_the_segment() -> None:
    """As by Kafka, whose time index is full one entry before its file is."""
    index = SparseIndex(0, times=bytes(12 * (FILE_BYTES_MAX // 12 - 2)))
    almost = index.is_full

    index.times += bytes(12)

    assert (almost, index.is_full) == (False, True)


def test_a_segment_that_is_closed_before_its_first_entry_has_one_for_its_largest_time() -> None:
    empty, index = SparseIndex(7), SparseIndex(7)
    for last_offset, time_ms, position in ((8, 50, 0), (9, 70, 61), (12, 60, 122)):
        index.add(last_offset, time_ms, position, 61)

    assert (empty.closed_times(), index.times) == (b"", b"")
    assert index.closed_times() == (70).to_bytes(8, "big") + (9 - 7).to_bytes(4, "big")


def test_golden_files_exist() -> None:
    assert Path(partition("4.3-static", "node-3") / LOG).stat().st_size > 0
