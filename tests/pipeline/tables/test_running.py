"""Runs without Spark: ingesting and deriving give the tables of a fold of all records at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.histories import Size, write_history
from pipeline.tables import buckets, folding, record_files, running
from pipeline.tables.partitions import STATE, STATE_COLUMNS
from pipeline.tables.warehouse import OPEN, Manifest, Warehouse, WarehouseError
from tests.pipeline.logs import CLUSTER, GOLDEN, election, node_directory, read
from tests.pipeline.tables.in_process import Session
from tests.pipeline.tables.runner import Runner, ordered

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("leadership", "isr_changes", "unavailability", "under_replication", "reassignments")
OTHERS = ("elections", "config_changes", "acl_changes")


def quiet(_line: str) -> None:
    pass


def run(warehouse: Warehouse, path: Path | str) -> Manifest:
    manifest = running.ingest(Session(), warehouse, warehouse.manifest(), {"path": str(path)}, say=quiet)
    manifest = warehouse.commit(running.derive(Session(), warehouse, manifest, say=quiet))
    warehouse.sweep(manifest)
    return manifest


def rows(warehouse: Warehouse, name: str, cluster: str) -> list[dict[str, Any]]:
    """The rows of a table of one cluster, times in µs."""
    paths = warehouse.paths(warehouse.manifest(), name)
    found = [row for path in paths for row in _micros(pq.read_table(path, partitioning=None)).to_pylist()]
    return [row for row in found if row["cluster"] == cluster]


def _micros(table: Any) -> Any:
    for number, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(number, field.name, table[field.name].cast(pa.int64()))
    return table


def test_the_tables_of_several_clusters_are_those_of_a_fold_of_all_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small row groups, ranges and buckets, so that there are many of each."""
    monkeypatch.setattr(record_files, "GROUP_ROWS", 500)
    monkeypatch.setattr(folding, "_ROWS_PER_BUCKET", 700)
    monkeypatch.setattr(buckets, "READ_ROWS", 1_100)
    size = Size(3_000, 300, brokers=6, partitions_per_topic=20)
    clusters = [write_history(tmp_path / f"cluster-{seed}", size, seed) for seed in (1, 2)]
    warehouse = Warehouse(str(tmp_path / "warehouse"))

    manifest = run(warehouse, tmp_path / "cluster-*")

    assert sorted(path.name for path in (tmp_path / "warehouse").iterdir()) == ["manifests", "runs"]
    for seed, cluster in enumerate(clusters, start=1):
        runner = Runner(cluster)
        runner.run(read(tmp_path / f"cluster-{seed}"))
        for name in TABLES:
            assert ordered(rows(warehouse, name, cluster)) == runner.rows(name), name
            assert runner.rows(name), name
        for name in OTHERS:
            assert len(rows(warehouse, name, cluster)) == len(runner.others[name]) > 0
        state = pq.read_table(warehouse.absolute(manifest.parts[STATE][0]), partitioning=None)
        assert state.schema.names == [column.name for column in STATE_COLUMNS]
        assert state.filter(pa.compute.equal(state["cluster"], cluster)).num_rows == len(runner.state)


def test_several_runs_give_the_tables_of_one_run(tmp_path: Path) -> None:
    cluster = write_history(tmp_path / "node", Size(3_000, 200, brokers=5, partitions_per_topic=20), 7)
    log = next((tmp_path / "node" / "__cluster_metadata-0").glob("*.log"))
    data = log.read_bytes()
    runner = Runner(cluster)
    runner.run(read(tmp_path / "node"))
    warehouse = Warehouse(str(tmp_path / "warehouse"))

    for share in (0.3, 0.6, 1):
        log.write_bytes(data[: int(len(data) * share)])
        manifest = run(warehouse, tmp_path / "node")
        # A torn end is reported once.
        assert running.ingest(Session(), warehouse, manifest, {"path": str(tmp_path / "node")}, say=quiet) is manifest

    for name in TABLES:
        assert ordered(rows(warehouse, name, cluster)) == runner.rows(name), name
    found = sorted(rows(warehouse, "elections", cluster), key=lambda row: row["offset"])
    assert [row["silence_ms"] for row in found] == [row["silence_ms"] for row in runner.others["elections"]]
    assert manifest.run == 3


