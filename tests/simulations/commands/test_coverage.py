"""`coverage` lists what worlds reached, and what they did not; it fails if something impossible was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulations.commands import coverage
from simulations.commands.main import main
from simulations.coverage.seen import everything
from simulations.outcomes.outcome import Outcome
from simulations.running import uncommon
from simulations.running.tasks import Row, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

EVERY = ["coverage", "--seeds", "1-2", "--jobs", "1"]


def test_unseen_items_are_listed_also_those_that_seeds_alone_do_not_reach(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, {"cell: Leader, Fetch, records": 2}, {"cell: Leader, Fetch, nothing": 1})

    lines = capsys.readouterr().out.splitlines()
    cells = len(everything()["cell"])
    alone = f"by 2 seeds alone: cell 1 of {cells}, "
    assert (code, lines[0]) == (1, f"{2 + len(uncommon.tasks_of())} worlds")
    assert f"cell: 2 of {cells} seen ({200 / cells:.1f} %); not:" in lines
    assert [line[: len(alone)] for line in lines if line.startswith("by 2 seeds")] == [alone]
    assert lines[-1] == "  cell: Leader, Fetch, nothing;"


def test_an_item_listed_as_impossible_is_reported_when_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, {"cell: Follower, Fetch, records": 1}, {})

    assert code == 1
    assert "seen, but listed as impossible: cell: Follower, Fetch, records\n" in capsys.readouterr().out


def run(monkeypatch: pytest.MonkeyPatch, by_seeds: dict[str, int], by_plans: dict[str, int]) -> int:
    """Run the command with worlds that all have the same outcome."""

    def crew(tasks: Sequence[Task]) -> Iterator[Row]:
        for task in tasks:
            assert task.counted
            outcomes = [Outcome(seed, seen=by_seeds) for seed in task.seeds]
            yield Row(task, outcomes or [Outcome(1, seen=by_plans)], 0.1)

    def made(_args: Any) -> Any:
        return crew

    monkeypatch.setattr(coverage, "crew_of", made)
    return main(EVERY)
