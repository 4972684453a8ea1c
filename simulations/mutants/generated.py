"""Generated mutants: rules that change any module's source, the mutants they make, and samples of them.

The rules negate a condition, swap a comparison, exchange `and` and `or`, add or subtract one, change a constant or an error
code, flip True and False, drop a return value, or drop a statement (so also each flush). Asserts, notes, texts and types are
left alone because they do not change what the code does.

An id names a mutant as long as the code stays as it is: `G/raft.vote/94/7/negate`. A key survives when lines move: it is
made of the function, the rule and the changed text.
"""

from __future__ import annotations

import ast
import re
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from simulations.mutants.module_names import imported_name
from simulations.mutants.row import Mutant, Rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PREFIX = "G/"

# Level -> the packages whose own modules (not those of subpackages) are the core that the level tests.
CORES = {
    "raft": ("raft", "raft.interface", "raft.state"),
    "controller": (
        "controller.core",
        "controller.handlers",
        "controller.handlers.security",
        "controller.interface",
        "controller.rules",
        "controller.state",
        "controller.state.partitions",
        "controller.state.tables",
        "records.features",
    ),
}
# Modules that only the node level runs: envelopes, and the bound on the size of a frame.
OF_NODES = ("controller.node.envelope", "controller.node.request_bounds")

_SHOWN = 90

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip

# Calls that only report something.
_REPORTS = {"note", "on_note", "_note", "on_noted"}


class Change(NamedTuple):
    """One change of a source: its bytes from start to end become `after`, which has as many lines.

    function: name of the changed function, with its class; rule: name of the rule; line, column: as `ast` counts them.
    """

    start: int
    end: int
    line: int
    column: int
    function: str
    rule: str
    after: str


