"""The lock on a log directory, which a running node holds; tools take it to be sure that no node runs."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import sys
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# struct flock, up to the process id: Linux begins it with type and whence, BSD and macOS end it with them.
_IS_LINUX = sys.platform == "linux"
_FLOCK = struct.Struct("hhqqi" if _IS_LINUX else "qqihh")


class DirectoryLocked(Exception):
    """A running node holds the lock."""


@contextmanager
def lock_where_lockable(directory: str) -> Iterator[None]:
    """Hold the lock of a directory that has a `.lock` file; without one no node uses it.

    The lock is a POSIX lock on the whole file, as java.nio takes it. None is needed on a file system that is read-only,
    where no node can run; a node that crashed before may have left the file there. Raises DirectoryLocked, OSError.
    """
    name = f"{directory}/.lock" if directory else ".lock"
    if not os.path.exists(name):  # noqa: PTH110 - pathlib costs 10 ms
        yield
        return
    try:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        yield
        return
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


def lock_holder(path: str) -> int | None:
    """The id of the process that holds the POSIX lock of a file, which need not be writable; None if no other does.

    0: it runs on another machine, or in a container whose processes are not visible here. Raises OSError.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # The whole file, from byte 0 on.
        kind, whence = fcntl.F_WRLCK, os.SEEK_SET
        asked = _FLOCK.pack(*((kind, whence, 0, 0, 0) if _IS_LINUX else (0, 0, 0, kind, whence)))
        answer = _FLOCK.unpack(fcntl.fcntl(handle, fcntl.F_GETLK, asked))
    finally:
        os.close(handle)
    held, process = (answer[0], answer[4]) if _IS_LINUX else (answer[3], answer[2])
    return None if held == fcntl.F_UNLCK else max(0, process)


@contextmanager
def hold_unused(directory: str) -> Iterator[None]:
    """As `lock_where_lockable`, and no node has started meanwhile where there was no `.lock`: each leaves the file.

    Raises DirectoryLocked, OSError.
    """
    name = f"{directory}/.lock" if directory else ".lock"
    was_there = os.path.exists(name)  # noqa: PTH110
    with lock_where_lockable(directory):
        yield
    if not was_there and os.path.exists(name):  # noqa: PTH110
        raise DirectoryLocked(f"A node has started in {directory} while it was read; what was read may be wrong.")
