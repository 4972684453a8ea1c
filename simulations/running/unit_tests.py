"""Whether the unit tests that mirror the modules of a mutant see it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).parents[2]
TIME_S_MAX = 120
# pytest's exit codes: all passed, some failed, its arguments were wrong, and there is no test. The others: the tests
# could not run.
PASSED, FAILED, USAGE, NO_TESTS = 0, 1, 4, 5

_RUN = """
import sys, pytest
from simulations.mutants.patching import install
from simulations.mutants.table import find
install(find(sys.argv[1]))
sys.exit(pytest.main([*sys.argv[2:], "-x", "-q", "-p", "no:cacheprovider"]))
"""


def tests_of(module: str) -> list[str]:
    """Paths of the tests that mirror a module, or of its whole package where none does; for raft the scenarios too."""
    *parents, name = module.split(".")
    folder = ROOT / "tests" / Path(*parents)
    own = folder / f"test_{name}.py"
    paths = [own] if own.exists() else sorted(folder.glob("test_*.py"))
    scenarios = ROOT / "tests" / "scenarios"
    if parents[0] == "raft" and scenarios.exists():
        paths.append(scenarios)
    return [str(path) for path in paths]


def first_failure(mutant_id: str, modules: Iterable[str]) -> str:
    """What the tests of the modules say with the mutant: the first that fails, or why they cannot run; "" if all pass.

    A mutant with which they take longer than TIME_S_MAX is seen, too. Raises RuntimeError where it is not the mutant
    that keeps them from running.
    """
    if find_spec("pytest") is None:
        raise RuntimeError("unit tests need pytest, which is not installed")
    tests = sorted({path for module in modules for path in tests_of(module)})
    if not tests:
        return ""
    command = [sys.executable, "-c", _RUN, mutant_id, *tests]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIME_S_MAX, check=False)
    except subprocess.TimeoutExpired:
        return f"the tests take longer than {TIME_S_MAX} s"
    if done.returncode == PASSED:
        return ""
    if done.returncode in (USAGE, NO_TESTS):
        raise RuntimeError(f"pytest runs no test of {tests}: {done.stdout}{done.stderr}")
    lines = done.stdout.splitlines()
    failed = next((line.split()[1] for line in lines if line.startswith("FAILED ")), "")
    if done.returncode == FAILED and failed:
        return failed
    return next((line for line in lines if line.startswith("ERROR ")), f"pytest ends with {done.returncode}")
