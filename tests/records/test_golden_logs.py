"""Logs and checkpoints that stock Kafka wrote decode, and encode to the same bytes again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from records.batch import Batch, batches, build_batch, build_control_batch, records_of
from records.codec import encode
from records.control_batch import CONTROL_RECORDS, control_key, control_records_of
from records.frame import decode_record, encode_record
from tests.records.golden import files

if TYPE_CHECKING:
    from pathlib import Path

FILES = [*files("*.log"), *files("*.checkpoint")]


def name(path: Path) -> str:
    return "/".join(path.parts[-4:])


def rebuilt(data: bytes, batch: Batch) -> bytes:
    """The batch again, from its records decoded."""
    if batch.is_control:
        pairs = [(control_key(kind), encode(value, 0)) for _, kind, value in control_records_of(data, batch)]
        return build_control_batch(
            pairs,
            base_offset=batch.base_offset,
            leader_epoch=batch.leader_epoch,
            timestamp_ms=batch.base_timestamp,
        )
    values = []
    for record in records_of(data, batch):
        assert record.key is None
        assert record.value is not None
        assert record.headers == ()
        assert record.timestamp == batch.base_timestamp
        values.append(encode_record(*decode_record(record.value)))
    return build_batch(
        values, base_offset=batch.base_offset, leader_epoch=batch.leader_epoch, timestamp_ms=batch.base_timestamp
    )


@pytest.mark.parametrize("path", FILES, ids=name)
def test_a_file_of_stock_encodes_to_the_same_bytes(path: Path) -> None:
    data = path.read_bytes()

    again = b"".join(rebuilt(data, batch) for batch in batches(data))

    assert again == data


def test_each_cluster_has_logs_and_checkpoints() -> None:
    assert {path.parts[-4] for path in FILES if "__cluster_metadata-0" in path.parts} == {
        "4.0-static", "4.1-static", "4.3-dynamic", "4.3-static",
    }  # fmt: skip
    assert len(FILES) > 30


def test_the_control_records_of_a_snapshot_are_first_and_last() -> None:
    for path in files("*-*.checkpoint"):
        data = path.read_bytes()

        kinds = [
            CONTROL_RECORDS[kind][0]
            for batch in batches(data)
            if batch.is_control
            for _, kind, _ in control_records_of(data, batch)
        ]

        assert kinds[0] == "SNAPSHOT_HEADER"
        assert kinds[-1] == "SNAPSHOT_FOOTER"
