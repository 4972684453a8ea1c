"""The entry points of the installed commands: a function for each row of `tools/registry.py`.

Each imports its own module alone, so that a tool starts in 50 ms.
"""

from __future__ import annotations

from tools.registry import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def __getattr__(name: str) -> Callable[[], int]:
    for tool in TOOLS:
        if tool.function == name:
            main: Callable[[], int] = tool.load().main
            return main
    raise AttributeError(name)
