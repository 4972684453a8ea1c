"""The rules by which ordinary mutants are made of a source.

A condition negated, a comparison swapped, `and` for `or`, one more or less, another constant, another error code, True for
False, a value not returned, a statement dropped (and with it each flush). Asserts, notes, texts and types are left alone:
they say what is so, and do nothing.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip

# Calls that only tell somebody.
_SILENT = {"note", "on_note", "_note", "noted"}


class Change(NamedTuple):
    """One change of a source: its bytes from start to end become `after`, which has as many lines.

    function: the name, with its class, of the one it is in; rule: its name; line and column: where, as `ast` counts.
    """

    start: int
    end: int
    line: int
    column: int
    function: str
    rule: str
    after: str


def changes(source: str) -> list[Change]:
    """All changes that the rules make of a source, in the order of its lines; no two of one rule at one place."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    data = source.encode()
    found: list[Change] = []
    for name, function in _functions(ast.parse(source).body):
        for node in _within(function.body):
            for part, rule, after in _of(node):
                assert part.end_lineno is not None, part
                assert part.end_col_offset is not None, part
                start, end = lines[part.lineno - 1] + part.col_offset, lines[part.end_lineno - 1] + part.end_col_offset
                after = _stretched(part, after, data[start:end].count(b"\n"))
                found.append(Change(start, end, part.lineno, part.col_offset, name, rule, after))
    found.sort(key=lambda change: (change.start, change.rule, -change.end))
    seen: dict[tuple[int, str], int] = {}
    for place, change in enumerate(found):
        # One expression may begin where another does: the outer comes first.
        count = seen[change.start, change.rule] = seen.get((change.start, change.rule), 0) + 1
        if count > 1:
            found[place] = change._replace(rule=f"{change.rule}-{count}")
    return found


def _stretched(part: ast.AST, after: str, count: int) -> str:
    """With as many lines as what it takes the place of, so that all below stays where it is."""
    if not count:
        return after
    return after + "\n" * count if isinstance(part, ast.stmt) else f"({after}{chr(10) * count})"


def _functions(body: Iterable[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield prefix + statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, f"{prefix}{statement.name}.")


def _within(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes that do something when they run."""
    for node in body:
        if isinstance(node, ast.Raise):
            yield from (each for each in ast.walk(node) if _is_error_code(each))
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
    if isinstance(node, ast.Compare):
        others = [SWAPPED[type(node.ops[0])](), *node.ops[1:]]
        yield node, "swap", ast.unparse(ast.Compare(node.left, others, node.comparators))
    elif isinstance(node, ast.BoolOp):
        operator: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, "and-or", f"({ast.unparse(ast.BoolOp(operator, node.values))})"
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and not _is_text(node):
        yield node, "one-more", f"({ast.unparse(node)} + 1)"
        yield node, "one-less", f"({ast.unparse(node)} - 1)"
    elif _is_error_code(node):
        assert isinstance(node, ast.Attribute), node
        other = "INVALID_REQUEST" if node.attr == "UNKNOWN_SERVER_ERROR" else "UNKNOWN_SERVER_ERROR"
        yield node, "error", f"Error.{other}"
    elif isinstance(node, ast.Return) and _is_bool(node.value):
        assert isinstance(node.value, ast.Constant), node
        yield node, "flip", f"return {not node.value.value}"
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield node, "no-value", "return None"
    elif isinstance(node, (ast.Expr, ast.AugAssign, ast.Delete)) or _sets_state(node):
        assert isinstance(node, ast.stmt), node
        yield node, "drop", "pass"
    yield from _constants(node)


def _constants(parent: ast.AST) -> Iterator[tuple[ast.expr, str, str]]:
    """Numbers and truths that stand for themselves. One more beside a sum or an order is a rule of its own."""
    if isinstance(parent, (ast.UnaryOp, ast.Expr)) or (
        isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Add, ast.Sub))
    ):
        return
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return
    for node in ast.iter_child_nodes(parent):
        if _is_bool(node) and not isinstance(parent, (ast.Return, ast.While)):
            assert isinstance(node, ast.Constant), node
            yield node, "constant", str(not node.value)
        elif _is_number(node) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_number(node.operand)
        ):
            assert isinstance(node, ast.expr), node
            yield node, "constant", str(ast.literal_eval(node) + 1)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _is_bool(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _is_error_code(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Error"


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
