"""Records of partitions on their way from the table `records` to the fold: sorted into buckets by tasks that read the
table, and folded by other tasks, bucket by bucket. Between them are files of Arrow; no row passes through the JVM.
"""

from __future__ import annotations

import uuid
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.arrow import array_of, parquet_options
from pipeline.schemas import PARTITION_FIELDS
from pipeline.tables import record_files
from pipeline.tables.history import CHANGE, PARTITION
from pipeline.tables.history import STATE as STATE_TYPE
from pipeline.tables.partitions import STATE_COLUMNS, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from pipeline.tables.history import Events

EVENT_COLUMNS = (
    "cluster", "topic_id", "partition", "offset", "place", "time", "type", *(one.name for one in PARTITION_FIELDS),
)  # fmt: skip
OTHER_COLUMNS = ("cluster", "offset", "time", "epoch", "origin", "kind", "type", "json", "value", "place")
# Rows that a task reads at once, some 200 bytes each: a file that was compacted may have hundreds of millions.
READ_ROWS = 1 << 20
_NO_OP = 20
_BEGINNING = -(1 << 62)
_END = 1 << 62
# Texts that are read as dictionaries: their lists cannot be.
_TEXTS = frozenset(("cluster", "topic_id", "topic", "kind", "origin"))
_MIX = 0x9E3779B1


class Bounds(NamedTuple):
    """The wanted records, by cluster: from an offset, inclusive, to an offset, exclusive; all if there is none.

    only: whether clusters without an end are left out.
    """

    begin: Mapping[str, int]
    end: Mapping[str, int]
    only: bool = False


class Slice(NamedTuple):
    """The rows of a bucket in a file. batch: their number in the file."""

    cluster: str
    bucket: int
    file: str
    batch: int
    rows: int


class Divided(NamedTuple):
    """What `divide` found in a file. clusters: those of wanted rows; others: a table with OTHER_COLUMNS as bytes."""

    slices: list[Slice]
    clusters: list[str]
    others: bytes


class Part(NamedTuple):
    """A file of a table. name: of the table, or `open_` and its name, or state."""

    name: str
    file: str
    rows: int


def divide(path: str, scratch: str, buckets: Mapping[str, int], bounds: Bounds) -> Divided:
    """Sort the records of partitions in a file of the table `records`, and return all other records.

    buckets: how many there are of each cluster.
    """
    wanted = dict.fromkeys([*OTHER_COLUMNS, *EVENT_COLUMNS])
    slices: list[Slice] = []
    seen: set[str] = set()
    others = []
    for table in _read(path, list(wanted)):
        kind = table["kind"].cast(pa.string())
        type_ = pc.fill_null(table["type"], -1).to_numpy()
        control = pc.equal(kind, "control").to_numpy(zero_copy_only=False)
        record = pc.equal(kind, "record").to_numpy(zero_copy_only=False)
        clusters, code = _clusters(table)
        within = _within(table, clusters, code, bounds)
        partition = record & ((type_ == PARTITION) | (type_ == CHANGE))
        other = within & (control | (record & ~partition & (type_ != _NO_OP)))
        others.append(_plain(table.select(OTHER_COLUMNS).filter(array_of(other))))
        numbers = np.unique(code[within & (control | record)]).tolist()
        seen.update(clusters[number] for number in numbers if number >= 0)
        slices += _write(table.select(EVENT_COLUMNS), np.flatnonzero(within & partition), scratch, buckets)
    return Divided(slices, sorted(seen), _bytes_of(pa.concat_tables(others)) if others else b"")


def divide_state(path: str, scratch: str, buckets: Mapping[str, int]) -> Divided:
    """Sort the rows of a file with the states that the run before left."""
    slices: list[Slice] = []
    for table in _read(path, [column.name for column in STATE_COLUMNS]):
        rows = table.append_column("place", array_of(np.zeros(len(table), np.int64)))
        rows = rows.append_column("type", array_of(np.full(len(table), STATE_TYPE, np.int32)))
        slices += _write(rows, np.arange(len(rows)), scratch, buckets)
    return Divided(slices, [], b"")


def rows_in(path: str) -> dict[str, int]:
    """The most rows that each cluster has in a file of Parquet, from its footer."""
    metadata = pq.read_metadata(path)
    index = metadata.schema.to_arrow_schema().names.index("cluster")
    rows: dict[str, int] = {}
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        statistics = group.column(index).statistics
        if statistics is None or not statistics.has_min_max:
            continue
        for cluster in {statistics.min, statistics.max}:
            rows[cluster] = rows.get(cluster, 0) + group.num_rows
    return rows


def table_of_bytes(data: bytes) -> Any:
    """The table of `Divided.others`."""
    return pa.ipc.open_stream(data).read_all()


