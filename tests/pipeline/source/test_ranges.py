"""Defects of a log are found and reported in a row; nothing is skipped silently."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from pipeline.source.columns import schema_of
from pipeline.source.directories import find
from pipeline.source.ranges import plan
from pipeline.source.reading import Wanted, read_part
from raft.storage.snapshot_file import SnapshotBytes
from records.metadata.configs import ConfigRecord
from tests.pipeline.logs import BEGIN_MS, GOLDEN, batches_of, election, node_directory, read, value_of

if TYPE_CHECKING:
    from pathlib import Path


def configs(count: int, first: int = 0) -> list[ConfigRecord]:
    return [
        ConfigRecord(resource_type=2, resource_name="t", name="n", value=str(first + number)) for number in range(count)
    ]


def batches(count: int, first: int = 0) -> list[bytes]:
    """Batches of ten records each."""
    return [
        piece
        for start in range(first, first + count, 10)
        for piece in batches_of(Random(0), configs(10, start), first=start, size_max=1)
    ]


def findings_of(table: object) -> list[tuple[str, int | None]]:
    """Kind and offset of all rows that are not valid records."""
    rows = table.to_pylist()  # type: ignore[attr-defined]
    return [(row["kind"], row["offset"]) for row in rows if row["kind"] not in ("record", "control")]


def offsets(table: object) -> list[int]:
    rows = table.to_pylist()  # type: ignore[attr-defined]
    return [row["offset"] for row in rows if row["kind"] in ("record", "control")]


def test_ranges_of_any_size_give_each_record_once(tmp_path: Path) -> None:
    node_directory(tmp_path / "node", {0: b"".join(batches(60)), 60: b"".join(batches(40, 60))})

    for range_bytes in (1, 100, 700, 1 << 20):
        table = read(tmp_path / "node", range_bytes=range_bytes)

        assert offsets(table) == list(range(100))
        assert findings_of(table) == []


def test_a_torn_tail_is_a_row_and_everything_before_it_is_read(tmp_path: Path) -> None:
    data = b"".join(batches(20))
    for cut in (1, 30, 70):
        directory = node_directory(tmp_path / str(cut), {0: data[:-cut]})

        table = read(directory)

        kinds = findings_of(table)
        assert [kind for kind, _ in kinds] == ["torn"]
        assert offsets(table) == list(range(20 - 1))
        assert kinds == [("torn", 19)]


def test_a_batch_with_a_wrong_crc_is_a_row_in_its_place(tmp_path: Path) -> None:
    pieces = batches(20)
    pieces[7] = pieces[7][:-1] + bytes((pieces[7][-1] ^ 1,))
    node_directory(tmp_path / "node", {0: b"".join(pieces)})

    table = read(tmp_path / "node")

    assert findings_of(table) == [("corrupt", 7)]
    assert offsets(table) == [number for number in range(20) if number != 7]
    assert table["offset"].to_pylist() == list(range(20))


def test_after_bytes_that_are_not_a_batch_the_next_segment_is_read(tmp_path: Path) -> None:
    pieces = batches(20)
    node_directory(tmp_path / "node", {0: b"".join(pieces[:12]) + b"\xab" * 300, 20: b"".join(batches(5, 20))})

    table = read(tmp_path / "node")

    assert sorted(findings_of(table)) == [("corrupt", 12), ("gap", 12)]
    assert offsets(table) == [*range(12), *range(20, 30)]


def test_a_missing_segment_is_a_gap_that_the_next_checkpoint_fills(tmp_path: Path) -> None:
    directory = node_directory(tmp_path / "node", {0: b"".join(batches(10)), 30: b"".join(batches(10, 30))})
    built = SnapshotBytes(0, BEGIN_MS)
    data = built.header(0) + built.data([value_of(record) for record in configs(3)]) + built.footer()
    (directory / "__cluster_metadata-0" / f"{35:020d}-{1:010d}.checkpoint").write_bytes(data)

    table = read(directory)

    rows = table.to_pylist()
    assert [(row["kind"], row["offset"]) for row in rows if row["kind"] == "gap"] == [("gap", 10)]
    stands = [(row["kind"], row["offset"], row["place"]) for row in rows if row["origin"] == "checkpoint"]
    assert stands == [("control", 34, 0), ("record", 34, 1), ("record", 34, 2), ("record", 34, 3), ("control", 34, 4)]
    assert [row["offset"] for row in rows if row["origin"] == "log" and row["kind"] == "record"] == [
        *range(10), *range(30, 40)
    ]  # fmt: skip


def checkpoint(directory: Path, end_offset: int, epoch: int) -> None:
    """A checkpoint of three configs."""
    built = SnapshotBytes(epoch, BEGIN_MS)
    data = built.header(0) + built.data([value_of(record) for record in configs(3)]) + built.footer()
    (directory / "__cluster_metadata-0" / f"{end_offset:020d}-{epoch:010d}.checkpoint").write_bytes(data)


def test_a_log_without_records_behind_a_checkpoint_is_that_checkpoint(tmp_path: Path) -> None:
    """As a node has it that has loaded a snapshot, and nothing else yet."""
    directory = node_directory(tmp_path / "node", {30: b""})
    checkpoint(directory, 0, 0)
    checkpoint(directory, 30, 2)

    table = read(directory)

    assert findings_of(table) == []
    assert [row["offset"] for row in table.to_pylist() if row["kind"] == "record"] == [29, 29, 29]


def test_of_two_copies_one_that_ends_with_a_checkpoint_goes_on_behind_the_other(tmp_path: Path) -> None:
    node_directory(tmp_path / "old", {0: b"".join(batches(20))}, node_id=1)
    checkpoint(node_directory(tmp_path / "new", {30: b""}, node_id=2), 30, 2)

    table = read(tmp_path / "old", tmp_path / "new")

    assert findings_of(table) == [("gap", 20)]
    assert offsets(table) == [*range(20), *[29] * 5]


def test_the_records_of_the_first_checkpoint_are_read_from_the_log_alone(tmp_path: Path) -> None:
    """The first leader writes them there (KIP-1170)."""
    first = configs(3)
    directory = node_directory(tmp_path / "node", {0: b"".join(batches_of(Random(0), first))})
    built = SnapshotBytes(0, BEGIN_MS)
    data = built.header(0) + built.data([value_of(record) for record in first]) + built.footer()
    (directory / "__cluster_metadata-0" / f"{0:020d}-{0:010d}.checkpoint").write_bytes(data)

    table = read(directory)

    assert table["origin"].to_pylist() == ["log"] * 3
    assert offsets(table) == [0, 1, 2]


def test_records_before_the_start_of_one_copy_are_read_from_another(tmp_path: Path) -> None:
    node_directory(tmp_path / "old", {0: b"".join(batches(30))}, node_id=1)
    node_directory(tmp_path / "new", {20: b"".join(batches(30, 20))}, node_id=2)

    table = read(tmp_path / "old", tmp_path / "new")

    assert offsets(table) == list(range(50))
    assert table["node"].to_pylist() == [1] * 20 + [2] * 30
    assert findings_of(table) == []


def test_of_several_copies_the_one_with_the_highest_epoch_is_read(tmp_path: Path) -> None:
    """Node 1 has more, but of epoch 1, in which it was not committed."""
    node_directory(tmp_path / "one", {0: b"".join(batches(30))}, node_id=1)
    shorter = b"".join(batches(20)) + election(20, 2, 2, BEGIN_MS + 90_000)
    node_directory(tmp_path / "two", {0: shorter}, node_id=2)

    table = read(tmp_path / "one", tmp_path / "two")

    assert set(table["node"].to_pylist()) == {2}
    assert offsets(table) == list(range(21))


def test_records_that_were_delivered_and_then_truncated_are_reported(tmp_path: Path) -> None:
    shorter = b"".join(batches(20)) + election(20, 2, 2, BEGIN_MS + 90_000) + b"".join(batches(20, 21))
    node_directory(tmp_path / "node", {0: shorter})
    copies, _ = find([str(tmp_path / "node")])

    sound = plan(copies, from_offset=10, from_epoch=1)
    cut = plan(copies, from_offset=21, from_epoch=1)

    assert [finding.kind for finding in sound.findings] == []
    assert [(finding.kind, finding.offset) for finding in cut.findings] == [("truncated", 21)]


def test_a_file_that_changes_between_planning_and_reading_is_a_row(tmp_path: Path) -> None:
    pieces = batches(20)
    directory = node_directory(tmp_path / "node", {0: b"".join(pieces)})
    path = directory / "__cluster_metadata-0" / f"{0:020d}.log"
    copies, _ = find([str(directory)])
    part = plan(copies).ranges[0]
    schema = schema_of(("kind", "problem"))

    for data in (b"".join(pieces[:5]), b"".join(batches(20, 40)), b""):
        path.write_bytes(data)
        rows = [row for batch in read_part(part, schema, Wanted()) for row in batch.to_pylist()]

        assert [row["kind"] for row in rows] == ["changed"]
        assert str(path) in rows[0]["problem"]
    path.unlink()
    assert [row["kind"] for batch in read_part(part, schema, Wanted()) for row in batch.to_pylist()] == ["changed"]


def test_directories_that_are_not_logs_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    node_directory(tmp_path / "good" / "node-1", {0: b"".join(batches(10))})
    node_directory(tmp_path / "good" / "node-2", {0: b"".join(batches(10))}, node_id=2)
    node_directory(tmp_path / "good" / "node-3", {0: b"".join(batches(10))}, cluster_id="another", node_id=3)
    node_directory(tmp_path / "nameless", {0: b"".join(batches(10))}, cluster_id=None)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    broken = node_directory(tmp_path / "broken", {0: b""})
    (broken / "meta.properties").write_text("version=7\n")

    table = read(*(tmp_path / name for name in ("good", "nameless", "empty", "file", "broken", "none", "no*ne")))

    problems = [row["problem"] for row in table.to_pylist() if row["kind"] == "skipped"]
    assert offsets(table) == list(range(10))
    assert len(problems) == 7
    assert all("\n" not in problem and str(tmp_path) in problem for problem in problems)
    assert sum("mixed cluster ids" in problem for problem in problems) == 1
    assert offsets(read(tmp_path / "nameless", cluster_id="mine")) == list(range(10))


@pytest.mark.parametrize("directory", ["4.3-static", "4.0-static/node-2", "4.3-static/node-1/__cluster_metadata-0"])
def test_logs_of_stock_kafka_have_no_findings(directory: str) -> None:
    table = read(GOLDEN / directory)

    assert findings_of(table) == []
    assert table.num_rows > 500
