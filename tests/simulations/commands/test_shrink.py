"""The plan that `shrink` finds is stored, and violates the property again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

import pytest

from simulations.commands import shrink
from simulations.corpus import find

if TYPE_CHECKING:
    from pathlib import Path


def simulate(*argv: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, as it has a mutant in it."""
    return subprocess.run([sys.executable, "-m", "simulations", *argv], capture_output=True, text=True, check=False)


def test_a_seed_is_shrunk_to_a_plan_that_breaks_the_same_property(tmp_path: Path) -> None:
    small, page = tmp_path / "small.json", tmp_path / "page.html"

    shrunk = simulate("shrink", "--seed", "1-3", "--mutant", "R02", "--out", str(small), "--page", str(page))
    again = simulate("run", "--plan", str(small), "--mutant", "R02", "--story", "0", "--page", str(tmp_path / "b.html"))

    assert shrunk.stdout.startswith("S03 of seed 1: "), shrunk.stdout + shrunk.stderr
    assert " faults reduced to 0 and 0 decisions of noise, in " in shrunk.stdout
    assert (again.returncode, "S03 IS BROKEN" in again.stdout) == (1, True)
    tree = json.loads(small.read_text())
    assert (tree["noise_ms"], "faults" in tree, tree["chaos_ms"] < 1000) == ([0, 0], False, True)
    assert "As it was found" in page.read_text()


def test_a_plan_that_breaks_without_the_mutant_too_is_passed_over(tmp_path: Path) -> None:
    small = tmp_path / "small.json"
    # The plan of the first seed, and the smaller one of the second, break without the mutant.
    code = (
        "import sys\n"
        "from simulations.commands import main, shrink\n"
        "answers = iter([True, False, True, False, False])\n"
        "shrink._breaks_without_mutant = lambda plan, args: next(answers)\n"
        "sys.exit(main.main())\n"
    )
    argv = ["shrink", "--seed", "1-9", "--mutant", "R02", "--runs", "1", "--out", str(small)]

    done = subprocess.run([sys.executable, "-c", code, *argv], capture_output=True, text=True, check=False)

    lines = done.stdout.splitlines()
    assert lines[0] == "seed 1 breaks a property without R02 too", done.stderr
    assert re.fullmatch(r"the smaller plan of seed \d breaks a property without R02 too", lines[2])
    assert (done.returncode, small.exists()) == (0, True)


def test_a_plan_is_run_without_the_mutant_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = find("R35")
    args = Namespace(level=entry.level, mutant=entry.mutant_id)
    # The code as it would be if it broke the property by itself.
    broken = (
        "import sys\n"
        "from simulations.commands import main\n"
        f"sys.argv += ['--mutant', '{entry.mutant_id}']\n"
        "sys.exit(main.main())\n"
    )

    as_it_is = shrink._breaks_without_mutant(entry.plan, args)
    monkeypatch.setattr(shrink, "AGAIN", (sys.executable, "-c", broken))
    as_broken = shrink._breaks_without_mutant(entry.plan, args)

    assert (as_it_is, as_broken) == (False, True)
    with pytest.raises(ValueError, match=f"the plan cannot be run without {entry.mutant_id}: exit code 2"):
        shrink._breaks_without_mutant("no plan", args)
