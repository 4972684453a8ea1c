"""A fleet gives the results of local processes: the same rows, trace by trace, and mutants are caught the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simulations.fleet.exhaustive import search_parts
from simulations.fleet.spark import rows as rows_of_fleet
from simulations.running.tasks import Task
from simulations.running.workers import rows
from simulations.spec.model import Scope
from simulations.spec.search import search

if TYPE_CHECKING:
    from pathlib import Path

MASTER = "local[2]"
HUNT = Task(tuple(range(1, 20)), mutant_id="R17", until_broken=True)
TASKS = [Task((11, 12)), Task((13,)), Task((3,), "controller"), HUNT, Task((1,), "nowhere")]


@pytest.mark.usefixtures("spark")
def test_a_fleet_gives_the_rows_of_local_processes(tmp_path: Path) -> None:
    def comparable(row: Any) -> Any:
        return row.task, row.outcomes, row.error.rpartition("\n  File")[2]

    here = sorted(rows(TASKS, 2), key=lambda row: TASKS.index(row.task))

    made = rows_of_fleet(TASKS, master=MASTER, out=tmp_path / "rows")
    fleet = sorted(made, key=lambda row: TASKS.index(row.task))

    assert [comparable(row) for row in fleet] == [comparable(row) for row in here]
    assert [len(row.outcomes) for row in fleet[:3]] == [2, 1, 1]
    assert fleet[3].outcomes[-1].property_id == "S07"
    assert list((tmp_path / "rows").glob("*.parquet"))


@pytest.mark.usefixtures("spark")
def test_a_search_in_parts_finds_as_many_states_as_one_search(tmp_path: Path) -> None:
    scope = Scope(epochs=1, records=1, ticks=0, losses=1, crashes=1, in_flight=2, led=True)

    found = search_parts(scope, 1 << 20, master=MASTER, out=tmp_path / "states")

    assert (found.states, found.is_whole) == (search(scope).states, True)
