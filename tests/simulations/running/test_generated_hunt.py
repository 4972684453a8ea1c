"""The hunt for generated mutants, in a process of its own because it imports the code that it changes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = [
    sys.executable,
    "-m",
    "simulations",
    "mutants",
    "--generic",
    "raft.state.tally",
    "--seeds",
    "1-2",
    "--jobs",
    "1",
]


def test_the_result_of_each_mutant_is_stored(tmp_path: Path) -> None:
    kept = tmp_path / "rows.jsonl"
    command = [*COMMAND, "--sample", "6", "--tries", "1", "--rows", str(kept)]

    first = subprocess.run(command, capture_output=True, text=True, check=False)
    written = kept.read_text()
    again = subprocess.run(command, capture_output=True, text=True, check=False)

    rows = [json.loads(line) for line in written.splitlines()]
    found = [row for row in rows if "key" in row]
    assert first.stderr == ""
    assert len(rows) - len(found) == 2  # the worlds without a mutant
    assert len(found) == 6
    assert {row["outcome"] for row in found} <= {"killed", "survived", "not reached"}
    assert any(row["outcome"] == "killed" and row["by"] and row["seed"] in {1, 2} for row in found)
    assert kept.read_text() == written
    assert again.stdout == first.stdout
