"""Runs: ingesting new records into the warehouse, and deriving the tables from them, on Spark.

Both are incremental. A run reads the records that the manifest does not have yet, writes new files, and commits a new
manifest.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline.arrow import arrow_schema
from pipeline.schemas import BY_NAME, INTERVALS, PARTITION_FIELDS, RECORDS
from pipeline.tables import memory, record_files
from pipeline.tables.clusters import Cluster, Row
from pipeline.tables.compaction import compact
from pipeline.tables.history import Events
from pipeline.tables.partitions import CARRIED, PARTITION_TABLES, STATE, STATE_COLUMNS, WIDE, fold
from pipeline.tables.record_files import Written
from pipeline.tables.warehouse import OPEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pipeline.schemas import Column
    from pipeline.tables.warehouse import Manifest, Warehouse

    Say = Callable[[str], None]

_PARTITION_TYPES = "(3, 5)"
_ROWS_PER_BUCKET = 400_000
_BEGINNING = -2  # below -1, the last offset of an empty checkpoint
_EVENT_COLUMNS = ("cluster", "topic_id", "partition", "offset", "place", "time", "type")
_STATE_EVENT = ("cluster", "topic_id", "partition", "offset", "cast(0 as bigint) as place", "time", "0 as type")


def ingest(session: Any, warehouse: Warehouse, manifest: Manifest, options: Mapping[str, str], *, say: Say) -> Manifest:
    """Add the records of the source that the warehouse lacks to the table `records`. Nothing is committed yet."""
    import json

    from pipeline.source.spark import Reader

    at = {cluster: entry["offset"] for cluster, entry in manifest.ingested.items()}
    parts = Reader({**options, "from": json.dumps(at)}, RECORDS.names).partitions()
    write = _writer(warehouse, manifest)
    tasks = session.sparkContext.parallelize(parts, max(len(parts), 1))
    return _kept(warehouse, manifest, tasks.flatMap(lambda part: write(rows_of_part(part))).collect(), say=say)


def keep(warehouse: Warehouse, manifest: Manifest, frame: Any, *, say: Say) -> Manifest:
    """Write rows of the source; the manifest with them, not committed yet."""
    write = _writer(warehouse, manifest)

    def write_batches(batches: Any) -> Any:
        for text in write(batches):
            yield pa.RecordBatch.from_pydict({"written": [text]})

    rows = frame.select(*RECORDS.names).mapInArrow(write_batches, "written string").collect()
    return _kept(warehouse, manifest, [row.written for row in rows], say=say)


def rows_of_part(part: Any) -> Any:
    """The rows of a task of the source, as Arrow batches."""
    from pipeline.source.spark import read_partition

    return read_partition(part, record_files.ENCODED)


def _writer(warehouse: Warehouse, manifest: Manifest) -> Callable[[Any], Iterable[str]]:
    """The function that writes the rows of a task to a file of the next run, and returns what it wrote as text."""
    directory = warehouse.next(manifest) / "records"
    record_files.begin(directory)
    known = record_files.known_findings(warehouse.absolute(part["path"]) for part in manifest.records)
    return partial(_write_texts, str(directory), known)


def _write_texts(directory: str, known: frozenset[tuple[str, str]], batches: Any) -> Iterable[str]:
    return (written.text() for written in record_files.write_file(directory, batches, known))


def _kept(warehouse: Warehouse, manifest: Manifest, texts: list[str], *, say: Say) -> Manifest:
    """The manifest with the files that the tasks wrote."""
    written = [Written.of(text) for text in texts]
    if not written:
        return manifest
    directory = warehouse.next(manifest) / "records"
    record_files.show(directory, written)
    bounds: dict[str, list[int]] = {}
    ingested = dict(manifest.ingested)
    for cluster, span in record_files.span_of(written).items():
        if cluster is None or span.low is None or span.high is None:
            continue
        bounds[cluster] = [span.low, span.high]
        end = max(span.last + 1 if span.last is not None else 0, ingested.get(cluster, {}).get("offset", 0))
        ingested[cluster] = {"offset": end, "epoch": -1 if span.epoch is None else span.epoch}
    say(f"records: {sum(one.rows for one in written):,} rows")
    findings = [finding for one in written for finding in one.findings]
    for kind, problem in findings[: record_files.FINDINGS_MAX]:
        say(f"{kind}: {problem}")
    part = {"path": warehouse.relative(directory), "clusters": bounds}
    return replace(manifest, records=[*manifest.records, part], ingested=ingested)


def derive(session: Any, warehouse: Warehouse, manifest: Manifest, *, say: Say) -> Manifest:
    """Derive the tables from the new records; the manifest with them, not committed yet."""
    new = [part for part in manifest.records if _is_new(part, manifest.folded)]
    if not new:
        return manifest
    frame = session.read.schema(RECORDS.ddl).parquet(*(warehouse.absolute(part["path"]) for part in new))
    frame = behind(frame, manifest.folded).where("kind in ('record', 'control')")
    clusters = _load_memory(warehouse, manifest)
    every = session.read.schema(RECORDS.ddl).parquet(*(warehouse.absolute(part["path"]) for part in manifest.records))
    _take_others(frame, every, clusters)
    directory = warehouse.next(manifest)
    parts = {name: list(paths) for name, paths in manifest.parts.items()}
    _write_others(session, warehouse, directory, clusters, parts)
    rows = _fold_partitions(session, warehouse, directory, frame, clusters, parts)
    say(f"tables: {rows:,} records of partitions, {len(clusters)} clusters")
    for cluster in clusters.values():
        for problem in cluster.problems[:20]:
            say(f"not taken in: {problem}")
    path = directory / "memory.jsonl"
    path.write_text("".join(memory.dump(cluster) + "\n" for cluster in clusters.values()))
    folded = dict(manifest.folded)
    for cluster_id, entry in manifest.ingested.items():
        if cluster_id in clusters:
            folded[cluster_id] = min(entry["offset"], clusters[cluster_id].events.end_offset)
    after = replace(manifest, parts=parts, folded=folded, memory=warehouse.relative(path))
    return compact(session, warehouse, after, directory)


def _is_new(part: Mapping[str, Any], folded: Mapping[str, int]) -> bool:
    return any(high >= folded.get(cluster, _BEGINNING) for cluster, (_, high) in part["clusters"].items())


def behind(frame: Any, folded: Mapping[str, int]) -> Any:
    """The rows that are not in the tables yet."""
    for cluster, offset in folded.items():
        frame = frame.where(f"not ({_is(cluster)}) or offset >= {offset} or offset is null")
    return frame


def _load_memory(warehouse: Warehouse, manifest: Manifest) -> dict[str, Cluster]:
    if manifest.memory is None:
        return {}
    with open(warehouse.absolute(manifest.memory)) as file:  # noqa: PTH123 - one line at a time
        clusters = [memory.load(line) for line in file]
    return {cluster.cluster_id: cluster for cluster in clusters}


def _take_others(frame: Any, every: Any, clusters: dict[str, Cluster]) -> None:
    """Replay the records other than those of partitions, in this process: they are few. every:
    those of former runs too.
    """
    columns = ("cluster", "offset", "time", "epoch", "origin", "kind", "type", "json", "value", "place")
    others = frame.where(f"kind = 'control' or type not in {_PARTITION_TYPES} and type <> 20").select(*columns)
    table = others.orderBy("cluster", "offset", "origin", "place").toArrow()
    frames = {cluster for cluster in frame.select("cluster").distinct().toPandas()["cluster"] if cluster is not None}
    for cluster_id in sorted(frames):
        clusters.setdefault(cluster_id, Cluster(cluster_id))
    by_cluster: dict[str, list[Row]] = {}
    for row in plain_rows(table):
        by_cluster.setdefault(row[0], []).append(row[1])
    elections = [
        (cluster_id, row.offset - 1)
        for cluster_id, rows in by_cluster.items()
        for row in rows
        if row.is_control and row.type == 2
    ]
    before = _times_at(every, elections)
    for cluster_id, rows in by_cluster.items():
        # The log's record of an offset takes precedence over a checkpoint's rows: "log" sorts after "checkpoint".
        rows.sort(key=lambda row: (row.offset, row.is_checkpoint))
        mine = {offset + 1: time for (cluster, offset), time in before.items() if cluster == cluster_id}
        clusters[cluster_id].take(rows, mine)


def plain_rows(table: Any) -> Any:
    """Cluster and row of each record."""
    times = table["time"].cast(pa.int64()).to_pylist()
    columns = (
        table[name].to_pylist() for name in ("cluster", "offset", "epoch", "origin", "kind", "type", "json", "value")
    )
    for time_us, (cluster, offset, epoch, origin, kind, type_, json, value) in zip(
        times, zip(*columns, strict=True), strict=True
    ):
        yield cluster, Row(offset, time_us, epoch, origin == "checkpoint", kind == "control", type_ or 0, json, value)


def _times_at(frame: Any, places: list[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """The times in µs of the records at these offsets."""
    if not places:
        return {}
    clusters, offsets = {cluster for cluster, _ in places}, {offset for _, offset in places}
    wanted = frame.where(frame["cluster"].isin(*clusters) & frame["offset"].isin(*offsets) & (frame["origin"] == "log"))
    table = wanted.select("cluster", "offset", "time").toArrow()
    times = table["time"].cast(pa.int64()).to_pylist()
    return dict(zip(zip(table["cluster"].to_pylist(), table["offset"].to_pylist(), strict=True), times, strict=True))


def _write_others(
    session: Any, warehouse: Warehouse, directory: Path, clusters: Mapping[str, Cluster], parts: dict[str, list[str]]
) -> None:
    """Write the table rows of the clusters' other records."""
    for name in ("broker_sessions", "config_changes", "acl_changes", "elections"):
        rows = [row for cluster in clusters.values() for row in cluster.rows[name]]
        if rows:
            parts.setdefault(name, []).append(_write(session, warehouse, directory / name, name, rows))
    lasting = [row for cluster in clusters.values() for row in cluster.open_sessions()]
    name = "broker_sessions"
    parts[OPEN + name] = [_write(session, warehouse, directory / f"{OPEN}{name}", name, lasting)] if lasting else []


