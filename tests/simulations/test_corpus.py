"""Entries of the corpus are stored as they were found, and its table describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.commands.corpus import replay, write_pages
from simulations.corpus import Entry, entries, find, read, write
from simulations.corpus.table import README, Seen, read_seen, render
from simulations.mutants.table import MUTANTS
from simulations.plans.plan import from_json, to_json
from simulations.raft.swarm import draw

if TYPE_CHECKING:
    from pathlib import Path


def test_an_entry_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan, original = draw(7), draw(8)

    path = write(Entry("R01", to_json(plan), "raft", "R01", "S02", "seed 7", to_json(original), 31, 2.5), tmp_path)
    found = read(path)

    assert found._replace(plan="", original="") == Entry("R01", "", "raft", "R01", "S02", "seed 7", "", 31, 2.5)
    assert (from_json(found.plan), from_json(found.original)) == (plan, original)


def test_an_invalid_file_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"property": "S01"}')

    with pytest.raises(ValueError, match=r"a\.json is not an entry of the corpus: KeyError"):
        list(entries(tmp_path))


def test_an_unknown_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="the corpus has no 'R00'; it has "):
        find("R00")


def test_each_entry_names_a_known_mutant() -> None:
    found = list(entries())

    assert len(found) >= 20
    assert [entry.name for entry in found if entry.mutant_id and entry.mutant_id not in MUTANTS] == []


def test_the_table_has_a_row_for_each_entry() -> None:
    seen = read_seen(README.read_text())

    assert render(entries(), MUTANTS, seen) == README.read_text(), "`python -m simulations corpus --table` writes it"
    assert [entry.name for entry in entries() if entry.mutant_id and entry.name not in seen] == []


def test_a_row_of_the_table_is_read_as_it_was_written() -> None:
    seen = {"R01": Seen(12, "0123456ab")}

    assert read_seen(render([find("R01")], MUTANTS, seen)) == seen


def test_entries_with_an_unexpected_result_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    entry = find("R02")
    broken: dict[str, int] = {}

    wrong = replay([entry, entry._replace(name="other", property_id="S13")], 1, verify=True, broken=broken)
    output = capsys.readouterr().out.splitlines()

    assert (wrong, list(broken)) == (1, ["R02"])
    assert output[0].startswith(f"other with R02 breaks {entry.property_id}: ")
    assert output[0].endswith("; S13 was expected")
    assert output[1].startswith("2 plans of the corpus, 1 with an unexpected result, in ")


def test_each_entry_can_have_a_page(tmp_path: Path) -> None:
    missing = write_pages([find("R02")], tmp_path / "pages")

    page = (tmp_path / "pages" / "R02.html").read_text()
    assert missing == 0
    assert f"{find('R02').property_id} is broken" in page
    assert "python -m simulations run --entry R02" in page
    assert len(page) < 3 << 20
