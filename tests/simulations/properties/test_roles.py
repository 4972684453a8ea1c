"""A planted violation of each property of roles is detected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raft.state.roles import NEXT, Leader
from simulations.properties.roles import TRANSITIONS
from simulations.world.violation import Violation
from tests.simulations.building import followers, leader, lived


def test_an_epoch_that_falls_in_memory_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    follower.replica.role = replace(follower.replica.role, epoch=follower.replica.epoch - 1)

    with pytest.raises(Violation, match="S03"):
        run.watch.on_stepped(follower, "input:Ticked", None, [])


def test_a_high_watermark_that_falls_in_memory_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    assert follower.replica.high_watermark is not None
    follower.replica.high_watermark -= 1

    with pytest.raises(Violation, match="S09"):
        run.watch.on_stepped(follower, "input:Ticked", None, [])


def test_a_high_watermark_beyond_the_log_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    follower.replica.log.committed = follower.replica.log.end + 1

    with pytest.raises(Violation, match="S10"):
        run.watch.on_stepped(follower, "input:Ticked", None, [])


@pytest.mark.parametrize(
    ("was", "now", "up"), [("Follower", "Leader", 0), ("Follower", "Candidate", 1), ("Follower", "Prospective", 1)]
)
def test_a_role_that_may_not_follow_is_detected(was: str, now: str, up: int) -> None:
    run = lived()
    follower = followers(run)[0]

    with pytest.raises(Violation, match="S14"):
        run.watch.on_noted(follower, "role_changed", {"was": was, "now": now, "epoch": follower.replica.epoch + up})


def test_a_follower_of_itself_is_detected() -> None:
    run = lived()
    follower = followers(run)[0]
    follower.replica.role = replace(follower.replica.role, leader_id=follower.node.id)

    with pytest.raises(Violation, match="S15"):
        run.watch.on_stepped(follower, "input:Ticked", None, [])


def test_the_table_of_transitions_equals_that_of_the_code() -> None:
    theirs = {(was.__name__, now.__name__) for was, following in NEXT.items() for now in following}

    assert set(TRANSITIONS) == theirs


def test_the_core_reports_each_change_of_role() -> None:
    run = lived()

    assert run.watch.notes["role_changed"] >= 5
    assert isinstance(leader(run).replica.role, Leader)
