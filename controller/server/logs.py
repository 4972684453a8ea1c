"""One line for each event that matters, by structlog: JSON, or text for people (log4j in stock Kafka)."""

from __future__ import annotations

import sys
from typing import Any, TextIO

LEVELS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}
METHODS = {"INFO": "info", "WARN": "warning", "ERROR": "error"}

# Events that tell of trouble; all others are of level info.
WARNINGS = {
    "connection_refused", "garbage_received", "peer_misbehaved", "leadership_lost", "session_expired", "append_refused",
    "configuration_warning", "snapshot_refused", "request_failed", "snapshot_failed",
}  # fmt: skip
ERRORS = {"node_failed", "disk_failed"}


def level_of(event: str) -> str:
    """The level at which an event is written."""
    if event in ERRORS:
        return "ERROR"
    return "WARN" if event in WARNINGS else "INFO"


class Log:
    """Writes events. level: the least that is written, one of LEVELS; it may be changed while the node runs."""

    def __init__(self, form: str, level: str, out: TextIO | None = None) -> None:
        """form: `json` or `console`; out: stderr by default."""
        structlog = _structlog()
        stream = sys.stderr if out is None else out
        colors = stream.isatty()
        renderer = (
            structlog.processors.JSONRenderer() if form == "json" else structlog.dev.ConsoleRenderer(colors=colors)
        )
        self._log = structlog.wrap_logger(
            structlog.WriteLogger(stream),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                renderer,
            ],
            wrapper_class=structlog.make_filtering_bound_logger(0),
        )
        self.set_level(level)

    def set_level(self, level: str) -> None:
        self.level = level
        self._least = LEVELS[level]

    def __call__(self, event: str, /, **fields: Any) -> None:
        level = level_of(event)
        if LEVELS[level] >= self._least:
            getattr(self._log, METHODS[level])(event, **fields)


def _structlog() -> Any:
    """Structlog without rich, which its console renderer brings in where it is installed: 5 MiB of no use to a node."""
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
