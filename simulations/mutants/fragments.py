"""Fragments of Python: where one stands in the syntax tree of a function, and the function with another in its place.

A fragment is an expression or a run of statements, as source text. It is compared with the function as a syntax tree,
so format and comments do not count, and neither do the names of local variables: a name of the fragment that the
function does not have stands for the one local name that fits, and two names never stand for the same one.

`...` stands for whatever is there: a block of statements, statements of a run, operands of `and` and `or`, items,
arguments (`**...` for named ones), or one expression. In the fragment that takes its place, the n-th `...` is what the
n-th stood for.
"""

from __future__ import annotations

import ast
import builtins
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simulations.mutants.row import Edit

# Where a node has a name as text that is, or may be, that of a local variable.
NAMED: dict[type[ast.AST], str] = {
    ast.Name: "id", ast.arg: "arg", ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name",
    ast.FunctionDef: "name", ast.AsyncFunctionDef: "name",
}  # fmt: skip
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

Fragment = list[ast.expr] | list[ast.stmt]
"""One expression, or a run of statements."""


class Place(NamedTuple):
    """Nodes of a tree: `parent.field` itself where `stop` is None, else those from `start` to `stop` of that list."""

    parent: ast.AST
    field: str
    start: int = 0
    stop: int | None = None


class Binding(NamedTuple):
    """What a fragment's parts stand for. names: local name of the fragment -> of the function; gaps: for each `...`."""

    names: Mapping[str, str]
    gaps: tuple[list[Any], ...] = ()


def mutate(tree: ast.Module, edit: Edit) -> None:
    """Put `edit.new` in the place of `edit.old`. Raises ValueError where `old` has no place or several, or where `new`
    has a name that is unknown there; the text says what to do.
    """
    subject = f"{edit.module}, {edit.function or 'outside of functions'}"
    scopes = list(find_scopes(tree, edit.function))
    if not scopes:
        raise ValueError(f"{subject}: is not there; name the function, class or constant that has the code now")
    old, new = _parse_pair(edit.old, edit.new)
    matches = [(scope, *match) for scope in scopes for match in _matches(scope, old, Binding({}))]
    if not matches:
        raise ValueError(
            f"{subject}: has 0 places, not one, with\n{edit.old}\nWrite it as the code is now, or remove the mutant"
        )
    if len(matches) > 1:
        raise ValueError(
            f"{subject}: has {len(matches)} places, not one, with\n{edit.old}\nAdd code that stands beside the right one"
        )
    scope, place, binding = matches[0]
    if edit.names:
        binding = _bind_names(scope, edit.names, binding, subject)
    if _count_gaps(new) > _count_gaps(old):
        raise ValueError(f"{subject}: the new code has more `...` than the old, and nothing stands for them")
    _check_names(tree, scope, new, binding, subject)
    _replace(place, new, binding)


def find_scopes(tree: ast.AST, name: str) -> Iterator[ast.AST]:
    """The functions, classes or assignments of a qualified name; a property and its setter have the same."""
    first, _, rest = name.partition(".")
    if not first:
        yield tree
        return
    for each in getattr(tree, "body", ()):
        if isinstance(each, _FUNCTIONS | ast.ClassDef) and each.name == first:
            yield from find_scopes(each, rest)
        elif isinstance(each, ast.Assign | ast.AnnAssign) and not rest:
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            if any(isinstance(target, ast.Name) and target.id == first for target in targets):
                yield each


def local_names(scope: ast.AST) -> set[str]:
    """The names that a function binds, with those of the functions in it; none where it is no function."""
    if not isinstance(scope, _FUNCTIONS):
        return set()
    inner = [each for each in ast.walk(scope) if each is not scope]
    return _bound_names(inner) - {name for each in inner if isinstance(each, ast.Global) for name in each.names}


def name_of(node: ast.AST) -> str | None:
    """The name that a node has and that may be a variable's."""
    field = NAMED.get(type(node))
    return None if field is None else getattr(node, field)


