"""One process of a secured world: the product's server, channels and admission, with TLS, SASL and an authorizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS, Kind
from controller.interface.inputs import Principal
from controller.interface.inputs import Requested as ControllerRequested
from controller.node.admission import host_text
from controller.node.authorizers import access_of
from raft.interface.inputs import Requested
from raft.network.channel import CONNECT_MS_MAX, VERSIONS_MS_MAX
from raft.network.server import Server
from records.codec import decode_prefix, encode
from records.errors import Error
from records.headers import ResponseHeader, response_header_version
from records.messages.envelope import EnvelopeRequest
from records.registry import response_class
from simulations.secured.people import is_super
from simulations.secured.rules import WatchedAuthorizer, serves_member
from simulations.sockets.envelopes import read
from simulations.sockets.process import SocketProcess, SocketServer

if TYPE_CHECKING:
    from controller.config.node import NodeConfig
    from controller.interface.access import Access
    from raft.interface.inputs import Source
    from raft.network.connection import Connection
    from raft.network.requests import Incoming
    from raft.network.security import ClientSecurity, ListenerSecurity
    from raft.network.tls import TlsConnection
    from simulations.secured.people import Identities
    from simulations.secured.plan import SecuredPlan
    from simulations.secured.rules import AuthorizationChecks, SecuredWireRules
    from simulations.sockets.tcp import TcpConnection
    from simulations.world.process import Node


class SecuredProcess(SocketProcess):
    """A running controller. authorization: the checks of the world. rogue_requests: unanswered requests of clients
    that are not super users, by source; unauthenticated: connections without an authenticated client -> when that was
    first seen, in s.
    """

    network: Any
    server: SecuredServer
    _plan: SecuredPlan
    versions_ms_max = CONNECT_MS_MAX + VERSIONS_MS_MAX

    def __init__(
        self, node: Node, properties: dict[str, str], begins_with: list[tuple[Any, int]], plan: SecuredPlan,
        authorization: AuthorizationChecks,
    ) -> None:  # fmt: skip
        super().__init__(node, properties, begins_with, plan)
        self.authorization = authorization
        self.authorizer: WatchedAuthorizer
        self.rogue_requests: dict[Source, Any] = {}
        self.unauthenticated: dict[int, float] = {}

    def make_access(self, config: NodeConfig) -> Access:
        access = access_of(config)
        assert access is not None, "every secured world has an authorizer"
        access.authorizer = self.authorizer = WatchedAuthorizer(self, access.authorizer)
        return access

    def listener_security(self) -> ListenerSecurity:
        plan, world, clock = self._plan, self.world, self.clock
        identities: Identities = self.network.identities
        return identities.listener(self.node.id, plan.reauth_ms, plan.delay_ms, lambda: clock.wall_ms(world.now))

    def client_security(self) -> ClientSecurity:
        identities: Identities = self.network.identities
        return identities.client(self.node.id)

    def is_stranger(self, incoming: Incoming) -> bool:
        wire_rules: SecuredWireRules = self.network.wire_rules
        principal, host, api_key = wire_rules.principal(self, incoming), host_text(incoming.peer), incoming.api_key
        request = incoming.message
        if type(request) is EnvelopeRequest and is_super(principal):
            letter = read(request)
            if letter.principal is not None:
                principal = Principal(letter.principal.type, letter.principal.name)
                host, api_key, request = letter.address, letter.api_key, letter.request
        if is_super(principal) or APIS[api_key].kind is Kind.LOCAL:
            return False
        self.rogue_requests[incoming.source] = incoming.message
        self.authorization.on_taken(self, incoming.source, principal, host, api_key, request)
        return True

    def reach(self, prefix: str, cls: type) -> None:
        if prefix == "controller":
            self.authorizer.asked = 0
        super().reach(prefix, cls)

    def on_stepped(self, name: str, event: Any, effects: list[Any]) -> None:
        if type(event) is Requested and event.source in self.rogue_requests:
            self.authorization.reaches_raft(self, event.source)
        super().on_stepped(name, event, effects)

    def on_gone(self, number: int) -> None:
        for source in [source for source in self.rogue_requests if source.connection == number]:
            del self.rogue_requests[source]
        super().on_gone(number)

    def is_of_stranger(self, event: Any) -> bool:
        """Whether an input is the request of a stranger, whose connection may be closed by now."""
        if type(event) is not ControllerRequested or event.context.is_own:
            return False
        source = event.context.source
        is_gone = source.connection not in self.connections and not is_super(event.context.principal)
        return source in self.rogue_requests or is_gone


class SecuredServer(SocketServer):
    """The product's server. With TLS a connection gets its number when its handshake is complete."""

    _process: SecuredProcess

    def _make_secured(self, name: str, security: ListenerSecurity, tls: TlsConnection | None) -> Connection:
        made = super()._make_secured(name, security, tls)
        if tls is not None:
            raw_connection: TcpConnection = tls._raw._end.connection  # noqa: SLF001 - the simulated transport knows it
            raw_connection.id = made.number
            self._process.connections[made.number] = raw_connection
        return made

    def reply(self, source: Source, response: Any) -> None:
        process = self._process
        connection = self.connections.get(source.connection)
        if connection is not None and connection.gate is not None:
            response = connection.gate.add_apis(response)
        if source not in process.rogue_requests:
            member: Any = process.connections.get(source.connection)
            if member is not None:
                serves_member(process, unseal(member.requests[source.correlation].message, response))
            super().reply(source, response)
            return
        raw_connection: Any = process.connections.get(source.connection)
        if raw_connection is None:
            del process.rogue_requests[source]
            return
        frame = raw_connection.requests[source.correlation]
        frame.response, frame.said = response, encode(response, frame.version)
        process.authorization.replies(process, source, unseal(frame.message, response))
        del process.rogue_requests[source]
        Server.reply(self, source, response)


SecuredProcess.server_class = SecuredServer


def unseal(request: Any, response: Any) -> Any:
    """The answer in an envelope; other answers as they are."""
    if type(request) is not EnvelopeRequest or response.error_code != Error.NONE:
        return response
    letter = read(request)
    cls: Any = response_class(letter.api_key)
    data = bytes(response.response_data)
    _, position = decode_prefix(ResponseHeader, response_header_version(cls, letter.version), data, 0)
    return decode_prefix(cls, letter.version, data, position)[0]
