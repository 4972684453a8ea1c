"""One run of a whole cluster: raft's world with controllers in it, brokers and admin clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.cluster import faults
from simulations.cluster.clients import brokers
from simulations.cluster.clients.admins import Admin
from simulations.cluster.clients.brokers import BrokerMachine
from simulations.cluster.clients.fuzz_clients import FuzzClient
from simulations.cluster.clients.hostile_clients import CONNECTIONS, HostileClient
from simulations.cluster.clients.requests import ADMIN_REQUESTS, FUZZ_REQUESTS
from simulations.cluster.metadata.image import decode_batch
from simulations.cluster.recovery_phase import ClusterRecovery
from simulations.cluster.world import ClusterWorld
from simulations.coverage.cluster_moments import ClusterMoments
from simulations.faults.table import KINDS
from simulations.histories.controller_api import ControllerApi
from simulations.outcomes.closeup import report_operations, report_records
from simulations.raft.run import Run
from simulations.world.releases import NEWEST
from simulations.world.streams import between
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.outcomes.closeup import OnDetail
    from simulations.outcomes.outcome import Outcome
    from simulations.plans.cluster_plan import ClusterPlan
    from simulations.plans.plan import Fault
    from simulations.world.process import Process

# Brokers and admin clients begin within so many ms.
BEGIN_WITHIN_MS = 200
LOOK_MS = 500
GRACE_MS = 2000


class ClusterRun(ClusterWorld, Run):
    """One run of a plan of a cluster."""

    def __init__(self, plan: ClusterPlan, written: Callable[[bytes], None] | None = None) -> None:
        self.admins: list[Admin] = []
        self.fuzz_clients: list[FuzzClient] = []
        self.hostile_clients: list[HostileClient] = []
        self._leads: list[int] = []
        self._end = 0
        self._since = 0
        super().__init__(plan, written)
        self.recovery_phase = ClusterRecovery(self, self._stop_clients)  # type: ignore[assignment]

    def keep_count(self) -> None:
        super().keep_count()
        assert self.watch.seen is not None, "the counts of replicas"
        self.watch.seen.of_controllers = ClusterMoments(self.watch.log_rules.image)

    def execute(self) -> Outcome:
        outcome = super().execute()
        if outcome.is_well and self.watch.api_oracle.refused:
            outcome.property_id, outcome.text = "C21", self.watch.api_oracle.refused
        if outcome.is_well and self.watch.periodic_work.refused:
            outcome.property_id = "C23"
            outcome.text = self.watch.periodic_work.refused
        outcome.acknowledged = self.watch.acknowledged_requests
        outcome.fired.update(self.watch.log_rules.counted)
        return outcome

    def _report_details(self, on_detail: OnDetail) -> None:
        report_records(self.ledger.history, decode_batch, on_detail)
        report_operations(self.recorder, ControllerApi(), on_detail)

    def begin(self) -> None:
        super().begin()
        rng = self.stream("begin", "clients")
        if any(release != NEWEST for release in self.plan.broker_releases.values()):
            self.network.uses_codec = True
        for place in range(self.plan.brokers):
            machine = BrokerMachine(self, brokers.FIRST_ID + place)
            self.brokers.append(machine)
            self.world.after(between(rng, 0, BEGIN_WITHIN_MS * MS), machine.start)
        self.admins = [Admin(self, number, ADMIN_REQUESTS) for number in range(self.plan.admins)]
        self.fuzz_clients = [FuzzClient(self, number, FUZZ_REQUESTS) for number in range(self.plan.fuzz_clients)]
        self.hostile_clients = [
            HostileClient(self, user, number) for user in range(self.plan.hostile) for number in range(CONNECTIONS)
        ]
        self._check_fencing()

    def end_chaos(self) -> None:
        super().end_chaos()
        self.lag = 0.0
        faults.mend(self)

    def _stop_clients(self) -> None:
        for admin in self.admins:
            admin.stop()
        for fuzz in self.fuzz_clients:
            fuzz.stop()
        for hostile in self.hostile_clients:
            hostile.stop()

    def _check_fencing(self) -> None:
        """A silent broker is fenced, if one controller was active all that time and made progress (L08)."""
        self.world.after(LOOK_MS * MS, self._check_fencing)
        now, end = self.world.now, self.ledger.history.end
        leads = [each.node.id for each in self.ledger.running() if each.is_listening and each.machine.leads is not None]
        if leads != self._leads or end == self._end or any(node.step_us for node in self.nodes.values()):
            self._since = now
        self._leads, self._end = leads, end
        bound = (self.plan.session_ms * 3 // 2 + GRACE_MS) * MS
        for machine in self.brokers:
            registered = self.watch.log_rules.image.brokers.get(machine.id)
            is_gone = machine.current is None and not machine.stale
            if is_gone and registered is not None and not registered.fenced:
                since = max(self._since, machine.gone_at)
                if now - since > bound:
                    text = f"broker {machine.id} stopped at {machine.gone_at} us, and is not fenced by {leads}"
                    raise Violation("L08", text)

    def _do(self, fault: Fault, struck: Process | None) -> bool:
        return faults.strike(self, fault, struck, KINDS)