def test_the_image_at_an_offset_is_that_of_the_records_up_to_it(tmp_path: Path) -> None:
    cluster = write_history(tmp_path / "node", Size(2_000, 200, brokers=5, partitions_per_topic=20), 3)
    warehouse = Warehouse(str(tmp_path / "warehouse"))
    manifest = run(warehouse, tmp_path / "node")
    runner = Runner(cluster)
    runner.run(read(tmp_path / "node"), until=1_501)
    target = tmp_path / "image"
    record_files.begin(target)

    with warehouse.scratch() as scratch:
        clusters, division = running.until(Session(), warehouse.paths(manifest, "records"), {cluster: 1_500}, scratch)
        parts = folding.fold(Session(), division, running.events_of(clusters), target, names=frozenset((STATE,)))

    found = _micros(pq.read_table(target / f"part={STATE}", partitioning=None)).to_pylist()

    def key(row: dict[str, Any]) -> tuple[str, int]:
        return row["topic_id"], row["partition"]

    assert {part.name for part in parts} == {STATE}
    assert sorted(found, key=key) == sorted(_micros(runner.state).to_pylist(), key=key)
    assert len(found) > 100


@pytest.mark.parametrize("quorum", ["4.3-static", "4.0-static"])
def test_the_records_of_a_stock_log_are_those_of_the_decoder(tmp_path: Path, quorum: str) -> None:
    warehouse = Warehouse(str(tmp_path))

    manifest = run(warehouse, GOLDEN / quorum / "node-1")

    wanted = read(GOLDEN / quorum / "node-1")
    (path,) = warehouse.paths(manifest, "records")
    assert pq.read_table(path).cast(wanted.schema).to_pylist() == wanted.to_pylist()
    assert manifest.parts[OPEN + "leadership"]


def test_a_batch_that_is_twice_in_a_log_before_its_last_record_is_a_finding(tmp_path: Path) -> None:
    """The finding has the offset of the last record, and no epoch."""
    log = [election(offset, 1, 1, 1_790_000_000_000) for offset in (0, 1, 1, 2)]
    node = node_directory(tmp_path / "node", {0: b"".join(log)})
    said: list[str] = []

    warehouse = Warehouse(str(tmp_path / "warehouse"))
    manifest = running.ingest(Session(), warehouse, warehouse.manifest(), {"path": str(node)}, say=said.append)

    assert manifest.ingested == {CLUSTER: {"offset": 3, "epoch": 1}}
    assert said[0] == "records: 4 rows"
    assert "the batch of offset 1 comes where 2 is due" in said[1]


def test_a_second_writer_deletes_no_files_of_the_first(tmp_path: Path) -> None:
    """It has read the manifest before the first commits, and writes afterwards."""
    size = Size(1_000, 100, brokers=5, partitions_per_topic=20)
    cluster, _ = (write_history(tmp_path / name, size, seed) for seed, name in enumerate(("node", "other"), start=5))
    first, second = (Warehouse(str(tmp_path / "warehouse")) for _ in range(2))
    seen = second.manifest()
    done = run(first, tmp_path / "node")
    wanted = rows(first, "leadership", cluster)

    late = running.ingest(Session(), second, seen, {"path": str(tmp_path / "other")}, say=quiet)
    with pytest.raises(WarehouseError, match="another process writes"):
        second.commit(running.derive(Session(), second, late, say=quiet))

    assert first.manifest() == done
    assert rows(first, "leadership", cluster) == wanted
    assert len(wanted) > 100
    first.sweep(done)
    assert len(list((tmp_path / "warehouse" / "runs").iterdir())) == 1
