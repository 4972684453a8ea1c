"""Code that is changed in a running process, and properties that are silenced."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from simulations.mutants.patching import Imported
from simulations.running.tasks import Task
from simulations.running.workers import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOURCE = """
LIMIT = 3
TWICE, THRICE = (lambda n: n * 2), (lambda n: n * 3)

def limit():
    return LIMIT

def used():
    return 1

ONE = used()

class Counter:
    def up(self, n):
        return [n + each for each in range(2)]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Imported, Any]]:
    (tmp_path / "a_changed_module.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    imported = Imported()
    imported.load(lambda: import_module("a_changed_module"))
    yield imported, sys.modules["a_changed_module"]
    del sys.modules["a_changed_module"]


def _replace(imported: Imported, before: str, after: str) -> bool:
    assert before in SOURCE
    return imported.replace({"a_changed_module": (SOURCE, SOURCE.replace(before, after))})


def test_functions_are_changed_anywhere_though_lines_move(module: tuple[Imported, Any]) -> None:
    imported, found = module
    up = found.Counter().up

    assert _replace(imported, "    return LIMIT", "    n = LIMIT\n    return n + 1")
    assert _replace(imported, "n + each", "n - each")
    assert _replace(imported, "n * 3", "n * 4")

    assert (found.limit(), up(5), found.TWICE(1), found.THRICE(1)) == (4, [5, 4], 2, 4)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("return 1", "return 2"),
        ("def limit()", "def limit(n=1)"),
        ("    def up", "    def upper"),
    ],
    ids=("a constant", "what ran", "a default", "a name"),
)
def test_a_change_beyond_functions_is_refused(module: tuple[Imported, Any], before: str, after: str) -> None:
    imported, found = module

    assert not _replace(imported, before, after)

    assert (found.limit(), found.used(), found.Counter().up(5)) == (3, 1, [5, 6])


def test_either_all_modules_change_or_none(module: tuple[Imported, Any]) -> None:
    imported, found = module

    both = SOURCE.replace("return LIMIT", "return LIMIT + 1").replace("ONE = used()", "ONE = used() + 1")

    assert not imported.replace({"a_changed_module": (SOURCE, both)})
    assert found.limit() == 3


def test_silencing_hides_all_properties_but_one_and_changes_no_trace() -> None:
    tasks = [Task((1,), mutant_id="R17"), Task((1,), mutant_id="R17", only="S08"), Task((1,), only="S08"), Task((1,))]

    found = {row.task: (row.error, row.outcomes[0].property_id, row.outcomes[0].trace_hash) for row in rows(tasks, 1)}

    first, silent, muted, sound = (found[task] for task in tasks)
    assert (first[:2], silent[:2]) == (("", "S07"), ("", ""))
    assert muted == sound, "nothing else changes"
