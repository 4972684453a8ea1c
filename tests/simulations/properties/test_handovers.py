"""A planted violation of each rule of the handover is detected."""

from __future__ import annotations

import pytest

from raft.interface.inputs import Resign, ShutDown
from raft.state.roles import Leader
from simulations.plans.plan import Load
from simulations.world.violation import Violation
from tests.simulations.building import followers, leader, leave_unreplicated, live, lived


def test_a_leader_that_shuts_down_hands_over() -> None:
    run = lived()
    found = leader(run)
    epoch = found.replica.epoch

    found.shut_down()
    live(run, 1000)

    assert found.is_dead
    assert leader(run).replica.epoch > epoch


def test_a_leader_that_resigns_while_a_voter_lacks_records_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    found = leave_unreplicated(run)
    monkeypatch.setattr("raft.poll.may_resign", lambda *_: True)

    with pytest.raises(Violation, match=r"L16.*have not reached"):
        found.shut_down()


def test_a_leader_that_waits_for_a_voter_without_end_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    found = leave_unreplicated(run)
    monkeypatch.setattr("raft.poll.may_resign", lambda *_: False)
    found.shut_down()

    with pytest.raises(Violation, match=r"L16.*does not resign"):
        live(run, 1000)


def test_a_former_leader_that_ends_before_another_has_committed_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    found = leader(run)
    monkeypatch.setattr("raft.handover._has_committed", lambda *_: True)
    found.shut_down()

    with pytest.raises(Violation, match=r"L16.*no record of epoch"):
        live(run, 1000)


def test_a_node_that_shuts_down_and_stays_is_a_violation() -> None:
    run = lived()

    with pytest.raises(Violation, match="L16"):
        run.watch.on_stepped(followers(run)[0], "input:ShutDown", ShutDown(), [])


def test_a_leader_that_prefers_a_voter_without_a_connection_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived(load=Load(every_ms=0))
    found = leader(run)
    gone = followers(run)[0].node
    gone.kill()
    live(run, 20)
    assert isinstance(found.replica.role, Leader)
    first = sorted(found.replica.role.state.successors(), key=lambda key: key.id != gone.id)
    monkeypatch.setattr("raft.state.leader_state.LeaderState.successors", lambda _: tuple(first))

    with pytest.raises(Violation, match=rf"L16.*prefers node {gone.id}"):
        found.handle(Resign(found.replica.epoch))


def test_a_leader_that_is_being_removed_and_stops_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    found = leader(run)
    monkeypatch.setattr("raft.poll.is_over", lambda *_: True)

    with pytest.raises(Violation, match=r"L16.*without having resigned"):
        found.shut_down()


def test_a_former_leader_that_leaves_before_its_last_successor_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lived()
    found = leader(run)
    for each in followers(run):
        monkeypatch.setattr(each.replica, "shutting_down", True)  # they acknowledge, and do not stand
    monkeypatch.setattr("raft.handover.stay_ms", lambda config: config.handover_ms)
    found.shut_down()

    with pytest.raises(Violation, match=r"L16.*may need its vote"):
        live(run, 1000)
