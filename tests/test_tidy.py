"""The tree holds to its own rules: who may import whom, what a core may not touch, what each module must say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# package or module prefix -> the prefixes of the project that it may import; the longest matching prefix counts.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "records": ("records",),
    "raft": ("records", "raft"),
    "raft.storage": ("records", "raft"),
    "raft.network": ("records", "raft"),
    "controller": ("records", "raft", "controller"),
    "simulations": ("records", "raft", "controller", "simulations"),
    # The one place that builds a Spark session is the pipeline's.
    "simulations.fleet": ("records", "raft", "controller", "simulations", "pipeline.session"),
    "pipeline": ("records", "raft.network", "pipeline", "simulations"),
    # Names of files, and which configs are secrets: told in one place.
    "pipeline.source": (
        "records",
        "raft.config",
        "raft.network",
        "raft.storage.names",
        "raft.storage.meta_properties",
        "controller.config",
        "pipeline",
    ),
    "pipeline.source.watched": ("records", "kraft_quorum.client", "pipeline"),
    "pipeline.histories": ("records", "raft.storage.names", "pipeline"),
    # What a record of no partition does is told in one place; partitions are folded by columns, and tests compare.
    "pipeline.tables": (
        "records",
        "controller.offline.image",
        "controller.state.records_of",
        "controller.state.tables",
        "pipeline",
    ),
    # What is planned for is the state that the controller acts on, as its own replay gives it.
    "pipeline.planner.image": ("records", "controller", "pipeline"),
}

# The cores know neither clock nor luck nor the outside: `records`, and the top levels and `control` of the others.
FORBIDDEN_IN_CORES = {
    "asyncio", "concurrent", "datetime", "logging", "multiprocessing", "os", "pathlib", "secrets", "select",
    "selectors", "signal", "socket", "ssl", "structlog", "subprocess", "tempfile", "threading", "time", "uuid",
    "uvloop",
}  # fmt: skip

# Parts of the packages that are edges.
EDGES = (
    "records.__main__", "raft.storage", "raft.network", "controller.node", "controller.server", "controller.tools",
    "controller.ctl", "controller.offline", "controller.config", "simulations", "pipeline",
)  # fmt: skip

LINES_MAX = 450
# Rows of a table are one subject, however many there are.
TABLES = {"records.errors", "records.messages", "records.metadata", "controller.config.keys"}
VAGUE_NAMES = {"base", "common", "helpers", "manager", "misc", "util", "utils"}


@cache
def modules() -> dict[str, Path]:
    """Dotted name -> file, of every module that is shipped."""
    found = {}
    for package in ("records", "raft", "controller", "simulations", "pipeline"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path) -> list[tuple[str, int]]:
    """Each imported module with its line; imports for the type checker alone do not count."""
    tree = ast.parse(path.read_text())
    typing_only: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            typing_only.update(id(inner) for child in node.body for inner in ast.walk(child))
    found = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.append((node.module or "", node.lineno))
    return found


def longest(prefixes: dict[str, tuple[str, ...]], name: str) -> str:
    return max((prefix for prefix in prefixes if is_within(name, prefix)), key=len)


def is_within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def test_each_package_imports_only_what_it_may() -> None:
    ours = ("records", "raft", "controller", "simulations", "pipeline")
    wrong = [
        f"{name}:{line} imports {target}"
        for name, path in modules().items()
        for target, line in imports(path)
        if target.split(".")[0] in ours
        and not any(is_within(target, allowed) for allowed in MAY_IMPORT[longest(MAY_IMPORT, name)])
    ]

    assert wrong == []


def test_the_cores_have_no_clock_no_luck_and_no_outside() -> None:
    wrong = [
        f"{name}:{line} imports {target}"
        for name, path in modules().items()
        if not any(is_within(name, edge) for edge in EDGES)
        for target, line in imports(path)
        if target.split(".")[0] in FORBIDDEN_IN_CORES
    ]

    assert wrong == []


def test_the_cores_draw_no_luck_they_were_not_handed() -> None:
    drawn = re.compile(r"\brandom\.(random|randint|choice|shuffle|sample|uniform|getrandbits|seed)\(|\burandom\(")
    wrong = [
        f"{name}:{number}"
        for name, path in modules().items()
        if not any(is_within(name, edge) for edge in EDGES)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if (match := drawn.search(line)) and "self.random" not in line and match
    ]

    assert [place for place in wrong if not _is_of_an_instance(place)] == []


def _is_of_an_instance(place: str) -> bool:
    """Whether `random` at this place is a parameter or attribute, not the module."""
    name = place.rsplit(":", 1)[0]
    return not any(target == "random" for target, _ in imports(modules()[name]))


def test_every_module_says_what_lives_in_it() -> None:
    silent = [name for name, path in modules().items() if not ast.get_docstring(ast.parse(path.read_text()))]

    assert silent == []


def test_no_module_has_grown_into_two() -> None:
    long = [
        f"{name}: {lines} lines"
        for name, path in modules().items()
        if (lines := len(path.read_text().splitlines())) > LINES_MAX
        and not any(is_within(name, table) for table in TABLES)
    ]

    assert long == []


def test_module_names_tell_a_subject() -> None:
    assert [name for name in modules() if name.split(".")[-1] in VAGUE_NAMES] == []


def test_public_functions_and_classes_are_typed_and_told() -> None:
    """mypy asks for the types; here: each public class has a docstring."""
    wrong = [
        f"{name}: class {node.name}"
        for name, path in modules().items()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]

    assert wrong == []


def test_the_project_stands_alone() -> None:
    """No path of one machine, no registry's address, nothing outside the tree is named."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    pattern = re.compile(
        r"(^|[^A-Za-z0-9._/-])/(work|farm|root)/|\.\./shared|https?://[^ \"]*(/simple|/maven2|/packages/)"
    )
    wrong = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if "tests/data" in name or name == "tests/test_tidy.py" or not path.is_file():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        wrong += [f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]

    assert wrong == []


@pytest.mark.parametrize(
    "tool", ["controller.tools.storage", "controller.tools.dump_log", "controller.tools.metadata_shell"]
)
def test_tools_import_only_what_they_use(tool: str) -> None:
    code = f"import sys, {tool}; print(' '.join(sorted(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()  # fmt: skip

    heavy = {
        "asyncio",
        "numpy",
        "structlog",
        "rich",
        "grpc",
        "uvloop",
        "dataclasses",
        "prompt_toolkit",
        "logging",
        "ssl",
    }
    assert heavy.isdisjoint(loaded)
