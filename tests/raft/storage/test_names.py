"""File names: Kafka's, and no others."""

from __future__ import annotations

import pytest

from raft.storage.names import LOG, is_leftover, segment_name, segment_offset, snapshot_id, snapshot_name


def test_file_names_are_parsed_as_written() -> None:
    for number in (0, 7, 10**19, 2**63 - 1):
        assert segment_offset(segment_name(number, LOG), LOG) == number
        assert snapshot_id(snapshot_name(number, number % 2**31)) == (number, number % 2**31)


@pytest.mark.parametrize(
    "name",
    [
        "0.log", "0000000000000000000x.log", "00000000000000000000.log.deleted", "00000000000000000000",
        "-0000000000000000001.log",
        "00000000000000000000.checkpoint", "00000000000000000000-0000000000.checkpoint.part", "bootstrap.checkpoint",
        "00000000000000000000_0000000000.checkpoint", "leader-epoch-checkpoint", "²0000000000000000000.log",
    ],
)  # fmt: skip
def test_other_file_names_are_ignored(name: str) -> None:
    assert (segment_offset(name, LOG), snapshot_id(name)) == (None, None)


def test_only_files_of_interrupted_writes_are_leftovers() -> None:
    assert is_leftover("quorum-state.tmp")
    assert is_leftover("00000000000000000000-0000000000-123.checkpoint.part")
    assert is_leftover("00000000000000000000.log.deleted")
    assert not is_leftover("mine.tmp")
    assert not is_leftover("quorum-state")