def _write(session: Any, warehouse: Warehouse, directory: Path, name: str, rows: list[dict[str, Any]]) -> str:
    table = BY_NAME[name]
    schema = arrow_schema(table.columns)
    arrays = [pa.array([row.get(field.name) for row in rows], pa.int64()).cast(field.type)
              if pa.types.is_timestamp(field.type) else pa.array([row.get(field.name) for row in rows], field.type)
              for field in schema]  # fmt: skip
    frame = session.createDataFrame(pa.Table.from_arrays(arrays, schema=schema))
    frame.coalesce(1).write.mode("overwrite").parquet(str(directory))
    return warehouse.relative(directory)


def _fold_partitions(
    session: Any,
    warehouse: Warehouse,
    directory: Path,
    frame: Any,
    clusters: Mapping[str, Cluster],
    parts: dict[str, list[str]],
) -> int:
    """Fold the partition records into the tables; returns how many there were."""
    changes = frame.where(f"kind = 'record' and type in {_PARTITION_TYPES}")
    count: int = changes.count()
    touched = any(one.removed or one.cleared or one.resets for one in (cluster.events for cluster in clusters.values()))
    if not count and not touched:
        return 0
    states = [warehouse.absolute(path) for path in parts.get(STATE, ())]
    held = session.read.schema(_ddl(STATE_COLUMNS)).parquet(*states) if states else None
    folded = fold_records(session, changes, held, clusters)
    target = directory / "tables"
    folded.write.mode("overwrite").partitionBy("part").parquet(str(target))
    for table in PARTITION_TABLES:
        if (path := target / f"part={table.name}").is_dir():
            parts.setdefault(table.name, []).append(warehouse.relative(path))
    for name in (STATE, *(OPEN + table.name for table in INTERVALS if table in PARTITION_TABLES)):
        path = target / f"part={name}"
        parts[name] = [warehouse.relative(path)] if path.is_dir() else []
    return count


