"""The gate of mutants: the tasks that it tries, and when it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.commands import gate
from simulations.commands.main import main
from simulations.mutants.table import MUTANTS
from simulations.outcomes.outcome import Outcome
from simulations.running.tasks import Row, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulations.commands.crew import Crew

KNOWN = list(MUTANTS.values())[:10]
REQUIRED = next(mutant for mutant in MUTANTS.values() if mutant.ci)


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "tasks_of", lambda chosen: [Task((1,), mutant_id=each.id) for each in chosen])


def _crew(missing: Sequence[str]) -> Crew:
    def rows(tasks: Sequence[Task]) -> Iterator[Row]:
        for task in tasks:
            yield Row(task, [Outcome(1, "" if task.mutant_id in missing else "S01")], 0.5)

    return rows


@pytest.mark.parametrize(("missing", "code"), [(0, 0), (1, 0), (2, 1)])
def test_nine_in_ten_must_be_caught(missing: int, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [mutant._replace(ci=False) for mutant in KNOWN]

    assert gate.execute(chosen, _crew([each.id for each in chosen[:missing]])) == code

    assert f"{10 - missing} of 10 mutants caught, {10 - missing}0.0%" in capsys.readouterr().out


def test_each_required_mutant_must_be_caught(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [*(mutant._replace(ci=False) for mutant in KNOWN * 3), REQUIRED]

    assert gate.execute(chosen, _crew([REQUIRED.id])) == 1

    assert f"required mutants not caught: {REQUIRED.id}" in capsys.readouterr().out


def test_mutants_that_the_corpus_catches_count_and_are_not_tried(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [mutant._replace(ci=True) for mutant in KNOWN]

    assert gate.execute(chosen, _crew([KNOWN[0].id]), {KNOWN[0].id}) == 0
    assert gate.execute(chosen, _crew([KNOWN[0].id]), {KNOWN[1].id}) == 1

    assert "10 of 10 mutants caught, 1 of them by the corpus, 100.0%" in capsys.readouterr().out


def test_to_leave_out_the_corpus_is_for_the_gate_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["mutants", "--beside-corpus", "D01"])

    assert "--beside-corpus needs --gate" in capsys.readouterr().err
