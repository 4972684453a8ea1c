"""The build of the wheel: which import statements it changes, and how."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
# A name computed at run time must be relative, or the installed module would not be found.
ABSOLUTE = re.compile(
    r"(import_module|files|find_spec|__import__)\(\s*f?\"(records|raft|controller|tools|simulations|pipeline)\b"
)


def module_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


setup = module_of(ROOT / "setup.py")


@cache
def sources() -> dict[Path, tuple[str, str]]:
    """Each module: its text here, and as it is installed."""
    return {
        path: (source := path.read_text(), setup.installed_source(source))
        for package in (*setup.MOVED, "kraft_quorum", "pyspark_kraft")
        for path in sorted((ROOT / package).rglob("*.py"))
    }


@pytest.mark.parametrize(
    ("line", "installed"),
    [
        ("from records.crc import crc32c", "from kraft_quorum.records.crc import crc32c"),
        ("from raft import effects as orders", "from kraft_quorum.raft import effects as orders"),
        ("import records.crc as crc", "import kraft_quorum.records.crc as crc"),
        ("from recordsets import one", "from recordsets import one"),
        ("from kraft_quorum.client import Client", "from kraft_quorum.client import Client"),
        ('text = "from records.crc import crc32c"', 'text = "from records.crc import crc32c"'),
        ("if True: from raft.vote import x", "if True: from kraft_quorum.raft.vote import x"),
    ],
)
def test_import_statements_get_the_installed_names(line: str, installed: str) -> None:
    assert setup.installed_source(line) == installed


@pytest.mark.parametrize(
    "line", ["import records", "import records.crc", "import os, raft", "from  records import crc"]
)
def test_an_import_that_binds_a_name_of_the_repository_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="line 1: "):
        setup.installed_source(line)


def test_no_module_imports_a_name_of_the_repository_after_the_build() -> None:
    wrong = [
        f"{path}:{node.lineno}"
        for path, (_, installed) in sources().items()
        for node in ast.walk(ast.parse(installed))
        if (isinstance(node, ast.ImportFrom) and setup.is_moved(node.module or ""))
        or (isinstance(node, ast.Import) and any(setup.is_moved(alias.name) for alias in node.names))
    ]

    assert wrong == []


def test_lines_keep_their_numbers() -> None:
    for path, (source, installed) in sources().items():
        assert installed.count("\n") == source.count("\n"), path


def test_no_module_computes_an_absolute_name_of_another() -> None:
    wrong = [
        f"{path}: {found[0]}"
        for path, (source, _) in sources().items()
        for found in [ABSOLUTE.search(source)]
        if found is not None
    ]

    assert wrong == []


def test_the_bill_of_materials_is_of_the_lock_that_the_image_installs() -> None:
    recipe = subprocess.run(["make", "-n", "sbom"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    command = next(line for line in recipe.replace("\\\n", "").splitlines() if "cyclonedx-py" in line)
    installed = re.findall(r"-r (requirements/\S+\.txt)", (ROOT / "Dockerfile").read_text())

    assert command.split()[-1] in installed
    assert set(installed) - {command.split()[-1]} == {"requirements/build.txt"}
