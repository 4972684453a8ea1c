"""A quorum must recover after the faults; one that does not is detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.interface.inputs import Resign
from raft.storage.errors import CorruptLog
from simulations.plans.plan import RecoveryPlan
from simulations.world.violation import Violation
from simulations.world.world import MS, SECOND
from tests.simulations.building import connection_to, frame, leader, lived

if TYPE_CHECKING:
    from simulations.raft.run import Run
    from simulations.world.process import Node

ALL = RecoveryPlan([1, 2, 3])


def cut(run: Run, *ids: int) -> None:
    """Keep these nodes cut off from all others, in spite of any heal."""
    for one in run.nodes:
        for other in run.nodes:
            if one != other and (one in ids or other in ids):
                run.network.links.cut(one, other)


def test_a_healthy_quorum_recovers() -> None:
    run = lived(recovery=ALL)

    run.recovery_phase.run()

    phase = run.recovery_phase
    assert (phase.elected_ms, phase.committed_ms >= 0, phase.caught_up_ms >= 0) == (0, True, True)


def test_a_quorum_that_elects_no_leader_is_detected() -> None:
    run = lived(10, recovery=ALL)
    cut(run, 1, 2, 3)

    with pytest.raises(Violation, match="L01"):
        run.recovery_phase.run()


def test_a_quorum_that_commits_nothing_is_detected() -> None:
    run = lived(recovery=ALL)
    run.clients.stop()

    with pytest.raises(Violation, match="L02"):
        run.recovery_phase.run()


def test_a_node_that_does_not_catch_up_is_detected() -> None:
    run = lived(recovery=ALL)
    alone = next(node_id for node_id in run.nodes if node_id != leader(run).node.id)
    cut(run, alone)

    with pytest.raises(Violation, match="L07"):
        run.recovery_phase.run()


def test_a_disturbed_epoch_is_detected() -> None:
    run = lived(recovery=ALL)
    found = leader(run)
    run.world.at(run.world.now + 2 * SECOND, lambda: found.handle(Resign(found.replica.epoch)))

    with pytest.raises(Violation, match="L04"):
        run.recovery_phase.run()


@pytest.mark.parametrize("others", ["apart", "flap"])
def test_other_voters_are_the_core_if_a_rotten_batch_is_first_read_in_recovery(others: str) -> None:
    run = lived(recovery=RecoveryPlan([2, 3, 4], others=others), voters=5)
    rotten = [run.nodes[node_id] for node_id in (2, 3)]
    rot = CorruptLog("its log", 0, 0, "rotten")
    for node in rotten:
        run.ledger.damaged.add(node.id)
        run.world.at(run.world.now + 5 * MS, lambda node=node: node.on_failed(node.process, rot))

    run.recovery_phase.run()

    assert [node.id for node in run.recovery_phase._core] == [1, 4, 5]
    assert run.recovery_phase.caught_up_ms >= 0


def test_a_core_that_fails_without_a_fault_is_not_replaced() -> None:
    run = lived(recovery=RecoveryPlan([1, 2, 3], others="apart"), voters=5)

    def end(node: Node) -> None:
        node.broken = "by nobody"
        node.kill()

    for node_id in (2, 3):
        run.world.at(run.world.now + 5 * MS, end, run.nodes[node_id])

    with pytest.raises(Violation, match="L"):
        run.recovery_phase.run()


def test_recovery_ends_if_every_disk_is_damaged() -> None:
    run = lived(recovery=RecoveryPlan([1, 2, 3], others="flap"))
    for node in run.nodes.values():
        node.kill()
        node.broken = "damaged"
        run.ledger.damaged.add(node.id)

    run.recovery_phase.run()

    assert run.recovery_phase.elected_ms == -1


def test_a_request_that_is_never_answered_in_recovery_is_detected() -> None:
    run = lived(recovery=ALL)
    run.recovery_phase._core = list(run.nodes.values())
    connection = connection_to(run, leader(run))
    connection.asked, connection.asked_at = frame("Fetch"), run.world.now - 5000 * MS

    with pytest.raises(Violation, match="L05"):
        run.recovery_phase._is_answered()
