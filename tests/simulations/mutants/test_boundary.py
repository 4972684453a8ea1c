"""BOUNDARY.md lists each surviving mutant, with the reason in its row, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from simulations.mutants.beyond import SURVIVORS
from simulations.mutants.table import MUTANTS, find

TEXT = (Path(__file__).resolve().parents[3] / "simulations" / "BOUNDARY.md").read_text()
ROW = re.compile(r"^\| (\w+) \| ([^|]+) \| (equivalent|beyond) \| ([^|]+) \|$", re.MULTILINE)


def test_each_surviving_mutant_is_listed_with_its_reason() -> None:
    rows = ROW.findall(TEXT)

    assert rows == [
        (each.mutant.id, each.mutant.name, "equivalent" if each.is_equivalent else "beyond", each.why)
        for each in SURVIVORS
    ]


def test_no_surviving_mutant_is_among_those_that_must_be_caught() -> None:
    assert [each.mutant.id for each in SURVIVORS if each.mutant.id in MUTANTS] == []
    assert [find(each.mutant.id) for each in SURVIVORS] == [each.mutant for each in SURVIVORS]
