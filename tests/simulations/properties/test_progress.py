"""A planted violation of each property of progress is detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from raft.interface.effects import Send
from raft.interface.limits import NEVER
from raft.state.roles import Leader
from simulations.properties.progress import STEPS_MAX
from simulations.world.violation import Violation
from simulations.world.world import SECOND
from tests.simulations.building import connection_to, followers, frame, leader, live, lived

if TYPE_CHECKING:
    from simulations.raft.run import Run


def cut_off(run: Run, node_id: int) -> None:
    for other in run.nodes:
        if other != node_id:
            run.network.links.cut(node_id, other)
            run.network.links.cut(other, node_id)


def test_a_leader_without_followers_that_does_not_resign_is_detected() -> None:
    run = lived()
    found = leader(run)
    cut_off(run, found.node.id)
    assert isinstance(found.replica.role, Leader)
    found.replica.role.state.quorum_deadline_ms = NEVER

    with pytest.raises(Violation, match="L03"):
        live(run, 4000)


def test_a_leader_without_followers_resigns() -> None:
    run = lived()
    found = leader(run)
    cut_off(run, found.node.id)

    live(run, 4000)

    assert not isinstance(found.replica.role, Leader)


def test_a_request_that_is_never_answered_is_detected() -> None:
    run = lived()
    found = leader(run)
    connection = connection_to(run, found)
    connection.asked, connection.asked_at = frame("Fetch"), 0

    late = run.watch.progress.find_unanswered(found, 10 * SECOND)

    assert late == f"node {found.node.id} has not answered the Fetch of node {connection.client.node.id} for 10000 ms"


def test_a_busy_loop_is_detected() -> None:
    run = lived()
    found = followers(run)[0]
    found.steps += STEPS_MAX + 1

    with pytest.raises(Violation, match="L11"):
        live(run, 1001)


def test_a_leader_that_does_not_notify_a_voter_is_detected() -> None:
    run = lived(10)
    live(run, 300)
    found = leader(run)
    reign = run.watch.progress._leaderships[found.node.id]
    reign.known.remove(followers(run)[0].node.id)
    run.watch._on_performs[Send].remove(run.watch.progress._sends)  # as if none were sent
    cut_off(run, followers(run)[0].node.id)

    with pytest.raises(Violation, match="L13"):
        live(run, 9000)
