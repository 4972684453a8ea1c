"""Control groups of Linux: limits on the memory and the threads of a process. For root alone."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path("/sys/fs/cgroup")
# The file of a limit by controller, in versions 1 and 2 of control groups.
_LIMITS = {"memory": ("memory.limit_in_bytes", "memory.max"), "pids": ("pids.max", "pids.max")}


class Group:
    """A group of processes. directory: of the group; limit: the file with its limit."""

    def __init__(self, directory: Path, limit: str) -> None:
        self.directory = directory
        self.limit = directory / limit

    def set(self, limit: int) -> None:
        """Set the limit, in bytes or in threads."""
        self.limit.write_text(f"{limit}\n")

    def usage(self) -> int:
        """The memory that the group uses, in bytes."""
        names = ("memory.usage_in_bytes", "memory.current")
        return int(next(path for name in names if (path := self.directory / name).exists()).read_text())

    def add(self, pid: int) -> None:
        """Move a process, with its threads, into the group."""
        (self.directory / "cgroup.procs").write_text(f"{pid}\n")

    def command(self, command: list[str]) -> list[str]:
        """The command line that begins in the group."""
        return ["sh", "-c", 'echo $$ > "$0"; exec "$@"', str(self.directory / "cgroup.procs"), *command]


@contextmanager
def limited(controller: str) -> Iterator[Group]:
    """An empty group without a limit yet; the test is skipped where this machine does not allow it."""
    first, second = _LIMITS[controller]
    is_second = (_ROOT / "cgroup.controllers").exists()
    directory = (_ROOT if is_second else _ROOT / controller) / f"kraft-test-{os.getpid()}-{controller}"
    found = Group(directory, second if is_second else first)
    try:
        directory.mkdir()
        if not found.limit.exists():
            raise OSError(f"there is no {found.limit}")
    except OSError as error:
        pytest.skip(f"control groups: {error}")
    try:
        yield found
    finally:
        _remove(directory)


def _remove(directory: Path) -> None:
    """Remove a group whose processes end."""
    end = time.monotonic() + 10
    while True:
        try:
            directory.rmdir()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
