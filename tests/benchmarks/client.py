"""A client that measures: one blocking connection, and brokers that exist only as registrations and heartbeats."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from records.codec import encode
from records.headers import RequestHeader
from records.messages.topics import CreateTopicsRequest
from records.schema import replace, schema_of
from simulations.chaos.brokers import heartbeat, registration
from tests.interop.ask import ask_on, connected
from tests.interop.cluster import CLUSTER_ID

if TYPE_CHECKING:
    from ssl import SSLContext

    from tests.interop.cluster import Cluster

# The features of a 4.4 broker; the ranges contain every finalized level of a quorum formatted at 4.0 to 4.4.
FEATURES = {
    "metadata.version": (7, 33), "kraft.version": (0, 1), "transaction.version": (0, 2), "group.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1), "share.version": (0, 2), "streams.version": (0, 1),
}  # fmt: skip


class Connection:
    """Asks one controller, one request at a time. context: for TLS."""

    def __init__(self, port: int, seconds: float = 30.0, context: SSLContext | None = None) -> None:
        self.socket = connected(port, seconds, context)
        self.correlation = 0

    def ask(self, request: Any, version: int) -> Any:
        self.correlation += 1
        return ask_on(self.socket, request, version, self.correlation)

    def close(self) -> None:
        self.socket.close()


def create_topics(names: list[str], partitions: int = 1, replication: int = 1) -> CreateTopicsRequest:
    topics = tuple(
        CreateTopicsRequest.CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=replication, assignments=(), configs=()
        )
        for name in names
    )
    return CreateTopicsRequest(topics=topics, timeout_ms=60000, validate_only=False)


def frame_of(request: Any, version: int) -> bytes:
    """The bytes of a request with its length, for a client that sends the same one again and again."""
    schema = schema_of(type(request))
    assert schema.api_key is not None
    header = RequestHeader(
        request_api_key=schema.api_key, request_api_version=version, correlation_id=1, client_id="bench"
    )
    body = encode(header, 2 if schema.is_flexible(version) else 1) + encode(request, version)
    return len(body).to_bytes(4, "big") + body


def register(connection: Connection, number: int) -> int:
    """Register a broker; its epoch."""
    answer = connection.ask(replace(registration(number, FEATURES), cluster_id=CLUSTER_ID), 4)
    assert answer.error_code == 0, answer
    return int(answer.broker_epoch)


class Broker:
    """A broker without a process: it is registered, and heartbeats keep it unfenced."""

    def __init__(self, number: int, port: int, context: SSLContext | None = None) -> None:
        self.id = number
        self.connection = Connection(port, context=context)
        self.epoch = register(self.connection, number)
        self.longest_ms = 0.0
        self.latencies_ms: list[float] = []
        self.answered_s: list[float] = []

    def heartbeat(self, *, shut_down: bool = False) -> Any:
        request = replace(heartbeat(self.id, self.epoch), want_shut_down=shut_down)
        begin = time.perf_counter()
        try:
            answer = self.connection.ask(request, 1)
        finally:  # a timeout is a figure, too
            self.answered_s.append(time.perf_counter())
            took = (self.answered_s[-1] - begin) * 1000
            self.latencies_ms.append(took)
            self.longest_ms = max(self.longest_ms, took)
        assert answer.error_code == 0, answer
        return answer


class Fleet:
    """Brokers that heartbeat from one thread, each every `interval` seconds, until stopped or one has `timed_out`."""

    def __init__(self, cluster: Cluster, ids: list[int], interval: float = 0.2) -> None:
        port = cluster.controllers[cluster.await_leader()].port
        self.brokers = {number: Broker(number, port, cluster.context) for number in ids}
        self.interval = interval
        self.silent: set[int] = set()
        self.timed_out = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        for broker in self.brokers.values():
            assert not broker.heartbeat().is_fenced
        self._thread.start()

    def _beat(self) -> None:
        while not self._ending.wait(self.interval / len(self.brokers)):
            for broker in self.brokers.values():
                if broker.id not in self.silent and not self._ending.is_set():
                    try:
                        broker.heartbeat()
                    except TimeoutError:
                        self.timed_out = True
                        return

    def forget(self) -> None:
        """Discard the latencies so far."""
        for broker in self.brokers.values():
            broker.longest_ms = 0.0
            broker.latencies_ms.clear()
            broker.answered_s.clear()

    def end(self) -> None:
        self._ending.set()
        self._thread.join(30)
        for broker in self.brokers.values():
            broker.connection.close()
