"""Which lines run in the world of a seed, and what its trace is: a mutant on a line that does not run changes nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from simulations.running.workers import Task, perform

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType


class Probe:
    """lines: those that ran, by file, of the files that are looked at."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.lines: dict[str, set[int]] = {path: set() for path in paths}
        self._left: dict[CodeType, set[int]] = {}

    def run(self, level: str, seed: int) -> str:
        """Live through the world of a seed; returns the hash of its trace. Raises ValueError where it is not well."""
        sys.settrace(self._entered)
        try:
            row = perform(Task((seed,), level))
        finally:
            sys.settrace(None)
        if row.error or not row.outcomes[0].is_well:
            raise ValueError(f"seed {seed} is not well without a mutant: {row.error or row.outcomes[0].property_id}")
        return row.outcomes[0].trace_hash

    def _entered(self, frame: FrameType, _event: str, _arg: object) -> Any:
        code = frame.f_code
        seen = self.lines.get(code.co_filename)
        if seen is None:
            return None
        left = self._left.get(code)
        if left is None:
            left = self._left[code] = {line for _, _, line in code.co_lines() if line is not None} - seen
        if not left:
            return None
        return self._line

    def _line(self, frame: FrameType, event: str, _arg: object) -> Any:
        if event == "line":
            self.lines[frame.f_code.co_filename].add(frame.f_lineno)
            self._left[frame.f_code].discard(frame.f_lineno)
        return self._line
