"""Putting a mutant into this process: an import hook that changes a module's source before it is compiled.

It must be in place before the module is imported, so a mutant has a process of its own.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, ModuleType

    from simulations.mutants.row import Edit, Mutant


def mutated(source: str, edits: Sequence[Edit]) -> str:
    """The source with the edits of one module; raises ValueError where what is to be replaced is not there just once."""
    for edit in edits:
        count = source.count(edit.before)
        if count != 1:
            raise ValueError(f"{edit.module} has {count} times, not once: {edit.before!r}")
        source = source.replace(edit.before, edit.after)
    return source


class _Loader(SourceFileLoader):
    """Compiles the changed source; neither reads nor writes a cache."""

    def __init__(self, name: str, path: str, edits: Sequence[Edit]) -> None:
        super().__init__(name, path)
        self._edits = edits

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = mutated(self.get_data(path).decode(), self._edits)
        return compile(source, path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        edits = [edit for edit in self._mutant.edits if edit.module == fullname]
        if not edits:
            return None
        spec: Any = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return None
        spec.loader = _Loader(fullname, spec.origin, edits)
        return spec  # type: ignore[no-any-return]


def install(mutant: Mutant) -> None:
    """From now on the modules of the mutant are imported changed; raises RuntimeError where one is imported already."""
    for edit in mutant.edits:
        if edit.module in sys.modules:
            raise RuntimeError(f"{edit.module} is imported already; a mutant needs a fresh process")
    sys.meta_path.insert(0, _Finder(mutant))
