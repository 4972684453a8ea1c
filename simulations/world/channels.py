"""The client's side of a process: one channel for each peer, which behaves as `raft.network.channel` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from raft.interface.inputs import Answered, Failed, Refused
from records.errors import Error
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from raft.interface.effects import Send
    from simulations.world.interfaces import Network
    from simulations.world.messages import Frame
    from simulations.world.world import World

# As in raft.network.channel; a test holds them against each other.
BACKOFF_MS = 50
BACKOFF_MS_MAX = 500
CONNECT_MS_MAX = 10_000
VERSIONS_MS_MAX = 2_000


class Host(Protocol):
    """The process that has a channel, or a client that has nothing but channels."""

    world: World
    rng: Random
    is_dead: bool

    @property
    def network(self) -> Network: ...
    def when_awake(self, act: Callable[..., None], *args: Any) -> None: ...
    def receive_soon(self, event: Failed | Refused) -> None: ...
    def handle_answer(self, frame: Frame, answered: Answered) -> None: ...


class Channel:
    """The way to one peer. number: of the request that waits for its answer, 0 for none; is_sent: it has left.

    connection: open or being made, None where there is none; is_ready: requests may leave on it.
    """

    __slots__ = (
        "_failures", "_ready_at", "_timer", "connection", "host", "is_ready", "is_sent", "least_version", "number",
        "peer", "process", "request",
    )  # fmt: skip

    def __init__(self, process: Host, peer: int) -> None:
        self.process = process
        self.peer = peer
        self.host = ""
        self.connection: Any = None
        self.is_ready = False
        self.number = 0
        self.request: Any = None
        self.is_sent = False
        self.least_version = 0
        self._failures = 0
        self._ready_at = 0
        self._timer = 0  # of those that were set, the one that still counts; even numbers: none does

    def send(self, effect: Send) -> None:
        """Send a request to the peer's present address; an earlier one that is unanswered is dropped."""
        if effect.endpoint.host != self.host:
            self._disconnect()
            self.host = effect.endpoint.host
            self._failures = 0
        elif self.number and self.is_sent:
            self._disconnect()
        self.number = effect.number
        self.request = effect.request
        self.least_version = effect.least_version
        self.is_sent = False
        if self.is_ready:
            self._write()
        elif self.connection is None and not self._timer & 1:
            self._connect()

    # Called by the network

    def on_accepted(self, connection: Any) -> None:
        """The connection is made; the peer has VERSIONS_MS_MAX to answer ApiVersions."""
        if connection is self.connection:
            self._clear_timer()
            self._set_timer(VERSIONS_MS_MAX, self._give_up)

    def ready(self, connection: Any) -> None:
        """The peer has answered ApiVersions."""
        if connection is not self.connection:
            return
        self._clear_timer()
        self.is_ready = True
        self._failures = 0
        self._ready_at = self.process.world.now
        if self.number:
            self._write()

    def on_refused(self, connection: Any) -> None:
        """The peer's machine refused the connection."""
        if connection is self.connection:
            self._clear_timer()
            self.connection = None
            self._back_off()
            self._fail(Error.BROKER_NOT_AVAILABLE)
            self.process.receive_soon(Refused(self.peer))

    def on_lost(self, connection: Any) -> None:
        """The connection is lost. If it had lasted, reconnect at once: a refusal then shows that the process is not
        running.
        """
        if connection is not self.connection:
            return
        lasted = self.is_ready and self.process.world.now - self._ready_at >= BACKOFF_MS * MS
        self._clear_timer()
        self.connection = None
        self.is_ready = False
        self._fail(Error.BROKER_NOT_AVAILABLE)
        if lasted:
            self._connect()
        else:
            self._back_off()

    def on_answered(self, connection: Any, frame: Frame, response: Any) -> None:
        """An answer arrived. The core sees an answer to a request that was given up only if the world delivers late
        answers.
        """
        if connection is self.connection and frame.number == self.number:
            self.number = 0
            self.request = None
        elif not self.process.network.delivers_late_answers:
            return
        self.process.handle_answer(frame, Answered(self.peer, frame.number, response))

    # Opening and closing

    def _connect(self) -> None:
        self.connection = self.process.network.connect(self.process, self)
        self._set_timer(CONNECT_MS_MAX, self._give_up)

    def _give_up(self) -> None:
        """The connection, or the answer to ApiVersions, timed out."""
        connection = self.connection
        if connection is not None:
            self.process.network.abandon(connection)
        self.connection = None
        self.is_ready = False
        self._back_off()
        self._fail(Error.BROKER_NOT_AVAILABLE)

    def _back_off(self) -> None:
        wait_ms = min(BACKOFF_MS << min(self._failures, 10), BACKOFF_MS_MAX)
        self._failures += 1
        self._set_timer(wait_ms * (0.8 + 0.4 * self.process.rng.random()), self._after_backoff)

    def _after_backoff(self) -> None:
        if self.number:
            self._connect()

    def _disconnect(self) -> None:
        self._clear_timer()
        connection, self.connection = self.connection, None
        self.is_ready = False
        if connection is not None:
            self.process.network.abandon(connection)

    def _write(self) -> None:
        assert self.connection is not None, "a channel that is ready has a connection"
        is_named = self.connection.versions[type(self.request)] >= self.least_version
        if is_named and self.process.network.send(self.connection, self.number, self.request):
            self.is_sent = True
        else:
            self._fail(Error.UNSUPPORTED_VERSION)

    def _fail(self, error: Error) -> None:
        if self.number:
            number, self.number, self.request = self.number, 0, None
            self.process.receive_soon(Failed(self.peer, number, error))

    def _set_timer(self, wait_ms: float, act: Any) -> None:
        self._timer = (self._timer + 2) | 1
        self.process.world.after(int(wait_ms * MS), self._fire, self._timer, act)

    def _clear_timer(self) -> None:
        self._timer += self._timer & 1

    def _fire(self, timer: int, act: Any) -> None:
        if timer == self._timer and not self.process.is_dead:
            self._clear_timer()
            self.process.when_awake(act)
