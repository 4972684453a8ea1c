"""The command that a failed run prints repeats the run exactly, in any directory."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CODE = ("simulations", "controller", "raft", "records")


@pytest.fixture(name="clone", scope="module")
def _clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the sources that git tracks, and nothing else, to another directory."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("these sources are not in git")
    listing = [git, "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *CODE]
    names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split("\0")
    clone = tmp_path_factory.mktemp("clone")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, clone / name)
    return clone


def output_of(directory: Path, hash_seed: str, tmp_path: Path, *argv: str) -> list[str]:
    """The output of a command, run in a directory by a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "TMPDIR": str(tmp_path)}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-m", *argv], cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_the_command_that_is_printed_repeats_the_run_in_a_fresh_clone(clone: Path, tmp_path: Path) -> None:
    first = output_of(ROOT, "0", tmp_path, "simulations", "run", "--seed", "4", "--mutant", "R01")
    again = next(line.removeprefix("again: ") for line in first if line.startswith("again: "))

    second = output_of(clone, "4711", tmp_path, *shlex.split(again)[2:])

    assert again == "python -m simulations run --seed 4 --mutant R01"
    assert first == second
    assert any(line.startswith("trace ") for line in first)
    assert (tmp_path / "simulation-raft-4R01.html").stat().st_size > 10_000
