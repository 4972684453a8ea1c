"""The cluster of the tables, read without Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.arrow import arrow_schema
from pipeline.planner.cluster import BadCluster, Broker
from pipeline.planner.warehouse import image_of_tables
from pipeline.schemas import BROKER_SESSIONS
from pipeline.tables.partitions import STATE_COLUMNS
from pipeline.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from pathlib import Path


def state(cluster: str, topic: str | None, partition: int, replicas: list[int], **more: Any) -> dict[str, Any]:
    return {
        "cluster": cluster, "topic_id": f"id-of-{topic}", "topic": topic, "partition": partition, "replicas": replicas,
        **more,
    }  # fmt: skip


def session(cluster: str, broker: int, kind: str = "active") -> dict[str, Any]:
    return {"cluster": cluster, "broker": broker, "rack": f"r{broker}", "state": kind}


def warehouse(root: Path, states: list[dict[str, Any]], sessions: list[dict[str, Any]]) -> str:
    """A warehouse after one run."""
    house = Warehouse(str(root))
    manifest = house.manifest()
    directory = root / "runs" / "000001"
    parts = {}
    for name, columns, rows in (
        ("state", STATE_COLUMNS, states),
        ("open_broker_sessions", BROKER_SESSIONS.columns, sessions),
    ):
        schema = arrow_schema(columns)
        table = pa.Table.from_pylist([{field.name: row.get(field.name) for field in schema} for row in rows], schema)
        (directory / name).mkdir(parents=True)
        pq.write_table(table, directory / name / "part.parquet")
        parts[name] = [house.relative(directory / name)]
    folded = {row["cluster"]: 77 for row in sessions}
    house.commit(replace(manifest, parts=parts, folded=folded))
    return str(root)


def test_only_partitions_and_brokers_of_the_cluster_are_read(tmp_path: Path) -> None:
    states = [
        state("c", "t", 0, [1, 2]),
        state("c", "t", 1, [3, 4, 1, 2], removing=[1, 2], adding=[3, 4]),
        state("c", None, 0, [2]),
        state("other", "t", 9, [9]),
    ]
    sessions = [session("c", 1), session("c", 2, "fenced"), session("c", 3, "shutting_down"), session("other", 9)]

    found = image_of_tables(warehouse(tmp_path, states, sessions), "c")

    cluster = found.cluster
    assert (found.cluster_id, found.end_offset, found.reassigning) == ("c", 77, 1)
    assert cluster.brokers == (Broker(1, "r1"), Broker(2, "r2", fenced=True), Broker(3, "r3"))
    assert {cluster.name(row): cluster.replicas_of(row) for row in range(len(cluster))} == {
        "t-0": [1, 2], "t-1": [3, 4], "id-of-None-0": [2],
    }  # fmt: skip


def test_a_cluster_without_partitions_is_read(tmp_path: Path) -> None:
    found = image_of_tables(warehouse(tmp_path, [], [session("c", 1)]))

    assert (len(found.cluster), found.cluster.brokers) == (0, (Broker(1, "r1"),))


def test_a_warehouse_without_the_cluster_is_named(tmp_path: Path) -> None:
    several = warehouse(tmp_path / "several", [], [session("c", 1), session("d", 1)])

    with pytest.raises(BadCluster, match=r"several holds several clusters: choose one with --cluster-id: c, d"):
        image_of_tables(several)
    with pytest.raises(BadCluster, match=r"does not hold cluster e, but c, d"):
        image_of_tables(several, "e")
    with pytest.raises(BadCluster, match=r"nothing holds no tables"):
        image_of_tables(str(tmp_path / "nothing"))
