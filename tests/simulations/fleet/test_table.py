"""The outcomes of worlds are written to a table and read back."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from simulations.commands.crew import add_crew, crew_of
from simulations.fleet.table import Table, rows_of
from simulations.outcomes.outcome import Outcome
from simulations.running.tasks import Row, Task

if TYPE_CHECKING:
    from pathlib import Path

WELL = Task((3, 1))
BROKEN = Task((5, 6, 7), "controller", "Q01")


def args_of(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_crew(parser)
    return parser.parse_args(words)


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [
        Row(
            WELL, [Outcome(3, trace_hash="aa", messages=9, fired={"kill": 2}), Outcome(1, notes={"x": 1, "a": 2})], 2.0
        ),
        Row(BROKEN, [Outcome(5, "C01", "why", needs=["power"])], 0.5),
    ]

    with Table(tmp_path / "rows") as table:
        for number, row in reversed(list(enumerate(rows))):
            table.add(number, row)

    assert list(rows_of(tmp_path / "rows", [WELL, BROKEN])) == [rows[1], rows[0]]


def test_a_task_without_rows_counts_as_not_done(tmp_path: Path) -> None:
    plans = Task((), plans=("{}",))
    with Table(tmp_path / "rows") as table:
        table.add(1, Row(plans, [], 0.0, "the worker ended with -9"))

    found = list(rows_of(tmp_path / "rows", [WELL, plans]))

    assert found == [
        Row(plans, [], 0.0, "the worker ended with -9"), Row(WELL, [], 0.0, "the fleet returned no result"),
    ]  # fmt: skip


def test_each_seed_of_a_task_that_could_not_be_done_has_a_row(tmp_path: Path) -> None:
    import pyarrow.parquet

    with Table(tmp_path / "rows") as table:
        table.add(0, Row(BROKEN, [Outcome(5)], 0.0, "the worker ended with -9"))

    kept = pyarrow.parquet.read_table(tmp_path / "rows", columns=["seed", "error"]).to_pylist()
    assert [(each["seed"], each["error"]) for each in kept] == [
        (5, ""), (6, "the worker ended with -9"), (7, "the worker ended with -9"),
    ]  # fmt: skip
    (row,) = rows_of(tmp_path / "rows", [BROKEN])
    assert (row.error, row.outcomes) == ("the worker ended with -9", [Outcome(5)])


def test_rows_of_local_processes_are_stored(tmp_path: Path) -> None:
    tasks = [Task((), plans=('{"seed": 3, "chaos_ms": 300}',)), Task((), "nowhere")]
    crew = crew_of(args_of("--jobs", "1", "--out", str(tmp_path / "rows")))

    rows = list(crew(tasks))

    assert [each.seed for each in rows[0].outcomes] == [3]
    assert "no level 'nowhere'" in rows[1].error


def test_an_existing_table_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is there already"):
        crew_of(args_of("--out", str(tmp_path)))
