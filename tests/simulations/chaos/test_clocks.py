"""Processes with a clock of their own do not fail over what killed ones left."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from simulations.chaos.clocks import remove_leftovers

if TYPE_CHECKING:
    from pathlib import Path


def test_what_a_dead_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead, alive = process.pid, os.getpid()
    kept = [f"faketime_shm_{alive}", f"sem.faketime_sem_{alive}", f"of_another_{dead}", f"faketime_shm_{dead}.txt"]
    for name in (*kept, f"faketime_shm_{dead}", f"sem.faketime_sem_{dead}"):
        (tmp_path / name).touch()

    remove_leftovers(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)
