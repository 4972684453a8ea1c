"""Work in other processes: each task has one row, even if it fails."""

from __future__ import annotations

from simulations.running.tasks import Row, Task, chunks
from simulations.running.workers import rows


def test_each_task_gives_a_row() -> None:
    found = sorted(rows(chunks([11, 12, 13], 2), 2), key=lambda row: row.task.seeds)

    assert [(row.task.seeds, [each.seed for each in row.outcomes], row.error) for row in found] == [
        ((11, 12), [11, 12], ""), ((13,), [13], ""),
    ]  # fmt: skip


def test_a_failed_task_gives_a_row() -> None:
    (row,) = rows([Task((1,), "nowhere")], 1)

    assert (row.outcomes, "no level 'nowhere'" in row.error) == ([], True)


def test_a_task_stops_at_the_first_broken_world_if_asked_to() -> None:
    (row,) = rows([Task(tuple(range(1, 50)), mutant_id="R17", until_broken=True)], 1)

    assert isinstance(row, Row)
    assert (row.error, row.outcomes[-1].property_id, len(row.outcomes) < 49) == ("", "S07", True)


def test_plans_run_like_seeds() -> None:
    (row,) = rows([Task((), plans=('{"seed": 3, "chaos_ms": 500}',), names=("a",))], 1)

    assert (row.error, [(each.seed, each.property_id) for each in row.outcomes]) == ("", [(3, "")])
