"""Puts a mutant into a process, and silences all properties but one.

There are two ways to put a mutant in. An import hook changes a module's syntax tree before it is compiled, which must
happen before the module is imported, so such a mutant needs a process of its own. Or functions of imported modules get
other code, which works in a fork of a process that has imported everything and so spends no time on imports. A function
that ran while its module was imported cannot be replaced that way, because what it has already done would stay
(`Imported.ran`).
"""

from __future__ import annotations

import ast
import gc
import sys
from collections import defaultdict
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from simulations.mutants.fragments import mutate
from simulations.mutants.module_names import imported_name, repository_name
from simulations.mutants.row import Rewrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType, ModuleType

    from simulations.mutants.row import Edit, Mutant

Place = tuple[str, int, str]
"""File, first line and name of a piece of code."""


class Imported:
    """What this process has imported: where each function is, and which code ran during the imports."""

    def __init__(self) -> None:
        self._ran: dict[Place, set[int | None]] = {}
        self._functions: dict[Place, list[FunctionType]] = {}

    def load(self, load: Callable[[], Any]) -> None:
        """Call `load`, which imports modules, and record which functions run meanwhile."""
        sys.setprofile(self._runs)
        try:
            load()
        finally:
            sys.setprofile(None)
        self._functions = functions_by_place()

    def _runs(self, frame: FrameType, event: str, _arg: object) -> None:
        if event == "call":
            place = place_of(frame.f_code)
            if place not in self._ran:
                self._ran[place] = {line for _, _, line in frame.f_code.co_lines()}

    def ran(self, module: str, lines: range) -> bool:
        """Whether any of these lines belongs to a function that ran during the imports."""
        path = sys.modules[imported_name(module)].__file__
        return any(place[0] == path and not ran_lines.isdisjoint(lines) for place, ran_lines in self._ran.items())

    def replace(self, sources: Mapping[str, tuple[str, str | ast.Module]]) -> bool:
        """Change the code of functions. Returns False, and changes nothing, where the change needs a process of its own.

        sources: name of an imported module -> its source before and after.
        """
        swaps: list[tuple[FunctionType, CodeType]] = []
        for module, (source, changed) in sources.items():
            path = sys.modules[imported_name(module)].__file__
            assert path is not None, module
            module_swaps = self._swaps(compile_module(source, path), compile_module(changed, path))
            if module_swaps is None:
                return False
            swaps += module_swaps
        for function, code in swaps:
            function.__code__ = code
        return True

    def _swaps(self, now: CodeType, then: CodeType) -> list[tuple[FunctionType, CodeType]] | None:
        """The functions of a module that change, each with its new code; None where more than functions change."""
        if _without_functions(now) != _without_functions(then):
            return None
        swaps: list[tuple[FunctionType, CodeType]] = []
        for old, new in zip(functions_in(now), functions_in(then), strict=True):
            if _without_lines(old) == _without_lines(new):
                continue
            place = place_of(old)
            live = [each for each in self._functions.get(place, ()) if each.__code__ == old]
            if not live or place in self._ran or old.co_freevars != new.co_freevars:
                return None
            swaps += [(each, new) for each in live]
        return swaps


def functions_by_place() -> dict[Place, list[FunctionType]]:
    """All functions of this process."""
    by_place: dict[Place, list[FunctionType]] = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            by_place[place_of(each.__code__)].append(each)
    return by_place


def compile_module(source: str | ast.Module, path: str) -> CodeType:
    """The code of a module. Its classes are on line 1: from Python 3.13 on the code of a class has its line."""
    tree = ast.parse(source) if isinstance(source, str) else source
    bodies: list[ast.Module | ast.ClassDef] = [tree]
    for body in bodies:
        for each in body.body:
            if isinstance(each, ast.ClassDef):
                each.lineno = 1
                bodies.append(each)
                for decorator in each.decorator_list:
                    decorator.lineno = 1
    return compile(tree, path, "exec", dont_inherit=True)


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and of its classes, without the functions nested in them."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if _is_class(each):
                yield from functions_in(each)
            else:
                yield each


