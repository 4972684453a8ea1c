"""The rules of secured worlds.

W08: no request reaches a node before its client is authenticated, for another principal, or after the session's end.
W09: unfinished handshakes and authentications are limited in number, time and bytes. W10: the authorizer decides by the
committed ACLs, each API asks it, and a denied request has no effect.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.interface import effects as done
from controller.interface.inputs import Principal
from raft.network import handshakes, server, tls
from records.errors import ApiError, Error, error_name
from records.messages.cluster import DescribeClusterResponse
from records.messages.envelope import EnvelopeResponse
from records.messages.topics import CreateTopicsResponse
from records.metadata.configs import ConfigRecord
from records.metadata.topics import RemoveTopicRecord, TopicRecord
from records.registry import APIS
from simulations.cluster.metadata.answers import errors_of
from simulations.cluster.metadata.image import decode_batch
from simulations.secured.authentication import Authentication, Stage, is_sasl
from simulations.secured.needs import DENIALS, NEEDED, UNDECIDED, codes_of, hides_configs, wrong_of_token
from simulations.secured.people import SUPER_USERS, is_super
from simulations.secured.rights import (
    ALTER_CONFIGS,
    BY_RESOURCE,
    CLUSTER,
    CLUSTER_NAME,
    CREATE,
    DELETE,
    GROUP,
    GROUP_CONFIG,
    NEEDS,
    TOPIC,
    Question,
    Rules,
    is_allowed,
)
from simulations.sockets.frames import is_nonsense
from simulations.sockets.wire_rules import WireRules
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.access import Action, Authorizer, Decision
    from controller.interface.inputs import RequestContext
    from controller.state.tables.acl_index import AclIndex
    from raft.network.requests import Incoming
    from raft.network.tls import TlsConnection
    from simulations.cluster.metadata.image import Image
    from simulations.sockets.frames import Asked
    from simulations.sockets.tcp import TcpConnection

SLACK_S = 0.2
# The errors in the answer to a request that is not allowed.
REFUSALS = frozenset((Error.CLUSTER_AUTHORIZATION_FAILED, Error.UNKNOWN_SERVER_ERROR))
# Those that name another node.
ELSEWHERE = frozenset((Error.NOT_CONTROLLER, Error.NOT_LEADER_OR_FOLLOWER))
EVERY_USER = "User:*"
# Resource type of a config -> that of the ACLs about it.
_CONFIGURED = {TOPIC: TOPIC, GROUP_CONFIG: GROUP}


class SecuredWireRules(WireRules):
    """Knows the authenticated principal of each connection."""

    _network: Any

    def __init__(self, network: Any) -> None:
        super().__init__(network)
        self._of: dict[TcpConnection, Authentication] = {}
        # Those that servers have given.
        self._nonces: set[str] = set()

    def of(self, connection: TcpConnection) -> Authentication:
        """The authentication of a connection."""
        authentication = self._of.get(connection)
        if authentication is None:
            authentication = self._of[connection] = self._begin(connection)
        return authentication

    def _begin(self, connection: TcpConnection) -> Authentication:
        identities = self._network.identities
        certificate, is_accepted = None, True
        if identities.has_tls:
            try:
                certificate = connection.client_end.tap.certificate()  # type: ignore[attr-defined]
            except ssl.SSLError:
                is_accepted = False
            else:
                is_accepted = identities.accepts(certificate)
        principal = None if identities.has_sasl or certificate is None else Principal("User", certificate.name)
        authentication = Authentication(principal, self._network.reauth_ms, self._nonces)
        if not is_accepted:
            authentication.stage = Stage.OVER
        return authentication

    def request_leaves(self, connection: TcpConnection, data: bytes) -> Asked | None:
        frame = super().request_leaves(connection, data)
        if frame is not None:
            authentication = self.of(connection)
            if authentication.deceived and connection.opening.channels is not None:
                raise Violation(
                    "W08",
                    f"node {connection.client.node.id} sends a {frame.name} to a server that has not proven that it "
                    f"knows the password: its {authentication.deceived} was altered",
                )
            authentication.on_written(frame)
            if connection.opening.channels is not None and authentication.exchanged is not None:
                self._network.identities.captured = authentication.exchanged
        return frame

    def answer_leaves(self, connection: TcpConnection, data: bytes) -> Any:
        answer = super().answer_leaves(connection, data)
        taker: Any = connection.server
        if answer is not None and self._answered is not None:
            authentication = self.of(connection)
            authentication.on_answered(self._answered, answer, taker.loop.time())
            code = int.from_bytes(data[4:6], "big")
            if authentication.misplaced == self._answered.place and code != Error.ILLEGAL_SASL_STATE:
                text = f"node {taker.node.id} answers {error_name(code)} to a {self._answered.name} in a token's place"
                raise Violation("W08", text)
        return answer

    _answered: Asked | None = None

    def _is_of_channel(self, connection: TcpConnection, frame: Asked) -> bool:
        return self._network.identities.has_sasl and is_sasl(frame) and bool(connection.versions)

    def _is_of_gate(self, connection: TcpConnection, asked: Asked) -> bool:
        self._answered = asked
        return self._network.identities.has_sasl and (
            is_sasl(asked) or self.of(connection).misplaced == asked.place
        )  # fmt: skip

    def is_nonsense(self, connection: TcpConnection, frame: Asked) -> bool:
        if self._network.identities.has_sasl and (is_sasl(frame) or self.of(connection).stage is Stage.OVER):
            return False
        return is_nonsense(frame)

    def takes(self, process: Any, incoming: Incoming) -> Asked:
        frame = super().takes(process, incoming)
        connection: Any = process.connections[incoming.source.connection]
        authentication = self.of(connection)
        expected = authentication.principal_at(frame.place)
        text = f"node {process.node.id} takes a {frame.name} of {connection.client.node.id}"
        if expected is None:
            raise Violation("W08", f"{text}, a client that is not authenticated")
        identity: Principal | None = incoming.identity
        if identity != expected and not (identity is None and expected.name == "ANONYMOUS"):
            raise Violation("W08", f"{text} in the name of {identity}, but {expected} is authenticated")
        if authentication.expires_at is not None and process.loop.time() > authentication.expires_at + SLACK_S:
            raise Violation("W08", f"{text}, whose session has ended at {authentication.expires_at:.3f} s")
        return frame

    def closes(self, process: Any, connection: TcpConnection, silent_s: float) -> None:
        """Only the connections of authenticated clients have to stay open."""
        many = process.bounds.get("connections_max", server.CONNECTIONS_MAX) - process.server._handshakes_max  # noqa: SLF001
        if connection.id <= 0 or len(process.server.connections) > many:
            return
        authentication = self.of(connection)
        is_over = authentication.expires_at is not None and process.loop.time() > authentication.expires_at
        if authentication.stage is Stage.OPEN and not is_over and not any(map(is_sasl, connection.requests.values())):
            super().closes(process, connection, silent_s)

    def principal(self, process: Any, incoming: Incoming) -> Principal:
        """The principal that has sent a request."""
        connection: Any = process.connections[incoming.source.connection]
        principal = self.of(connection).principal_at(incoming.source.correlation)
        assert principal is not None, "it was taken"
        return principal


class WatchedAuthorizer:
    """The authorizer of a process. asked: how often it has decided."""

    def __init__(self, process: Any, real: Authorizer) -> None:
        self.asked = 0
        self._process = process
        self._real = real

    def decide(self, action: Action, acls: AclIndex | None) -> Decision:
        """Decide as the real one does. Raises Violation if the decision does not follow from the committed ACLs."""
        self.asked += 1
        process = self._process
        question = Question(
            str(action.principal), action.host, int(action.operation), int(action.resource_type), action.resource_name
        )
        text = f"the authorizer of node {process.node.id} is asked whether {question}"
        is_member = is_super(action.principal)
        try:
            decision = self._real.decide(action, acls)
        except ApiError as error:
            if is_member or (acls is not None and question.principal != EVERY_USER):
                raise Violation("W10", f"{text}, and fails: {error}") from error
            raise
        if not is_member and acls is None:
            raise Violation("W10", f"{text}, and says {decision.allowed} before the ACLs are loaded")
        if not process.controller.state.loading and decision.allowed != process.authorization.may(process, question):
            raise Violation("W10", f"{text}, and says {decision.allowed}: {decision.rule}")
        return decision

    def denies_all(self, action: Action, acls: AclIndex | None) -> bool:
        """Decide as the real one does. Raises Violation if an ACL allows the action on the named resource."""
        is_denied = self._real.denies_all(action, acls)
        if is_denied and self.decide(action, acls).allowed:
            raise Violation("W10", f"the authorizer denies everything to {action.principal}, and allows {action}")
        return is_denied


class Taken(NamedTuple):
    """A rogue client's request, as it reached a node. question: about the cluster, which its API asks; None if it asks
    none. offset: the stable end offset then.
    """

    principal: Principal
    host: str
    request: Any
    question: Question | None
    offset: int


class AuthorizationChecks:
    """Checks what nodes do for rogue clients against the committed ACLs. rules: of the log; image: of the log."""

    def __init__(self, rules: Rules, image: Image, *, by_default: bool) -> None:
        self.rules = rules
        self.image = image
        self._by_default = by_default
        # By node, life and source.
        self._taken: dict[tuple[int, int, Any], Taken] = {}

    def may(self, process: Any, question: Question) -> bool:
        """The decision by the ACLs that the node knows to be committed."""
        rules = self.rules.at(process.controller.state.stable_end_offset)
        return is_allowed(question, rules, SUPER_USERS, by_default=self._by_default)

    def needs(self, principal: Principal, host: str, api_key: int) -> Question | None:
        """The question about the cluster that an API asks; None if it asks none."""
        operation = NEEDS.get(api_key)
        return None if operation is None else Question(str(principal), host, operation, CLUSTER, CLUSTER_NAME)

    def on_taken(self, process: Any, key: Any, principal: Principal, host: str, api_key: int, request: Any) -> None:
        """A rogue client's request has reached a node."""
        question, offset = self.needs(principal, host, api_key), process.controller.state.stable_end_offset
        self._taken[process.node.id, process.life, key] = Taken(principal, host, request, question, offset)

    def reaches_raft(self, process: Any, source: Any) -> None:
        """A request is passed to the replica."""
        taken = self._taken.get((process.node.id, process.life, source))
        if taken is not None and taken.question is not None and not self.may(process, taken.question):
            text = f"node {process.node.id} sends a request of the quorum, but is not authorized to {taken.question}"
            raise Violation("W10", text)

    def on_stepped(
        self, process: Any, context: RequestContext, request: Any, effects: Sequence[Any], asked: int
    ) -> None:
        """A controller has served a rogue client's request. asked: the number of decisions in this step."""
        has_written = any(type(each) is done.Append for each in effects)
        question = self.needs(context.principal, context.client_address, context.api_key)
        text = f"node {process.node.id} serves {context.principal} a {APIS[context.api_key][0]}"
        if question is not None and has_written and not self.may(process, question):
            raise Violation("W10", f"{text}, a principal not authorized to {question}")
        if context.api_key in BY_RESOURCE and has_written:
            if not asked:
                raise Violation("W10", f"{text} without asking the authorizer: {request}")
            self._are_allowed(process, context, effects, text)

    def _are_allowed(
        self, process: Any, context: RequestContext, effects: Sequence[Any], text: str
    ) -> None:  # fmt: skip
        """The rogue client is authorized for each change that its request wrote."""
        made: set[str] = set()
        for effect in effects:
            for _, record in decode_batch(effect.data) if type(effect) is done.Append else ():
                operation, name, kind = -1, "", TOPIC
                if type(record) is TopicRecord:
                    operation, name = CREATE, record.name
                    made.add(name)
                elif type(record) is RemoveTopicRecord:
                    operation, name = DELETE, self.image.topics.get(record.topic_id, "")
                elif type(record) is ConfigRecord and record.resource_type in _CONFIGURED:
                    operation, name, kind = ALTER_CONFIGS, record.resource_name, _CONFIGURED[record.resource_type]
                if not name or (operation == ALTER_CONFIGS and kind == TOPIC and name in made):
                    continue
                about = str(context.principal), context.client_address, operation
                questions = [Question(*about, kind, name), Question(*about, CLUSTER, CLUSTER_NAME)]
                if not any(self.may(process, each) for each in questions[: 1 if operation == ALTER_CONFIGS else 2]):
                    raise Violation("W10", f"{text}, a principal not authorized to {questions[0]}")

    def replies(self, process: Any, source: Any, response: Any) -> None:
        """A node answers a stranger. Raises Violation unless what is refused, and nothing else, is what the sender may
        not do.
        """
        taken = self._taken.pop((process.node.id, process.life, source), None)
        state = process.controller.state
        if taken is None or state.loading or self.rules.has_changed_between(taken.offset, state.stable_end_offset):
            return
        text = f"node {process.node.id} answers {type(response).__name__} to {taken.principal} of {taken.host}"
        codes = set(errors_of(response)) - {Error.NONE}
        if isinstance(response, EnvelopeResponse):
            return  # the answer of a standby to any envelope
        self._fits_items(process, taken, response, text)
        wrong = wrong_of_token(taken.principal, taken.request, response, self.image.users)
        if wrong:
            raise Violation("W10", f"{text}: {wrong}")
        if taken.question is None:
            return
        if self.may(process, taken.question):
            if Error.CLUSTER_AUTHORIZATION_FAILED in codes:
                raise Violation("W10", f"{text}, who is authorized to {taken.question}: {response}")
        elif isinstance(response, DescribeClusterResponse) and codes == {Error.UNSUPPORTED_VERSION}:
            return  # the level of the cluster is checked before the rights, as in stock
        elif len(codes) == 1 and codes <= ELSEWHERE and not process.controller.env.access.is_ready:
            return  # without the ACLs it is not the active controller nor the leader, which decide
        elif not codes or not codes <= REFUSALS:
            raise Violation(
                "W10", f"{text}, who is not authorized to {taken.question}, with {sorted(codes)}: {response}"
            )

    def _fits_items(self, process: Any, taken: Taken, response: Any, text: str) -> None:
        needed = NEEDED.get(type(taken.request))
        if needed is None:
            return
        sender, codes = (str(taken.principal), taken.host), codes_of(taken.request, response)
        for item, need in needed(sender, taken.request).items():
            code = codes.get(item)
            if code is None or code in UNDECIDED:
                continue
            may = any(all(self.may(process, each) for each in way) for way in need.ways)
            is_absent = code == Error.UNKNOWN_TOPIC_OR_PARTITION
            sees = is_absent and need.sees is not None and self.may(process, need.sees)
            if (may and code in DENIALS) or not (may or sees or code == need.denial):
                raise Violation("W10", f"{text} {error_name(code)} for {item}; it needs {need.ways}")
        if isinstance(response, CreateTopicsResponse):
            for topic in response.topics:
                is_hidden = topic.topic_config_error_code == Error.TOPIC_AUTHORIZATION_FAILED
                may = self.may(process, hides_configs(sender, topic.name))
                if topic.error_code == Error.NONE and may == is_hidden:
                    raise Violation("W10", f"{text} with the configs of {topic.name} hidden: {is_hidden}")


