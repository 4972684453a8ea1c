"""A wheel's files in a directory, and tests that run with them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.test_setup import setup

ROOT = Path(__file__).parents[2]


class Unpacked:
    """directory: has the files of the wheel. names: of these files."""

    def __init__(self, wheel: Path, directory: Path) -> None:
        self.directory = directory
        with zipfile.ZipFile(wheel) as opened:
            self.names = set(opened.namelist())
            opened.extractall(directory)

    def add_tests(self, *names: str) -> None:
        """Write these files and folders of the repository, with the installed names in their import statements."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *names]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            target = self.directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith(".py"):
                target.write_text(setup.installed_source((ROOT / name).read_text("utf-8")), "utf-8")
            else:
                target.write_bytes((ROOT / name).read_bytes())

    def run(self, *arguments: str) -> str:
        """What Python prints with the files of the wheel. Raises AssertionError where it fails."""
        environment = {**os.environ, "PYTHONPATH": str(self.directory)}
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=self.directory, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