def fold_records(session: Any, changes: Any, states: Any | None, clusters: Mapping[str, Cluster]) -> Any:
    """The partition records folded into rows of all tables, as a DataFrame of WIDE; states: of the run before."""
    nothing = [f"cast(null as {column.type}) as `{column.name}`" for column in CARRIED]
    fields = [f"`{column.name}`" for column in PARTITION_FIELDS]
    union = changes.selectExpr(*_EVENT_COLUMNS, *fields, "cast(null as string) as topic", *nothing)
    count = changes.count()
    if states is not None:
        carried = [f"`{column.name}`" for column in CARRIED]
        count += states.count()
        union = union.unionByName(states.selectExpr(*_STATE_EVENT, *fields, "topic", *carried))
    buckets = max(session.sparkContext.defaultParallelism * 2, count // _ROWS_PER_BUCKET)
    union = union.selectExpr("*", f"pmod(hash(topic_id, partition), {buckets}) as bucket")
    session.conf.set("spark.sql.shuffle.partitions", str(buckets))
    events = {cluster_id: cluster.events for cluster_id, cluster in clusters.items()}
    return union.groupBy("cluster", "bucket").applyInArrow(_folder(events), _ddl(WIDE))


def until(frame: Any, ends: Mapping[str, int]) -> tuple[dict[str, Cluster], Any]:
    """The clusters as of their offsets, inclusive, without their partitions; and the partition records up to there."""
    clusters: dict[str, Cluster] = {}
    frame = frame.where(" or ".join(f"{_is(cluster)} and offset <= {end}" for cluster, end in ends.items()) or "false")
    _take_others(frame, frame, clusters)
    return clusters, frame.where(f"kind = 'record' and type in {_PARTITION_TYPES}")


def _is(cluster: str) -> str:
    quoted = cluster.replace("\\", "\\\\").replace("'", "\\'")
    return f"cluster = '{quoted}'"


def _ddl(columns: Iterable[Column]) -> str:
    return ", ".join(f"`{column.name}` {column.type}" for column in columns)


def _folder(events: Mapping[str, Events]) -> Callable[[Any, Any], Any]:
    """The function that the workers run on each bucket."""

    def fold_group(key: Any, table: Any) -> Any:
        return fold(table, events.get(key[0].as_py(), Events()))

    return fold_group


def frame_of(session: Any, warehouse: Warehouse, manifest: Manifest, name: str) -> Any:
    """A table as a DataFrame, as of a manifest; an empty one if it has no files."""
    table = BY_NAME[name]
    paths = warehouse.paths(manifest, name)
    if not paths:
        return session.createDataFrame([], table.ddl)
    return session.read.schema(table.ddl).parquet(*paths)
