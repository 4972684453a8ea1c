"""Two builds of one commit have equal bytes, wherever they are made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from deploy.distributions import first_difference
from records.release import VERSION

ROOT = Path(__file__).parents[3]
BUILD = [sys.executable, "-m", "deploy.distributions"]


def test_a_build_from_the_source_distribution_equals_the_build_that_made_it(tmp_path: Path) -> None:
    """The second has another directory, umask, zone, order of sets and user's locale, and no git."""
    first, second = tmp_path / "first", tmp_path / "second"
    subprocess.run([*BUILD, str(first)], cwd=ROOT, capture_output=True, check=True)
    name = f"kraft_quorum-{VERSION}"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # Not with `tarfile`: its filters came with Python 3.11.4, and without one it warns from 3.12 on.
    subprocess.run(["tar", "--extract", "--file", str(first / f"{name}.tar.gz")], cwd=elsewhere, check=True)

    environment = {**os.environ, "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONPATH": ""}
    subprocess.run(
        [*BUILD, str(second)], cwd=elsewhere / name, env=environment, umask=0o077, capture_output=True,
        check=True,
    )  # fmt: skip

    assert first_difference(first, second) is None
    assert sorted(path.name for path in first.iterdir()) == sorted(
        f"{each}{end}" for each in (name, f"kraft_quorum_client-{VERSION}") for end in ("-py3-none-any.whl", ".tar.gz")
    )
