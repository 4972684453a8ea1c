"""`kraft-pipeline prepare`: a JVM that starts after it takes Spark's classes from the archive."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SESSION = """
import sys
from pipeline import class_archive
from pipeline.session import java_home, spark_session, version_text
from pathlib import Path
options = class_archive.java_options(version_text(java_home()))
spark_session(master="local[1]", java_options=f"{options} -Xlog:class+load:file={sys.argv[1]}")
"""


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: another JVM than that of the other tests."""
    environ = {**os.environ, "XDG_CACHE_HOME": str(directory / "two words")}
    return subprocess.run(
        [sys.executable, *arguments], env=environ, capture_output=True, text=True, timeout=300, check=False
    )


def test_after_it_a_session_reads_its_classes_from_the_archive(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "pipeline.commands.main", "prepare")

    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(".jsa is written\n")
    (archive,) = (tmp_path / "two words").rglob("*.jsa")
    assert stat.S_IMODE(archive.parent.stat().st_mode) == 0o700
    loaded = tmp_path / "loaded"
    assert run(tmp_path, "-c", SESSION, str(loaded)).returncode == 0
    lines = [line for line in loaded.read_text().splitlines() if " org.apache.spark." in line]
    assert sum("source: shared objects file (top)" in line for line in lines) > 0.6 * len(lines) > 600

    # A damaged one is not used.
    archive.chmod(0o600)
    with archive.open("r+b") as file:
        for place in (40 << 20, 60 << 20):
            file.seek(place)
            file.write(b"\xff" * (1 << 20))
    assert run(tmp_path, "-c", SESSION, str(loaded)).returncode == 0
    assert "shared objects file (top)" not in loaded.read_text()
