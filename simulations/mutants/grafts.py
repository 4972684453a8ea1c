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
    from ast import Module
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

Place = tuple[str, int, str]
"""File, first line and name of a piece of code."""


class Imported:
    """What is in this process after imports: where each function is, and which code ran meanwhile."""

    def __init__(self) -> None:
        self._ran: dict[Place, set[int | None]] = {}
        self._functions: dict[Place, list[FunctionType]] = {}

    def load(self, load: Callable[[], Any]) -> None:
        """Import something more, which no world has been lived through with yet."""
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
        """Whether any of these lines is of a function that ran while all was imported."""
        path = sys.modules[module].__file__
        return any(place[0] == path and not found.isdisjoint(lines) for place, found in self._ran.items())

    def graft(self, sources: Mapping[str, tuple[str, str]]) -> bool:
        """Change the code of functions; False, with nothing changed, where this needs a process of its own.

        sources: by name of a module that is imported, its source as it is and as it is to be.
        """
        swaps: list[tuple[FunctionType, CodeType]] = []
        for module, (source, changed) in sources.items():
            path = sys.modules[module].__file__
            assert path is not None, module
            found = self._swaps(compiled(source, path), compiled(changed, path))
            if found is None:
                return False
            swaps += found
        for function, code in swaps:
            function.__code__ = code
        return True

    def _swaps(self, now: CodeType, then: CodeType) -> list[tuple[FunctionType, CodeType]] | None:
        """The functions of a module that change, each with its new code; None where more than functions do."""
        if _without_functions(now) != _without_functions(then):
            return None
        found: list[tuple[FunctionType, CodeType]] = []
        for old, new in zip(functions_in(now), functions_in(then), strict=True):
            if _without_lines(old) == _without_lines(new):
                continue
            place = place_of(old)
            live = [each for each in self._functions.get(place, ()) if each.__code__ == old]
            if not live or place in self._ran or old.co_freevars != new.co_freevars:
                return None
            found += [(each, new) for each in live]
        return found


def functions_by_place() -> dict[Place, list[FunctionType]]:
    """All functions of this process."""
    found: dict[Place, list[FunctionType]] = defaultdict(list)
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            found[place_of(each.__code__)].append(each)
    return found


def compiled(source: str | Module, path: str) -> CodeType:
    """The code of a module."""
    return compile(source, path, "exec", dont_inherit=True)


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """Those at the top of a module and of its classes; what is within them belongs to them."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            if _is_class(each):
                yield from functions_in(each)
            else:
                yield each


def place_of(code: CodeType) -> Place:
    """Where a piece of code is."""
    return code.co_filename, code.co_firstlineno, code.co_qualname


def _without_lines(code: CodeType) -> CodeType:
    """The same, wherever it stands."""
    parts = tuple(_without_lines(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=parts)


def _without_functions(code: CodeType) -> CodeType:
    """What a module or a class does when it is made, wherever that stands; of its functions only the names."""
    parts = tuple(
        each if not isinstance(each, CodeType) else _without_functions(each) if _is_class(each) else each.co_qualname
        for each in code.co_consts
    )
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=parts)


def _is_class(code: CodeType) -> bool:
    """Whether it is the body of a class."""
    return "__qualname__" in code.co_names and "__module__" in code.co_names
