"""Worlds in which leaders have autopilots: every property holds, steps of each kind are made, wrong ones are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from raft.autopilot import leave_rules, rules
from raft.autopilot.report import Kind, Step
from simulations.members.level import draw, play, read, show
from simulations.members.run import MembersRun
from simulations.members.swarm import AUTOPILOTS, LEAVES

if TYPE_CHECKING:
    from raft.autopilot.rules import Situation


def test_autopilots_add_and_remove_voters_and_every_property_holds() -> None:
    made: dict[str, int] = {}
    for seed in (*AUTOPILOTS, AUTOPILOTS[0] + 64):
        run = MembersRun(draw(seed))
        outcome = run.execute()

        assert outcome.property_id == "", outcome.text
        assert run.autopilots is not None
        for kind, count in run.autopilots.made.items():
            made[kind] = made.get(kind, 0) + count
    assert made.keys() == {"add", "remove"}


def test_a_plan_with_autopilots_has_the_same_run_from_its_json() -> None:
    plan = draw(AUTOPILOTS[1])

    again = read(show(plan))

    assert again == plan
    assert play(again)[0].trace_hash == play(plan)[0].trace_hash


@pytest.mark.parametrize("kind", list(Kind)[:2])
def test_a_step_that_is_no_rule_of_the_autopilot_is_a_violation(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    def any_step(situation: Situation, _held_by: list[str]) -> Step | None:
        """Add any observer at once, or remove any voter."""
        nodes: Any = situation.voters if kind is Kind.REMOVE else situation.candidates
        endpoints = () if kind is Kind.REMOVE or not nodes else nodes[0].endpoints
        return Step(kind, nodes[0].key, "", endpoints) if nodes else None

    monkeypatch.setattr(rules, "_replace", any_step)

    assert play(draw(AUTOPILOTS[0]))[0].property_id == "S31"


def test_voters_that_are_stopped_leave_first_and_every_property_holds() -> None:
    run = MembersRun(draw(LEAVES + 64))
    outcome = run.execute()

    assert outcome.property_id == "", outcome.text
    assert outcome.fired["leave:left"] > 0
    assert outcome.fired["autopilot:add"] > 0


def test_a_voter_of_three_that_leaves_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leave_rules, "STAYING_MIN", 1)

    assert play(draw(LEAVES))[0].property_id == "S31"
