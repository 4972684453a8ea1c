"""A progress line: redrawn in place on a terminal, printed every 30 s elsewhere."""

from __future__ import annotations

import sys
import time

EVERY_S = 0.2
ELSEWHERE_S = 30.0
WIDTH = 30


class Progress:
    """total: how many units there are; what: their name in the plural."""

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._done = 0
        self._begin = self._drawn = time.monotonic()
        self._is_terminal = sys.stderr.isatty()

    def add(self, count: int, note: str = "") -> None:
        """`count` more are done."""
        self._done += count
        now = time.monotonic()
        is_due = now - self._drawn >= (EVERY_S if self._is_terminal else ELSEWHERE_S)
        if is_due or (self._is_terminal and self._done >= self._total):
            self._drawn = now
            self._draw(now - self._begin, note)

    def clear(self) -> None:
        """Erase the line, so that others can be printed."""
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _draw(self, passed_s: float, note: str) -> None:
        share = self._done / max(1, self._total)
        left_s = passed_s / share - passed_s if share else 0.0
        text = (
            f"{self._done} of {self._total} {self._what}, {passed_s:.0f} s, {left_s:.0f} s to go{note and f', {note}'}"
        )
        if self._is_terminal:
            full = int(share * WIDTH)
            sys.stderr.write(f"\r\x1b[K[{'#' * full}{'.' * (WIDTH - full)}] {text}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
