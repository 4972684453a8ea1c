"""A client that writes increasing numbers to whichever controller is active, and knows which were acknowledged."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Self

from records.errors import ApiError
from records.wire import DecodeError
from tests.controller.server.alterations import BROKER, alteration
from tools.client.connection import Connection

if TYPE_CHECKING:
    from types import TracebackType

KEY = "log.retention.ms"
FIRST = 1_000_000
ASK_S = 2.0
PAUSE_S = 0.01
PROGRESS_S = 30.0


class Writer:
    """Each number is sent once: one without an answer may be in the log, or not. acknowledged: ascending."""

    def __init__(self, ports: list[int]) -> None:
        self.acknowledged: list[int] = []
        self.sent = 0
        self._ports = list(ports)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ending.set()
        self._thread.join(30)

    def await_progress(self) -> None:
        """Wait until more writes are acknowledged. Raises AssertionError."""
        goal = len(self.acknowledged) + 20
        end_s = time.monotonic() + PROGRESS_S
        while len(self.acknowledged) < goal:
            assert time.monotonic() < end_s, f"{goal - len(self.acknowledged)} writes are missing after {PROGRESS_S} s"
            time.sleep(0.02)

    def _run(self) -> None:
        while not self._ending.is_set():
            port = self._ports[0]
            try:
                with Connection("127.0.0.1", port, "upgrade-check", ASK_S) as connection:
                    while not self._ending.is_set() and self._write(connection):
                        time.sleep(PAUSE_S)
            except (OSError, ApiError, DecodeError):
                pass
            self._ports.append(self._ports.pop(0))
            time.sleep(PAUSE_S)

    def _write(self, connection: Connection) -> bool:
        number = FIRST + self.sent
        self.sent += 1
        answer = connection.ask(alteration(BROKER, "", KEY, str(number)))
        if answer.responses[0].error_code:
            return False
        self.acknowledged.append(number)
        return True
