"""Mutants made by rule: each is valid code, differs from the code, and is known by its id."""

from __future__ import annotations

import ast

import pytest

from simulations.mutants.generic import changes, find, modules, mutants_of

SOURCE = '''
"""A module."""
LIMIT = 3


def act(self, x: int) -> bool:
    """What it does."""
    assert x > 0, "not this"
    self.note("nor", that=x + 1)
    if x < LIMIT and self.y:
        self.z = x + 1
        self.sync(1)
    elif x == 2:
        raise ValueError(f"{x + 1}")
    while 1 <= x < 5:
        del self.w[x]
    return True
'''


def test_each_rule_changes_what_it_is_for_and_nothing_else() -> None:
    found = [(change.rule, SOURCE[change.start : change.end], change.after) for change in changes(SOURCE)]

    assert found == [
        ("and-or", "x < LIMIT and self.y", "(x < LIMIT or self.y)"),
        ("negate", "x < LIMIT and self.y", "not (x < LIMIT and self.y)"),
        ("swap", "x < LIMIT", "x <= LIMIT"),
        ("drop", "self.z = x + 1", "pass"),
        ("one-less", "x + 1", "(x + 1 - 1)"),
        ("one-more", "x + 1", "(x + 1 + 1)"),
        ("drop", "self.sync(1)", "pass"),
        ("swap", "x == 2", "x != 2"),
        ("negate", "1 <= x < 5", "not (1 <= x < 5)"),
        ("swap", "1 <= x < 5", "1 < x < 5"),
        ("drop", "del self.w[x]", "pass"),
        ("flip", "return True", "return False"),
    ]


@pytest.mark.parametrize("module", ["raft.vote", "raft.fetch_request", "raft.storage.disk_queue"])
def test_all_of_a_module_are_code_and_have_ids_of_their_own(module: str) -> None:
    found = list(mutants_of(module))

    assert len(found) > 20
    assert len({mutant.id for mutant in found}) == len(found)
    for mutant in found:
        ((_, before, after),) = mutant.edits
        assert ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
    assert find(found[7].id) == found[7]


def test_the_modules_of_a_package_are_its_own() -> None:
    found = modules("raft")

    assert "raft.vote" in found
    assert not any(name.startswith(("raft.storage.", "raft.network.")) for name in found)


def test_an_id_that_fits_nothing_is_told() -> None:
    with pytest.raises(ValueError, match=r"raft\.vote has no negate at line 1, column 0"):
        find("G/raft.vote/1/0/negate")
    with pytest.raises(ValueError, match="is not G/module/line/column/rule"):
        find("G/raft.vote")
