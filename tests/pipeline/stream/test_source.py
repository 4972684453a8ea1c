"""The format `kraft_metadata` in Spark: found automatically, filtered, and streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pipeline.arrow import arrow_schema
from pipeline.schemas import TABLES
from pipeline.source.spark import FORMAT, records
from tests.pipeline.logs import GOLDEN, node_directory, read
from tests.pipeline.source.test_ranges import batches

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_format_is_found_without_registration_and_reads_the_same_rows(spark: Any) -> None:
    path = GOLDEN / "4.3-static" / "node-1"

    found = spark.read.format(FORMAT).load(str(path)).orderBy("origin", "offset").toArrow()

    wanted = read(path).sort_by([("origin", "ascending"), ("offset", "ascending")])
    assert found.schema == wanted.schema
    assert found.to_pylist() == wanted.to_pylist()


def test_the_schemas_in_spark_are_those_in_arrow(spark: Any) -> None:
    from pyspark.sql.pandas.types import to_arrow_schema

    for table in TABLES:
        empty = spark.createDataFrame([], table.ddl)
        assert to_arrow_schema(empty.schema, timezone="UTC") == arrow_schema(table.columns)


def test_filters_lose_no_matching_row(spark: Any) -> None:
    frame = records(spark, {"path": str(GOLDEN / "4.3-static"), "rangeBytes": "2000"})
    rows = frame.select("offset", "type", "time", "kind").collect()
    time = sorted(row.time for row in rows)[300]
    stamp = f"timestamp'{time:%Y-%m-%d %H:%M:%S.%f}'"

    for text, fits in (
        ("offset between 100 and 200", lambda row: 100 <= row.offset <= 200),
        ("type in (3, 5) and offset > 400", lambda row: row.type in (3, 5) and row.offset > 400),
        ("type = 2 and kind = 'control'", lambda row: row.type == 2 and row.kind == "control"),
        (f"time < {stamp}", lambda row: row.time < time),
        ("cluster = 'another'", lambda row: False),
    ):
        assert frame.where(text).count() == sum(map(fits, rows)), text


def test_an_unknown_column_or_option_is_named(spark: Any) -> None:
    with pytest.raises(Exception, match="unknown column colour"):
        spark.read.format(FORMAT).schema("offset bigint, colour string").load("x").count()
    with pytest.raises(Exception, match="unknown option speed"):
        spark.read.format(FORMAT).option("speed", "1").load("x").count()


def test_a_stream_reads_each_new_record_once(spark: Any, tmp_path: Path) -> None:
    """A torn end is left until it is whole; a new segment and a new cluster are found."""
    log = tmp_path / "logs" / "one" / "__cluster_metadata-0" / f"{0:020d}.log"
    pieces = batches(40)
    node_directory(tmp_path / "logs" / "one", {0: b"".join(pieces)[:-5]})

    def run() -> list[tuple[str, int]]:
        frame = spark.readStream.format(FORMAT).options(maxBytesPerTrigger="1000", rangeBytes="500")
        frame = frame.load(str(tmp_path / "logs" / "*")).select("cluster", "offset", "kind")
        writer = frame.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
        return sorted((row.cluster[:3], row.offset) for row in spark.read.parquet(str(tmp_path / "out")).collect())

    first = run()
    log.write_bytes(b"".join(pieces))
    (log.parent / f"{40:020d}.log").write_bytes(b"".join(batches(10, 40)))
    node_directory(tmp_path / "logs" / "two", {0: b"".join(batches(10))}, cluster_id="two")
    second = run()

    assert first == [("kVm", offset) for offset in range(39)]
    assert second == [("kVm", offset) for offset in range(50)] + [("two", offset) for offset in range(10)]
