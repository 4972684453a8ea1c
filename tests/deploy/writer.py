"""A client that creates topics without pause and retries like a Kafka admin client, until a timeout."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from records.errors import Error
from tests.benchmarks.client import Connection, create_topics
from tests.interop.ask import describe_quorum

if TYPE_CHECKING:
    from collections.abc import Sequence

# A stock admin client retries for this long (default.api.timeout.ms).
RETRY_S = 60.0
RETRIABLE = {Error.NOT_CONTROLLER, Error.REQUEST_TIMED_OUT}


class Writer:
    """Creates topics `w-0`, `w-1` … from a thread. acknowledged: the topics that were created without an error.

    failure: the first topic that could not be created in RETRY_S, with the last error; None while there is none.
    longest_s: the longest time from the first attempt for a topic to its success.
    """

    def __init__(self, ports: Sequence[int]) -> None:
        self.ports = list(ports)
        self.acknowledged: list[str] = []
        self.failure: str | None = None
        self.longest_s = 0.0
        self._connection: Connection | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join(RETRY_S + 10)
        self._drop()

    def _run(self) -> None:
        while not self._ending.is_set() and self.failure is None:
            name = f"w-{len(self.acknowledged)}"
            begin = time.monotonic()
            said = self._create(name, begin + RETRY_S)
            self.longest_s = max(self.longest_s, time.monotonic() - begin)
            if said:
                self.failure = f"{name}: {said}"
            else:
                self.acknowledged.append(name)
            time.sleep(0.002)

    def _create(self, name: str, until: float) -> str:
        """Empty if the topic was created, else the last error."""
        is_retry = False
        said = "no request was sent"
        while time.monotonic() < until:
            try:
                if self._connection is None:
                    self._connection = self._to_leader()
                answer = self._connection.ask(create_topics([name]), 7)
            except OSError as error:
                said = str(error)
                self._drop()
            else:
                code = answer.topics[0].error_code if answer.topics else Error.NOT_CONTROLLER
                if code == Error.NONE or (is_retry and code == Error.TOPIC_ALREADY_EXISTS):
                    return ""
                said = f"error {code}"
                if code not in RETRIABLE:
                    return said
                self._drop()
            is_retry = True
            time.sleep(0.02)
        return said

    def _to_leader(self) -> Connection:
        """A connection to the active controller. Raises OSError while there is none."""
        for port in self.ports:
            try:
                found = describe_quorum(port)
            except OSError:
                continue
            if found.error_code == 0:
                return Connection(port, 5.0)
        raise ConnectionError("no active controller")

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
