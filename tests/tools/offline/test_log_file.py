from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from records.batch import build_batch
from tools.offline.log_file import CorruptRecord, DamagedLog, LogFile, Unreadable, next_sequence

if TYPE_CHECKING:
    from pathlib import Path


def log(tmp_path: Path, data: bytes) -> str:
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(data)
    return str(file)


def batch(offset: int) -> bytes:
    return build_batch([b"a", b"b"], base_offset=offset, leader_epoch=3, timestamp_ms=9)


def test_batches_are_read_in_order_with_their_positions(tmp_path: Path) -> None:
    with LogFile(log(tmp_path, batch(0) + batch(2))) as file:
        found = list(file.batches())

    size = len(batch(0))
    assert [(one.position, len(one.data), one.base_offset, one.last_offset, one.leader_epoch) for one in found] == [
        (0, size, 0, 1, 3),
        (size, size, 2, 3, 3),
    ]
    assert [one.is_intact() for one in found] == [True, True]


def test_an_incomplete_batch_is_left_out(tmp_path: Path) -> None:
    whole = batch(0) + batch(2)

    for end in range(len(batch(0)), len(whole)):
        with LogFile(log(tmp_path, whole[:end])) as file:
            assert len(list(file.batches())) == 1


def test_a_changed_batch_is_returned_as_not_intact(tmp_path: Path) -> None:
    data = bytearray(batch(0))
    data[-1] ^= 1

    with LogFile(log(tmp_path, bytes(data))) as file:
        assert [one.is_intact() for one in file.batches()] == [False]


def test_an_invalid_length_is_refused(tmp_path: Path) -> None:
    path = log(tmp_path, batch(0) + bytes(80))

    with LogFile(path) as file, pytest.raises(CorruptRecord) as error:
        list(file.batches())

    assert str(error.value) == f"Found record size 0 smaller than minimum record overhead (14) in file {path}."


def test_a_header_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    short = (0).to_bytes(8, "big") + (14).to_bytes(4, "big") + b"\0\0\0\0\2" + bytes(9)

    with LogFile(log(tmp_path, short)) as file, pytest.raises(Unreadable):
        list(file.batches())


def test_a_file_larger_than_a_segment_may_be_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.truncate(1 << 31)

    with pytest.raises(DamagedLog, match="larger than the maximum allowed segment size of 2147483647"):
        LogFile(str(path))


def test_only_a_range_is_read(tmp_path: Path) -> None:
    size = len(batch(0))

    with LogFile(log(tmp_path, batch(0) + batch(2) + batch(4))) as file:
        assert [one.base_offset for one in file.batches(size, 2 * size)] == [2]
        assert [one.base_offset for one in file.batches(0, 2 * size + 5)] == [0, 2]


def test_sequences_wrap() -> None:
    assert [next_sequence(5, 2), next_sequence(2147483647, 1), next_sequence(2147483646, 3)] == [7, 0, 1]
