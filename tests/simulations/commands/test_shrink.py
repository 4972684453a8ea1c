"""The plan that `shrink` finds is stored, and violates the property again."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

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
