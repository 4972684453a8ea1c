"""Worlds whose voters change: every property holds, a plan determines its run, and changes of each kind are made."""

from __future__ import annotations

from collections import Counter

import pytest

from simulations.members.level import draw, play, read, show
from simulations.members.run import MembersRun
from simulations.members.swarm import NEW_NAMES
from simulations.members.targeted_plans import EVERY, TARGETED_PLANS


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_property_of_a_world_with_other_voters_holds(seed: int) -> None:
    outcome, _ = play(draw(seed))

    assert outcome.property_id == "", outcome.text


def test_a_plan_from_its_json_has_the_same_run() -> None:
    plan = draw(7)

    again = read(show(plan))

    assert again == plan
    assert play(again)[0].trace_hash == play(plan)[0].trace_hash


def test_a_plan_with_an_unknown_change_is_refused() -> None:
    with pytest.raises(ValueError, match="no fault 'crown_voter'"):
        read('{"version": 1, "seed": 1, "faults": [{"kind": "crown_voter"}]}')


def test_voters_are_added_removed_replaced_moved_and_raised() -> None:
    answers: Counter[tuple[str, str]] = Counter()
    fired: Counter[str] = Counter()

    for seed in range(EVERY, EVERY * len(TARGETED_PLANS) + 1, EVERY):
        run = MembersRun(draw(seed))
        outcome = run.execute()
        assert outcome.property_id == "", outcome.text
        answers.update(run.watch.changes.answers)
        fired.update(outcome.fired)

    assert answers["AddRaftVoterRequest", "NONE"] > 0
    assert answers["RemoveRaftVoterRequest", "NONE"] > 0
    assert answers["AddRaftVoterRequest", "REQUEST_TIMED_OUT"] > 0
    assert answers["RemoveRaftVoterRequest", "NOT_LEADER_OR_FOLLOWER"] > 0
    for name in ("replace_voter:done", "rename_voter:done", "raise_version:done"):
        assert fired[name] > 0


@pytest.mark.parametrize("seed", NEW_NAMES)
def test_a_quorum_whose_nodes_all_get_new_names_goes_on(seed: int) -> None:
    outcome, _ = play(draw(seed))

    assert outcome.property_id == "", outcome.text
    assert outcome.fired["rename_all:done"] > 0


def test_without_the_search_for_its_voters_such_a_quorum_elects_nobody() -> None:
    plan = draw(NEW_NAMES[0])
    plan.config["finds_moved_voters"] = False

    assert play(plan)[0].property_id == "L01"
