"""A mutant put into a process that runs already: the function that it is in gets other code.

A fresh process for each mutant would spend most of its time on imports; a fork of one that has imported everything, and
what is in it is changed, spends none. What ran while it was imported came of the code as it is, so such functions are told
apart (`Imported`), and their mutants want a process of their own.
"""

from __future__ import annotations

import gc
import sys
from collections import defaultdict
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from simulations.mutants.generic import Ordinary

Place = tuple[str, int, str]
"""File, first line and name of a piece of code."""


class Imported:
    """What is in this process after an import: where each function is, and which code ran meanwhile."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self.result: Any = None
        self._ran: dict[Place, set[int | None]] = {}
        sys.setprofile(self._runs)
        try:
            self.result = load()
        finally:
            sys.setprofile(None)
        self._functions: dict[Place, list[FunctionType]] = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._functions[_place(each.__code__)].append(each)

    def _runs(self, frame: FrameType, event: str, _arg: object) -> None:
        if event == "call":
            self._ran[_place(frame.f_code)] = {line for _, _, line in frame.f_code.co_lines()}

    def ran(self, module: str, lines: range) -> bool:
        """Whether any of these lines is of a function that ran while all was imported."""
        path = sys.modules[module].__file__
        return any(place[0] == path and not found.isdisjoint(lines) for place, found in self._ran.items())

    def graft(self, ordinary: Ordinary, source: str) -> bool:
        """Change the code of the function; False, with nothing changed, where this needs a process of its own."""
        path = sys.modules[ordinary.module].__file__
        assert path is not None, ordinary.module
        now = {_place(code): code for code in _functions_in(_compiled(source, path))}
        then = {_place(code): code for code in _functions_in(_compiled(ordinary.mutated(source), path))}
        if now.keys() != then.keys():
            return False
        changed = [place for place in now if now[place] != then[place]]
        if not changed or any(place in self._ran or not self._functions[place] for place in changed):
            return False
        for place in changed:
            if now[place].co_freevars != then[place].co_freevars:
                return False
        for place in changed:
            for function in self._functions[place]:
                function.__code__ = then[place]
        return True


def _compiled(source: str, path: str) -> CodeType:
    return compile(source, path, "exec", dont_inherit=True)


def _functions_in(code: CodeType) -> Iterator[CodeType]:
    """Those at the top of a module and of its classes; what is within them belongs to them."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if "__qualname__" in each.co_names and "__module__" in each.co_names:
                yield from _functions_in(each)  # the body of a class
            else:
                yield each


def _place(code: CodeType) -> Place:
    return code.co_filename, code.co_firstlineno, code.co_qualname
