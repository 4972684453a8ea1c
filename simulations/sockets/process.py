"""One process of a controller with its listener and its channels: the product's code, but for the loop's transports,
the files and the clocks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.core.apis import APIS
from raft.interface.inputs import Answered, Requested
from raft.network.channel import VERSIONS_MS_MAX
from raft.network.server import Server
from simulations.nodes.driver import ControllerProcess
from simulations.sockets.channels import SocketChannels
from simulations.sockets.loop import SocketLoop, UvloopLoop, run_now
from simulations.sockets.network import PORT
from simulations.sockets.wire_rules import agree_versions, answers_versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.inputs import Input, Source
    from raft.network.requests import Incoming
    from raft.network.security import ClientSecurity, ListenerSecurity
    from simulations.sockets.frames import Asked
    from simulations.sockets.network import SocketNetwork
    from simulations.sockets.plan import SocketPlan
    from simulations.sockets.tcp import TcpConnection
    from simulations.world.process import Node

    Tell = Callable[[Input, Asked | None], None]


class SocketProcess(ControllerProcess):
    """A running controller. server: the product's; bounds: of it, by the names of its arguments."""

    network: SocketNetwork
    server_class: type[SocketServer]
    versions_ms_max = VERSIONS_MS_MAX

    def __init__(
        self, node: Node, properties: dict[str, str], begins_with: list[tuple[Any, int]], plan: SocketPlan
    ) -> None:
        super().__init__(node, properties, begins_with)
        self._plan = plan
        self.bounds = plan.bounds
        self.loop: SocketLoop = (UvloopLoop if plan.like_uvloop else SocketLoop)(self, self._guard)
        self.server: SocketServer
        self.channels_of_all: list[SocketChannels] = []

    def make_server(self) -> SocketServer:
        self.server = self.server_class(self, self._plan)
        run_now(self.server.listen("CONTROLLER", "", PORT, self.listener_security()))
        return self.server

    def listener_security(self) -> ListenerSecurity | None:
        """The security of the listener."""
        return None

    def client_security(self) -> ClientSecurity | None:
        """The security of the channels."""
        return None

    def make_channels(self) -> SocketChannels:
        return self._make_channels(f"raft-client-{self.node.id}", self._on_answered)

    def make_own_channels(self) -> SocketChannels:
        return self._make_channels(f"controller-{self.node.id}", self._on_own_answered)

    def _make_channels(self, client_id: str, tell: Tell) -> SocketChannels:
        made = SocketChannels(self, self.loop, client_id, tell, self.note, self.client_security())
        self.channels_of_all.append(made)
        return made

    def accept(self, connection: TcpConnection) -> int:  # type: ignore[override]
        self.network.accept(connection)
        on_close = partial(self.network.wire_rules.closes, self, connection)
        self.when_awake(self.loop.run, self.loop.accept, connection, on_close)
        return connection.id

    # Called by the product's edges

    def take(self, incoming: Incoming) -> None:
        """A request arrived."""
        frame = self.network.wire_rules.takes(self, incoming)
        connection: Any = self.connections[incoming.source.connection]
        requested = Requested(incoming.source, incoming.message, incoming.version, "CONTROLLER")
        self.network.arrived(connection, frame, False)
        if self.is_stranger(incoming):
            self.driver.on_request(incoming)
            return
        self.watch.on_asked(self, frame, requested)
        self.driver.on_request(incoming)
        self.watch.took_request(self, frame, requested)

    def is_stranger(self, incoming: Incoming) -> bool:  # noqa: ARG002 - of secured processes
        """Whether a request comes from outside of the cluster, so that only its authorization is checked."""
        return False

    def on_gone(self, number: int) -> None:
        """A connection was closed."""
        self.connections.pop(number, None)
        self.driver.on_disconnected(number)

    def note(self, name: str, fields: dict[str, Any]) -> None:
        self.driver.note(name, fields)

    def _on_answered(self, event: Input, asked: Asked | None) -> None:
        if isinstance(event, Answered):
            assert asked is not None, "an answer is for something"
            assert asked.answer is not None, "a node wrote the answer"
            self.watch.on_answered(self, asked.answer, event)
        self.driver.on_peer(event)

    def _on_own_answered(self, event: Input, _asked: Asked | None) -> None:
        self.driver.on_own_answer(event)


class LongAnswer(NamedTuple):
    """An answer that was encoded beside the loop."""

    response: Any
    pieces: Any


class SocketServer(Server):
    """The product's server; answers are reported before they are written."""

    def __init__(self, process: SocketProcess, plan: SocketPlan) -> None:
        versions: dict[int, tuple[int, int]] = {key: api.versions for key, api in APIS.items()}
        on_request: Callable[[Incoming], None] = process.take
        super().__init__(
            process.loop,  # type: ignore[arg-type]
            versions,
            on_request=on_request,
            on_disconnected=process.on_gone,
            note=process.note,
            **plan.bounds,  # type: ignore[arg-type]
        )
        self._process = process

    def reply(self, source: Source, response: Any) -> None:
        self._check(source, response)
        super().reply(source, response)

    def encoder(self, source: Source) -> Callable[[Any], Any] | None:
        encode = super().encoder(source)
        return None if encode is None else lambda response: LongAnswer(response, encode(response))

    def send(self, source: Source, pieces: Any) -> None:
        if isinstance(pieces, LongAnswer):
            self._check(source, pieces.response)
            pieces = pieces.pieces
        super().send(source, pieces)

    def _check(self, source: Source, response: Any) -> None:
        """The node gives an answer."""
        process = self._process
        connection: Any = process.connections.get(source.connection)
        if connection is None:
            return
        wire_rules = process.network.wire_rules
        wire_rules.answers(process, connection, source.correlation, response)
        frame = connection.requests[source.correlation]
        if answers_versions(frame):
            connection.versions = agree_versions(response)
        process.watch.replies(process, source, response)


SocketProcess.server_class = SocketServer
