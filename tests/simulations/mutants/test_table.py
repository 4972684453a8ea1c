"""The rows of mutants: each fits the code as it is, and is caught."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from simulations.mutants import apis, clusters, controllers, disks, elections, projects, replication, sockets
from simulations.mutants.hook import install, mutated
from simulations.mutants.row import Edit, Mutant
from simulations.mutants.table import MUTANTS, SURVIVORS, find
from simulations.running.workers import Task, rows

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("mutant", [*MUTANTS.values(), *SURVIVORS.values()], ids=(*MUTANTS, *SURVIVORS))
def test_a_mutant_fits_the_code_and_changes_what_it_does(mutant: Mutant) -> None:
    by_module: dict[str, list[Edit]] = {}
    for edit in mutant.edits:
        by_module.setdefault(edit.module, []).append(edit)

    for module, edits in by_module.items():
        source = (ROOT / f"{module.replace('.', '/')}.py").read_text()
        changed = mutated(source, edits)

        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))


def test_each_id_is_there_once() -> None:
    modules = (elections, replication, disks, projects, controllers, clusters, apis, sockets)

    ids = Counter(mutant.id for module in modules for mutant in module.MUTANTS)

    assert [each for each, count in ids.items() if count > 1] == []
    assert list(ids) == list(MUTANTS)


def test_the_gate_has_two_mutants_and_more_of_each_subject_that_it_must_have() -> None:
    subjects = Counter(mutant.subject for mutant in MUTANTS.values() if mutant.ci and mutant.level == "raft")

    assert all(subjects[each] >= 2 for each in ("votes", "persistence", "watermark", "truncation", "snapshots"))
    assert sum(subjects.values()) >= 10


def test_a_mutant_is_caught_where_the_code_as_it_is_is_well() -> None:
    tasks = [Task((4,)), Task((4,), mutant_id="R01")]

    found = {row.task.mutant_id: row for row in rows(tasks, 2)}

    assert [(row.error, [each.property_id for each in row.outcomes]) for row in (found[""], found["R01"])] == [
        ("", [""]), ("", ["S02"]),
    ]  # fmt: skip


def test_an_edit_that_fits_nothing_is_an_error_and_not_a_mutant_that_is_caught() -> None:
    with pytest.raises(ValueError, match="has 0 times, not once"):
        mutated("x = 1\n", [Edit("m", "y = 1", "y = 2")])
    with pytest.raises(ValueError, match="has 2 times, not once"):
        mutated("x = 1\nx = 1\n", [Edit("m", "x = 1", "x = 2")])


def test_a_mutant_of_what_is_imported_already_is_refused() -> None:
    with pytest.raises(RuntimeError, match="is imported already; a mutant needs a fresh process"):
        install(MUTANTS["R01"]._replace(edits=(Edit("simulations.mutants.table", "x", "y"),)))


def test_a_mutant_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match="no mutant 'R00'; known are R01, "):
        find("R00")
