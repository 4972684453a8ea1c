"""What is told of ordinary mutants that live fits the code as it is."""

from __future__ import annotations

import pytest

from simulations.mutants.generic import modules, ordinary_of
from simulations.mutants.survivors import read, shown


def test_each_row_is_of_a_mutant_that_there_is() -> None:
    rows = read()

    known = {each.key for name in ("raft", "controller") for module in modules(name) for each in ordinary_of(module)}

    assert sorted(rows.keys() - known) == []
    assert all(len(row.why) >= 10 for row in rows.values())


def test_a_row_that_is_shown_is_read_again() -> None:
    key = "raft.vote.can_grant swap `a | b < c` #2"

    assert read(shown(key, "same", "why so"))[key] == (key, "same", "why so")


def test_a_verdict_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="'perhaps' is no verdict"):
        read(shown("raft.vote.f swap `a < b`", "perhaps", "why so"))
