"""Real file systems that fail: full, read-only, or on a disk that takes no more bytes. For root on Linux only."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def run_or_skip(*command: str) -> None:
    """Run a command as root; the test is skipped where this machine does not allow it."""
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"") or b""
        pytest.skip(f"{command[0]}: {error} {said.decode(errors='replace')}")


@contextmanager
def mounted(path: Path, *arguments: str) -> Iterator[Path]:
    """A file system at `path`, for a while."""
    path.mkdir(exist_ok=True)
    run_or_skip("mount", *arguments, str(path))
    try:
        yield path
    finally:
        # Lazily, as a test that failed may have left a file open.
        subprocess.run(("umount", "-l", str(path)), check=True, timeout=60)


@contextmanager
def small_file_system(path: Path, kib: int) -> Iterator[Path]:
    """A file system in memory with room for `kib`."""
    with mounted(path, "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs") as directory:
        yield directory


def fill(directory: Path) -> Path:
    """A file that takes all the room of a file system; it has room again when the file is removed."""
    found = os.statvfs(directory)
    filler = directory / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize)
    return filler


def remount_read_only(path: Path) -> None:
    """As the system does after an error of the disk."""
    run_or_skip("mount", "-o", "remount,ro", str(path))
