"""ARCHITECTURE.md is true: every file, folder and function that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
PACKAGES = ("records", "raft", "controller", "tools", "simulations", "pipeline", "tests")
# `controller/core/steps.py`, `raft/vote.py:can_grant`, `controller/state/state.py:State.revert`, `pipeline/tables/`
REFERENCE = re.compile(r"`((?:%s)/[\w/]*(?:\.\w+)?)(?::([\w.]+))?`" % "|".join(PACKAGES))  # noqa: UP031 - braces


@cache
def names(path: Path) -> frozenset[str]:
    """The functions, classes, methods (`Class.method`) and names that a module defines at its top level."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            }
    return frozenset(found)


def test_every_file_and_function_of_the_map_exists():
    references = REFERENCE.findall(TEXT)

    missing = [
        f"{file}:{name}" if name else file
        for file, name in references
        if not (ROOT / file).exists() or (name and name not in names(ROOT / file))
    ]

    assert missing == []
    assert len(references) > 80


def test_every_folder_of_the_controller_is_on_the_map():
    folders = sorted(path.name for path in (ROOT / "controller").iterdir() if (path / "__init__.py").exists())

    assert [folder for folder in folders if not re.search(rf"\b{folder}\b", TEXT)] == []
