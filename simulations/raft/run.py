"""One run: a world made from a plan, its faults, the recovery phase after them, and the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulations.coverage.seen import Seen
from simulations.faults.table import KINDS
from simulations.outcomes.closeup import report_writes
from simulations.outcomes.outcome import Outcome
from simulations.plans.noise import BEGIN
from simulations.raft.recovery_phase import RecoveryPhase
from simulations.raft.world import RaftWorld
from simulations.world.files import Dead
from simulations.world.links import Latency
from simulations.world.machine import DiskPace
from simulations.world.streams import between
from simulations.world.trace import FAULT
from simulations.world.triggers import Pending
from simulations.world.violation import Violation, describe_error
from simulations.world.world import MS, TooBusy

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.outcomes.closeup import OnDetail
    from simulations.plans.plan import Fault, Plan
    from simulations.world.process import Process

# The time that a killed node may take until it serves again, in ms.
_STARTS_WITHIN_MS = 60


class Run(RaftWorld):
    """One run of a plan, from its first fault to the end of the recovery phase."""

    def __init__(self, plan: Plan, written: Callable[[bytes], None] | None = None) -> None:
        super().__init__(plan, written)
        self.recovery_phase = RecoveryPhase(self)

    def keep_count(self) -> None:
        """Have the events of this run counted."""
        self.watch.seen = Seen(self.ledger)
        self.watch.on_detail = self.watch.on_detail or self.watch.seen.moments.on_detail

    def execute(self) -> Outcome:
        """Run the plan from its first fault to the end of the recovery phase."""
        outcome = Outcome(self.plan.seed)
        try:
            self.begin()
            self.world.run(self.plan.chaos_ms * MS, self.events_max)
            self.end_chaos()
            if not self.plan.recovery.skipped:
                self.recovery_phase.run()
            self.watch.validator.conclude()
        except Violation as violation:
            outcome.property_id, outcome.text = violation.property_id, violation.text
        except TooBusy as busy:
            outcome.property_id, outcome.text = "L11", str(busy)
        except Exception as error:  # any exception of the product ends the run, and is its finding
            outcome.property_id = "ASSERT"
            outcome.text = describe_error(error)
        outcome.at_us = self.world.now
        outcome.trace_hash = self.trace.finish()
        outcome.events, outcome.steps, outcome.messages = self.world.events, self.watch.steps, self.network.messages
        outcome.committed = self.ledger.history.end
        outcome.acknowledged = len(self.watch.commits.acknowledged)
        outcome.decisions = self.noise.decisions
        outcome.epochs = max(self.watch.elections.leaders, default=0)
        outcome.fired, outcome.notes = self.fired, self.watch.notes
        outcome.refused = self.watch.validator.refusal_text
        if self.watch.seen is not None:
            outcome.seen = self.watch.seen.counts(self.watch.validator)
        if self.watch.on_detail is not None:
            self._report_details(self.watch.on_detail)
        phase = self.recovery_phase
        outcome.elected_ms, outcome.committed_ms = phase.elected_ms, phase.committed_ms
        outcome.caught_up_ms = phase.caught_up_ms
        return outcome

    def _report_details(self, on_detail: OnDetail) -> None:
        """Report the details that are known at the end of the run."""
        report_writes(self.ledger.history, on_detail)

    # Faults

    def begin(self) -> None:
        """Start all nodes, and arm the triggers of the faults."""
        rng = self.noise.of(self.stream("begin"), BEGIN)
        for node in self.nodes.values():
            node.start_after(between(rng, 0, _STARTS_WITHIN_MS * MS))
        for place, fault in enumerate(self.plan.faults):
            self.world.at(fault.at_ms * MS, self._arm, place, fault)

    def _arm(self, place: int, fault: Fault) -> None:
        if self._phase:
            return
        if fault.on:

            def strike(process: Process) -> None:
                self._strike(place, fault, process)

            self.triggers.arm(fault.on, Pending(fault.nth, fault.node, fault.role, strike))
        elif fault.when:
            self.triggers.arm_state(fault.when, lambda process: self._strike(place, fault, process))
        else:
            self._strike(place, fault, None)

    def _strike(self, place: int, fault: Fault, struck: Process | None) -> None:
        at = 0 if struck is None else struck.node.id
        self.trace.add((self.world.now, FAULT, at, place, fault.kind))
        try:
            done = self._do(fault, struck)
        except Dead:
            self.count(fault.kind)
            raise
        if done:
            self.count(fault.kind)

    def _do(self, fault: Fault, struck: Process | None) -> bool:
        """Inject a fault; returns whether it had a target."""
        return KINDS[fault.kind].strike(self, fault.args, struck)

    def end_chaos(self) -> None:
        """End all faults, and repair what they broke; pending ends of faults are done now."""
        self._phase += 1
        self.triggers.disarm()
        network = self.network
        network.rules.clear()
        for key in list(network.crossed):
            del network.crossed[key]
            for connection in network.open_connections():
                if connection.client.node.id == key[0] and connection.channel.host == key[1]:
                    network.reset(connection)
        network.links.heal_all()
        for link in network.links.all():
            link.latency, link.extra_us, link.bytes_per_ms = Latency(), 0, 0
        for node in self.nodes.values():
            node.disk_faults.clear()
            node.disk.full = False
            node.pace, node.pace_times, node.step_us = DiskPace(), 1, 0
            node.freeze_clock(frozen=False)
            node.resume()
            if node.id in self.ledger.damaged:
                node.kill()  # so that a start finds what is wrong
