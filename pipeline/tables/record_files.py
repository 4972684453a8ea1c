"""Files of the table `records`, written by the tasks that read the logs: no row passes through the JVM.

A task writes a hidden file, which readers of Parquet skip, and returns what is in it. The driver makes the files of the
successful tasks visible, so a task that was repeated leaves no second file.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pipeline.arrow import arrow_schema, encoded_schema, parquet_options
from pipeline.schemas import RECORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

# Rows of a row group, which a task holds in memory: some 200 bytes each.
GROUP_ROWS = 1 << 17
# Findings whose text a task returns; all are in its file.
FINDINGS_MAX = 50
SCHEMA = arrow_schema(RECORDS.columns)
# The columns as `write_file` takes them best.
ENCODED = encoded_schema(RECORDS.columns)
# Columns of records other than those of partitions: their values do not repeat.
_SINGLE = ("json", "value")
_SOUND = pa.array(["record", "control", "unknown", "corrupt"])
_SKIPPED = "skipped"


class Span(NamedTuple):
    """The offsets of a cluster in a file. low, high: of all rows, inclusive; None if no row has an offset.

    last: of the records, None if there is none; epoch: of that record.
    """

    low: int | None
    high: int | None
    last: int | None
    epoch: int | None


class Written(NamedTuple):
    """What a task wrote. file: its name in the directory; findings: kind and problem."""

    file: str
    rows: int
    spans: list[tuple[str | None, Span]]
    findings: list[tuple[str, str]]

    def text(self) -> str:
        """On one line."""
        return json.dumps(self)

    @classmethod
    def of(cls, text: str) -> Written:
        """The inverse of `text`."""
        file, rows, spans, findings = json.loads(text)
        return cls(
            file, rows, [(cluster, Span(*span)) for cluster, span in spans], [(kind, line) for kind, line in findings]
        )


def write_file(directory: str, batches: Iterable[Any], known: frozenset[tuple[str, str]]) -> Iterator[Written]:
    """Write the rows of a task to a hidden file; yields nothing if there are none.

    batches: pyarrow.RecordBatches, all of SCHEMA or all of ENCODED. known: findings, as kind and problem, that are
    left out.
    """
    name = f"part-{uuid.uuid4().hex}.parquet"
    path = Path(directory, f".{name}")
    rows = 0
    spans: dict[str | None, Span] = {}
    findings: list[tuple[str, str]] = []
    writer = None
    try:
        for table in _groups(batches, known):
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema, **parquet_options(table.schema, _SINGLE))
            writer.write_table(table, row_group_size=GROUP_ROWS)
            rows += table.num_rows
            for cluster, span in _spans(table):
                spans[cluster] = _join([spans[cluster], span]) if cluster in spans else span
            findings += _findings(table)[: FINDINGS_MAX - len(findings)]
    finally:
        if writer is not None:
            writer.close()
    if rows:
        yield Written(name, rows, list(spans.items()), findings)


def begin(directory: Path) -> None:
    """An empty directory for the files of a run; files of a run that died are removed."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)


def show(directory: Path, files: Iterable[str]) -> None:
    """Make the files with these names visible, which tasks have written, and remove those of other attempts."""
    for file in files:
        os.rename(directory / f".{file}", directory / file)  # noqa: PTH104 - neither path is needed as a value
    for left in directory.glob(".part-*"):
        left.unlink()


def span_of(written: Sequence[Written]) -> dict[str | None, Span]:
    """By cluster the offsets in all these files."""
    every: dict[str | None, list[Span]] = {}
    for one in written:
        for cluster, span in one.spans:
            every.setdefault(cluster, []).append(span)
    return {cluster: _join(spans) for cluster, spans in every.items()}


def known_findings(paths: Iterable[str]) -> frozenset[tuple[str, str]]:
    """The findings in these directories of the table `records`, as kind and problem."""
    pairs: set[tuple[str, str]] = set()
    for path in paths:
        table = ds.dataset(path, SCHEMA, format="parquet").to_table(
            columns=["kind", "problem"], filter=pc.field("problem").is_valid()
        )
        pairs.update(zip(table["kind"].to_pylist(), table["problem"].to_pylist(), strict=True))
    return frozenset(pairs)


def times_at(paths: Iterable[str], places: Collection[tuple[str, int]]) -> dict[tuple[str, int], int]:
    """The times in µs of the records of the log at these places, a cluster and an offset each.

    paths: directories of the table `records`.
    """
    if not places:
        return {}
    clusters, offsets = (pa.array(sorted({place[one] for place in places})) for one in (0, 1))
    wanted = pc.field("offset").isin(offsets) & pc.field("cluster").isin(clusters) & (pc.field("origin") == "log")
    times: dict[tuple[str, int], int] = {}
    for path in paths:
        table = ds.dataset(path, SCHEMA, format="parquet").to_table(["cluster", "offset", "time"], filter=wanted)
        keys = zip(table["cluster"].to_pylist(), table["offset"].to_pylist(), strict=True)
        times.update(zip(keys, table["time"].cast(pa.int64()).to_pylist(), strict=True))
    return times


def _groups(batches: Iterable[Any], known: frozenset[tuple[str, str]]) -> Iterator[Any]:
    """Tables of at least GROUP_ROWS rows, but the last."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        unknown = _but(batch, known)
        if unknown.num_rows:
            held.append(unknown)
            rows += unknown.num_rows
        if rows >= GROUP_ROWS:
            yield pa.Table.from_batches(held).unify_dictionaries()
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held).unify_dictionaries()


def _but(batch: Any, known: frozenset[tuple[str, str]]) -> Any:
    """The rows that are not a known finding."""
    problems = batch.column("problem")
    if not known or problems.null_count == len(problems):
        return batch
    pairs = zip(batch.column("kind").to_pylist(), problems.to_pylist(), strict=True)
    return batch.filter(pa.array([pair not in known for pair in pairs]))


def _spans(table: Any) -> Iterator[tuple[str | None, Span]]:
    clusters = pc.unique(table["cluster"]).to_pylist()
    for cluster in clusters:
        mine = table
        if len(clusters) > 1:
            column = table["cluster"].cast(pa.string())
            mine = table.filter(pc.is_null(column) if cluster is None else pc.equal(column, cluster))
        bounds = pc.min_max(mine["offset"]).as_py()
        sound = mine.select(["offset", "epoch"]).filter(pc.is_in(mine["kind"].cast(pa.string()), _SOUND))
        last = pc.max(sound["offset"]).as_py()
        epoch = None if last is None else sound["epoch"][pc.index(sound["offset"], last).as_py()].as_py()
        yield cluster, Span(bounds["min"], bounds["max"], last, epoch)


def _join(spans: Sequence[Span]) -> Span:
    # A finding at the offset of a record has no epoch.
    last, epoch = max(
        ((span.last, span.epoch) for span in spans if span.last is not None),
        key=lambda at: (at[0], -1 if at[1] is None else at[1]),
        default=(None, None),
    )
    return Span(
        min((span.low for span in spans if span.low is not None), default=None),
        max((span.high for span in spans if span.high is not None), default=None),
        last,
        epoch,
    )


def _findings(table: Any) -> list[tuple[str, str]]:
    if table["problem"].null_count == table.num_rows:
        return []
    wanted = pc.and_(pc.is_valid(table["problem"]), pc.not_equal(table["kind"].cast(pa.string()), _SKIPPED))
    some = table.select(["kind", "problem"]).filter(wanted).slice(0, FINDINGS_MAX)
    return list(zip(some["kind"].to_pylist(), some["problem"].to_pylist(), strict=True))