def serves_member(process: Any, response: Any) -> None:
    """A node answers a super user. Raises Violation if it refuses that a right."""
    denials = DENIALS & set(errors_of(response))
    if denials:
        names = ", ".join(map(error_name, sorted(denials)))
        raise Violation("W10", f"node {process.node.id} answers {type(response).__name__} to a super user with {names}")


def look(process: Any, since: dict[TlsConnection, float]) -> None:
    """W09. since: when each connection whose handshake is not done was made, on the clock of the node."""
    ours, now = process.server, process.loop.time()
    node = f"node {process.node.id}"
    unfinished = ours._handshakes  # noqa: SLF001 - there is no public name
    waiting, bound, begun_max = unfinished._first_steps, ours._unfinished_max(), ours._handshakes_max  # noqa: SLF001
    if len(since) > bound:
        raise Violation(
            "W09", f"{node} has {len(since)} connections without a complete handshake; the limit is {bound}"
        )
    begun = len(unfinished._begun)  # noqa: SLF001
    if begun > begun_max:
        raise Violation("W09", f"{node} has {begun} handshakes under way; the limit is {begun_max}")
    # A wait for a place among those under way is not its client's: the limit applies once more after it.
    oldest = now - 2 * process.bounds.get("handshake_s_max", handshakes.HANDSHAKE_S_MAX) - SLACK_S
    held = sum(protocol.received for protocol in since)
    if held > handshakes.HELD_BYTES_MAX:
        raise Violation("W09", f"{node} holds {held} bytes of handshakes")
    for protocol, made in since.items():
        if made < oldest and protocol not in waiting:
            raise Violation("W09", f"{node} has waited for a handshake since {made:.1f} s")
        if protocol.received > tls.HANDSHAKE_BYTES_MAX + READ_BYTES:
            raise Violation("W09", f"{node} holds {protocol.received} bytes of a handshake")
    if process.network.identities.has_sasl:
        _look_at_unauthenticated(process, node, now)


def _look_at_unauthenticated(process: Any, node: str, now: float) -> None:
    wire_rules: Any = process.network.wire_rules
    waiting = []
    for number, one in process.server.connections.items():
        connection: Any = process.connections.get(number)
        if connection is not None and not one.is_closing and wire_rules.of(connection).is_waiting:
            waiting.append(number)
    known = process.unauthenticated
    process.unauthenticated = {number: known.get(number, now) for number in waiting}
    if len(waiting) > process.server._handshakes_max:  # noqa: SLF001
        raise Violation("W09", f"{node} has {len(waiting)} unauthenticated connections")
    begun = min(process.unauthenticated.values(), default=now)
    if begun < now - process.bounds.get("authentication_s_max", server.AUTHENTICATION_S_MAX) - SLACK_S:
        raise Violation("W09", f"{node} has kept an unauthenticated connection since {begun:.1f} s")


# The most bytes of one read, which are refused after it.
READ_BYTES = 64 << 10
