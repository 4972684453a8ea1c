"""Buckets hold each record of a partition once, all of a partition in one bucket; other records go to the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.histories import Size, write_history
from pipeline.tables import buckets, record_files
from pipeline.tables.buckets import Bounds, Divided, Part, Slice, divide, divide_state, fold_bucket, rows_in, show
from pipeline.tables.history import CHANGE, PARTITION, Events
from pipeline.tables.partitions import PARTITION_TABLES, STATE, fold
from tests.pipeline.logs import read

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ALL = Bounds({}, {})
SIZE = Size(1_200, 100, brokers=5, partitions_per_topic=20)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """A cluster and the rows of its log."""
    node = tmp_path_factory.mktemp("history") / "node"
    return write_history(node, SIZE, 7), read(node)


def file_of(directory: Path, rows: Any) -> str:
    """The rows as a file of the table `records`."""
    record_files.begin(directory)
    (written,) = record_files.write_file(str(directory), rows.to_batches(), frozenset())
    record_files.show(directory, [written.file])
    return str(directory / written.file)


def rows_of(slices: Iterable[Slice]) -> list[tuple[int, dict[str, Any]]]:
    """The bucket and the columns of each row."""
    found = []
    for one in slices:
        batch = pa.ipc.open_file(pa.memory_map(one.file)).get_batch(one.batch)
        assert batch.num_rows == one.rows
        assert set(batch.column("cluster").to_pylist()) == {one.cluster}
        found += [(one.bucket, row) for row in batch.to_pylist()]
    return found


def of_partitions(rows: Any) -> list[dict[str, Any]]:
    found = rows.select(buckets.EVENT_COLUMNS).to_pylist()
    return sorted((row for row in found if row["type"] in (PARTITION, CHANGE)), key=lambda row: row["offset"])


def test_each_record_of_a_partition_is_in_the_bucket_of_its_partition(tmp_path: Path, history: tuple[str, Any]) -> None:
    """Whichever file it is in."""
    cluster, rows = history
    files = [file_of(tmp_path / "first", rows.slice(0, 500)), file_of(tmp_path / "second", rows.slice(500))]

    divided = [divide(file, str(tmp_path), {cluster: 4}, ALL) for file in files]

    found = rows_of(slice_ for one in divided for slice_ in one.slices)
    assert sorted((row for _, row in found), key=lambda row: row["offset"]) == of_partitions(rows)
    places: dict[tuple[str, int], set[int]] = {}
    for bucket, row in found:
        places.setdefault((row["topic_id"], row["partition"]), set()).add(bucket)
    assert {len(some) for some in places.values()} == {1}
    assert set.union(*places.values()) == {0, 1, 2, 3}


def test_records_outside_the_bounds_are_left_out(tmp_path: Path, history: tuple[str, Any]) -> None:
    """The first bound is inclusive, the second exclusive."""
    cluster, rows = history
    file = file_of(tmp_path / "records", rows)

    divided = divide(file, str(tmp_path), {cluster: 2}, Bounds({cluster: 300}, {cluster: 900}))
    elsewhere = divide(file, str(tmp_path), {cluster: 2}, Bounds({}, {"another": 900}, only=True))

    within = [row for row in of_partitions(rows) if 300 <= row["offset"] < 900]
    assert sorted((row for _, row in rows_of(divided.slices)), key=lambda row: row["offset"]) == within
    others = buckets.table_of_bytes(divided.others)["offset"].to_pylist()
    assert others
    assert 300 <= min(others) <= max(others) < 900
    assert (elsewhere.slices, elsewhere.clusters) == ([], [])
    assert len(buckets.table_of_bytes(elsewhere.others)) == 0


def test_all_records_but_those_of_partitions_and_empty_ones_go_to_the_driver(
    tmp_path: Path, history: tuple[str, Any]
) -> None:
    cluster, rows = history

    divided = divide(file_of(tmp_path / "records", rows), str(tmp_path), {cluster: 2}, ALL)

    no_op = 20
    wanted = [
        row
        for row in rows.select(buckets.OTHER_COLUMNS).to_pylist()
        if row["kind"] == "control" or (row["kind"] == "record" and row["type"] not in (PARTITION, CHANGE, no_op))
    ]
    assert buckets.table_of_bytes(divided.others).to_pylist() == wanted
    assert {row["kind"] for row in wanted} == {"control", "record"}
    assert divided.clusters == [cluster]


def test_a_partition_below_zero_has_a_bucket(tmp_path: Path, history: tuple[str, Any]) -> None:
    """A damaged log may have one."""
    cluster, rows = history
    some = rows.filter(pa.compute.equal(rows["type"], PARTITION)).slice(0, 3)
    below = some.set_column(
        some.schema.get_field_index("partition"), "partition", pa.array([-1, -(1 << 31), (1 << 31) - 1], pa.int32())
    )

    divided = divide(file_of(tmp_path / "records", below), str(tmp_path), {cluster: 5}, ALL)

    found = rows_of(divided.slices)
    assert {row["partition"] for _, row in found} == {-1, -(1 << 31), (1 << 31) - 1}
    assert all(0 <= bucket < 5 for bucket, _ in found)


def test_a_state_is_in_the_bucket_of_its_partition(tmp_path: Path, history: tuple[str, Any]) -> None:
    cluster, rows = history
    counts = {cluster: 3}
    events = divide(file_of(tmp_path / "records", rows), str(tmp_path), counts, ALL)
    whole = divide(file_of(tmp_path / "records", rows), str(tmp_path), {cluster: 1}, ALL)
    (part,) = fold_bucket(whole.slices, Events(), str(tmp_path), frozenset((STATE,)))

    state = divide_state(str(tmp_path / f"part={STATE}" / f".{part.file}"), str(tmp_path), counts)

    places = {(row["topic_id"], row["partition"]): bucket for bucket, row in rows_of(events.slices)}
    found = rows_of(state.slices)
    assert {(row["topic_id"], row["partition"]): bucket for bucket, row in found} == places
    assert {(row["type"], row["place"]) for _, row in found} == {(0, 0)}
    assert (state.clusters, state.others) == ([], b"")


def test_a_large_file_is_divided_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, history: tuple[str, Any]
) -> None:
    """Also one with row groups larger than a piece, as that of a compaction."""
    cluster, records = history
    file = tmp_path / "records.parquet"
    pq.write_table(records, file, row_group_size=1_000, store_schema=False)
    whole = divide(str(file), str(tmp_path), {cluster: 1}, ALL)
    monkeypatch.setattr(buckets, "READ_ROWS", 400)

    pieces = divide(str(file), str(tmp_path), {cluster: 1}, ALL)

    assert len(whole.slices) == 1
    assert len(pieces.slices) > len(records) // 400
    assert max(one.rows for one in pieces.slices) <= 400
    assert sum(one.rows for one in pieces.slices) == whole.slices[0].rows > 800
    assert pieces.clusters == whole.clusters == [cluster]
    assert buckets.table_of_bytes(pieces.others).equals(buckets.table_of_bytes(whole.others))


def test_the_rows_of_a_file_are_counted_by_its_footer(tmp_path: Path) -> None:
    """A row group with several clusters counts for the first and the last of them."""
    clusters = ["a"] * 10 + ["a"] * 4 + ["b"] * 6 + [None] * 10
    file = tmp_path / "records.parquet"
    pq.write_table(pa.table({"offset": list(range(30)), "cluster": clusters}), file, row_group_size=10)

    assert rows_in(str(file)) == {"a": 20, "b": 10}


def test_a_folded_bucket_has_the_tables_of_its_rows(tmp_path: Path, history: tuple[str, Any]) -> None:
    cluster, rows = history
    divided = divide(file_of(tmp_path / "records", rows), str(tmp_path), {cluster: 1}, ALL)

    parts = fold_bucket(divided.slices, Events(), str(tmp_path / "tables"), None)
    show(tmp_path / "tables", parts)

    wanted = fold(rows.filter(pa.compute.is_in(rows["type"], pa.array([PARTITION, CHANGE], pa.int32()))), Events())
    assert {part.name for part in parts} == {name for name, table in wanted.items() if len(table)}
    assert {part.name for part in parts} > {STATE, PARTITION_TABLES[0].name}
    for part in parts:
        table = pq.read_table(tmp_path / "tables" / f"part={part.name}" / part.file, partitioning=None)
        columns = [field.name for field in table.schema if not pa.types.is_list(field.type)]
        key = [(name, "ascending") for name in columns]
        assert part.rows == len(table)
        assert table.sort_by(key).to_pylist() == wanted[part.name].cast(table.schema).sort_by(key).to_pylist()


def test_a_task_that_was_repeated_leaves_no_second_file(tmp_path: Path, history: tuple[str, Any]) -> None:
    cluster, rows = history
    divided = divide(file_of(tmp_path / "records", rows), str(tmp_path), {cluster: 1}, ALL)
    names = frozenset((STATE,))
    target = tmp_path / "tables"

    lost, kept = (fold_bucket(divided.slices, Events(), str(target), names) for _ in range(2))
    hidden = sorted(path.name for path in target.glob("*/*"))
    show(target, kept)

    assert hidden == sorted(f".{part.file}" for part in (*lost, *kept))
    assert [path.relative_to(target).as_posix() for path in target.glob("*/*")] == [f"part={STATE}/{kept[0].file}"]
    assert [Part(STATE, kept[0].file, part.rows) for part in lost] == kept


def test_offsets_are_written_as_differences_and_lists_without_statistics(
    tmp_path: Path, history: tuple[str, Any]
) -> None:
    """No filter uses the statistics of a list; those of clusters and offsets say which rows a reader can skip."""
    cluster, rows = history
    divided: Divided = divide(file_of(tmp_path / "records", rows), str(tmp_path), {cluster: 1}, ALL)

    (part,) = fold_bucket(divided.slices, Events(), str(tmp_path), frozenset(("isr_changes",)))

    file = pq.ParquetFile(tmp_path / "part=isr_changes" / f".{part.file}")
    group = file.metadata.row_group(0)
    columns = {group.column(number).path_in_schema: group.column(number) for number in range(group.num_columns)}
    assert "DELTA_BINARY_PACKED" in columns["offset"].encodings
    assert columns["offset"].statistics.max == max(file.read()["offset"].to_pylist())
    assert columns["cluster"].statistics.min == cluster
    assert columns["cluster"].has_dictionary_page
    assert not columns["isr.list.element"].is_stats_set
    assert columns["isr.list.element"].has_dictionary_page
