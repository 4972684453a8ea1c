"""One run of the node level: a cluster's, with sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.cluster.run import ClusterRun
from simulations.links import Latency
from simulations.sockets.judge import WireJudge
from simulations.sockets.network import SocketNetwork
from simulations.sockets.process import SocketProcess

if TYPE_CHECKING:
    from raft.voters import VoterSet
    from simulations.node import Node
    from simulations.sockets.plan import SocketPlan


class SocketRun(ClusterRun):
    """The world of one plan."""

    plan: SocketPlan
    network: SocketNetwork

    def _make_network(self) -> SocketNetwork:
        plan = self.plan
        latency = Latency(*plan.latency)  # type: ignore[arg-type]
        network = SocketNetwork(self.world, latency, lambda a, b: self.stream("link", a, b))
        network.window, network.segments = plan.window, plan.segments
        network.judge = WireJudge(network)
        return network

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        node = super()._make_node(node_id, voters)
        properties = self._properties(node_id)
        node.make_process = lambda machine: SocketProcess(machine, properties, self.plan.metadata_version, self.plan)
        return node
