"""What unit tests see of an ordinary mutant: those that mirror its module, in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulations.mutants.generic import Ordinary

ROOT = Path(__file__).parents[2]
TIME_S_MAX = 120

_RUN = """
import sys, pytest
from simulations.mutants.hook import install
from simulations.mutants.table import find
install(find(sys.argv[1]))
sys.exit(pytest.main([*sys.argv[2:], "-x", "-q", "-p", "no:cacheprovider"]))
"""


def tests_of(module: str) -> list[str]:
    """The test of a module, by its name, and those scenarios that its package has; all of its package where it has none."""
    *parents, name = module.split(".")
    folder = ROOT / "tests" / Path(*parents)
    own = folder / f"test_{name}.py"
    found = [own] if own.exists() else sorted(folder.glob("test_*.py"))
    scenarios = ROOT / "tests" / "scenarios"
    if parents[0] == "raft" and scenarios.exists():
        found.append(scenarios)
    return [str(path) for path in found]


def is_seen_by_tests(ordinary: Ordinary) -> bool:
    """Whether a test fails, or none can be run, or they take for ever."""
    command = [sys.executable, "-c", _RUN, ordinary.id, *tests_of(ordinary.module)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=TIME_S_MAX, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0
