"""The recovery phase of a cluster: faults have ended, all nodes come back, and must converge to the state of the log.

L01 elect, L02 commit, L08 brokers are unfenced, L09 metadata converges, L10 reassignments complete and partitions with
an eligible replica have a leader, C01 all states are equal, C05 the answers to clients are linearizable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.state.roles import Leader
from records.uuids import UNASSIGNED_DIRECTORY
from simulations.cluster.metadata.image import NOBODY
from simulations.cluster.metadata.member_rules import DIRECTORIES_SINCE, METADATA_VERSION
from simulations.histories.controller_api import ControllerApi
from simulations.histories.linearizable import check
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.world import ClusterWorld
    from simulations.nodes.driver import ControllerProcess

CONNECT_MS = 10_000
SETTLE_MS = 20_000
LOOK_MS = 50
# How long admin clients send requests in the recovery phase.
BUSY_MS = 400
# Configurations of one part of a history; far more than any of these needs.
BUDGET = 300_000


class ClusterRecovery:
    """elected_ms, committed_ms, caught_up_ms: since the phase began; -1 if not reached. undecided: how often the check
    of a part of the history was given up.
    """

    def __init__(self, run: ClusterWorld, stop_clients: Callable[[], None]) -> None:
        self._run = run
        self._stop_clients = stop_clients
        self.elected_ms = self.committed_ms = self.caught_up_ms = -1
        self.undecided = 0

    def run(self) -> None:
        """Let everything recover, and check it. Raises Violation if the cluster does not recover, or the history is not
        linearizable.
        """
        run = self._run
        for node in run.nodes.values():
            node.switch_on()
            node.start_after(0)
        run.world.run(run.world.now + MS)
        self._check_history()  # before the bounds: a violation that is there already comes first
        config = next(iter(run.nodes.values())).config
        bound_ms = CONNECT_MS + config.fetch_timeout_ms + config.request_timeout_ms + 20 * config.election_timeout_ms
        self.elected_ms = self._wait("L01", "no active controller", lambda: self._active() is not None, bound_ms)
        end = run.ledger.history.end
        self.committed_ms = self._wait("L02", "nothing is committed", lambda: run.ledger.history.end > end, SETTLE_MS)
        run.world.run(run.world.now + BUSY_MS * MS, run.events_max)
        self._stop_clients()
        settle_ms = SETTLE_MS + CONNECT_MS + 4 * run.plan.session_ms
        self._wait("L08", "not all brokers are let in", self._all_are_in, settle_ms)
        self._wait("L10", "not all partitions are at rest", self._all_at_rest, settle_ms)
        end = run.ledger.history.end
        self.caught_up_ms = self._wait("L09", "not all have read the log", lambda: self._all_have(end), settle_ms)
        self._all_are_equal()
        self._check_history()

    def _active(self) -> ControllerProcess | None:
        """The controller that leads in the highest epoch, if it is active."""
        leaders = [each for each in self._run.ledger.running() if each.steps and isinstance(each.replica.role, Leader)]
        newest = max(leaders, key=lambda each: each.replica.epoch, default=None)
        if newest is None or newest.machine.leads is None:
            return None
        return newest  # type: ignore[return-value]

    def _all_are_in(self) -> bool:
        run = self._run
        image = run.watch.log_rules.image
        there = {machine.id for machine in run.brokers}
        # A fuzz client may have registered a broker with the directory of another, which then cannot register.
        taken = {each for number, broker in image.brokers.items() if number not in there for each in broker.directories}
        for machine in run.brokers:
            broker = image.brokers.get(machine.id)
            process = machine.current
            if broker is None and taken & set(machine.directories):
                continue
            if process is None or broker is None or broker.fenced or broker.leaving or broker.epoch != process.epoch:
                return False
        return True

    def _all_at_rest(self) -> bool:
        """Whether no work is left. Two bugs of stock Kafka are kept, since records must be equal (see FINDINGS): a
        broker both added and removed never completes, and an eligible broker without a replica keeps others from
        leading. Brokers that fuzz clients registered have no process, and do nothing.
        """
        image = self._run.watch.log_rules.image
        there = {machine.id for machine in self._run.brokers if machine.id in image.brokers}
        properties = self._run.plan.properties
        is_balanced = properties.get("leader.imbalance.check.interval.seconds") == "1"
        is_balanced &= properties.get("auto.leader.rebalance.enable") != "false"
        is_known = self._run.plan.directories > 1 and image.features.get(METADATA_VERSION, 0) >= DIRECTORIES_SINCE
        for partition in image.partitions.values():
            may_lead = partition.replicas[:1] if is_balanced and partition.replicas[0] in there else partition.replicas
            if is_known and UNASSIGNED_DIRECTORY in partition.directories:
                return False
            if partition.leader == NOBODY:
                if there & (set(partition.isr) | (set(partition.elr) & set(partition.replicas))):
                    return False
            elif partition.adding or partition.removing:
                if not set(partition.adding) & set(partition.removing) and set(partition.adding) <= there:
                    return False
            elif there & set(partition.replicas) - set(partition.isr) or partition.leader not in may_lead:
                return False
        return True

    def _all_have(self, end: int) -> bool:
        run = self._run
        return all(
            node.process is not None and node.process.is_listening and node.process.machine.offset >= end
            for node in run.nodes.values()
            if not node.broken
        ) and all(machine.current is not None and machine.current.image.end_offset >= end for machine in run.brokers)

    def _all_are_equal(self) -> None:
        """Every state equals the replay of the log, and each broker reads the same metadata as `log_rules`."""
        run = self._run
        for process in run.ledger.running():
            run.watch.compare(process, "the recovery phase")  # type: ignore[arg-type]
        committed = run.watch.log_rules.image
        for machine in run.brokers:
            assert machine.current is not None, "all have read the log"
            image = machine.current.image
            if image.end_offset == committed.end_offset and not image.is_as(committed):
                raise Violation("C01", f"the image of broker {machine.id} differs from the log up to there")

    def _check_history(self) -> None:
        verdict = check(ControllerApi(), self._run.recorder.operations, BUDGET)
        if verdict.result == "violation":
            raise Violation("C05", str(verdict))
        self.undecided += verdict.result == "unknown"

    def _wait(self, property_id: str, what: str, goal: Callable[[], bool], limit_ms: int) -> int:
        world = self._run.world
        begin = world.now
        while not goal():
            if world.now - begin > limit_ms * MS:
                raise Violation(property_id, f"{what} within {limit_ms} ms without faults; {self._state()}")
            world.run(world.now + LOOK_MS * MS, self._run.events_max)
        return (world.now - begin) // MS

    def _state(self) -> str:
        """The state of all nodes, as text for people."""
        run = self._run
        rows = []
        for node in run.nodes.values():
            process = node.process
            if process is None or not process.is_listening:
                rows.append(f"node {node.id}: {node.broken or 'down'}")
            else:
                replica, machine = process.replica, process.machine
                text = (
                    f"node {node.id}: {type(replica.role).__name__} of epoch {replica.epoch}, log end {replica.log.end}"
                )
                rows.append(f"{text}, state {machine.offset}, active {machine.leads}")
        image = run.watch.log_rules.image
        for broker in run.brokers:
            at = (
                "down" if broker.current is None else f"epoch {broker.current.epoch}, {broker.current.image.end_offset}"
            )
            rows.append(f"broker {broker.id}: {at}, registered as {image.brokers.get(broker.id)}")
        restless = [
            f"{image.topics[key[0]]}-{key[1]}: {partition}" for key, partition in image.partitions.items()
            if partition.adding or partition.removing or partition.leader == NOBODY
            or set(partition.isr) != set(partition.replicas)
        ]  # fmt: skip
        return "; ".join(rows + restless[:3])
