"""The outcomes of worlds as a table, one row each: equal on a fleet and on one machine, but for the costs."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from simulations.outcomes.outcome import Outcome
from simulations.running.tasks import Row, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

    import pyarrow as pa

FILE = "part-00000.parquet"
# In the rows of a task that failed.
NO_SEED = -1
# Columns beside those of the outcome: the task, its subject, why it failed, the share of the task's cost, and the
# commit of the code.
OWN = {"task": int, "level": str, "mutant": str, "error": str, "cpu_s": float, "revision": str}


@cache
def schema() -> Any:
    """The schema of the table: OWN, and all fields of an outcome."""
    import pyarrow as pa

    types = {
        int: pa.int64(), str: pa.string(), float: pa.float64(), dict[str, int]: pa.map_(pa.string(), pa.int64()),
        list[str]: pa.list_(pa.string()),
    }  # fmt: skip
    columns = {**OWN, **get_type_hints(Outcome)}
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def records(number: int, row: Row, revision: str) -> list[dict[str, Any]]:
    """A row for each seed that was run; if a task failed, a row for each of its seeds that was not."""
    task = row.task
    outcomes = [(outcome, "") for outcome in row.outcomes]
    if row.error:
        outcomes += [(Outcome(seed), row.error) for seed in task.seeds[len(row.outcomes) :] or (NO_SEED,)]
    own = {"task": number, "level": task.level, "mutant": task.mutant_id, "revision": revision}
    own["cpu_s"] = row.cpu_s / max(len(outcomes), 1)
    return [{**own, "error": error, **asdict(outcome)} for outcome, error in outcomes]


def batch_of(number: int, row: Row, revision: str) -> pa.RecordBatch:
    """The rows as an Arrow batch."""
    import pyarrow as pa

    return pa.RecordBatch.from_pylist(records(number, row, revision), schema=schema())


def rows_of(directory: Path, tasks: Sequence[Task]) -> Iterator[Row]:
    """The results of tasks, from their table, file by file: the rows of a task are in one file."""
    import pyarrow.dataset

    left = set(range(len(tasks)))
    for part in pyarrow.dataset.dataset(str(directory), schema=schema()).get_fragments():
        rows_by_task: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for record in part.to_table(schema=schema()).to_pylist(maps_as_pydicts="strict"):
            rows_by_task[record["task"]].append(record)
        left -= rows_by_task.keys()
        yield from (_row(tasks[number], records) for number, records in rows_by_task.items())
    yield from (Row(tasks[number], [], 0.0, "the fleet returned no result") for number in sorted(left))


def _row(task: Task, records: list[dict[str, Any]]) -> Row:
    names = [each.name for each in fields(Outcome)]
    outcomes = [Outcome(**{name: record[name] for name in names}) for record in records if not record["error"]]
    error = next((record["error"] for record in records if record["error"]), "")
    return Row(task, outcomes, sum(record["cpu_s"] for record in records), error)


def revision() -> str:
    """The commit of the code, if known: shortened, with a + if files differ from it."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--exclude=*"],  # noqa: S607 - the git of the user
            cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


class Table:
    """A table that grows, in a directory of its own; a context manager."""

    def __init__(self, directory: Path) -> None:
        import pyarrow.parquet

        directory.mkdir(parents=True)
        self._revision = revision()
        self._writer = pyarrow.parquet.ParquetWriter(directory / FILE, schema(), compression="zstd")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def add(self, number: int, row: Row) -> None:
        """Add the result of the task of this number."""
        self._writer.write_batch(batch_of(number, row, self._revision))
