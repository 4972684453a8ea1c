"""One property that judges alone: it is heard where another one was always first, and nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.mutants import alone
from simulations.mutants.table import MUTANTS
from simulations.properties.ids import PROPERTIES
from simulations.running.workers import Task, rows

if TYPE_CHECKING:
    from pathlib import Path


def test_another_property_is_heard_where_the_first_is_silent() -> None:
    tasks = [Task((1,), mutant_id="R17"), Task((1,), mutant_id="R17", only="S08"), Task((1,), only="S08"), Task((1,))]

    found = {row.task: (row.error, row.outcomes[0].property_id, row.outcomes[0].trace_hash) for row in rows(tasks, 1)}

    first, silent, muted, sound = (found[task] for task in tasks)
    assert (first[:2], silent[:2]) == (("", "S07"), ("", ""))
    assert muted == sound, "nothing else changes"


def test_each_kill_is_of_a_known_property_and_mutant() -> None:
    for property_id, found in alone.read().items():
        assert property_id in PROPERTIES
        assert found.keys() <= MUTANTS.keys(), property_id


def test_kept_kills_are_read_as_they_were_written(tmp_path: Path) -> None:
    kept = {"S12": {"D13": 6, "D01": 1}, "C05": {"Q01": 4}}

    alone.write(kept, tmp_path / "alone.json")

    assert alone.read(tmp_path / "alone.json") == kept


def test_a_file_that_holds_no_kills_is_refused(tmp_path: Path) -> None:
    (tmp_path / "alone.json").write_text('["S12"]')

    with pytest.raises(ValueError, match="holds no kills"):
        alone.read(tmp_path / "alone.json")
