"""Steps of worlds are checked against the specification: allowed ones pass, the first other one is reported."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

import raft.fetch_request
import raft.vote
from raft.interface import effects as do
from raft.state.replica import Replica
from records.messages.fetch import FetchResponse
from simulations.plans.plan import Fault, Load, Plan, RecoveryPlan
from simulations.raft.run import Run
from simulations.spec import replication
from simulations.spec.outputs import _answers_fetch
from simulations.spec.pairs import ACTIONS, feasible
from simulations.spec.replication import Fetched
from simulations.spec.values import LEADER, Disk, Log, Node, NotAllowed
from simulations.world.violation import Violation
from simulations.world.world import MS

if TYPE_CHECKING:
    from collections.abc import Callable

FAULTS = [
    Fault("kill", {"whom": "leader", "down_ms": 300}, at_ms=700),
    Fault("kill", {"whom": "leader", "down_ms": 50}, at_ms=1700),
]


def lived() -> Run:
    run = Run(Plan(1, chaos_ms=2500, load=Load(every_ms=80), recovery=RecoveryPlan([1, 2, 3]), faults=FAULTS))
    run.execute()
    return run


def test_a_world_with_crashes_has_only_steps_that_are_allowed() -> None:
    run = lived()

    found = run.watch.validator
    assert found.refusal_text == ""
    assert found.actions["BecomeLeader"] >= 2 <= found.actions["Crash"]
    assert set(found.actions) <= set(ACTIONS)
    assert set(found.pairs) <= set(feasible())


def grants_none(*_args: Any, **_named: Any) -> bool:
    return False


def commits_alone(ends: Any, _voters: Any, _epoch_start: int) -> int:
    return max(ends.values())


def leaves_at_once(self: Replica, effect: Any) -> None:
    self._effects.append(effect)


@pytest.mark.parametrize(
    ("place", "name", "wrong", "guard"),
    [
        (raft.vote, "can_grant", grants_none, "VoteAnswer is not allowed: the answer is"),
        (raft.fetch_request, "high_watermark", commits_alone, "watermark"),
        (Replica, "emit", leaves_at_once, "on disk before a message has it"),
    ],
)
def test_a_step_that_no_action_allows_is_reported(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, wrong: Callable[..., Any], guard: str
) -> None:
    monkeypatch.setattr(place, name, wrong)

    run = Run(Plan(1, chaos_ms=3000, load=Load(every_ms=40), recovery=RecoveryPlan([1, 2, 3])))
    run.begin()
    with suppress(Violation):
        run.world.run(800 * MS)

    assert guard in run.watch.validator.refusal_text
    with pytest.raises(Violation, match="T01"):
        run.watch.validator.conclude()


def test_an_answer_is_checked_against_the_log_before_a_cleanup_in_the_same_step() -> None:
    before = Node(
        4, True, LEADER, 1, 4, -1, Log(71, 1, ((1, 96),)), Disk(None, Log()), 0, watermark=85,
        snapshots=((1, 71, 9), (1, 81, 9)),
    )  # fmt: skip
    cleaned = before.but(log=before.log.begin_at(81))
    asked = Fetched(1, 80, 1)
    wanted = (asked, replication.place(before, asked))
    effect = do.ReplyRecords("somebody", FetchResponse(responses=()), 80, 85, 1000)

    _answers_fetch(wanted, (0, 1, 4, 85, 0), effect, [cleaned, before])
    with pytest.raises(NotAllowed, match="it needs"):
        _answers_fetch(wanted, (0, 1, 4, 85, 0), effect, [cleaned, cleaned])
    with pytest.raises(NotAllowed, match="the logs agree"):
        _answers_fetch(wanted, (0, 1, 4, 85, "snapshot", 81, 2), effect, [cleaned, before])
