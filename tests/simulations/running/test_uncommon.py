"""Plans for uncommon events are valid plans, and reach these events."""

from __future__ import annotations

import pytest

from simulations.raft import level as raft_level
from simulations.running import uncommon as rare


def test_the_plans_are_deterministic_and_readable() -> None:
    tasks = rare.tasks_of()

    assert tasks == rare.tasks_of()
    assert len(tasks) == sum(rare.PLANS_OF.get(theme, rare.PLANS_EACH) for theme in rare.THEMES)
    for task in tasks[:: rare.PLANS_EACH]:
        assert raft_level.show(raft_level.read(task.plans[0])) == task.plans[0]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("crossed 1", "cell: Candidate, VoteAnswer, INVALID_VOTER_KEY"),
        ("late 1", "cell: Resigned, BeginAnswer, late"),
    ],
)
def test_a_theme_reaches_its_event(name: str, wanted: str) -> None:
    plan = dict(rare.plans())[name]
    plan.chaos_ms //= 3

    outcome, _ = raft_level.play(plan, counts=True)

    assert outcome.is_well
    assert outcome.seen[wanted] > 0
