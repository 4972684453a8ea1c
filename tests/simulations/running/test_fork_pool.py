"""Mutants in forks of one process: the same rows as from a fresh process each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.running import workers
from simulations.running.tasks import Task
from simulations.running.workers import rows

if TYPE_CHECKING:
    from simulations.running.tasks import Row

# D06 changes what a module imports, so that a fork cannot have it.
MUTANTS = ("R17", "D06", "R20")

pytestmark = pytest.mark.skipif(not workers.CAN_FORK, reason="no forks here")


def _comparable(row: Row) -> tuple[object, ...]:
    return row.task, row.error, [(each.seed, each.trace_hash, each.property_id, each.text) for each in row.outcomes]


def test_a_mutant_has_the_same_outcome_in_a_fork_as_in_a_fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [Task((4,), mutant_id=each) for each in MUTANTS]

    forked = {row.task.mutant_id: _comparable(row) for row in rows(tasks, 1)}
    monkeypatch.setattr(workers, "CAN_FORK", False)
    fresh = {row.task.mutant_id: _comparable(row) for row in rows(tasks, 1)}

    assert forked == fresh
    assert forked.keys() == set(MUTANTS)


def test_a_failed_task_gives_a_row_and_does_not_affect_the_next() -> None:
    tasks = [Task((1,), "nowhere", "R17"), Task((1,), mutant_id="R0"), Task((4,), mutant_id="R17")]

    found = list(rows(tasks, 1))

    assert [row.task for row in found] == tasks
    assert ["no level 'nowhere'" in found[0].error, "no mutant 'R0'" in found[1].error] == [True, True]
    assert (found[2].error, found[2].outcomes[0].property_id) == ("", "S07")
