"""Jobs on Spark that divide the table `records` into buckets and fold them. Spark distributes the tasks; the rows stay
in files.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline.tables import buckets
from pipeline.tables.buckets import OTHER_COLUMNS, Bounds, Divided, Part, Slice
from pipeline.tables.history import Events

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# A bucket is one call of the fold. More buckets than tasks at a time even out their durations.
_ROWS_PER_BUCKET = 400_000
_ROWS_MIN = 50_000
_BUCKETS_PER_CORE = 2


@dataclass(slots=True)
class Division:
    """The records of some files. slices: by cluster and bucket, where the records of partitions are; rows: how many.

    others: all other records, a pyarrow.Table in the order of the log. clusters: those that have records.
    """

    slices: dict[tuple[str, int], list[Slice]] = field(default_factory=lambda: defaultdict(list))
    rows: int = 0
    clusters: set[str] = field(default_factory=set)
    others: Any = None


def divide(session: Any, records: Iterable[str], states: Iterable[str], bounds: Bounds, scratch: Path) -> Division:
    """Divide the files in these directories of the table `records`, and of the states that the run before left."""
    context = session.sparkContext
    files = [(path, False) for path in _files(records)] + [(path, True) for path in _files(states)]
    counts = _buckets([path for path, _ in files], context.defaultParallelism)
    divide_file = partial(_divide_file, str(scratch), counts, bounds)
    found: list[Divided] = run(context, files, divide_file)
    division = Division()
    others = []
    for (_, is_state), divided in zip(files, found, strict=True):
        for one in divided.slices:
            division.slices[one.cluster, one.bucket].append(one)
            division.rows += 0 if is_state else one.rows
        division.clusters.update(divided.clusters)
        if divided.others:
            others.append(buckets.table_of_bytes(divided.others))
    order = [(name, "ascending") for name in ("cluster", "offset", "origin", "place")]
    division.others = (
        pa.concat_tables(others).sort_by(order) if others else pa.table({name: [] for name in OTHER_COLUMNS})
    )
    return division


def fold(
    session: Any,
    division: Division,
    events: Mapping[str, Events],
    directory: Path,
    *,
    names: frozenset[str] | None = None,
) -> list[Part]:
    """Fold each bucket, and write the rows of each table to `directory`/part=NAME.

    events: by cluster. names: the tables that are wanted, None for all.
    """
    context = session.sparkContext
    shared = context.broadcast(dict(events))
    # The largest come first, so that no long task begins when all others have ended.
    work = sorted(division.slices.items(), key=lambda item: -sum(one.rows for one in item[1]))
    parts: list[Part] = [
        part for some in run(context, work, partial(_fold_bucket, shared, str(directory), names)) for part in some
    ]
    buckets.show(directory, parts)
    shared.unpersist()
    return parts


def run(context: Any, items: Sequence[Any], work: Any) -> Any:
    """The results of a task for each item, in order."""
    return context.parallelize(items, len(items)).map(work).collect() if items else []


def _divide_file(scratch: str, counts: Mapping[str, int], bounds: Bounds, item: tuple[str, bool]) -> Divided:
    path, is_state = item
    if is_state:
        return buckets.divide_state(path, scratch, counts)
    return buckets.divide(path, scratch, counts, bounds)


def _fold_bucket(
    shared: Any, directory: str, names: frozenset[str] | None, item: tuple[tuple[str, int], list[Slice]]
) -> list[Part]:
    (cluster, _), slices = item
    return buckets.fold_bucket(slices, shared.value.get(cluster, Events()), directory, names)


def _files(directories: Iterable[str]) -> list[str]:
    return [str(path) for directory in directories for path in sorted(Path(directory).glob("[!._]*.parquet"))]


def _buckets(files: Iterable[str], cores: int) -> dict[str, int]:
    """How many buckets each cluster gets."""
    rows: dict[str, int] = {}
    for path in files:
        for cluster, count in buckets.rows_in(path).items():
            rows[cluster] = rows.get(cluster, 0) + count
    return {
        cluster: max(1, min(count // _ROWS_MIN, _BUCKETS_PER_CORE * cores), count // _ROWS_PER_BUCKET)
        for cluster, count in rows.items()
    }
