"""Rules of the tree: which module may import which, what the cores may not use, and what every module must have."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.conftest import LONGEST
from tools.registry import KAFKA_TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent

PACKAGES = ("records", "raft", "controller", "tools", "simulations", "pipeline")

# Package or module prefix -> the prefixes of the project that it may import; the longest prefix that matches counts.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "records": ("records",),
    "raft": ("records", "raft"),
    "raft.storage": ("records", "raft"),
    "raft.network": ("records", "raft"),
    "raft.security": ("records", "raft"),
    "controller": ("records", "raft", "controller"),
    "tools": ("records", "raft", "controller", "tools"),
    "simulations": ("records", "raft", "controller", "tools", "simulations"),
    # The one place that builds a Spark session is the pipeline's.
    "simulations.fleet": ("records", "raft", "controller", "tools", "simulations", "pipeline.session"),
    "pipeline": ("records", "pipeline", "simulations"),
    # The names of files, and which configs are secrets, stand in one place.
    "pipeline.source": (
        "records",
        "raft.storage.names",
        "raft.storage.meta_properties",
        "controller.config",
        "tools.client",
        "pipeline",
    ),
    "pipeline.source.watched": ("records", "kraft_quorum.client", "pipeline"),
    "pipeline.histories": ("records", "raft.storage.names", "pipeline"),
    # What a record without a partition does stands in one place; partitions are folded by column, and tests compare.
    "pipeline.tables": (
        "records",
        "tools.offline.image",
        "controller.state.records_of",
        "controller.state.tables",
        "pipeline",
    ),
    # The planner works on the state that the controller itself would replay.
    "pipeline.planner.image": ("records", "controller", "tools.offline", "pipeline"),
}

# The cores have no clock, no random numbers of their own, and no files, threads or network.
FORBIDDEN_IN_CORES = {
    "asyncio", "concurrent", "datetime", "logging", "multiprocessing", "os", "pathlib", "secrets", "select",
    "selectors", "signal", "socket", "ssl", "structlog", "subprocess", "tempfile", "threading", "time", "uuid",
    "uvloop",
}  # fmt: skip

# What is no core: all else is.
EDGES = (
    "records.__main__", "raft.storage", "raft.network", "raft.security", "controller.config", "controller.node",
    "controller.security", "controller.server", "tools", "simulations", "pipeline",
)  # fmt: skip

# The folders of each package, from the lowest level to the highest: each imports only from levels below its own.
# A module at the root of a package is a folder of its own; "" is for those at the root that the table does not name.
RECORD_LEVELS = (
    ("wire", "java", "features"),
    ("schema",),
    ("messages", "messages.brokers_only", "messages.proposals", "metadata", "generation"),
    ("",),
    ("bulk", "printing"),
    ("__main__",),
)
RAFT_LEVELS = (("interface",), ("state",), ("",), ("storage", "network", "autopilot"), ("security", "formation"))
CONTROLLER_LEVELS = (
    ("config.values", "state.tables"),
    ("config.keys", "state.partitions"),
    ("config.security",),
    ("config", "state"),
    ("interface",),
    ("rules",),
    ("handlers",),
    ("handlers.security",),
    ("core", "security"),
    ("node.audit", "node.logging"),
    ("node",),
    ("server.http",),
    ("server.grpc",),
    ("server",),
)
# `kraftctl` imports the module of a verb by a computed name.
TOOL_LEVELS = (
    ("rng", "registry", "config_file"),
    ("offline",),
    ("command_line",),
    ("client",),
    ("kafka",),
    ("kafka.acls", "kafka.configs", "kafka.dump_log", "kafka.shell"),
    ("kafka.topics",),
    ("kafka.reassign",),
    ("kraftctl.points", "kraftctl.nodes"),
    ("kraftctl",),
    ("kraftctl.cluster", "kraftctl.run", "kraftctl.history", "kraftctl.backup", "kraftctl.doctor", "kraftctl.repair"),
    ("kraftctl.bench", "kraftctl.debug"),
    ("reference",),
)
# `levels` and `commands` import the module of a level and of a command by a computed name. The rehearsal is a product.
SIMULATION_LEVELS = (
    ("world", "histories"),
    ("plans", "nodes", "outcomes", "spec"),
    ("page",),
    ("rehearsal",),
    ("faults", "properties", "cluster.metadata"),
    ("coverage", "cluster.rules", "cluster.clients"),
    ("raft",),
    ("members", "cluster"),
    ("sockets",),
    ("secured",),
    ("mutants",),
    ("levels", "corpus"),
    ("running",),
    ("fleet", "chaos"),
    ("commands",),
    ("__main__",),
)
PIPELINE_LEVELS = (
    ("schemas", "class_archive", "histories", "worker_daemon"),
    ("session",),
    ("arrow",),
    ("source",),
    ("tables",),
    ("planner", "commands", "anomalies"),
    ("report",),
)
LEVELS = {
    "records": RECORD_LEVELS,
    "raft": RAFT_LEVELS,
    "controller": CONTROLLER_LEVELS,
    "tools": TOOL_LEVELS,
    "simulations": SIMULATION_LEVELS,
    "pipeline": PIPELINE_LEVELS,
}
NEEDED_BY_THE_REHEARSAL = {"world", "nodes", "outcomes", "page", "rehearsal"}
FILES_MAX = 25
# The one circle of types: the state is made of these tables, and the functions of a table take the state, or the whole
# of the partitions. At run time there is no circle.
WHOLES = ("controller.state.state", "controller.state.partitions.partitions")
TABLES_OF_STATE = ("controller.state.tables", "controller.state.partitions", "controller.state.replay")

LINES_MAX = 450
# Tables of rows are one subject, however long they are.
TABLES = {"records.errors", "records.messages", "records.metadata", "controller.config.keys"}
VAGUE_NAMES = {"base", "common", "helpers", "manager", "misc", "util", "utils"}


@cache
def modules() -> dict[str, Path]:
    """Dotted name -> file, of every module that is shipped."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


