"""Tasks over Spark: each partition has some of them done by a process of its own, and writes its part of the table.

That process is started by Spark's worker, as by `simulations.running.workers`: a mutant has a process of its own, a
worker that dies loses a row and not the job, and time and memory of a seed are limited. Machines of a cluster need this
package installed, of the same commit.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulations.fleet.table import batch_of, revision, rows_of, schema
from simulations.running.progress import Progress
from simulations.running.workers import rows as rows_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from simulations.running.tasks import Row, Task

# Partitions per core: enough that no core waits long for the last, few enough that starting processes costs little.
PARTS_PER_CORE = 8
LOOK_S = 0.5
APP = "simulations"


def rows(tasks: Sequence[Task], *, master: str, out: Path | None) -> Iterator[Row]:
    """Do tasks on a fleet, and yield the result of each when all are done.

    out: the directory of the table, which must not exist. Raises ValueError without Spark.
    """
    from pipeline.session import cores_of

    parts = min(len(tasks), PARTS_PER_CORE * cores_of(master))
    with tempfile.TemporaryDirectory() as temporary:
        directory = out or Path(temporary, "rows")
        run(master, len(tasks), parts, performer(tuple(tasks), revision()), schema(), directory)
        yield from rows_of(directory, tasks)


def performer(tasks: tuple[Task, ...], of_revision: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that a partition calls with the numbers of its tasks."""

    def perform(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        mine = [number for batch in numbers for number in batch.column(0).to_pylist()]
        # One process at a time does them in their order.
        for number, row in zip(mine, rows_here([tasks[number] for number in mine], 1), strict=True):
            yield batch_of(number, row, of_revision)

    return perform


def run(master: str, count: int, parts: int, work: Callable[..., Any], columns: Any, directory: Path) -> None:
    """Call `work` with the numbers below `count`, in this many partitions, and write its results to a new directory.

    columns: the Arrow schema of the results. Raises ValueError without Spark, and OSError if the job fails.
    """
    from pipeline.session import NoSpark, spark_session

    try:
        session = spark_session(APP, master=master, is_short=True)
    except NoSpark as error:
        raise ValueError(f"--spark {master}: {error}") from None
    from pyspark.sql.pandas.types import from_arrow_schema

    table = session.range(count, numPartitions=parts).mapInArrow(work, from_arrow_schema(columns))
    failed: list[BaseException] = []

    def write() -> None:
        try:
            table.write.parquet(str(directory))
        except BaseException as error:  # raised again by the thread that waits
            failed.append(error)

    writing = threading.Thread(target=write, name="fleet", daemon=True)
    writing.start()
    _show_progress(session, writing, parts)
    if failed:
        raise OSError(f"--spark {master}: {_reason(failed[0])}") from failed[0]


def _reason(error: BaseException) -> str:
    """The text of Spark's error, without its stack frames."""
    return "\n".join(line for line in str(error).splitlines() if line and not line.lstrip().startswith("at "))


def _show_progress(session: Any, writing: threading.Thread, parts: int) -> None:
    """Show the progress of the fleet until it is done."""
    progress = Progress(parts, "parts")
    tracker = session.sparkContext.statusTracker()
    done = 0
    while writing.is_alive():
        writing.join(LOOK_S)
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        now = sum(stage.numCompletedTasks for stage in stages if stage is not None)
        progress.add(max(now - done, 0))
        done = max(done, now)
    progress.clear()
