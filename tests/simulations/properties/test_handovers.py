"""A planted violation of each rule of the handover is detected."""

from __future__ import annotations

import pytest

from raft.inputs import ShutDown
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
        run.watch.stepped(followers(run)[0], "input:ShutDown", ShutDown(), [])
