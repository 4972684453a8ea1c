"""Ordinary mutants, made by rule from any module: what hand-written ones do not think of.

An id tells all: `G/raft.vote/94/7/negate`. The rules: a condition negated, a comparison swapped, `and` for `or`, one more or
less, True for False, a statement dropped (and with it each flush). Asserts, notes, texts and types are left alone: they
say what is so, and do nothing.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.mutants.row import Edit, Mutant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PREFIX = "G/"

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip

# Calls that only tell somebody.
_SILENT = {"note", "on_note", "_note", "noted"}


class Change:
    """One change of a module: the text from start to end becomes `after`. rule: its name."""

    __slots__ = ("after", "column", "end", "line", "rule", "start")

    def __init__(self, line: int, column: int, start: int, end: int, rule: str, after: str) -> None:
        self.line = line
        self.column = column
        self.start = start
        self.end = end
        self.rule = rule
        self.after = after


def modules(package: str) -> list[str]:
    """The modules of a package, without those of packages below it; of a module, itself."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return [package]
    root = Path(spec.submodule_search_locations[0])
    return [f"{package}.{path.stem}" for path in sorted(root.glob("*.py")) if path.stem != "__init__"]


def mutants_of(module: str) -> Iterator[Mutant]:
    """All of a module, in the order of its lines."""
    source = _source(module)
    for change in changes(source):
        yield _mutant(module, source, change)


def find(mutant_id: str) -> Mutant:
    """The mutant of an id; raises ValueError where the code has none such."""
    try:
        _, module, line, column, rule = mutant_id.split("/")
    except ValueError:
        raise ValueError(f"{mutant_id!r} is not G/module/line/column/rule") from None
    source = _source(module)
    for change in changes(source):
        if (str(change.line), str(change.column), change.rule) == (line, column, rule):
            return _mutant(module, source, change)
    raise ValueError(f"{module} has no {rule} at line {line}, column {column}")


def changes(source: str) -> list[Change]:
    """All changes that the rules make of a source, in the order of its lines."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    found: list[Change] = []
    for node in _living(ast.parse(source).body):
        for part, rule, after in _of(node):
            assert part.end_lineno is not None, part
            assert part.end_col_offset is not None, part
            start, end = lines[part.lineno - 1] + part.col_offset, lines[part.end_lineno - 1] + part.end_col_offset
            found.append(Change(part.lineno, part.col_offset, start, end, rule, after))
    found.sort(key=lambda change: (change.start, change.rule, -change.end))
    seen: dict[tuple[int, str], int] = {}
    for change in found:
        # One expression may begin where another does: the outer comes first.
        count = seen[change.start, change.rule] = seen.get((change.start, change.rule), 0) + 1
        if count > 1:
            change.rule += f"-{count}"
    return found


def _source(module: str) -> str:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ValueError(f"no module {module}")
    return Path(spec.origin).read_text()


def _mutant(module: str, source: str, change: Change) -> Mutant:
    data = source.encode()
    before = data[change.start : change.end].decode()
    after = data[: change.start] + change.after.encode() + data[change.end :]
    name = f"{module}:{change.line}: {' '.join(before.split())[:60]} → {' '.join(change.after.split())[:60]}"
    mutant_id = f"{PREFIX}{module}/{change.line}/{change.column}/{change.rule}"
    return Mutant(mutant_id, name, "generic", change.rule, (), (Edit(module, source, after.decode()),))


def _living(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of functions that do something when they run."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from _living(statement.body) if isinstance(statement, ast.ClassDef) else _within(statement.body)


def _within(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in body:
        if isinstance(node, (ast.Assert, ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)) or _is_silent(node):
            continue
        yield node
        if isinstance(node, ast.AnnAssign):
            yield from _within([node.value] if node.value is not None else [])
        elif isinstance(node, ast.FunctionDef):
            yield from _within(node.body)
        else:
            yield from _within(ast.iter_child_nodes(node))


def _is_silent(node: ast.AST) -> bool:
    """A docstring, or a word to somebody who only listens."""
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    if isinstance(call, ast.Constant):
        return True
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _SILENT


def _of(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """What is changed of a node, by which rule, into what."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)) and not _swaps_to_opposite(node.test):
        yield node.test, "negate", f"not ({ast.unparse(node.test)})"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = ast.Compare(node.left, [SWAPPED[type(node.ops[0])]()], node.comparators)
        yield node, "swap", ast.unparse(other)
    elif isinstance(node, ast.Compare):
        others = [SWAPPED[type(node.ops[0])](), *node.ops[1:]]
        yield node, "swap", ast.unparse(ast.Compare(node.left, others, node.comparators))
    elif isinstance(node, ast.BoolOp):
        operator: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, "and-or", f"({ast.unparse(ast.BoolOp(operator, node.values))})"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and not _is_text(node):
        yield node, "one-more", f"({ast.unparse(node)} + 1)"
        yield node, "one-less", f"({ast.unparse(node)} - 1)"
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
        yield node, "flip", f"return {not node.value.value}"
    elif isinstance(node, (ast.Expr, ast.AugAssign, ast.Delete)) or _sets_state(node):
        assert isinstance(node, ast.stmt), node
        yield node, "drop", "pass"


def _swaps_to_opposite(test: ast.expr) -> bool:
    """Whether a swapped comparison is the negated one already."""
    opposite = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], opposite)


def _sets_state(node: ast.AST) -> bool:
    """An assignment to an attribute or an item: the name of a local would be missing afterwards."""
    return isinstance(node, ast.Assign) and all(isinstance(to, (ast.Attribute, ast.Subscript)) for to in node.targets)


def _is_text(node: ast.BinOp) -> bool:
    """Whether it joins texts or lists, as far as can be seen."""
    joined = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict)
    return any(
        isinstance(each, joined) or (isinstance(each, ast.Constant) and not isinstance(each.value, int))
        for each in (node.left, node.right)
    )