class Import(NamedTuple):
    """One import. target: a module, where a module of ours is named, else what stands there. within: None at the top of
    a module, "types" where only the type checker sees it, "function" where it runs when the function is called.
    """

    target: str
    line: int
    within: str | None


class Found(NamedTuple):
    """What the tests look at in a module. silent: the public classes without a docstring, and "" for the module."""

    imports: tuple[Import, ...]
    silent: tuple[str, ...]


@cache
def found_in(path: Path) -> Found:
    """One reading of a module for all tests: its tree takes longer to make than to look at, and much memory to keep."""
    tree = ast.parse(path.read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    silent = [node.name for node in classes if not ast.get_docstring(node)]
    if not ast.get_docstring(tree):
        silent.append("")
    return Found(imports_of(tree, path), tuple(silent))


def all_imports(path: Path) -> tuple[Import, ...]:
    """Every import of a module."""
    return found_in(path).imports


def imports_of(tree: ast.Module, path: Path) -> tuple[Import, ...]:
    found = []
    for node, within in statements(tree):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, within) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                target = whole if whole in modules() else node.module or ""
                found.append(Import(target, node.lineno, within))
    return tuple(found)


def statements(node: ast.AST, within: str | None = None) -> Iterator[tuple[ast.AST, str | None]]:
    """Each statement, and whether it stands within a function or is for the type checker alone."""
    if within is None and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        within = "function"
    is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, field, ()):
            inside = "types" if is_for_types and field == "body" else within
            yield child, inside
            yield from statements(child, inside)


def imports(path: Path) -> list[tuple[str, int]]:
    """Each module that is imported at run time, with the line of the import."""
    return [(each.target, each.line) for each in all_imports(path) if each.within != "types"]


