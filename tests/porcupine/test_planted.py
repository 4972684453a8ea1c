"""Porcupine finds each planted fault in a history of a real quorum, and none in one without."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.porcupine.planted import ROWS
from tests.porcupine.play import play

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go here")]


@pytest.mark.parametrize("plant", ROWS)
def test_a_planted_fault_is_found(tmp_path: Path, plant: str) -> None:
    outcome = play(tmp_path, 6, 1, plant=plant, clients=2, faults=False)

    assert outcome.result == "Illegal", outcome
    assert (tmp_path / "history.html").exists()


def test_a_history_without_a_fault_is_linearizable(tmp_path: Path) -> None:
    outcome = play(tmp_path, 6, 1, clients=2, faults=False)

    assert outcome.is_well, outcome
    kinds = ("create", "delete", "set", "read", "grant", "revoke", "list", "allocate", "alter")
    assert {f"{kind} ok" for kind in kinds} <= outcome.counts.keys()
    assert "alter stale" in outcome.counts
    assert outcome.operations > 100
