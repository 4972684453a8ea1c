"""The cluster in the tables: the present state of its partitions and the open sessions of its brokers.

Parquet is read directly: neither Spark nor a JVM is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.planner.cluster import NO_REPLICA, BadCluster, Broker, Cluster
from pipeline.planner.image import Image
from pipeline.tables.warehouse import OPEN, Manifest, Warehouse, WarehouseError
from records.extras import install_command

_STATE = "state"
_COLUMNS = ["topic_id", "topic", "partition", "replicas", "removing", "adding"]


def image_of_tables(directory: str, cluster_id: str | None = None) -> Image:
    """The image of a cluster as of the last ingested record of a warehouse.

    cluster_id: required if the warehouse has several. Raises BadCluster, which says what is there.
    """
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise BadCluster(f"{error}; {install_command('pipeline')}") from None
    warehouse = Warehouse(directory)
    try:
        manifest = warehouse.manifest()
    except WarehouseError as error:
        raise BadCluster(str(error)) from error
    chosen = _choose(manifest, directory, cluster_id)

    def read(part: str, columns: list[str]) -> Any:
        paths = [warehouse.absolute(path) for path in manifest.parts.get(part, ())]
        tables = [pq.read_table(path, columns=columns, filters=[("cluster", "=", chosen)]) for path in paths]
        return [table for table in tables if table.num_rows]

    try:
        brokers = [
            Broker(row["broker"], row["rack"], row["state"] == "fenced")
            for table in read(OPEN + "broker_sessions", ["broker", "rack", "state"])
            for row in table.to_pylist()
        ]
        cluster, reassigning = _cluster(brokers, read(_STATE, _COLUMNS))
    except (OSError, ValueError, KeyError) as error:
        raise BadCluster(f"{directory}: {error}") from error
    return Image(chosen, directory, manifest.folded[chosen], cluster, reassigning)


def _choose(manifest: Manifest, directory: str, wanted: str | None) -> str:
    there = sorted(manifest.folded)
    if not there:
        raise BadCluster(f"{directory} holds no tables")
    if wanted is None and len(there) > 1:
        raise BadCluster(f"{directory} holds several clusters: choose one with --cluster-id: {', '.join(there)}")
    if wanted is not None and wanted not in there:
        raise BadCluster(f"{directory} does not hold cluster {wanted}, but {', '.join(there)}")
    return wanted or there[0]


def _cluster(brokers: list[Broker], tables: list[Any]) -> tuple[Cluster, int]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not tables:
        none = np.empty(0, np.int32)
        return Cluster(brokers, (), none, none, np.empty((0, 1), np.int32)), 0
    state = pa.concat_tables(tables).combine_chunks()
    names = pc.fill_null(state["topic"], state["topic_id"]).combine_chunks().dictionary_encode()
    lists = state["replicas"].combine_chunks()
    counts = pc.list_value_length(lists).to_numpy()
    width = max(int(counts.max()), 1)
    replicas = np.full((len(counts), width), NO_REPLICA, np.int32)
    replicas[np.arange(width) < counts[:, None]] = lists.flatten().to_numpy()
    removing, adding = (
        pc.fill_null(pc.list_value_length(state[name]), 0).to_numpy() for name in ("removing", "adding")
    )
    for row in np.flatnonzero(removing):
        gone = state["removing"][int(row)].as_py()
        kept = [one for one in replicas[row].tolist() if one not in gone]
        replicas[row] = kept + [NO_REPLICA] * (width - len(kept))
    cluster = Cluster(
        brokers, names.dictionary.to_pylist(), names.indices.to_numpy().astype(np.int32), state["partition"].to_numpy(),
        replicas,
    )  # fmt: skip
    return cluster, int(((removing > 0) | (adding > 0)).sum())