def fold_bucket(slices: Iterable[Slice], events: Events, directory: str, names: frozenset[str] | None) -> list[Part]:
    """Fold the rows of a bucket, and write the rows of each table to a hidden file in `directory`/part=NAME.

    names: the tables that are wanted, None for all.
    """
    parts = []
    for name, table in fold(_join(slices), events, names).items():
        if not len(table):
            continue
        file = f"part-{uuid.uuid4().hex}.parquet"
        target = Path(directory, f"part={name}")
        target.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, target / f".{file}", **parquet_options(table.schema))
        parts.append(Part(name, file, len(table)))
    return parts


def show(directory: Path, parts: Iterable[Part]) -> None:
    """Make the files of these tables visible, and remove those of other attempts."""
    files: dict[str, list[str]] = {}
    for part in parts:
        files.setdefault(f"part={part.name}", []).append(part.file)
    for target in directory.glob("part=*"):
        record_files.show(target, files.get(target.name, ()))


def _read(path: str, columns: list[str]) -> Iterator[Any]:
    """The rows of a file in tables of READ_ROWS at most."""
    file = pq.ParquetFile(path, read_dictionary=[name for name in columns if name in _TEXTS])
    held: list[Any] = []
    rows = 0
    for batch in file.iter_batches(batch_size=READ_ROWS, columns=columns, use_threads=False):
        if rows + batch.num_rows > READ_ROWS and held:
            yield pa.Table.from_batches(held).unify_dictionaries()
            held, rows = [], 0
        held.append(batch)
        rows += batch.num_rows
    if held:
        yield pa.Table.from_batches(held).unify_dictionaries()


def _clusters(table: Any) -> tuple[list[str], NDArray[np.int64]]:
    """The clusters, and the number of that of each row; -1 for none."""
    encoded = table["cluster"].combine_chunks()
    return encoded.dictionary.to_pylist(), pc.fill_null(encoded.indices, -1).to_numpy().astype(np.int64)


def _within(table: Any, clusters: list[str], code: NDArray[np.int64], bounds: Bounds) -> NDArray[np.bool_]:
    offset = pc.fill_null(table["offset"], 0).to_numpy()
    begin = np.array([*(bounds.begin.get(cluster, _BEGINNING) for cluster in clusters), _BEGINNING])
    default = _BEGINNING if bounds.only else _END
    end = np.array([*(bounds.end.get(cluster, default) for cluster in clusters), _BEGINNING])
    within: NDArray[np.bool_] = (offset >= begin[code]) & (offset < end[code])
    return within


def _write(table: Any, rows: NDArray[np.int64], scratch: str, buckets: Mapping[str, int]) -> list[Slice]:
    """Write some rows, sorted by cluster and bucket, to a file."""
    if not len(rows):
        return []
    clusters, code = _clusters(table)
    code = code[rows]
    counts = np.array([buckets.get(cluster, 1) for cluster in clusters], np.int64)
    first = np.cumsum(counts) - counts
    topic = table["topic_id"].combine_chunks()
    hashes = np.array([zlib.crc32((text or "").encode()) for text in topic.dictionary.to_pylist()], np.int64)
    topics = topic.indices.take(array_of(rows)).to_numpy()
    partitions = table["partition"].take(array_of(rows)).to_numpy()
    mixed = hashes[topics] + (partitions.astype(np.int64) & 0xFFFFFFFF) * _MIX
    place = first[code] + (mixed >> 7 & 0xFFFFFFFF) % counts[code]
    order = np.argsort(place, kind="stable")
    table = table.take(array_of(rows[order])).combine_chunks()
    places, begins = np.unique(place[order], return_index=True)
    path = Path(scratch, f"{uuid.uuid4().hex}.arrow")
    slices = []
    options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with pa.ipc.new_file(path, table.schema, options=options) as writer:
        ends = [*begins[1:].tolist(), len(order)]
        for number, (one, begin, end) in enumerate(zip(places.tolist(), begins.tolist(), ends, strict=True)):
            (batch,) = table.slice(begin, end - begin).to_batches()
            writer.write_batch(batch)
            cluster = int(np.searchsorted(first, one, side="right")) - 1
            slices.append(Slice(clusters[cluster], one - int(first[cluster]), str(path), number, end - begin))
    return slices


def _join(slices: Iterable[Slice]) -> Any:
    tables = [pa.Table.from_batches([pa.ipc.open_file(pa.memory_map(one.file)).get_batch(one.batch)]) for one in slices]
    return pa.concat_tables(tables, promote_options="default").unify_dictionaries().combine_chunks()


def _plain(table: Any) -> Any:
    """The same with texts instead of dictionaries, which the rows of one file share with no other."""
    fields = [field.with_type(pa.string()) if field.name in _TEXTS else field for field in table.schema]
    return table.cast(pa.schema(fields))


def _bytes_of(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
