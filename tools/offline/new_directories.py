"""Making directories whose names survive a loss of power."""

from __future__ import annotations

import os

from raft.storage.files import OsFiles

# pathlib costs 10 ms
# ruff: noqa: PTH100, PTH102, PTH112, PTH120


def make_directories(path: str, mode: int = 0o777) -> None:
    """Make a directory and those above it that are missing, and sync the parent of each. Raises OSError."""
    missing = []
    each = os.path.abspath(path)
    while not os.path.isdir(each):
        missing.append(each)
        each = os.path.dirname(each)
    for directory in reversed(missing):
        os.mkdir(directory, mode)
        OsFiles().sync_directory(os.path.dirname(directory))
