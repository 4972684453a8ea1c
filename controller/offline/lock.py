"""The lock on a log directory, which a running node holds; tools take it to be sure that no node runs."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class DirectoryLocked(Exception):
    """A running node holds the lock."""


@contextmanager
def locked_where_lockable(directory: str) -> Iterator[None]:
    """Hold the lock of a directory that has a `.lock` file; without one no node has used it.

    The lock is a POSIX lock on the whole file, as java.nio takes it. Raises DirectoryLocked, OSError.
    """
    name = f"{directory}/.lock" if directory else ".lock"
    if not os.path.exists(name):  # noqa: PTH110 - pathlib costs 10 ms
        yield
        return
    handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise DirectoryLocked(
                f"Unable to lock {os.path.abspath(directory)}. Please ensure that no broker or controller process is "  # noqa: PTH100
                "using this directory before proceeding."
            ) from None
        yield
    finally:
        os.close(handle)
