"""Mutants that no simulated world is known to catch are caught by the unit tests of the modules that they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simulations.corpus import entries
from simulations.mutants import kills
from simulations.mutants.table import MUTANTS, find
from simulations.running import unit_tests
from simulations.running.unit_tests import ROOT, first_failure
from simulations.running.unit_tests import tests_of as paths_of

if TYPE_CHECKING:
    from pathlib import Path


def in_no_world() -> list[str]:
    """Mutants without a stored kill and without a plan in the corpus."""
    kept = kills.read()
    planned = {entry.mutant_id for entry in entries()}
    return [name for name in MUTANTS if name not in planned and not any(kill.seed for kill in kept.get(name, ()))]


@pytest.mark.slow
@pytest.mark.parametrize("name", in_no_world())
def test_a_mutant_that_no_world_is_known_to_catch_is_caught_by_unit_tests(name: str) -> None:
    failure = first_failure(name, [edit.module for edit in find(name).edits])

    assert failure.startswith("tests/"), f"{name}: {failure or 'no unit test sees it'}"


@pytest.mark.slow
def test_the_tests_of_a_module_that_a_mutant_does_not_change_pass() -> None:
    assert first_failure("P08", ["raft.autopilot.leave_rules"]) == ""


def test_a_module_has_the_tests_that_mirror_it_or_those_of_its_package() -> None:
    own, package = (
        [path.removeprefix(f"{ROOT}/tests/") for path in paths_of(module)]
        for module in ("controller.core.log_writer", "controller.interface.results")
    )

    assert own == ["controller/core/test_log_writer.py"]
    assert "controller/interface/test_sessions.py" in package


def test_a_mutant_is_not_caught_by_files_without_a_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "test_nothing.py"
    empty.touch()
    monkeypatch.setattr(unit_tests, "tests_of", lambda _module: [str(empty)])

    with pytest.raises(RuntimeError, match="pytest runs no test of"):
        first_failure("P08", ["raft.autopilot.leave_rules"])
