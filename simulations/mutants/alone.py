"""One property judges alone, and the others say nothing: it shows what it sees where another one is always first.

Each `raise Violation` of another property is taken out of the code of its function, which goes on behind it; nothing else
is changed, so a world in which every property holds stays as it is, byte for byte. What the product raises itself ends a
world still, and counts for nobody.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simulations.mutants.grafts import compiled, functions_by_place, functions_in, place_of

if TYPE_CHECKING:
    from types import ModuleType

FILE = Path(__file__).with_name("alone.json")

RAISES = "raise Violation("
PRODUCT = "ASSERT"


class _Hush(ast.NodeTransformer):
    def __init__(self, property_id: str) -> None:
        self._heard = (property_id, PRODUCT)

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        raised = node.exc
        if not (isinstance(raised, ast.Call) and isinstance(raised.func, ast.Name) and raised.func.id == "Violation"):
            return node
        named = raised.args[0]
        if isinstance(named, ast.Constant):
            return node if named.value in self._heard else ast.copy_location(ast.Pass(), node)
        heard = ast.Tuple([ast.Constant(each) for each in self._heard], ast.Load())
        test = ast.Compare(named, [ast.In()], [heard])
        return ast.fix_missing_locations(ast.copy_location(ast.If(test, [node], []), node))


def judges() -> list[ModuleType]:
    """The modules of this process in which properties are broken."""
    return [
        module
        for name, module in sorted(sys.modules.items())
        if name.startswith("simulations.") and name != __name__ and RAISES in _source(module)
    ]


def hush_others(property_id: str) -> None:
    """From now on no property but this one breaks in this process; what judges must be imported."""
    functions = functions_by_place()
    for module in judges():
        assert module.__file__ is not None, module
        tree = _Hush(property_id).visit(ast.parse(_source(module)))
        for code in functions_in(compiled(tree, module.__file__)):
            for function in functions[place_of(code)]:
                function.__code__ = code


def _source(module: ModuleType) -> str:
    return "" if module.__file__ is None else Path(module.__file__).read_text()


def read(path: Path = FILE) -> dict[str, dict[str, int]]:
    """By property, by mutant: the seed whose world it broke alone. Raises ValueError where the file holds none."""
    if not path.exists():
        return {}
    try:
        tree = json.loads(path.read_text())
        return {name: {mutant: int(seed) for mutant, seed in found.items()} for name, found in tree.items()}
    except (json.JSONDecodeError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no kills: {error!r}") from None


def write(kept: dict[str, dict[str, int]], path: Path = FILE) -> None:
    """Keep them, a property a line."""
    lines = [f"  {json.dumps(name)}: {json.dumps(dict(sorted(kept[name].items())))}" for name in sorted(kept)]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
