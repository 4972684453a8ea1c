"""Each property that a world may violate has a row, and no row is of a property that nothing checks."""

from __future__ import annotations

import re
from pathlib import Path

from simulations.mutants.table import MUTANTS
from simulations.properties.ids import PROPERTIES

SIMULATIONS = Path(__file__).resolve().parents[3] / "simulations"
RAISED = re.compile(r'(?:Violation\(\s*|_wait\(\s*|_within\(\s*|property_id = )"([A-Z]+\d*)"')


def test_each_property_that_is_raised_has_a_row() -> None:
    raised = {found for path in SIMULATIONS.rglob("*.py") for found in RAISED.findall(path.read_text())}

    assert sorted(raised - set(PROPERTIES)) == []


def test_mutants_expect_existing_properties() -> None:
    unknown = {each for mutant in MUTANTS.values() for each in mutant.expected} - set(PROPERTIES)

    assert sorted(unknown) == []
