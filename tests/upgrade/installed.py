"""Two installations: the wheel of an older commit, and that of the present tree, each with its own lock."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Until there is a release, the commit that stands for one.
OLDER = "01c1e05a"
PRESENT = "present"
LISTED = ("git", "ls-files", "--cached", "--others", "--exclude-standard")


class Installation(NamedTuple):
    """name: for reports. bin: the commands."""

    name: str
    bin: Path

    def run(self, *command: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        words = [str(self.bin / command[0]), *command[1:]]
        return subprocess.run(words, cwd="/", capture_output=True, text=True, timeout=seconds, check=False)


def install(commit: str, folder: Path) -> Installation:
    """The installation of a commit, made once, or of the tree as it is. Raises CalledProcessError."""
    home = folder / commit
    found = Installation(commit, home / "venv" / "bin")
    if commit != PRESENT and (home / "ready").exists():
        return found
    shutil.rmtree(home, ignore_errors=True)
    source = home / "source"
    source.mkdir(parents=True)
    if commit == PRESENT:
        for name in subprocess.check_output(LISTED, cwd=ROOT, text=True).splitlines():
            if (ROOT / name).is_file() and not name.startswith("tests/"):
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, source / name)
    else:
        archive = subprocess.check_output(["git", "archive", commit], cwd=ROOT)
        subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(home), str(source)], check=True, cwd=home
    )  # fmt: skip
    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    inside = [str(found.bin / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*inside, "--require-hashes", "-r", str(source / "requirements" / "node.txt")], check=True)
    subprocess.run([*inside, "--no-deps", *map(str, home.glob("*.whl"))], check=True)
    shutil.rmtree(source)
    (home / "ready").touch()
    return found