def changes(source: str) -> list[Change]:
    """All changes that the rules make to a source, in line order; no two have the same rule and place."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    data = source.encode()
    all_changes: list[Change] = []
    for name, function in _functions(ast.parse(source).body):
        for node in _within(function.body):
            for part, rule, after in _of(node):
                assert part.end_lineno is not None, part
                assert part.end_col_offset is not None, part
                start, end = lines[part.lineno - 1] + part.col_offset, lines[part.end_lineno - 1] + part.end_col_offset
                after = _stretch(part, after, data[start:end].count(b"\n"))
                all_changes.append(Change(start, end, part.lineno, part.col_offset, name, rule, after))
    all_changes.sort(key=lambda change: (change.start, change.rule, -change.end))
    seen: dict[tuple[int, str], int] = {}
    for place, change in enumerate(all_changes):
        # One expression may begin where another does: the outer comes first.
        count = seen[change.start, change.rule] = seen.get((change.start, change.rule), 0) + 1
        if count > 1:
            all_changes[place] = change._replace(rule=f"{change.rule}-{count}")
    return all_changes


def _stretch(part: ast.AST, after: str, count: int) -> str:
    """The text padded to as many lines as the text it replaces, so that the lines below keep their numbers."""
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
    """All nodes that have an effect when they run."""
    for node in body:
        if isinstance(node, ast.Raise):
            yield from (each for each in ast.walk(node) if _is_error_code(each))
        if isinstance(node, (ast.Assert, ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)) or _only_reports(node):
            continue
        yield node
        if isinstance(node, ast.AnnAssign):
            yield from _within([node.value] if node.value is not None else [])
        elif isinstance(node, ast.FunctionDef):
            yield from _within(node.body)
        else:
            yield from _within(ast.iter_child_nodes(node))


def _only_reports(node: ast.AST) -> bool:
    """Whether it is a docstring or a call that only reports something."""
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    if isinstance(call, ast.Constant):
        return True
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _REPORTS


def _of(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str, str]]:
    """The changes of a node: what is replaced, by which rule, and the new text."""
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
    """Changes of literal numbers and booleans. Sums and ordered comparisons have rules of their own."""
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
    """Whether it assigns to an attribute or an item. Assignments to locals stay, or their names would be undefined."""
    return isinstance(node, ast.Assign) and all(isinstance(to, (ast.Attribute, ast.Subscript)) for to in node.targets)


def _is_text(node: ast.BinOp) -> bool:
    """Whether it joins texts or lists, as far as its syntax shows."""
    joined = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict)
    return any(
        isinstance(each, joined) or (isinstance(each, ast.Constant) and not isinstance(each.value, int))
        for each in (node.left, node.right)
    )


class Generated(NamedTuple):
    """A mutant that a rule made. text: the changed text, on one line; before: how many mutants with the same function, rule
    and text come before it.
    """

    module: str
    change: Change
    text: str
    before: int

    @property
    def id(self) -> str:
        change = self.change
        return f"{PREFIX}{self.module}/{change.line}/{change.column}/{change.rule}"

    @property
    def key(self) -> str:
        """A name that stays the same when lines move."""
        rule = re.sub(r"-\d+$", "", self.change.rule)
        again = f" #{self.before + 1}" if self.before else ""
        return f"{self.module}.{self.change.function} {rule} `{self.text}`{again}"

    def mutate(self, source: str) -> str:
        """The source of the module with the change."""
        data = source.encode()
        return (data[: self.change.start] + self.change.after.encode() + data[self.change.end :]).decode()


def modules(name: str) -> list[str]:
    """The modules of a level's core, or of a package without its subpackages; a module's name gives that module."""
    if name in CORES:
        names = [module for package in CORES[name] for module in _of_package(package)]
        return [*names, *OF_NODES] if name == "controller" else names
    return _of_package(name)


def _of_package(package: str) -> list[str]:
    spec = find_spec(imported_name(package))
    if spec is None or not spec.submodule_search_locations:
        return [package]
    root = Path(spec.submodule_search_locations[0])
    return [f"{package}.{path.stem}" for path in sorted(root.glob("*.py")) if path.stem != "__init__"]


def generate(module: str) -> Iterator[Generated]:
    """All mutants of a module, in line order."""
    source = source_of(module)
    data = source.encode()
    counts: dict[str, int] = {}
    for change in changes(source):
        text = " ".join(data[change.start : change.end].decode().split())
        text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
        first = Generated(module, change, text, 0)
        count = counts[first.key] = counts.get(first.key, -1) + 1
        yield first._replace(before=count)


def sample(name: str, count: int | None, seed: int = 1) -> list[Generated]:
    """`count` mutants of a core, package or module, chosen by hash; all where count is None.

    A larger sample contains the smaller ones, and a change of the code changes few choices.
    """
    mutants = [each for module in modules(name) for each in generate(module)]
    if count is None:
        return mutants
    chosen = sorted(mutants, key=lambda each: blake2b(f"{seed}/{each.key}".encode(), digest_size=8).digest())[:count]
    return sorted(chosen, key=lambda each: (each.module, each.change.start, each.change.rule))


def find(mutant_id: str) -> Mutant:
    """The mutant with this id. Raises ValueError where the code has none."""
    try:
        _, module, line, column, rule = mutant_id.split("/")
    except ValueError:
        raise ValueError(f"{mutant_id!r} is not G/module/line/column/rule") from None
    for each in generate(module):
        if each.id == mutant_id:
            return as_mutant(each)
    raise ValueError(f"{module} has no {rule} at line {line}, column {column}")


def as_mutant(generated: Generated) -> Mutant:
    """The mutant as a row, as the other commands take it."""
    module, change, text, _ = generated
    name = f"{module}:{change.line}: {text} → {' '.join(change.after.split())[:60]}"
    edit = Rewrite(module, generated.mutate(source_of(module)))
    return Mutant(generated.id, name, "generic", change.rule, (), (edit,), level=level_of(module))


def level_of(module: str) -> str:
    """The level at which the mutants of a module are tried."""
    if module in OF_NODES:
        return "node"
    return "controller" if module.startswith("controller") else "raft"


def source_of(module: str) -> str:
    """The source of a module. Raises ValueError where there is no such module."""
    spec = find_spec(imported_name(module))
    if spec is None or spec.origin is None:
        raise ValueError(f"no module {module}")
    return Path(spec.origin).read_text()
