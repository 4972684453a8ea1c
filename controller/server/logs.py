"""One line for each event that matters, by structlog: JSON, or text for people (KIP-1 has none of this; log4j does)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

LEVELS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}

# Events that tell of trouble; all others are of level info.
WARNINGS = {
    "connection_refused", "garbage_received", "peer_misbehaved", "leadership_lost", "session_expired", "append_refused",
    "configuration_warning", "snapshot_refused", "request_failed", "snapshot_failed",
}  # fmt: skip
ERRORS = {"node_failed", "disk_failed"}


def level_of(event: str) -> str:
    """The level at which an event is written."""
    if event in ERRORS:
        return "error"
    return "warning" if event in WARNINGS else "info"


def configure(form: str = "console", level: str = "INFO", out: TextIO | None = None) -> Callable[..., None]:
    """Set structlog up, and return `write(event, **fields)`.

    form: `json` or `console`. level: one of LEVELS. out: stderr by default.
    """
    # structlog's console renderer brings rich in when it is installed: 5 MiB that a node has no use for.
    kept = sys.modules.get("rich")
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog
    finally:
        if kept is None:
            del sys.modules["rich"]
        else:
            sys.modules["rich"] = kept
    stream = sys.stderr if out is None else out
    processors: list[Any] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=stream.isatty()),
    ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    log = structlog.get_logger()

    def write(event: str, /, **fields: Any) -> None:
        getattr(log, level_of(event))(event, **fields)

    return write
