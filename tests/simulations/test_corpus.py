"""Entries of the corpus are kept as they were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.corpus import Entry, entries, read, write
from simulations.mutants.table import MUTANTS
from simulations.plans import from_json, to_json
from simulations.swarm import draw

if TYPE_CHECKING:
    from pathlib import Path


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = draw(7)

    path = write(Entry("R01", to_json(plan), "raft", "R01", "S02", "seed 7"), tmp_path)
    found = read(path)

    assert found._replace(plan="") == Entry("R01", "", "raft", "R01", "S02", "seed 7")
    assert from_json(found.plan) == plan


def test_a_file_that_is_none_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"property": "S01"}')

    with pytest.raises(ValueError, match=r"a\.json is no entry of the corpus: KeyError"):
        list(entries(tmp_path))


def test_each_entry_is_of_a_mutant_that_there_is() -> None:
    found = list(entries())

    assert len(found) >= 20
    assert [entry.name for entry in found if entry.mutant_id and entry.mutant_id not in MUTANTS] == []
