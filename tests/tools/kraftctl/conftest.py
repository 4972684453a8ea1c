"""Fixtures of the verbs' tests."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HOLD = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def locked_elsewhere() -> Iterator[Callable[[Path], None]]:
    """Locks a file in another process, as a running node does, until the test ends."""
    holders: list[subprocess.Popen[bytes]] = []

    def lock(path: Path) -> None:
        command = [sys.executable, "-c", HOLD, str(path)]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holders.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"

    yield lock
    for holder in holders:
        holder.communicate()
