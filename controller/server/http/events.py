"""Server-sent events: what the page shows, live, for a bounded number of readers who keep up (WHATWG HTML, 9.2)."""

from __future__ import annotations

import json
import math
from collections import deque
from typing import TYPE_CHECKING, Any

from controller.node.logs import without_secrets

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from controller.node.log_events import Event
    from controller.server.http.connection import HttpConnection

READERS_MAX = 16
KEPT = 100
TEXT_CHARACTERS_MAX = 300
INTERVAL_S = 1.0
# To make a view takes the loop's time: of that it gets no more than one part in so many.
SHARE = 50
# A browser that lost us tries again after so long.
BEGIN = b"retry: 2000\n\n"
# A comment; what is written to a reader that is gone shows that it is gone.
STILL_HERE = b":\n\n"


class Events:
    """Keeps the last events of the log, and sends them and the view to all readers; does nothing while there is none.

    make_view: gives None as long as there is nothing to see.
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
        """Let a connection read from now on: first all there is."""
        self._readers.add(reader)
        view = self._make_view()
        reader.send(BEGIN + _message("log", list(self.kept)) + (b"" if view is None else _message("view", view)))
        if self._timer is None:
            self._timer = self._loop.call_later(INTERVAL_S, self._send)

    def forget(self, reader: HttpConnection) -> None:
        """The connection is gone."""
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
    # JSON without line breaks is one line of data.
    return f"event: {event}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n".encode()


def _plain(value: Any) -> Any:
    """What JSON has as it is; all else as text that is not too long."""
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    text = str(value)
    return text if len(text) <= TEXT_CHARACTERS_MAX else text[:TEXT_CHARACTERS_MAX] + "…"
