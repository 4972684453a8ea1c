"""Admin clients: each sends one request after the other to the leader, and records its history."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any

from records.errors import ApiError
from records.wire import DecodeError
from simulations.chaos.quorum import ASK_S
from simulations.histories.controller_requests import answer_of, request_of
from simulations.histories.operations import UNKNOWN, Operation, Recorder
from tools.client.connection import Connection

if TYPE_CHECKING:
    from simulations.chaos.brokers import Brokers
    from simulations.chaos.quorum import Quorum

# Names change over time, so that an operation without an answer matters to the checker for a limited time only. There
# are several, since each such operation of a name doubles the possible states: on a busy machine three were too few.
WINDOW_S = 5.0
NAMES = 6
KEY = "retention.ms"
BROKER_KEY = "log.cleaner.threads"
PAUSE_S = 0.004
# A client whose request failed waits this long, as Kafka's clients do (retry.backoff.ms).
BACKOFF_S = 0.1


class History:
    """The operations of all clients, in one order of events. last_answer: when the last answer came, monotonic."""

    def __init__(self) -> None:
        self.last_answer = 0.0
        self._recorder = Recorder()
        self._lock = threading.Lock()

    @property
    def operations(self) -> list[Operation]:
        return self._recorder.operations

    def ask(self, client: int, asked: Any) -> Operation:
        with self._lock:
            return self._recorder.ask(client, asked)

    def answer(self, operation: Operation, answer: Any) -> None:
        """Record an answer; one that leaves the outcome open counts as none."""
        if answer is not UNKNOWN:
            with self._lock:
                self._recorder.answer(operation, answer)
            self.last_answer = time.monotonic()


class Reads:
    """Decides which reads on one connection count: those that an active controller answered.

    Every node answers reads from its own metadata, which may be older than what other nodes have answered. A new leader
    does too until the first record of its epoch is committed, because it does not know before which records are. So a
    read counts if the node answered a write before it in the same epoch, and still leads in that epoch after it.

    may_count: whether the node has answered a write on this connection.
    """

    def __init__(self, quorum: Quorum) -> None:
        self._quorum = quorum
        self._node = 0
        self._epoch = -1
        self.may_count = False

    def on_connected(self, node: int) -> None:
        """A connection to a node was made."""
        self._node = node
        self._epoch = self._quorum.leading_epoch(node)
        self.may_count = False

    def admit(self, asked: Any, answer: Any) -> Any:
        """The answer to record: UNKNOWN for a read that does not count."""
        if answer is UNKNOWN:
            return answer
        if not is_read(asked):
            self.may_count = True
            return answer
        counts = self.may_count and 0 <= self._epoch == self._quorum.leading_epoch(self._node)
        return answer if counts else UNKNOWN


def is_read(asked: Any) -> bool:
    return str(asked[0]).startswith("read")


class Client:
    """A thread with one connection at a time. number: from 0 on."""

    def __init__(self, number: int, seed: int, quorum: Quorum, brokers: Brokers, history: History) -> None:
        self._number = number
        self._rng = Random(f"client {number} of {seed}")
        self._quorum = quorum
        self._brokers = brokers
        self._history = history
        self._begin = time.monotonic()
        self._ids: dict[str, Any] = {}  # of topics that this client made, by name
        self._connection: Connection | None = None
        self._reads = Reads(quorum)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"client {number}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(PAUSE_S):
            if self._connection is None and not self._connect():
                self._ending.wait(BACKOFF_S)
                continue
            asked = self._draw()
            if is_read(asked) and not self._reads.may_count:
                continue
            operation = self._history.ask(self._number, asked)
            answer = self._ask(asked)
            self._history.answer(operation, answer)
            if answer is UNKNOWN:
                self._let_go()
                self._ending.wait(BACKOFF_S)
            elif asked[0] == "create" and answer not in {"exists", "refused"}:
                self._ids[asked[1]] = answer[1]
        self._let_go()

    def _ask(self, asked: Any) -> Any:
        assert self._connection is not None
        try:
            answer = answer_of(asked, self._connection.ask(request_of(asked)))
        except (OSError, DecodeError, ApiError):
            return UNKNOWN
        return self._reads.admit(asked, answer)

    def _draw(self) -> Any:
        rng = self._rng
        window = int((time.monotonic() - self._begin) / WINDOW_S)
        name = f"t-{window}-{rng.randrange(NAMES)}"
        value = str(rng.randrange(1000, 10**6))
        kind = rng.randrange(12)
        if kind < 3:
            return ("create", name, rng.randrange(1, 4), ((KEY, value),) if rng.random() < 0.5 else ())
        if kind < 4:
            return ("delete", name, None)
        if kind < 5 and name in self._ids:
            return ("delete", name, self._ids[name])
        if kind < 6:
            return ("grow", name, rng.randrange(2, 8))
        if kind < 8:
            return ("configure", name, ((KEY, value if rng.random() < 0.8 else None),))
        epochs = list(self._brokers.epochs.items())
        if kind < 9 and epochs:
            return ("allocate", *rng.choice(epochs))
        return ("read", name)

    def _connect(self) -> bool:
        """Find the leader. A request to another node leaves its operation open, because the reason of a refusal is
        unknown.
        """
        node = self._quorum.leader()
        if node:
            self._reads.on_connected(node)
            with suppress(OSError, DecodeError, ApiError):
                self._connection = Connection("127.0.0.1", self._quorum.ports[node], f"client-{self._number}", ASK_S)
        return self._connection is not None

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.socket.close()
            self._connection = None
