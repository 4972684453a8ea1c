"""Runs: ingesting new records into the warehouse, and deriving the tables from them, on Spark.

Both are incremental. A run reads the records that the manifest does not have yet, writes new files, and commits a new
manifest.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.arrow import arrow_schema, parquet_options
from pipeline.schemas import BY_NAME, INTERVALS, RECORDS
from pipeline.source.logs import logs_of
from pipeline.source.reading import Wanted, finding_parts, read_part
from pipeline.tables import folding, memory, record_files
from pipeline.tables.buckets import Bounds
from pipeline.tables.clusters import Cluster, Row
from pipeline.tables.compaction import compact
from pipeline.tables.partitions import PARTITION_TABLES, STATE
from pipeline.tables.record_files import Written
from pipeline.tables.warehouse import OPEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from pipeline.tables.folding import Division
    from pipeline.tables.history import Events
    from pipeline.tables.warehouse import Manifest, Warehouse

    Say = Callable[[str], None]

_BEGINNING = -2  # below -1, the last offset of an empty checkpoint


def ingest(session: Any, warehouse: Warehouse, manifest: Manifest, options: Mapping[str, str], *, say: Say) -> Manifest:
    """Add the records of the source that the warehouse lacks to the table `records`. Nothing is committed yet."""
    at = {cluster: {"offset": entry["offset"]} for cluster, entry in manifest.ingested.items()}
    plans, findings = logs_of(options).plans(at, is_live=False)
    findings += [finding for plan in plans for finding in plan.findings]
    parts = [*finding_parts(findings), *(part for plan in plans for part in plan.ranges)]
    write = _writer(warehouse, manifest)
    texts = folding.run(session.sparkContext, parts, lambda part: list(write(rows_of_part(part))))
    return _manifest_with(warehouse, manifest, [text for some in texts for text in some], say=say)


def keep(warehouse: Warehouse, manifest: Manifest, frame: Any, *, say: Say) -> Manifest:
    """Write rows of the source; the manifest with them, not committed yet."""
    write = _writer(warehouse, manifest)

    def write_batches(batches: Any) -> Any:
        for text in write(batches):
            yield pa.RecordBatch.from_pydict({"written": [text]})

    rows = frame.select(*RECORDS.names).mapInArrow(write_batches, "written string").collect()
    return _manifest_with(warehouse, manifest, [row.written for row in rows], say=say)


def rows_of_part(part: Any) -> Any:
    """The rows of a part of a plan, as Arrow batches."""
    return read_part(part, record_files.ENCODED, Wanted())


def _writer(warehouse: Warehouse, manifest: Manifest) -> Callable[[Any], Iterable[str]]:
    """The function that writes the rows of a task to a file of the next run, and returns what it wrote as text."""
    directory = warehouse.next(manifest) / "records"
    record_files.begin(directory)
    known = record_files.known_findings(warehouse.absolute(part["path"]) for part in manifest.records)
    return partial(_write_texts, str(directory), known)


def _write_texts(directory: str, known: frozenset[tuple[str, str]], batches: Any) -> Iterable[str]:
    return (written.text() for written in record_files.write_file(directory, batches, known))


def _manifest_with(warehouse: Warehouse, manifest: Manifest, texts: list[str], *, say: Say) -> Manifest:
    """The manifest with the files that the tasks wrote."""
    written = [Written.of(text) for text in texts]
    if not written:
        return manifest
    directory = warehouse.next(manifest) / "records"
    record_files.show(directory, [one.file for one in written])
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
    new = [warehouse.absolute(part["path"]) for part in manifest.records if _is_new(part, manifest.folded)]
    if not new:
        return manifest
    states = [warehouse.absolute(path) for path in manifest.parts.get(STATE, ())]
    clusters = _load_memory(warehouse, manifest)
    directory = warehouse.next(manifest)
    parts = {name: list(paths) for name, paths in manifest.parts.items()}
    with warehouse.scratch() as scratch:
        division = folding.divide(session, new, states, Bounds(manifest.folded, {}), scratch)
        _take_others(division, warehouse.paths(manifest, "records"), clusters)
        _write_others(warehouse, directory, clusters, parts)
        _fold_partitions(session, warehouse, directory, division, clusters, parts)
    say(f"tables: {division.rows:,} records of partitions, {len(clusters)} clusters")
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


def _take_others(division: Division, records: Sequence[str], clusters: dict[str, Cluster]) -> None:
    """Replay the records other than those of partitions, in this process: they are few. records: the directories of
    the table, those of former runs too.
    """
    for cluster_id in sorted(division.clusters):
        clusters.setdefault(cluster_id, Cluster(cluster_id))
    by_cluster: dict[str, list[Row]] = {}
    for row in plain_rows(division.others):
        by_cluster.setdefault(row[0], []).append(row[1])
    elections = [
        (cluster_id, row.offset - 1)
        for cluster_id, rows in by_cluster.items()
        for row in rows
        if row.is_control and row.type == 2
    ]
    before = record_files.times_at(records, elections)
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


def _write_others(
    warehouse: Warehouse, directory: Path, clusters: Mapping[str, Cluster], parts: dict[str, list[str]]
) -> None:
    """Write the table rows of the clusters' other records."""
    for name in ("broker_sessions", "config_changes", "acl_changes", "elections"):
        rows = [row for cluster in clusters.values() for row in cluster.rows[name]]
        if rows:
            parts.setdefault(name, []).append(_write(warehouse, directory / name, name, rows))
    lasting = [row for cluster in clusters.values() for row in cluster.open_sessions()]
    name = "broker_sessions"
    parts[OPEN + name] = [_write(warehouse, directory / f"{OPEN}{name}", name, lasting)] if lasting else []