def circle(within: set[str | None]) -> list[str]:
    """The modules of one circle of imports of these sorts; none where there is no circle."""
    graph = {
        name: {
            each.target
            for each in all_imports(path)
            if each.within in within and each.target in modules() and not is_pair_of_state(name, each)
        }
        for name, path in modules().items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def is_pair_of_state(name: str, found: Import) -> bool:
    """Whether a table of the state names a whole for the type checker."""
    is_table = any(is_within(name, tables) for tables in TABLES_OF_STATE)
    return is_table and found.target in WHOLES and found.within == "types"


def folder(name: str) -> str:
    """The folder of a module of a package, without the package's name, as LEVELS has it."""
    parts = name.split(".")
    if modules()[name].name == "__init__.py":
        return ".".join(parts[1:])
    if len(parts) > 2:
        return ".".join(parts[1:-1])
    return parts[1] if any(parts[1] in names for names in LEVELS[parts[0]]) else ""


def longest(prefixes: dict[str, tuple[str, ...]], name: str) -> str:
    return max((prefix for prefix in prefixes if is_within(name, prefix)), key=len)


def is_within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def test_each_package_imports_only_what_it_may() -> None:
    wrong = [
        f"{name}:{line} imports {target}"
        for name, path in modules().items()
        for target, line in imports(path)
        if target.split(".")[0] in PACKAGES
        and not any(is_within(target, allowed) for allowed in MAY_IMPORT[longest(MAY_IMPORT, name)])
    ]

    assert wrong == []


def test_no_modules_import_each_other() -> None:
    assert circle({None}) == []


def test_no_import_inside_a_function_hides_a_circle() -> None:
    assert circle({None, "function"}) == []


def test_for_types_only_the_state_and_its_tables_import_each_other() -> None:
    assert circle({None, "function", "types"}) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_each_folder_imports_only_from_levels_below(package: str) -> None:
    level = {name: number for number, names in enumerate(LEVELS[package]) for name in names}
    wrong = [
        f"{name}:{each.line} imports {each.target}"
        for name, path in modules().items()
        if is_within(name, package) and name != package
        for each in all_imports(path)
        if is_within(each.target, package) and each.target != package and folder(each.target) != folder(name)
        if level[folder(each.target)] >= level[folder(name)] and not is_pair_of_state(name, each)
    ]

    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_each_folder_has_a_level(package: str) -> None:
    folders = {folder(name) for name in modules() if is_within(name, package) and name != package}

    assert folders == {name for names in LEVELS[package] for name in names}


def test_the_rehearsal_imports_nothing_of_the_sweep() -> None:
    seen: set[str] = set()
    waiting = [name for name in modules() if is_within(name, "simulations.rehearsal")]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting += {each for each, _ in imports(modules()[name]) if is_within(each, "simulations")} - seen

    assert {folder(name) for name in seen} == NEEDED_BY_THE_REHEARSAL


@pytest.mark.parametrize("package", PACKAGES)
def test_no_folder_has_more_than_25_files(package: str) -> None:
    counts = Counter(path.parent for name, path in modules().items() if is_within(name, package))

    assert [(str(each), count) for each, count in counts.items() if count > FILES_MAX] == []


def test_messages_that_no_product_module_uses_stand_apart() -> None:
    used = {
        each.target for name, path in modules().items() if not is_within(name, "records") for each in all_imports(path)
    }
    messages = [name for name in modules() if is_within(name, "records.messages") and name.count(".") > 1]
    apart = [name for name in messages if is_within(name, "records.messages.brokers_only")]

    assert used.isdisjoint(apart)
    proposals = {name for name in messages if is_within(name, "records.messages.proposals")}
    assert set(messages) - set(apart) - used == proposals


def test_the_cores_import_no_clock_no_files_no_threads_and_no_network() -> None:
    wrong = [
        f"{name}:{line} imports {target}"
        for name, path in modules().items()
        if not any(is_within(name, edge) for edge in EDGES)
        for target, line in imports(path)
        if target.split(".")[0] in FORBIDDEN_IN_CORES
    ]

    assert wrong == []


def test_the_cores_draw_random_numbers_only_from_a_generator_they_are_given() -> None:
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


def test_every_module_has_a_docstring() -> None:
    assert [name for name, path in modules().items() if "" in found_in(path).silent] == []


def test_the_files_that_are_tested_first_exist() -> None:
    assert [name for name in LONGEST if not (ROOT / "tests" / f"{name}.py").is_file()] == []


def test_no_module_has_more_than_450_lines() -> None:
    long = [
        f"{name}: {lines} lines"
        for name, path in modules().items()
        if (lines := len(path.read_text().splitlines())) > LINES_MAX
        and not any(is_within(name, table) for table in TABLES)
    ]

    assert long == []


def test_no_module_has_a_vague_name() -> None:
    assert [name for name in modules() if name.split(".")[-1] in VAGUE_NAMES] == []


def test_every_public_class_has_a_docstring() -> None:
    wrong = [f"{name}: class {each}" for name, path in modules().items() for each in found_in(path).silent if each]

    assert wrong == []


def test_each_except_exception_has_a_reason() -> None:
    """A comment on the line or the one above; one that raises the same exception again needs none."""
    wrong = []
    for path in [*modules().values(), *sorted((ROOT / "tests").rglob("*.py"))]:
        text = path.read_text()
        lines = text.splitlines()
        wrong += [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for node in ast.walk(ast.parse(text) if "except" in text else ast.Module([], []))
            if isinstance(node, ast.ExceptHandler)
            and (node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"})
            and not (isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None)
            and "#" not in lines[node.lineno - 1]
            and not lines[node.lineno - 2].lstrip().startswith("#")
        ]

    assert wrong == []


def test_no_file_names_a_path_of_one_machine_or_the_address_of_a_registry() -> None:
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
    "tool",
    [tool.module for tool in KAFKA_TOOLS],
)
def test_the_tools_import_no_module_that_is_slow_to_import(tool: str) -> None:
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


# Words in -ed that are no participles; then participles that do not end in -ed, without those that are also the verb
# (read, put, cut).
PARTICIPLE = re.compile(
    r"(?!(need|feed|seed|speed|exceed|proceed|succeed|shed|embed)$)\w*ed|begun|bound|broken|built|chosen|done|drawn|driven|"
    r"found|given|gone|grown|heard|held|hidden|kept|known|led|left|lost|made|meant|met|said|seen|sent|shaken|shown|spent|"
    r"struck|taken|thrown|told|torn|understood|unbound|won|worn|written"
)
AFTER_PARTICIPLE = re.compile(r"anew|at|before|between|by|from|in|of|on|out|since|up|with")
# A function whose name ends in a participle asks a question, takes an event, or begins with a verb: `is_fenced`,
# `on_committed`, `answer_parked`.
BEFORE_PARTICIPLE = re.compile(
    r"are|can|had|has|is|may|must|not|should|was|were|on|to|"
    r"act|add|answer|append|ask|be|become|check|compare|compute|count|drop|elect|emit|end|expire|explain|fail|fence|find|"
    r"forget|hold|look|make|mark|note|open|pick|poll|print|read|record|refuse|release|report|require|retry|run|serve|"
    r"start|take|write"
)
OF_ASYNCIO = re.compile(r"connection_made|connection_lost|data_received|eof_received|buffer_updated")


def is_named_by_participle(name: str) -> bool:
    """Whether it says what has been done, as `created` and `placed_by`, and not what the function does or returns."""
    words = name.strip("_").split("_")
    if len(words) == 1 or AFTER_PARTICIPLE.fullmatch(words[-1]):
        return PARTICIPLE.fullmatch(words[0]) is not None
    if not PARTICIPLE.fullmatch(words[-1]) or OF_ASYNCIO.fullmatch("_".join(words)):
        return False
    return BEFORE_PARTICIPLE.fullmatch(words[0]) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("created", True), ("_made", True), ("led_by", True), ("leader_changed", True), ("is_fenced", False),
        ("on_committed", False), ("answer_parked", False), ("served_versions", False), ("create", False),
    ],
)  # fmt: skip
def test_a_name_that_is_a_participle_is_seen(name: str, expected: bool) -> None:
    assert is_named_by_participle(name) is expected


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_named_by_verbs_or_by_nouns_of_what_they_return(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_named_by_participle(node.name)
    ]

    assert found == []
