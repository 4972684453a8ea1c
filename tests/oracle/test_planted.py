"""The code that `python -m tests.oracle.planted` changes is there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from simulations.mutants.generated import source_of
from simulations.mutants.patching import apply_edits
from tests.oracle.planted import ROWS

if TYPE_CHECKING:
    from simulations.mutants.row import Edit


@pytest.mark.parametrize("row", ROWS, ids=[name for _, name, _ in ROWS])
def test_the_code_of_a_planted_fault_is_there_once(row: tuple[str, str, Edit]) -> None:
    edit = row[2]
    source = source_of(edit.module)

    assert ast.dump(apply_edits(source, (edit,))) != ast.dump(ast.parse(source))
