"""One run of the secured level: a run of the node level with authenticated peers and clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.interface import inputs
from records.messages.envelope import EnvelopeRequest
from simulations.secured import faults, rules
from simulations.secured.meddling import AlteredTap
from simulations.secured.needs import TOKEN_KEY
from simulations.secured.people import SUPER_USERS, Identities, is_super
from simulations.secured.process import SecuredProcess
from simulations.secured.rights import Rules
from simulations.secured.rules import AuthorizationChecks, SecuredWireRules
from simulations.secured.tls import Skipping
from simulations.sockets.envelopes import is_from, read
from simulations.sockets.frames import Tap
from simulations.sockets.network import SocketNetwork
from simulations.sockets.run import SocketRun, SocketWatch
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.voters import VoterSet
    from raft.network.security import ClientSecurity
    from simulations.cluster.api_oracle import CheckedWatch
    from simulations.nodes.driver import ControllerProcess
    from simulations.plans.plan import Fault
    from simulations.secured.plan import SecuredPlan
    from simulations.sockets.frames import Seen
    from simulations.sockets.tcp import End, TcpConnection
    from simulations.world.process import Node, Process

OTHER = inputs.Ticked()


class SecuredNetwork(SocketNetwork):
    """identities: the certificates and users of the world. reauth_ms: of all listeners. meddling: the present change of
    `meddling.CHANGES`; None for none.
    """

    identities: Identities
    reauth_ms: int
    meddling: str | None = None

    def client_security(self, process: Any) -> ClientSecurity:
        return self.identities.client(process.id)

    def accept(self, connection: TcpConnection) -> End:
        end = super().accept(connection)
        if self.identities.has_sasl and not self.identities.has_tls:
            end.tap = AlteredTap(end.tap, connection, self)  # type: ignore[assignment]
        return end

    def make_tap(self, whole: Callable[[bytes], Seen | None], *, is_answer: bool) -> Any:
        tap = Tap(whole, is_answer=is_answer)
        return Skipping(tap) if self.identities.has_tls else tap


class SecuredWatch(SocketWatch):
    """Checks the requests of rogue clients against their permissions; the other properties do not apply to them."""

    authorization: AuthorizationChecks

    def on_controller_stepped(self, process: ControllerProcess, event: inputs.Input, effects: list[Any]) -> None:
        asked = process.authorizer.asked  # type: ignore[attr-defined]
        if type(event) is inputs.Requested and not event.context.is_own:
            self._is_in_its_name(process, event.context)
        if type(event) is inputs.Requested and process.is_of_stranger(event):  # type: ignore[attr-defined]
            self.authorization.on_stepped(process, event.context, event.request, effects, asked)
            self.api_oracle.on_stepped(process, OTHER, effects)
            self.periodic_work.on_stepped(process, OTHER, effects)
            return
        super().on_controller_stepped(process, event, effects)

    def _is_of_sender(self, process: ControllerProcess, context: inputs.RequestContext) -> None:
        """Replaced by `_is_in_its_name`."""

    def _is_in_its_name(self, process: ControllerProcess, context: inputs.RequestContext) -> None:
        connection: Any = process.connections.get(context.source.connection)
        frame = None if connection is None else connection.requests.get(context.source.correlation)
        if frame is None:
            return
        text = f"node {process.node.id} serves {context.principal} what {connection.client.node.id} sent: {frame.name}"
        sender = process.network.wire_rules.of(connection).principal_at(frame.place)  # type: ignore[attr-defined]
        if type(frame.message) is EnvelopeRequest:
            if not is_from(read(frame.message), context):
                raise Violation("W07", text)
            if sender is None or not is_super(sender):
                raise Violation("W10", f"{text}, in an envelope of {sender}, which may not send one")
        elif context.forwarded or sender != context.principal:
            raise Violation("W08", f"{text}, but {sender} is authenticated")


class SecuredRun(SocketRun):
    """The world of one plan."""

    network_class = SecuredNetwork
    plan: SecuredPlan
    network: SecuredNetwork
    watch: SecuredWatch

    def end_chaos(self) -> None:
        super().end_chaos()
        self.network.meddling = None

    def _look(self) -> None:
        super()._look()
        for node in self.nodes.values():
            process: Any = node.process
            if process is not None and process.is_listening and process.is_awake:
                waiting = process.loop.handshakes
                for protocol in [each for each in waiting if each.is_open or each.is_closing()]:
                    del waiting[protocol]
                rules.look(process, waiting)

    def _do(self, fault: Fault, struck: Process | None) -> bool:
        own = faults.KINDS.get(fault.kind)
        return super()._do(fault, struck) if own is None else own(self, fault.args)

    def _make_watch(self) -> CheckedWatch:
        watch = SecuredWatch(self.world, self.ledger, self.trace, self.plan.session_ms)
        watch.authorization = AuthorizationChecks(
            Rules(watch.history.batches), watch.log_rules.image, by_default=self.plan.allows_without_acls
        )
        return self._with_checks(watch)

    def _make_network(self) -> SecuredNetwork:
        plan = self.plan
        network = super()._make_network()
        assert isinstance(network, SecuredNetwork)
        network.identities = Identities(
            plan.protocol, plan.mechanism, self.stream("nonces"), is_open=plan.allows_without_acls
        )
        network.reauth_ms = plan.reauth_ms
        network.wire_rules = SecuredWireRules(network)
        return network

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        node = super()._make_node(node_id, voters)
        properties = self._properties(node_id)
        node.make_process = lambda machine: SecuredProcess(
            machine, properties, self.begins_with(), self.plan, self.watch.authorization
        )
        return node

    def _properties(self, node_id: int) -> dict[str, str]:
        plan = self.plan
        properties = super()._properties(node_id) | {
            "listener.security.protocol.map": f"CONTROLLER:{plan.protocol}",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "delegation.token.secret.key": TOKEN_KEY,
            "super.users": ";".join(f"User:{name}" for name in sorted(SUPER_USERS)),
        }
        if plan.allows_without_acls:
            properties["allow.everyone.if.no.acl.found"] = "true"
        if self.network.identities.has_tls:
            properties |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": "simulated.pem"}
        if self.network.identities.has_sasl:
            properties |= {
                "sasl.enabled.mechanisms": "PLAIN", "sasl.mechanism.controller.protocol": "PLAIN",
                "listener.name.controller.plain.sasl.jaas.config":
                    'org.apache.kafka.common.security.plain.PlainLoginModule required username="n" password="p";',
            }  # fmt: skip
        return properties
