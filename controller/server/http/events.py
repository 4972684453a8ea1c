"""Server-sent events: the live content of the page, for a limited number of readers (WHATWG HTML, 9.2)."""

from __future__ import annotations

import json
import math
from collections import deque
from typing import TYPE_CHECKING, Any

from controller.node.logging.logs import without_secrets

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from controller.node.logging.log_events import Event
    from controller.server.http.connection import HttpConnection

READERS_MAX = 16
KEPT = 100
TEXT_CHARACTERS_MAX = 300
INTERVAL_S = 1.0
# Making a view takes time of the event loop; it gets at most one part in this many.
SHARE = 50
# A browser reconnects after this time.
BEGIN = b"retry: 2000\n\n"
# A comment line: writing it detects readers that have disappeared.
STILL_HERE = b":\n\n"


class Events:
    """Keeps the last log events, and sends them and the view to all readers; makes no view while there is none.

    make_view: returns None before there is a node.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make_view: Callable[[], dict[str, Any] | None],
        wall_ms: Callable[[], int],
    ) -> None:
        self._loop = loop
        self._make_view = make_view
        self._wall_ms = wall_ms
        self._readers: set[HttpConnection] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._new: list[dict[str, Any]] = []
        self.kept: deque[dict[str, Any]] = deque(maxlen=KEPT)

    @property
    def is_full(self) -> bool:
        return len(self._readers) >= READERS_MAX

    def see(self, event: Event, fields: Mapping[str, Any]) -> None:
        """An event was logged (`Log.seen_by`)."""
        shown = without_secrets({name: _plain(value) for name, value in fields.items() if name != "exc_info"})
        entry = {"time_ms": self._wall_ms(), "level": event.level, "logger": event.logger, "event": event.name}
        entry["fields"] = shown
        self.kept.append(entry)
        if self._readers:
            self._new = [*self._new[-KEPT:], entry]

    def add(self, reader: HttpConnection) -> None:
        """Add a reader; it gets the kept events and the view first."""
        self._readers.add(reader)
        view = self._make_view()
        reader.send(BEGIN + _message("log", list(self.kept)) + (b"" if view is None else _message("view", view)))
        if self._timer is None:
            self._timer = self._loop.call_later(INTERVAL_S, self._send)

    def forget(self, reader: HttpConnection) -> None:
        """Remove a reader whose connection is closed."""
        self._readers.discard(reader)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _send(self) -> None:
        self._timer = None
        if not self._readers:
            self._new = []
            return
        began_s = self._loop.time()
        view = self._make_view()
        data = STILL_HERE if view is None else _message("view", view)
        if self._new:
            data = _message("log", self._new) + data
            self._new = []
        for reader in list(self._readers):
            if not reader.send(data):
                self._readers.discard(reader)
        took_s = self._loop.time() - began_s
        self._timer = self._loop.call_later(max(INTERVAL_S, took_s * SHARE), self._send)


def _message(event: str, value: Any) -> bytes:
    # JSON without line breaks, so that it is one line of data.
    return f"event: {event}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


def _plain(value: Any) -> Any:
    """The value if JSON has its type, else its text, truncated."""
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    text = str(value)
    return text if len(text) <= TEXT_CHARACTERS_MAX else text[:TEXT_CHARACTERS_MAX] + "…"
