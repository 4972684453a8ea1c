"""One run of a whole cluster: raft's world with controllers in it, brokers and admin clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.cluster import brokers, faults
from simulations.cluster.admins import Admin
from simulations.cluster.brokers import BrokerMachine
from simulations.cluster.driver import ControllerProcess, bootstrap, formatted
from simulations.cluster.fuzz_clients import Clerk
from simulations.cluster.image import decoded
from simulations.cluster.inherited import inherited
from simulations.cluster.periodic_work import Duties
from simulations.cluster.recovery_phase import ClusterCalm
from simulations.cluster.rules.api_oracle import Court, HeldWatch
from simulations.cluster.wire import ClusterNetwork
from simulations.faults.table import KINDS
from simulations.histories.controller_api import ControllerApi
from simulations.histories.operations import Recorder
from simulations.levels.raft_run import CLUSTER, Run
from simulations.running.closeup import tell_operations, tell_records
from simulations.world.links import Latency
from simulations.world.releases import NEWEST
from simulations.world.streams import between
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.voters import VoterSet
    from simulations.cluster.plan import ClusterPlan
    from simulations.plans.plan import Fault
    from simulations.running.closeup import Told
    from simulations.running.outcome import Outcome
    from simulations.world.process import Node, Process

# Brokers and admin clients begin within so many ms.
BEGIN_WITHIN_MS = 200
LOOK_MS = 500
GRACE_MS = 2000


class ClusterRun(Run):
    """The world of one plan. recorder: what clients asked, and were told. lag: as in the plan, none in the calm."""

    plan: ClusterPlan
    watch: HeldWatch

    def __init__(self, plan: ClusterPlan, written: Callable[[bytes], None] | None = None) -> None:
        self.recorder = Recorder(lambda: self.world.now)
        self.brokers: list[BrokerMachine] = []
        self.admins: list[Admin] = []
        self.clerks: list[Clerk] = []
        self.cluster_id = CLUSTER
        self.lag = plan.lag
        self._leads: list[int] = []
        self._end = 0
        self._since = 0
        super().__init__(plan, written)
        self.calm = ClusterCalm(self)  # type: ignore[assignment]

    def execute(self) -> Outcome:
        outcome = super().execute()
        if outcome.is_well and self.watch.court.refused:
            outcome.property_id, outcome.text = "C21", self.watch.court.refused
        if outcome.is_well and self.watch.duties.refused:
            outcome.property_id = "C23"
            outcome.text = self.watch.duties.refused
        outcome.acknowledged = self.watch.acknowledged_requests
        outcome.fired.update(self.watch.judge.counted)
        return outcome

    def _tell_rest(self, told: Told) -> None:
        tell_records(self.ledger.history, decoded, told)
        tell_operations(self.recorder, ControllerApi(), told)

    def begin(self) -> None:
        super().begin()
        rng = self.stream("begin", "clients")
        if any(release != NEWEST for release in self.plan.broker_releases.values()):
            self.network.uses_codec = True
        for place in range(self.plan.brokers):
            machine = BrokerMachine(self, brokers.FIRST_ID + place)
            self.brokers.append(machine)
            self.world.after(between(rng, 0, BEGIN_WITHIN_MS * MS), machine.start)
        self.admins = [Admin(self, number) for number in range(self.plan.admins)]
        self.clerks = [Clerk(self, number) for number in range(self.plan.clerks)]
        self._look_at_dead()

    def end_chaos(self) -> None:
        super().end_chaos()
        self.lag = 0.0
        faults.mend(self)

    def _look_at_dead(self) -> None:
        """Who is gone is fenced, where one controller was active all that time, and got on (L08)."""
        self.world.after(LOOK_MS * MS, self._look_at_dead)
        now, end = self.world.now, self.ledger.history.end
        leads = [each.node.id for each in self.ledger.running() if each.is_listening and each.machine.leads is not None]
        if leads != self._leads or end == self._end or any(node.step_us for node in self.nodes.values()):
            self._since = now
        self._leads, self._end = leads, end
        bound = (self.plan.session_ms * 3 // 2 + GRACE_MS) * MS
        for machine in self.brokers:
            registered = self.watch.judge.image.brokers.get(machine.id)
            is_gone = machine.current is None and not machine.stale
            if is_gone and registered is not None and not registered.fenced:
                since = max(self._since, machine.gone_at)
                if now - since > bound:
                    text = f"broker {machine.id} is gone since {machine.gone_at} us, and not fenced by {leads}"
                    raise Violation("L08", text)

    def is_replicating(self, broker_id: int, key: tuple[bytes, int]) -> bool:
        """Whether a broker fetches from who leads a partition, as far as that one can tell."""
        number = broker_id - brokers.FIRST_ID
        process = self.brokers[number].current if number < len(self.brokers) else None  # a clerk's has no process
        return process is not None and not process.control.is_paused and process.directories.has(key)

    def _do(self, fault: Fault, struck: Process | None) -> bool:
        return faults.strike(self, fault, struck, KINDS)

    def _make_watch(self) -> HeldWatch:
        return self._in_session(HeldWatch(self.world, self.ledger, self.trace, self.plan.session_ms))

    def _in_session(self, watch: HeldWatch) -> HeldWatch:
        """With who holds controllers to their rules and duties."""
        about = self.cluster_id, self.plan.voter_ids, self.plan.kraft_version
        watch.court = Court(watch.judge.image, self.plan.properties, *about)
        watch.duties = Duties(watch.judge, self.plan.properties, self.plan.session_ms)
        return watch

    def _make_network(self) -> ClusterNetwork:
        return ClusterNetwork(self.world, Latency(*self.plan.latency), self.luck_of_link)  # type: ignore[arg-type]

    def _make_node(self, node_id: int, voters: VoterSet) -> Node:
        node = super()._make_node(node_id, voters)
        properties = self._properties(node_id)
        node.make_process = lambda machine: ControllerProcess(machine, properties, self.begins_with())
        return node

    def begins_with(self) -> list[tuple[Any, int]]:
        """The records that an empty log begins with, and their versions."""
        level = formatted(self.plan.metadata_version)
        return bootstrap(level) + (inherited(level) if self.plan.is_inherited else [])

    def _properties(self, node_id: int) -> dict[str, str]:
        """What a controller is configured with; the quorum's own keys are in the plan's `config`."""
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