def _write(warehouse: Warehouse, directory: Path, name: str, rows: list[dict[str, Any]]) -> str:
    schema = arrow_schema(BY_NAME[name].columns)
    arrays = [pa.array([row.get(field.name) for row in rows], pa.int64()).cast(field.type)
              if pa.types.is_timestamp(field.type) else pa.array([row.get(field.name) for row in rows], field.type)
              for field in schema]  # fmt: skip
    record_files.begin(directory)
    pq.write_table(
        pa.Table.from_arrays(arrays, schema=schema), directory / "part-0.parquet",
        **parquet_options(schema),
    )  # fmt: skip
    return warehouse.relative(directory)


def _fold_partitions(
    session: Any,
    warehouse: Warehouse,
    directory: Path,
    division: Division,
    clusters: Mapping[str, Cluster],
    parts: dict[str, list[str]],
) -> None:
    """Fold the partition records into the tables."""
    touched = any(one.removed or one.cleared or one.resets for one in (cluster.events for cluster in clusters.values()))
    if not division.rows and not touched:
        return
    target = directory / "tables"
    record_files.begin(target)
    folding.fold(session, division, events_of(clusters), target)
    for table in PARTITION_TABLES:
        if (path := target / f"part={table.name}").is_dir():
            parts.setdefault(table.name, []).append(warehouse.relative(path))
    for name in (STATE, *(OPEN + table.name for table in INTERVALS if table in PARTITION_TABLES)):
        path = target / f"part={name}"
        parts[name] = [warehouse.relative(path)] if path.is_dir() else []


def events_of(clusters: Mapping[str, Cluster]) -> dict[str, Events]:
    """By cluster the events that affect its partitions."""
    return {cluster_id: cluster.events for cluster_id, cluster in clusters.items()}


def until(
    session: Any, records: Sequence[str], ends: Mapping[str, int], scratch: Path
) -> tuple[dict[str, Cluster], Division]:
    """The clusters as of their offsets, inclusive, without their partitions; and the records up to there.

    records: the directories of the table.
    """
    clusters: dict[str, Cluster] = {}
    bounds = Bounds({}, {cluster: end + 1 for cluster, end in ends.items()}, only=True)
    division = folding.divide(session, records, (), bounds, scratch)
    _take_others(division, records, clusters)
    return clusters, division


def _is(cluster: str) -> str:
    quoted = cluster.replace("\\", "\\\\").replace("'", "\\'")
    return f"cluster = '{quoted}'"


def frame_of(session: Any, warehouse: Warehouse, manifest: Manifest, name: str) -> Any:
    """A table as a DataFrame, as of a manifest; an empty one if it has no files."""
    table = BY_NAME[name]
    paths = warehouse.paths(manifest, name)
    if not paths:
        return session.createDataFrame([], table.ddl)
    return session.read.schema(table.ddl).parquet(*paths)
