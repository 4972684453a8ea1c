"""The table of log events contains each event that the code writes and no other, and equals that of docs/logs.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from controller.interface.loggers import LEVELS
from controller.node.logging.log_events import EVENTS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[4]
WRITERS = {"note", "_note", "_note_once", "on_note", "Noted", "log", "_log"}


def written(path: Path) -> Iterator[str]:
    """The names of the events that a module writes: in a call of a writer, or put on a list of notes."""
    constants = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.targets[0], ast.Name)
        ):
            constants[node.targets[0].id] = node.value.value
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0]
        if called == "append" and isinstance(first, ast.Tuple) and "notes" in ast.unparse(node.func):
            first = first.elts[0]
        elif called not in WRITERS and not (isinstance(node.func, ast.Name) and called == "self"):
            continue
        name = constants.get(first.id) if isinstance(first, ast.Name) else getattr(first, "value", None)
        if isinstance(name, str):
            yield name


def modules() -> Iterator[Path]:
    for package in ("raft", "controller", "tools/kraftctl/run"):
        yield from (ROOT / package).rglob("*.py")


def test_the_table_has_exactly_the_events_that_the_code_writes() -> None:
    found = {name for path in modules() for name in written(path)}

    assert sorted(found) == sorted(EVENTS)


def test_event_names_are_unique_and_in_snake_case() -> None:
    names = [row.name for row in ROWS]

    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    assert len(names) == len(set(names))


def test_each_level_is_one_of_kafkas_and_each_logger_name_is_lower_case_words_and_dots() -> None:
    assert {row.level for row in ROWS} <= set(LEVELS)
    assert [row.logger for row in ROWS if not re.fullmatch(r"[a-z]+(\.[a-z]+)*", row.logger)] == []


def test_docs_logs_md_has_the_same_table() -> None:
    documented = [line for line in (ROOT / "docs" / "logs.md").read_text().splitlines() if line.startswith("| `")]

    assert documented == [f"| `{row.name}` | `{row.logger}` | {row.level} | {row.meaning} |" for row in ROWS]
