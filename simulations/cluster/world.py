"""The world of one plan of a cluster: raft's world, with controllers in its processes and model brokers beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.cluster.api_oracle import ApiOracle, CheckedWatch
from simulations.cluster.clients import brokers
from simulations.cluster.metadata.inherited import inherited_records
from simulations.cluster.periodic_work import PeriodicWork
from simulations.histories.operations import Recorder
from simulations.nodes.driver import ControllerProcess, bootstrap, formatted_level
from simulations.nodes.wire import ClusterNetwork
from simulations.raft.world import CLUSTER, RaftWorld
from simulations.world.links import Latency

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.voters import VoterSet
    from simulations.cluster.clients.brokers import BrokerMachine
    from simulations.plans.cluster_plan import ClusterPlan
    from simulations.world.process import Node


class ClusterWorld(RaftWorld):
    """recorder: the operations of clients, with the answers. lag: as in the plan, none in the recovery phase."""

    plan: ClusterPlan
    watch: CheckedWatch

    def __init__(self, plan: ClusterPlan, written: Callable[[bytes], None] | None = None) -> None:
        self.recorder = Recorder(lambda: self.world.now)
        self.brokers: list[BrokerMachine] = []
        self.cluster_id = CLUSTER
        self.lag = plan.lag
        super().__init__(plan, written)

    def is_replicating(self, broker_id: int, key: tuple[bytes, int]) -> bool:
        """Whether a broker fetches from the leader of a partition, as far as the leader knows."""
        number = broker_id - brokers.FIRST_ID
        # A broker that a fuzz client registered has no process.
        process = self.brokers[number].current if number < len(self.brokers) else None
        return process is not None and not process.control.is_paused and process.directories.has(key)

    def _make_watch(self) -> CheckedWatch:
        return self._with_checks(CheckedWatch(self.world, self.ledger, self.trace, self.plan.session_ms))

    def _with_checks(self, watch: CheckedWatch) -> CheckedWatch:
        """Add the API oracle and the checks of periodic work."""
        about = self.cluster_id, self.plan.voter_ids, self.plan.kraft_version, self.plan.session_ms
        watch.api_oracle = ApiOracle(watch.log_rules.image, self.plan.properties, *about)
        watch.answering.rests_on = watch.api_oracle.rests_on
        watch.periodic_work = PeriodicWork(watch.log_rules, self.plan.properties, self.plan.session_ms)
        return watch

    def _make_network(self) -> ClusterNetwork:
        return ClusterNetwork(self.world, Latency(*self.plan.latency), self.rng_of_link)  # type: ignore[arg-type]

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        node = super()._make_node(node_id, voters)
        properties = self._properties(node_id)

        def make(machine: Node) -> ControllerProcess:
            process = ControllerProcess(machine, properties, self.begins_with())
            process.sliced = self.plan.sliced
            return process

        node.make_process = make
        return node

    def begins_with(self) -> list[tuple[Any, int]]:
        """The records that an empty log begins with, and their versions."""
        level = formatted_level(self.plan.metadata_version)
        return bootstrap(level) + (inherited_records(level) if self.plan.is_inherited else [])

    def _properties(self, node_id: int) -> dict[str, str]:
        """The configuration of a controller; the quorum's own keys are in the plan's `config`."""
        return {
            "process.roles": "controller",
            "node.id": str(node_id),
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://node-{node_id}:9093",
            "controller.quorum.voters": ",".join(f"{each}@node-{each}:9093" for each in self.plan.voter_ids),
            "log.dirs": "node",
            "broker.session.timeout.ms": str(self.plan.session_ms),
            "broker.heartbeat.interval.ms": str(self.plan.heartbeat_ms),
            "metadata.max.idle.interval.ms": "200",
            **self.plan.properties,
        }
