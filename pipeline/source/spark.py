"""The data source `kraft_metadata` for Spark: divides a query into tasks (see pipeline/DESIGN.md).

Only adapters: the code that they call does not need Spark. A reader with filters fails if Spark's setting for that is
off, which is the default; so there are two, and an option selects one.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, SupportsTriggerAvailableNow

from pipeline.schemas import RECORDS
from pipeline.source.columns import schema_of
from pipeline.source.logs import before, logs_of
from pipeline.source.options import number_of, progress_of
from pipeline.source.reading import Wanted, finding_parts, read_part
from pipeline.source.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.streaming.datasource import ReadLimit
    from pyspark.sql.types import StructType

    from pipeline.source.ranges import Finding, Plan

FORMAT = "kraft_metadata"


class RangePartition(InputPartition):
    """A task that reads one range, or returns findings of the planning."""

    def __init__(self, source: Any, wanted: Wanted) -> None:
        super().__init__(source)
        self.source = source
        self.wanted = wanted


class KraftMetadataSource(DataSource):
    """Metadata logs as a table, batch and streaming; columns: those of the table `records`, or some of them."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return RECORDS.ddl

    def reader(self, schema: StructType) -> DataSourceReader:
        cls = FilteringReader if self.options.get("push", "false") == "true" else Reader
        return cls(dict(self.options), tuple(schema.fieldNames()))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        return StreamReader(dict(self.options), tuple(schema.fieldNames()))


def register(session: SparkSession) -> None:
    """Register the format with a session; not needed if the package `pyspark_kraft` is installed."""
    session.dataSource.register(KraftMetadataSource)


class Reader(DataSourceReader):
    """Reads all records that exist when the first action runs."""

    def __init__(self, options: dict[str, str], names: tuple[str, ...]) -> None:
        self.options = options
        self.names = names
        self.selection = Selection()
        schema_of(names)  # an unknown column is an error here, not in a task
        logs_of(options)

    def partitions(self) -> Sequence[InputPartition]:
        progress = progress_of(self.options.get("from", ""))
        plans, skipped = logs_of(self.options).plans(progress, is_live=False)
        partitions: list[InputPartition] = []
        findings = list(skipped) if self.selection.wants_findings else []
        for plan in plans:
            ranges, more = self.selection.of(plan)
            findings += more
            partitions += [RangePartition(range_, self.selection.row_filter) for range_ in ranges]
        return [*_finding_partitions(findings), *partitions]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _read(partition, self.names)


class FilteringReader(Reader):
    """Accepts the filters that it can apply, and returns the others to Spark."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        for given in filters:
            name, sign, values = _simple(given)
            if not self.selection.take(name, sign, values):
                yield given


def _simple(given: Filter) -> tuple[str, str, list[Any]]:
    """Column, operator and values of a filter; an empty column for a filter that is not supported."""
    signs = {
        EqualTo: "=",
        In: "=",
        GreaterThan: ">",
        GreaterThanOrEqual: ">=",
        LessThan: "<",
        LessThanOrEqual: "<=",
    }
    sign = signs.get(type(given))
    if sign is None or len(given.attribute) != 1:
        return "", "", []
    values = list(given.value) if isinstance(given, In) else [given.value]
    return given.attribute[0], sign, [_as_ms(value) if isinstance(value, datetime) else value for value in values]


def _as_ms(value: datetime) -> int:
    """A time in ms, rounded down."""
    value = value if value.tzinfo is not None else value.astimezone().astimezone(UTC)
    return int(value.timestamp() * 1000)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads new records; its offsets are the next offset of each cluster, with the epoch of the last record."""

    def __init__(self, options: dict[str, str], names: tuple[str, ...]) -> None:
        self.options = options
        self.names = names
        self.fixed: list[Plan] | None = None
        schema_of(names)
        self.logs = logs_of(options)
        self.bytes_max = number_of(options, "maxbytespertrigger", 0)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return dict(progress_of(self.options.get("from", "")))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxBytes(self.bytes_max) if self.bytes_max else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self.fixed = self.logs.plans({}, is_live=True)[0]

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        plans, _ = self.logs.plans(start, is_live=True)
        last = {plan.cluster_id: plan.end_offset for plan in self.fixed or plans}
        offsets = {key: dict(value) for key, value in start.items()}
        left = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        for plan in plans:
            begin = start.get(plan.cluster_id, {}).get("offset", 0)
            end = min(plan.end_offset, last.get(plan.cluster_id, 0))
            if left is not None:
                end, left = _limit(plan, end, left)
            if end > begin:
                offsets[plan.cluster_id] = {"offset": end, "epoch": plan.epoch_at(end)}
        return offsets

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        plans, skipped = self.logs.plans(start, is_live=True)
        partitions: list[InputPartition] = []
        findings = list(skipped) if not start else []
        for plan in plans:
            until = end.get(plan.cluster_id, {}).get("offset", 0)
            if until <= start.get(plan.cluster_id, {}).get("offset", 0):
                continue
            ranges, more = before(plan, until)
            findings += more
            partitions += [RangePartition(range_, Wanted()) for range_ in ranges]
        return [*_finding_partitions(findings), *partitions]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _read(partition, self.names)


def _limit(plan: Plan, end: int, left: int) -> tuple[int, int]:
    """How far this many bytes reach, and what is left of them; always at least one range."""
    for number, part in enumerate(plan.ranges):
        if part.end_offset > end or part.checkpoint_end_offset >= 0:
            continue
        left -= part.end - part.start
        if left <= 0 and number + 1 < len(plan.ranges):
            return part.end_offset, 0
    return end, max(left, 1)


def _finding_partitions(findings: list[Finding]) -> list[InputPartition]:
    return [RangePartition(part, Wanted()) for part in finding_parts(findings)]


def _read(partition: InputPartition | None, names: Sequence[str]) -> Iterator[Any]:
    """The rows of a task. Spark asks for a partition that is None where there are none."""
    if isinstance(partition, RangePartition):
        return iter(read_part(partition.source, schema_of(names), partition.wanted))
    return iter(())


def records(session: SparkSession, options: Mapping[str, str], *, columns: Sequence[str] | None = None) -> Any:
    """A DataFrame for the options, read at each action; columns: those wanted, in this order."""
    reader = session.read.format(FORMAT).options(**{"push": "true", **options})
    if columns is not None:
        types = {column.name: column.type for column in RECORDS.columns}
        reader = reader.schema(", ".join(f"`{name}` {types[name]}" for name in columns))
    return reader.load()