def place_of(code: CodeType) -> Place:
    """The file, first line and name of a piece of code."""
    return code.co_filename, code.co_firstlineno, code.co_qualname


def _without_lines(code: CodeType) -> CodeType:
    """The code without its line numbers, so that moved code compares equal."""
    parts = tuple(_without_lines(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=parts)


def _without_functions(code: CodeType) -> CodeType:
    """The top-level code of a module or class without line numbers; its functions are reduced to their names."""
    parts = tuple(
        each if not isinstance(each, CodeType) else _without_functions(each) if _is_class(each) else each.co_qualname
        for each in code.co_consts
    )
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=parts)


def _is_class(code: CodeType) -> bool:
    """Whether it is the body of a class."""
    return "__qualname__" in code.co_names and "__module__" in code.co_names


def apply_edits(source: str, edits: Sequence[Edit | Rewrite]) -> ast.Module:
    """The tree of one module with the edits, one after the other. Raises ValueError where one does not fit."""
    tree = ast.parse(source)
    for edit in edits:
        if isinstance(edit, Rewrite):
            tree = ast.parse(edit.source)
        else:
            mutate(tree, edit)
    return ast.fix_missing_locations(tree)


class _Loader(SourceFileLoader):
    """Compiles the changed tree; neither reads nor writes a cache."""

    def __init__(self, name: str, path: str, edits: Sequence[Edit | Rewrite]) -> None:
        super().__init__(name, path)
        self._edits = edits

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return compile_module(apply_edits(self.get_data(path).decode(), self._edits), path)


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        edits = [edit for edit in self._mutant.edits if edit.module == repository_name(fullname)]
        if not edits:
            return None
        spec: Any = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        spec.loader = _Loader(fullname, spec.origin, edits)
        return spec  # type: ignore[no-any-return]


def install(mutant: Mutant) -> None:
    """Install the import hook for the modules of a mutant. Raises RuntimeError where one of them is already imported."""
    for edit in mutant.edits:
        if imported_name(edit.module) in sys.modules:
            raise RuntimeError(f"{edit.module} is already imported; a mutant needs a fresh process")
    sys.meta_path.insert(0, _Finder(mutant))


RAISES = "raise Violation("
ASSERTION = "ASSERT"


class _Silence(ast.NodeTransformer):
    def __init__(self, property_id: str) -> None:
        self._kept = (property_id, ASSERTION)

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        raised = node.exc
        if not (isinstance(raised, ast.Call) and isinstance(raised.func, ast.Name) and raised.func.id == "Violation"):
            return node
        named = raised.args[0]
        if isinstance(named, ast.Constant):
            return node if named.value in self._kept else ast.copy_location(ast.Pass(), node)
        kept = ast.Tuple([ast.Constant(each) for each in self._kept], ast.Load())
        test = ast.Compare(named, [ast.In()], [kept])
        return ast.fix_missing_locations(ast.copy_location(ast.If(test, [node], []), node))


def checking_modules() -> list[ModuleType]:
    """The imported modules that raise Violation."""
    return [
        module
        for name, module in sorted(sys.modules.items())
        if repository_name(name).startswith("simulations.") and name != __name__ and RAISES in _source(module)
    ]


def silence_other_properties(property_id: str) -> None:
    """Replace each `raise Violation` of another property in this process by `pass`.

    The modules that check properties must be imported. Nothing else changes, so a world in which every property holds keeps
    its trace. An error that the product raises (ASSERT) still ends a world.
    """
    functions = functions_by_place()
    for module in checking_modules():
        assert module.__file__ is not None, module
        tree = _Silence(property_id).visit(ast.parse(_source(module)))
        for code in functions_in(compile_module(tree, module.__file__)):
            for function in functions[place_of(code)]:
                function.__code__ = code


def _source(module: ModuleType) -> str:
    return "" if module.__file__ is None else Path(module.__file__).read_text()
