"""One run of the node level: a cluster's, with sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from controller.interface import inputs
from records.messages.envelope import EnvelopeRequest
from simulations.cluster.api_oracle import CheckedWatch
from simulations.cluster.run import ClusterRun
from simulations.sockets import bounds, faults
from simulations.sockets.envelopes import is_from, read
from simulations.sockets.network import SocketNetwork
from simulations.sockets.process import SocketProcess
from simulations.sockets.wire_rules import WireRules
from simulations.world.links import Latency
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.voters import VoterSet
    from simulations.nodes.driver import ControllerProcess
    from simulations.plans.plan import Fault
    from simulations.sockets.plan import SocketPlan
    from simulations.sockets.rogue_clients import RogueClient
    from simulations.world.process import Node, Process

LOOK_MS = 20


class SocketWatch(CheckedWatch):
    """Checks the principals with which forwarded requests are served (W07)."""

    def on_controller_stepped(self, process: ControllerProcess, event: inputs.Input, effects: list[Any]) -> None:
        if type(event) is inputs.Requested:
            self._is_of_sender(process, event.context)
        super().on_controller_stepped(process, event, effects)

    def _is_of_sender(self, process: ControllerProcess, context: inputs.RequestContext) -> None:
        connection: Any = process.connections.get(context.source.connection)
        frame = None if connection is None else connection.requests.get(context.source.correlation)
        message: Any = None if frame is None else frame.message
        is_wrapped = type(message) is EnvelopeRequest
        if context.forwarded != is_wrapped or (is_wrapped and not is_from(read(message), context)):
            text = f"node {process.node.id} takes {context} for the sender of {message}"
            raise Violation("W07", text)


class SocketRun(ClusterRun):
    """The world of one plan. rogue_hosts: all rogue clients and servers so far."""

    network_class: ClassVar[type[SocketNetwork]] = SocketNetwork
    plan: SocketPlan
    network: SocketNetwork

    def __init__(self, plan: SocketPlan, written: Callable[[bytes], None] | None = None) -> None:
        self.rogue_hosts: list[RogueClient] = []
        super().__init__(plan, written)
        self._look()

    def end_chaos(self) -> None:
        super().end_chaos()
        for rogue in self.rogue_hosts:
            rogue.leave()

    def _do(self, fault: Fault, struck: Process | None) -> bool:
        own = faults.KINDS.get(fault.kind)
        return super()._do(fault, struck) if own is None else own(self, fault.args, struck)

    def _look(self) -> None:
        """Check the limits of servers, and the timeouts of channels."""
        self.world.after(LOOK_MS * MS, self._look)
        for node in self.nodes.values():
            if node.process is not None and node.process.is_listening and node.process.is_awake:
                bounds.look(node.process)  # type: ignore[arg-type]

    def _make_watch(self) -> CheckedWatch:
        watch = SocketWatch(self.world, self.ledger, self.trace, self.plan.session_ms)
        return self._with_checks(watch)

    def _make_network(self) -> SocketNetwork:
        plan = self.plan
        latency = Latency(*plan.latency)  # type: ignore[arg-type]
        network = self.network_class(self.world, latency, lambda a, b: self.stream("link", a, b))
        network.window, network.segments = plan.window, plan.segments
        network.forwards = plan.forwards
        network.wire_rules = WireRules(network)
        return network

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        node = super()._make_node(node_id, voters)
        properties = self._properties(node_id)
        node.make_process = lambda machine: SocketProcess(machine, properties, self.begins_with(), self.plan)
        return node
