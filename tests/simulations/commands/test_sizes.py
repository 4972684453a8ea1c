"""The report on the corpus has the sizes of its plans, and those above the targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.commands.sizes import compare_with_hand_made
from simulations.corpus import Entry
from simulations.corpus.smallest import SMALLEST, Smallest
from simulations.corpus.table import Seen
from simulations.mutants.table import MUTANTS

if TYPE_CHECKING:
    from collections.abc import Sequence


def entry(mutant_id: str, faults: int) -> Entry:
    plan = '{"faults": [' + ", ".join(["{}"] * faults) + "]}"
    return Entry(mutant_id, plan, "raft", mutant_id, "S01", "seed 1", plan)


@pytest.mark.parametrize(
    ("faults", "decisions", "times", "reached"), [(0, 0, 1.0, True), (1, 1, 2.0, True), (2, 3, 5.0, False)]
)
def test_a_plan_is_measured_by_its_faults_and_decisions(
    faults: int, decisions: int, times: float, reached: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    found: Sequence[Entry] = [entry("R01", faults)]

    within = compare_with_hand_made(found, {"R01": Seen(decisions, "0123456ab")}, {"R01": Smallest(1, "two stand")})

    output = capsys.readouterr().out.splitlines()
    assert within == reached
    assert output[2].split()[:5] == ["R01", str(faults), str(decisions), "1", str(times)]


def test_the_hand_made_plans_are_for_twenty_known_mutants() -> None:
    assert len(SMALLEST) >= 20
    assert set(SMALLEST) <= set(MUTANTS)
