"""A client that creates topics all the time on whichever controller is active, and knows what was acknowledged."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from typing import TYPE_CHECKING, Any, Self

from records.errors import Error
from records.messages.topics import CreateTopicsRequest
from records.schema import replace
from simulations.chaos.brokers import heartbeat, registration
from tests.benchmarks.client import FEATURES, Connection, create_topics
from tests.interop.cluster import CLUSTER_ID, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from tests.interop.cluster import Cluster, NodeProcess

# The broker that the topics are placed on. It sends one heartbeat: the session lasts longer than the test.
BROKER = 901
# For so many pauses without a created topic, controllers that were not active are not asked again.
SILENT_PAUSES = 4
SESSION = {"broker.session.timeout.ms": "1800000"}


class Writer:
    """One connection to each controller; each asks its own one. A controller that is not active refuses at once, and is
    not asked again while another one creates topics.

    acknowledged: the names of created topics. times: of their responses (s, of time.perf_counter); taken_ms: how long
    each took. pause: between two requests of a connection (s). has_brokers: whether the topics are placed on the
    brokers of the cluster; else on one without a process. Use it as a context: it has written before the block begins,
    and writes after it.
    """

    def __init__(self, found: Cluster, pause: float = 0.02, *, has_brokers: bool = False) -> None:
        self.found = found
        self.pause = pause
        self.has_brokers = has_brokers
        self.acknowledged: list[str] = []
        self.times: list[float] = []
        self.taken_ms: list[float] = []
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(node,), daemon=True) for node in found.controllers.values()
        ]

    def __enter__(self) -> Self:
        if not self.has_brokers:
            self._place_a_broker()
        for thread in self._threads:
            thread.start()
        self.await_progress("a first topic is created")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self.await_progress("a last topic is created")
        finally:
            self._ending.set()
            for thread in self._threads:
                thread.join(30)

    def await_progress(self, what: str, count: int = 1) -> None:
        """Wait until this many further topics are created."""
        before = len(self.acknowledged)
        eventually(lambda: len(self.acknowledged) >= before + count, what)

    def longest_pause_ms(self, begin: float, end: float) -> float:
        """The longest time between two acknowledgements, of those that overlap [begin, end] (s of perf_counter)."""
        times = list(self.times)
        pauses = (late - early for early, late in itertools.pairwise(times) if late > begin and early < end)
        return max(pauses, default=0.0) * 1000

    def missing(self) -> list[str]:
        """The acknowledged topics that the active controller does not have."""
        connection = Connection(self.found.controllers[self.found.await_leader()].port, context=self.found.context)
        with contextlib.closing(connection):
            absent: list[str] = []
            for first in range(0, len(self.acknowledged), 1000):
                request = create_topics(self.acknowledged[first : first + 1000])
                asked = CreateTopicsRequest(topics=request.topics, timeout_ms=30000, validate_only=True)
                answer = connection.ask(asked, 7)
                absent += [each.name for each in answer.topics if each.error_code != Error.TOPIC_ALREADY_EXISTS]
            return absent

    def _place_a_broker(self) -> None:
        def is_unfenced() -> bool:
            with self._connected(self.found.controllers[self.found.await_leader()]) as connection:
                request = replace(registration(BROKER, FEATURES), cluster_id=CLUSTER_ID)
                registered = connection.ask(request, 4)
                if registered.error_code != Error.NONE:  # a leader that is not active yet
                    return False
                return not connection.ask(heartbeat(BROKER, registered.broker_epoch), 1).is_fenced

        eventually(is_unfenced, "the broker is unfenced")

    @contextlib.contextmanager
    def _connected(self, node: NodeProcess) -> Iterator[Connection]:
        connection = Connection(node.port, seconds=10, context=self.found.context)
        with contextlib.closing(connection):
            yield connection

    def _run(self, node: NodeProcess) -> None:
        number = 0
        while not self._ending.wait(self.pause):
            with contextlib.suppress(OSError), self._connected(node) as connection:
                is_active = False
                while not self._ending.wait(self.pause):
                    if is_active or self._is_silent():
                        number += 1
                        is_active = self._create(connection, f"w-{node.id}-{number}")

    def _is_silent(self) -> bool:
        """Whether no topic was created for a few pauses: another controller may be active now."""
        return not self.times or time.perf_counter() - self.times[-1] >= SILENT_PAUSES * self.pause

    def _create(self, connection: Connection, name: str) -> bool:
        """Ask for a topic; returns whether it was created."""
        begin = time.perf_counter()
        answer: Any = connection.ask(create_topics([name]), 7)
        if answer.topics[0].error_code != Error.NONE:
            return False
        self.times.append(time.perf_counter())
        self.taken_ms.append((self.times[-1] - begin) * 1000)
        self.acknowledged.append(name)
        return True


__all__ = ["SESSION", "Writer"]
