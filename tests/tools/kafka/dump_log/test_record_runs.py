"""Runs of partition records have the lines of the records one by one, in every layout, and around what is unusual."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from records.batch import build_batch, seal
from records.frame import encode_record
from records.metadata.topics import PartitionChangeRecord, PartitionRecord
from records.wire import zigzag
from tests.tools.kafka.cases import ours
from tests.tools.offline.random_metadata import TIME_MS, RandomMetadata, values_of
from tools.kafka.dump_log import dump_batches
from tools.kafka.dump_log.dump_lines import Run
from tools.kafka.dump_log.record_runs import RecordRuns
from tools.offline.log_file import HEADER_BYTES

if TYPE_CHECKING:
    from pathlib import Path

APPEND_TIME, GZIP = 8, 1


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that are printed; files of any size have some."""
    printed: list[Run] = []

    class Noting(RecordRuns):
        def _read(self, batch: Any) -> Any:
            for each in super()._read(batch):
                if isinstance(each, Run):
                    printed.append(each)
                yield each

    monkeypatch.setattr("tools.kafka.dump_log.record_runs.RecordRuns", Noting)
    return printed


def answers(file: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> tuple[Any, Any]:
    """What is printed with runs, and without them."""
    found = []
    for least in (0, 1 << 62):
        monkeypatch.setattr(dump_batches, "RUNS_BYTES_MIN", least)
        found.append(ours("dump-log", ["--cluster-metadata-decoder", *options, "--files", str(file)]))
    return found[0], found[1]


def random_log(rng: Random) -> bytes:
    """Batches of all versions, with gaps between their offsets, times of the broker, and several sizes."""
    values = values_of(RandomMetadata(rng).records(1500), rng)
    parts = []
    offset = start = 0
    while start < len(values):
        some = values[start : start + rng.choice((1, 5, 150, 1000))]
        parts.append(build_batch(
            some, base_offset=offset, leader_epoch=1, timestamp_ms=rng.choice((0, 7, TIME_MS)),
            attributes=rng.choice((0, 0, APPEND_TIME)),
        ))  # fmt: skip
        start += len(some)
        offset += len(some) + rng.choice((0, 0, 3))
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(16))
def test_a_log_is_printed_as_record_by_record(
    seed: int, tmp_path: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(random_log(Random(seed)))
    options = ["--skip-record-metadata"] if seed % 4 == 3 else []

    with_runs, one_by_one = answers(file, monkeypatch, *options)

    assert with_runs == one_by_one
    assert sum(run.last_offset - run.first_offset + 1 for run in runs) > 300


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_log_is_printed_as_record_by_record(
    seed: int, tmp_path: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(seed)
    data = bytearray(random_log(rng))
    for _ in range(rng.choice((1, 3, 30))):
        data[rng.randrange(len(data))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(data[: rng.choice((len(data), rng.randrange(len(data))))])

    with_runs, one_by_one = answers(file, monkeypatch)

    assert with_runs == one_by_one


def record(
    value: bytes, delta: int, key: bytes = b"\1", head: bytes = b"\0\0", tail: bytes = b"\0", offset: bytes = b""
) -> bytes:
    body = head + (offset or zigzag(delta)) + key + zigzag(len(value)) + value + tail
    return zigzag(len(body)) + body


def partition(number: int, **fields: Any) -> bytes:
    known: dict[str, Any] = {
        "replicas": [1, 2], "isr": [1, 2], "removing_replicas": (), "adding_replicas": (), "leader": number,
    }  # fmt: skip
    made = PartitionRecord(partition_id=number, topic_id=b"t" * 16, **{**known, **fields})
    return encode_record(made, 2)


# What a run of 200 partitions has in its middle.
UNUSUAL = {
    "another offset": record(partition(100), 3000),
    "a lower offset": record(partition(100), 2),
    "a longer varint": record(partition(100), 100, offset=b"\xc8\x81\0"),
    "its own time": record(partition(100), 100, head=b"\0\4"),
    "attributes": record(partition(100), 100, head=b"\1\0"),
    "a key": record(partition(100), 100, key=b"\2k"),
    "a header": record(partition(100), 100, tail=b"\2\2h\2v"),
    "a longer count of headers": record(partition(100), 100, tail=b"\x80\0"),
    "unknown bytes behind it": record(partition(100) + b"\0", 100),
    "another type": record(b"\1\x14\0\0", 100),
    "an unknown type": record(b"\1\x63" + partition(100)[2:], 100),
    "an unknown version": record(b"\1\3\7" + partition(100)[3:], 100),
    "another frame version": record(b"\2" + partition(100)[1:], 100),
    "a percent sign of a key": record(partition(100), 100, key=b"\4%s"),
    "no value": zigzag(7) + b"\0\0" + zigzag(100) + b"\1\1\0",
    "a tag at its default": record(
        encode_record(PartitionChangeRecord(partition_id=1, topic_id=b"t" * 16, isr=[5]), 2), 100
    ),
}


@pytest.mark.parametrize("unusual", UNUSUAL.values(), ids=UNUSUAL)
def test_an_unusual_record_ends_a_run(
    unusual: bytes, tmp_path: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [record(partition(number), number) for number in range(200)]
    parts[100] = unusual
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(seal(b"".join(parts), len(parts), 0, 1, TIME_MS))

    with_runs, one_by_one = answers(file, monkeypatch)

    assert with_runs == one_by_one
    assert (len(runs) > 1, runs[0].last_offset < 100 < runs[-1].first_offset) == (True, True)


def test_records_whose_count_of_headers_is_longer_than_it_need_be_are_printed_as_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [record(partition(number), number, tail=b"\x80\0") for number in range(200)]
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(seal(b"".join(parts), len(parts), 0, 1, TIME_MS))

    with_runs, one_by_one = answers(file, monkeypatch)

    assert with_runs == one_by_one


def test_layouts_that_alternate_are_printed_in_runs(
    tmp_path: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = (
        {"isr": [1]},
        {},
        {"leader_recovery_state": 1},
        {"eligible_leader_replicas": [7]},
        {"last_known_elr": [7]},
    )
    values = [partition(number, **shapes[number % 5]) for number in range(600)]
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=TIME_MS))

    with_runs, one_by_one = answers(file, monkeypatch)

    assert with_runs == one_by_one
    assert sum(run.last_offset - run.first_offset + 1 for run in runs) > 450


def test_too_many_layouts_are_no_error(tmp_path: Path, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.kafka.dump_log.record_runs._LAYOUTS_MAX", 1)
    values = [partition(number, isr=[1] * (number // 50)) for number in range(400)]
    file = tmp_path / "00000000000000000000.log"
    file.write_bytes(build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=TIME_MS))

    with_runs, one_by_one = answers(file, monkeypatch)

    assert with_runs == one_by_one
    assert {run.first_offset // 50 for run in runs} == {0}


def test_control_and_compressed_batches_have_no_runs() -> None:
    from tools.offline.log_file import StoredBatch

    values = [partition(number) for number in range(100)]
    for attributes, is_for in ((0, True), (GZIP, False), (32, False)):
        data = build_batch(values, base_offset=0, leader_epoch=1, timestamp_ms=0, attributes=attributes)
        assert len(data) > HEADER_BYTES
        assert (RecordRuns(lambda _batch, _record: iter(())).read(StoredBatch(0, data)) is not None) == is_for
