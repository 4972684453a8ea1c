"""The tables of mutants: each fits the code, has one id, and is chosen by its tags."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from hashlib import blake2b

import pytest

from simulations.mutants.fragments import NAMED, local_names, name_of
from simulations.mutants.generated import source_of
from simulations.mutants.history import BUGS
from simulations.mutants.patching import apply_edits, install
from simulations.mutants.peer import KILLED, NOT_TRIED, SURVIVED, TRANSLATIONS
from simulations.mutants.row import Edit, Mutant, Rewrite
from simulations.mutants.table import MODULES, MUTANTS, SURVIVORS, TAGS, find, has_tag
from simulations.running.tasks import Task
from simulations.running.workers import rows

RENAMED = "_renamed"

EACH = pytest.mark.parametrize("mutant", [*MUTANTS.values(), *SURVIVORS.values()], ids=(*MUTANTS, *SURVIVORS))


@EACH
def test_a_mutant_fits_the_code_and_changes_what_it_does(mutant: Mutant) -> None:
    for module, edits in _by_module(mutant).items():
        assert _compiled(module, edits) != _compiled(module, ())


@EACH
def test_a_mutant_does_not_depend_on_format_comments_or_the_names_of_local_variables(mutant: Mutant) -> None:
    for module, edits in _by_module(mutant).items():
        changed = apply_edits(_with_other_names_and_format(module), edits)

        for each in ast.walk(changed):
            if (name := name_of(each)) is not None:
                setattr(each, NAMED[type(each)], name.removesuffix(RENAMED))
        if _digest(changed) != _compiled(module, edits):
            assert ast.dump(changed) == ast.dump(apply_edits(source_of(module), edits))


def _by_module(mutant: Mutant) -> dict[str, tuple[Edit | Rewrite, ...]]:
    return {
        module: tuple(edit for edit in mutant.edits if edit.module == module)
        for module in dict.fromkeys(edit.module for edit in mutant.edits)
    }


def _digest(tree: ast.AST) -> bytes:
    return blake2b(ast.dump(tree).encode()).digest()


@cache
def _compiled(module: str, edits: tuple[Edit | Rewrite, ...]) -> bytes:
    """The digest of a module with edits, which is compiled: once for all tests of a mutant."""
    tree = apply_edits(source_of(module), edits)
    digest = _digest(tree)
    compile(tree, module, "exec")
    return digest


@cache
def _with_other_names_and_format(module: str) -> str:
    """The source of a module as `ast.unparse` writes it, without comments, each local variable renamed."""
    tree = ast.parse(source_of(module))
    bodies = [tree.body, *(each.body for each in ast.walk(tree) if isinstance(each, ast.ClassDef))]
    for function in (each for body in bodies for each in body):
        names = local_names(function)
        for each in ast.walk(function):
            if each is not function and (name := name_of(each)) in names:
                setattr(each, NAMED[type(each)], f"{name}{RENAMED}")
    return ast.unparse(tree)


def test_each_id_is_unique() -> None:
    ids = Counter(mutant.id for module in MODULES for mutant in module.MUTANTS)

    assert [each for each, count in ids.items() if count > 1] == []
    assert list(ids) == list(MUTANTS)


def test_the_gate_requires_two_mutants_or_more_of_each_main_subject() -> None:
    subjects = Counter(mutant.subject for mutant in MUTANTS.values() if mutant.ci and mutant.level == "raft")

    assert all(subjects[each] >= 2 for each in ("votes", "persistence", "watermark", "truncation", "snapshots"))
    assert sum(subjects.values()) >= 10


def test_a_mutant_is_caught_in_a_world_without_violations_otherwise() -> None:
    tasks = [Task((4,)), Task((4,), mutant_id="R01")]

    found = {row.task.mutant_id: row for row in rows(tasks, 2)}

    assert [(row.error, [each.property_id for each in row.outcomes]) for row in (found[""], found["R01"])] == [
        ("", [""]), ("", ["S02"]),
    ]  # fmt: skip


def test_an_edit_that_does_not_fit_is_an_error_and_not_a_kill() -> None:
    with pytest.raises(ValueError, match="has 0 places, not one"):
        apply_edits("x = 1\n", [Edit("m", "", "y = 1", "y = 2")])
    with pytest.raises(ValueError, match="has 2 places, not one"):
        apply_edits("x = 1\nx = 1\n", [Edit("m", "", "x = 1", "x = 2")])


def test_a_mutant_of_an_imported_module_is_refused() -> None:
    with pytest.raises(RuntimeError, match="is already imported; a mutant needs a fresh process"):
        install(MUTANTS["R01"]._replace(edits=(Edit("simulations.mutants.table", "find", "x", "y"),)))


def test_an_unknown_mutant_is_refused() -> None:
    with pytest.raises(ValueError, match="no mutant 'R00'; known are R01, "):
        find("R00")


def test_each_bug_of_a_project_names_known_mutants() -> None:
    unknown = [mutant_id for bug in BUGS for mutant_id in bug.mutants if mutant_id not in MUTANTS]

    assert unknown == []
    assert [issue for issue, count in Counter(bug.issue for bug in BUGS).items() if count > 1] == []


def test_forty_bugs_of_kafka_and_ten_of_others_have_a_mutant() -> None:
    kafkas = [bug for bug in BUGS if bug.issue.startswith("KAFKA-") and bug.mutants]
    others = [bug for bug in BUGS if not bug.issue.startswith("KAFKA-") and bug.mutants]

    assert len(kafkas) >= 40
    assert len(others) >= 10


def test_twenty_eight_lines_of_kafkas_raft_have_a_mutant_each() -> None:
    assert len({translation.mutant_id for translation in TRANSLATIONS}) == len(TRANSLATIONS) == 28
    assert {translation.mutant_id for translation in TRANSLATIONS} - set(MUTANTS) == {"R42"}  # it lives: BOUNDARY.md
    assert Counter(translation.theirs for translation in TRANSLATIONS) == {KILLED: 10, SURVIVED: 8, NOT_TRIED: 10}


def test_a_mutant_is_chosen_by_each_of_its_tags() -> None:
    chosen = {tag: [mutant.id for mutant in MUTANTS.values() if has_tag(mutant, tag)] for tag in TAGS}

    assert "R01" in chosen["gate"]
    assert "R01" in chosen["peer"]
    assert "R26" in chosen["history"]
    assert "R37" not in chosen["peer"]
