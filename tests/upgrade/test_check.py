"""The judge of an upgrade: it sees a lost write, one that was written twice, and one out of order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from records.batch import build_batch
from records.frame import encode_record
from records.metadata.configs import ConfigRecord
from tests.upgrade.check import faults_of, numbers_in
from tests.upgrade.writer import KEY

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("numbers", "acknowledged", "fault"),
    [
        ([1, 2, 3], [1, 3], ""),
        ([1, 3], [1, 2, 3], "1 acknowledged writes are lost, the first is 2"),
        ([], [7], "1 acknowledged writes are lost, the first is 7"),
        ([1, 2, 2, 3], [1, 2, 3], "2 was written twice, or behind a later one"),
        ([1, 3, 2], [1, 2, 3], "2 was written twice, or behind a later one"),
    ],
)
def test_a_lost_or_repeated_or_late_write_is_a_fault(numbers: list[int], acknowledged: list[int], fault: str) -> None:
    assert faults_of(numbers, acknowledged) == fault


def test_the_numbers_of_a_log_are_those_of_the_writers_key_in_order(tmp_path: Path) -> None:
    partition = tmp_path / "__cluster_metadata-0"
    partition.mkdir()
    for base, values in ((0, ("1", "2")), (4, ("3", "4"))):
        records = [
            encode_record(ConfigRecord(resource_type=4, resource_name="", name=name, value=value), 0)
            for value in values
            for name in (KEY, "another.key")
        ]
        data = build_batch(records, base_offset=base, leader_epoch=1, timestamp_ms=0)
        (partition / f"{base:020}.log").write_bytes(data)

    assert list(numbers_in(tmp_path)) == [1, 2, 3, 4]
