"""The scenarios of the controller; `tests/scenarios/scripts.py` has the form of the files, `stage.py` the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.controller.stage import Stage
from tests.scenarios.scripts import run

FILES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_scenario_prints_the_expected_output(path: Path, request: pytest.FixtureRequest) -> None:
    run(path, Stage().execute, rewrite=request.config.getoption("--rewrite"))