def _parse_pair(old: str, new: str) -> tuple[Fragment, Fragment]:
    """Two expressions where both are, else two runs of statements."""
    pair = ast.parse(old).body, ast.parse(new).body
    as_expressions = [_as_expression(each) for each in pair]
    if as_expressions[0] is None or as_expressions[1] is None:
        return pair
    return [as_expressions[0]], [as_expressions[1]]


def _as_expression(run: Sequence[ast.stmt]) -> ast.expr | None:
    return run[0].value if len(run) == 1 and isinstance(run[0], ast.Expr) else None


def _bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        name
        for each in nodes
        if not (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)) and (name := name_of(each)) is not None
    }


def _nodes(trees: Iterable[ast.AST]) -> Iterator[ast.AST]:
    return (each for tree in trees for each in ast.walk(tree))


def _names(trees: Iterable[ast.AST]) -> set[str]:
    return {name for each in _nodes(trees) if (name := name_of(each)) is not None}


def _is_ellipsis(node: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_gap(node: object) -> bool:
    """Whether it is `...`, as an expression, a statement or a named argument."""
    if isinstance(node, ast.Expr) or (isinstance(node, ast.keyword) and node.arg is None):
        return _is_ellipsis(node.value)
    return _is_ellipsis(node)


def _count_gaps(fragment: Fragment) -> int:
    return sum(_is_ellipsis(each) for each in _nodes(fragment))


class _Matcher:
    """Compares a fragment with the parts of one function."""

    def __init__(self, scope: ast.AST, names: set[str]) -> None:
        """names: of the fragment. Those that the function has stand for themselves."""
        self._locals = local_names(scope)
        self._known = names & _names([scope])

    def match(self, pattern: Any, node: Any, binding: Binding) -> Iterator[Binding]:
        """All ways in which a part of the fragment is this part of the function."""
        if isinstance(pattern, list):
            yield from self.match_list(pattern, node, binding)
        elif not isinstance(pattern, ast.AST):
            if type(pattern) is type(node) and pattern == node:
                yield binding
        elif _is_gap(pattern):
            if isinstance(node, ast.AST):
                yield binding._replace(gaps=(*binding.gaps, [node]))
        elif type(pattern) is type(node):
            yield from self._match_fields(pattern, node, pattern._fields, binding)

    def match_list(self, pattern: Sequence[Any], nodes: Sequence[Any], binding: Binding) -> Iterator[Binding]:
        """All ways in which a list of the fragment is this list of the function."""
        if not pattern:
            if not nodes:
                yield binding
        elif _is_gap(pattern[0]):
            for count in range(len(nodes) + 1):
                bound = binding._replace(gaps=(*binding.gaps, list(nodes[:count])))
                yield from self.match_list(pattern[1:], nodes[count:], bound)
        elif nodes:
            for each in self.match(pattern[0], nodes[0], binding):
                yield from self.match_list(pattern[1:], nodes[1:], each)

    def _match_fields(
        self, pattern: ast.AST, node: ast.AST, fields: Sequence[str], binding: Binding
    ) -> Iterator[Binding]:
        if not fields:
            yield binding
            return
        ours, theirs = getattr(pattern, fields[0], None), getattr(node, fields[0], None)
        if fields[0] == NAMED.get(type(pattern)) and ours is not None and theirs is not None:
            ways = self._bind(ours, theirs, binding)
        else:
            ways = self.match(ours, theirs, binding)
        for each in ways:
            yield from self._match_fields(pattern, node, fields[1:], each)

    def _bind(self, name: str, actual: str, binding: Binding) -> Iterator[Binding]:
        """The binding with this pair of names; nothing where the two cannot be one variable."""
        if name in self._known or name in binding.names:
            if binding.names.get(name, name) == actual:
                yield binding
        elif actual in self._locals - self._known and actual not in binding.names.values():
            yield binding._replace(names={**binding.names, name: actual})


def _matches(scope: ast.AST, fragment: Fragment, binding: Binding) -> Iterator[tuple[Place, Binding]]:
    """Each place of a fragment in a function, with what its parts stand for."""
    matcher = _Matcher(scope, _names(fragment) - set(binding.names))
    is_run = not fragment or isinstance(fragment[0], ast.stmt)
    for parent in ast.walk(scope):
        for field, value in ast.iter_fields(parent):
            if not isinstance(value, list):
                if not is_run:
                    for each in matcher.match(fragment[0], value, binding):
                        yield Place(parent, field), each
            elif not is_run or (value and isinstance(value[0], ast.stmt)):
                for start, stop in _runs(fragment, len(value)):
                    for each in matcher.match_list(fragment, value[start:stop], binding):
                        yield Place(parent, field, start, stop), each


def _runs(fragment: Fragment, count: int) -> Iterator[tuple[int, int]]:
    """The parts of a list of `count` nodes that a fragment may be, each with its start and its end."""
    least = sum(not _is_gap(each) for each in fragment)
    for start in range(count):
        for stop in range(start + least, count + 1) if least < len(fragment) else (start + least,):
            if stop <= count:
                yield start, stop


def _bind_names(scope: ast.AST, text: str, binding: Binding, subject: str) -> Binding:
    """The binding with the names of another fragment of the function."""
    fragment, _ = _parse_pair(text, text)
    ways = [each.names for _, each in _matches(scope, fragment, Binding(binding.names))]
    if not ways or any(each != ways[0] for each in ways):
        raise ValueError(f"{subject}: has {len(ways)} places, not one, with\n{text}\nWrite it as the code is now")
    return binding._replace(names=ways[0])


def _check_names(tree: ast.Module, scope: ast.AST, new: Fragment, binding: Binding, subject: str) -> None:
    """Check names. Raises ValueError where a name of the new fragment is none of the function, the module or Python."""
    known = {*dir(builtins), *binding.names, *_names([scope]), *_bound_names(_nodes(new))}
    known |= {each.asname or each.name for each in _nodes([tree, *new]) if isinstance(each, ast.alias)}
    for each in tree.body:
        known |= {each.name} if isinstance(each, _FUNCTIONS | ast.ClassDef) else _names([each])
    unknown = _names(new) - known
    if unknown:
        raise ValueError(
            f"{subject}: has no {', '.join(sorted(unknown))}; write the new code with names that are there"
        )


def _replace(place: Place, new: Fragment, binding: Binding) -> None:
    """Put the fragment, with the names and the gaps of the binding, into its place."""
    value = getattr(place.parent, place.field)
    old = value if place.stop is None else value[place.start]
    new = deepcopy(new)
    for each in _nodes(new):
        ast.copy_location(each, old)
        name = name_of(each)
        if name is not None:
            setattr(each, NAMED[type(each)], binding.names.get(name, name))
    filler = _Filler(binding.gaps)
    filled: list[Any] = filler.fill_list(new) if isinstance(old, ast.stmt) else [filler.fill(new[0])]
    if place.stop is None:
        setattr(place.parent, place.field, filled[0])
        return
    value[place.start : place.stop] = filled
    if not value:
        value.append(ast.copy_location(ast.Pass(), old))


class _Filler:
    """Puts what each `...` stood for into a fragment."""

    def __init__(self, gaps: Iterable[list[Any]]) -> None:
        self._gaps = iter(gaps)

    def fill_list(self, nodes: Iterable[Any]) -> list[Any]:
        """The nodes, each `...` among them replaced."""
        filled: list[Any] = []
        for each in nodes:
            filled += next(self._gaps) if _is_gap(each) else [self.fill(each)]
        return filled

    def fill(self, node: Any) -> Any:
        """A node with each `...` in it replaced. Raises ValueError where one by itself stood for several nodes."""
        if not isinstance(node, ast.AST):
            return node
        if _is_gap(node):
            nodes = next(self._gaps)
            if len(nodes) != 1:
                raise ValueError(f"a `...` of the new code stands where one node can, and for {len(nodes)}")
            return nodes[0]
        for field, value in ast.iter_fields(node):
            setattr(node, field, self.fill_list(value) if isinstance(value, list) else self.fill(value))
        if isinstance(node, ast.BoolOp) and len(node.values) == 1:
            return node.values[0]
        return node
