"""A progress bar on stderr."""

from __future__ import annotations

import sys
import time

from records.plain_text import plain_text
from tools.command_line.standard_streams import unwrap_stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

SHOW_AFTER_S = 1.0
# For the tools of Kafka's names, of which stock's show no bar.
SHOW_AFTER_S_OF_KAFKA = 2.0
_EVERY_S = 0.1
_WIDTH = 30


class Progress:
    """A bar on stderr, on a terminal only, once the work takes longer than a second; a context manager.

    total: of the numbers that it is called with, 0 if unknown. prints: whether the work prints its results meanwhile;
    then there is no bar if they go to a terminal too.
    """

    def __init__(self, what: str, total: int, *, after_s: float = SHOW_AFTER_S, prints: bool = False) -> None:
        self.what = what
        self.total = total
        self._on = sys.stderr.isatty() and not (prints and sys.stdout.isatty())
        self._next = time.monotonic() + after_s
        self._shown = False

    def __call__(self, done: int) -> None:
        if not self._on or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY_S
        self._shown = True
        share = min(done / self.total, 1.0) if self.total else 0.0
        bar = "#" * int(_WIDTH * share)
        unwrap_stream(sys.stderr).write(f"\r{plain_text(self.what)} [{bar:<{_WIDTH}}] {share:4.0%}")
        sys.stderr.flush()

    def show(self, done: int, total: int) -> None:
        """The same, where the total becomes known later or changes."""
        self.total = total
        self(done)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            unwrap_stream(sys.stderr).write("\r\x1b[K")
            sys.stderr.flush()
