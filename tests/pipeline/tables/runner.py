"""Runs as `pipeline.tables.running` makes them, without Spark: one bucket, tables in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.schemas import PARTITION_FIELDS
from pipeline.tables import memory
from pipeline.tables.clusters import Cluster
from pipeline.tables.partitions import CARRIED, OPEN, PARTITION_TABLES, PARTS, STATE, fold
from pipeline.tables.running import plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

_EVENT = ("cluster", "topic_id", "partition", "offset", "place", "time", "type")


class Runner:
    """The tables of one cluster, run by run."""

    def __init__(self, cluster_id: str) -> None:
        self.text = memory.dump(Cluster(cluster_id))
        self.cluster = memory.load(self.text)
        self.closed: dict[str, list[dict[str, Any]]] = {table.name: [] for table in PARTITION_TABLES}
        self.lasting: dict[str, list[dict[str, Any]]] = {}
        self.others: dict[str, list[dict[str, Any]]] = {}
        self.state: Any = None
        self.folded = -2

    def run(self, table: Any, until: int = 1 << 62) -> None:
        """Ingest the new rows of the table `records`, below an offset."""
        rows = table.filter(pc.and_(pc.greater_equal(table["offset"], self.folded), pc.less(table["offset"], until)))
        rows = rows.filter(pc.is_in(rows["kind"], pa.array(["record", "control"])))
        self.cluster = memory.load(self.text)
        others = rows.filter(pc.invert(pc.is_in(rows["type"], pa.array([3, 5], pa.int32()))))
        taken = sorted((row for _, row in plain_rows(others)), key=lambda row: (row.offset, row.is_checkpoint))
        offsets, times = rows["offset"].to_pylist(), rows["time"].cast(pa.int64()).to_pylist()
        self.cluster.take(taken, {offset + 1: time for offset, time in zip(offsets, times, strict=True)})
        changes = rows.filter(
            pc.and_(pc.is_in(rows["type"], pa.array([3, 5], pa.int32())), pc.equal(rows["kind"], "record"))
        )
        parts = fold(self._union(changes), self.cluster.events)
        for name in self.closed:
            self.closed[name] += rows_of(parts[name])
            self.lasting[name] = rows_of(parts[OPEN + name]) if OPEN + name in parts else []
        for name, found in self.cluster.rows.items():
            self.others.setdefault(name, []).extend(found)
        self.state = parts[STATE].cast(PARTS[STATE])
        self.text = memory.dump(self.cluster)
        last = max(offsets, default=self.folded - 1) + 1
        self.folded = min(max(last, self.folded), self.cluster.events.end_offset)

    def _union(self, changes: Any) -> Any:
        names = [*_EVENT, *(column.name for column in PARTITION_FIELDS)]
        events = changes.select(names)
        for name in ("topic", *(column.name for column in CARRIED)):
            events = events.append_column(name, pa.nulls(len(events), PARTS[STATE].field(name).type))
        if self.state is None:
            return events
        held = self.state.append_column("place", pa.array([0] * len(self.state), pa.int64()))
        held = held.append_column("type", pa.array([0] * len(self.state), pa.int32()))
        return pa.concat_tables([events, held.select(events.column_names)])

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A table of partitions, open intervals included."""
        return ordered([*self.closed[name], *self.lasting.get(name, [])])


def rows_of(found: Any) -> list[dict[str, Any]]:
    """The rows of a table, times in µs."""
    for number, field in enumerate(found.schema):
        if pa.types.is_timestamp(field.type):
            found = found.set_column(number, field.name, found[field.name].cast(pa.int64()))
    return list(found.to_pylist())


def ordered(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows sorted by their key; without the cluster."""

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        return (row["topic_id"], row["partition"], row.get("start_offset", row.get("offset")))

    return sorted(({**row, "cluster": ""} for row in rows), key=place)
