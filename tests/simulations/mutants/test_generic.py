"""Mutants made by rule: each is valid code, differs from the code, and is known by its id and by its key."""

from __future__ import annotations

import ast

import pytest

from simulations.mutants.generic import as_mutant, find, modules, ordinary_of, sample


@pytest.mark.parametrize("module", ["raft.vote", "raft.fetch_request", "raft.storage.disk_queue"])
def test_all_of_a_module_are_code_and_have_ids_and_keys_of_their_own(module: str) -> None:
    found = list(ordinary_of(module))

    assert len(found) > 20
    assert len({each.id for each in found}) == len({each.key for each in found}) == len(found)
    for each in found[::5]:
        ((_, before, after),) = as_mutant(each).edits
        assert ast.dump(ast.parse(before)) != ast.dump(ast.parse(after))
    assert find(found[7].id) == as_mutant(found[7])


def test_a_core_is_without_its_edges() -> None:
    assert "raft.vote" in modules("raft")
    assert not any(name.startswith(("raft.storage.", "raft.network.")) for name in modules("raft"))
    assert {"controller.core.controller", "controller.handlers.isr", "controller.state.partitions.topics"} < set(
        modules("controller")
    )
    assert "controller.node.node" not in modules("controller")


def test_a_larger_sample_holds_the_smaller_one() -> None:
    small = sample("raft", 20)
    large = sample("raft", 60)

    assert (len(small), len(large)) == (20, 60)
    assert {each.key for each in small} < {each.key for each in large}
    assert sample("raft", 20, seed=2) != small == sample("raft", 20)


def test_an_id_that_fits_nothing_is_told() -> None:
    with pytest.raises(ValueError, match=r"raft\.vote has no negate at line 1, column 0"):
        find("G/raft.vote/1/0/negate")
    with pytest.raises(ValueError, match="is not G/module/line/column/rule"):
        find("G/raft.vote")
