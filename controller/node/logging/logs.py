"""The log of a node, by structlog: one line for each event, as JSON or as text (log4j in stock Kafka)."""

from __future__ import annotations

import re
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any, TextIO

from controller.interface.loggers import ROOT, Loggers
from controller.node.logging.log_events import EVENTS, LOGGERS, Event
from controller.node.logging.problems import Problems
from records.hidden_text import HIDDEN
from records.plain_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEVELS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}

# The seconds of the window in which lines about one event are limited, by level: a peer that sends garbage, or requests
# votes without end, must not fill the disk with log lines.
WINDOW_S = 10
LINES_MAX = {"INFO": 1000, "WARN": 100, "ERROR": 100}

_SECRET = re.compile(r"password|secret|credential|jaas|token|salt|stored_key|server_key", re.IGNORECASE)
# Characters that begin a new line, or move the cursor of a terminal: fields may hold texts from peers.


class Log:
    """Writes events, each at the level of its logger (`events.ROWS`).

    loggers: their levels, the same object that DescribeConfigs reads. shown: the names of the events that are written.
    problems: those of the events that were logged; repeats are counted there and not written (`problems.TEXTS`).
    A line that cannot be written is dropped: a node must not stop because the disk behind stderr is full.
    seen_by: called with each event that is written, its fields unchanged.
    """

    def __init__(
        self, form: str, level: str, out: TextIO | None = None, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        """form: `json` or `console`; level: of the root, one of LEVELS; out: stderr by default."""
        structlog = _structlog()
        stream = sys.stderr if out is None else out
        if form == "json":
            renderers = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
        else:
            renderers = [_exception_in_a_line, _printable, structlog.dev.ConsoleRenderer(colors=stream.isatty())]
        self._write = structlog.wrap_logger(
            structlog.WriteLogger(stream),
            processors=[structlog.processors.TimeStamper(fmt="iso", utc=True), _without_secrets, *renderers],
            wrapper_class=structlog.BoundLogger,
        )
        self._clock_s = clock_s
        self._windows: dict[str, _Window] = {}
        self.loggers = Loggers({ROOT: level, **dict.fromkeys(LOGGERS)})
        self.shown: frozenset[str] = frozenset()
        self.problems = Problems(clock_s)
        self.seen_by: list[Callable[[Event, Mapping[str, Any]], None]] = []
        self._choose()

    def set_level(self, logger: str, level: str | None) -> None:
        """Set the level of a logger; None: it inherits that of its parent."""
        self.loggers.put(logger, level)
        self._choose()
        self("log_level_changed", of=logger, to=level)

    def __call__(self, event: str, /, **fields: Any) -> None:
        row = EVENTS.get(event)
        if row is None:  # a test asks for a row of each; a line without one is better than none
            row = Event(event, "node", "WARN", "")
        elif event not in self.shown:
            return
        if not self.problems.see(event, fields):
            return
        lines_max = LINES_MAX.get(row.level)
        if lines_max is not None:
            window = self._windows.get(event)
            if window is None:
                window = self._windows[event] = _Window(lines_max)
            left_out = window.count_omitted(self._clock_s())
            if left_out is None:
                return
            if left_out:
                fields["left_out"] = left_out
        for see in self.seen_by:
            see(row, fields)
        try:
            self._write.msg(event, level=row.level.lower(), logger=row.logger, **fields)
        except (OSError, ValueError):  # a pipe without a reader, a full disk, a stream that is closed
            return

    def _choose(self) -> None:
        """Decide for each event whether it is written: once here, not at each line."""
        self.shown = frozenset(
            row.name for row in EVENTS.values() if LEVELS[row.level] >= LEVELS[self.loggers.level(row.logger)]
        )


class _Window:
    """The number of events of one name in the current window."""

    __slots__ = ("begin_s", "count", "lines_max")

    def __init__(self, lines_max: int) -> None:
        self.lines_max = lines_max
        self.begin_s = -float(WINDOW_S)
        self.count = 0

    def count_omitted(self, now_s: float) -> int | None:
        """How many events were left out before this one, in the window that ended; None if this one is left out."""
        if now_s - self.begin_s < WINDOW_S:
            self.count += 1
            return 0 if self.count <= self.lines_max else None
        before = self.count
        self.begin_s, self.count = now_s, 1
        return max(before - self.lines_max, 0)


def without_secrets(fields: dict[str, Any]) -> dict[str, Any]:
    """Hide the values of fields that may be secrets; no event should have one. Changes its argument."""
    for key in fields:
        if _SECRET.search(key):
            fields[key] = HIDDEN
    return fields


def _without_secrets(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    return without_secrets(event)


def _exception_in_a_line(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """Where an exception was raised, innermost first, in one line for the text format. JSON has the whole traceback."""
    error = event.pop("exc_info", None)
    if isinstance(error, BaseException):
        frames = reversed(traceback.extract_tb(error.__traceback__))
        event["raised_in"] = " < ".join(
            f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames
        )
    return event


def _printable(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = plain_text(value)
    return event


def _structlog() -> Any:
    """Structlog without rich, which it would import where that is installed: 5 MiB that a node does not use."""
    kept = sys.modules.get("rich")
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog
    finally:
        if kept is None:
            del sys.modules["rich"]
        else:
            sys.modules["rich"] = kept
    return structlog
