"""The file operations of the storage, as one object, which a simulation replaces by a simulated disk."""

# Paths are plain strings here, as the simulated disk has them.
# ruff: noqa: PTH101, PTH102, PTH104, PTH108, PTH110, PTH112, PTH116

from __future__ import annotations

import errno
import fcntl
import os
import stat
from typing import Protocol

from raft.storage.errors import StorageError
from records.crc import crc32c

# The window in which whole files are read: large enough to be fast, small enough to fit into memory.
WINDOW_BYTES = 1 << 20


class Files(Protocol):
    """Files by path, and open ones by a number. Each call does one thing to the disk, or raises OSError."""

    def open(self, path: str, *, create: bool = False, mode: int = 0o666) -> int:
        """Open for reading and writing; `create` makes the file where it is missing."""

    def open_to_read(self, path: str) -> int: ...

    def close(self, handle: int) -> None: ...

    def read(self, handle: int, position: int, length: int) -> bytes:
        """The bytes [position, position + length), fewer only where the file ends."""

    def write(self, handle: int, position: int, data: bytes) -> None:
        """Write all of `data`; after an OSError a part of it may be there."""

    def truncate(self, handle: int, size: int) -> None: ...

    def size(self, handle: int) -> int: ...

    def sync(self, handle: int) -> None:
        """fsync: data, size and all other metadata are on disk."""

    def sync_data(self, handle: int) -> None:
        """fdatasync: data and size are on disk."""

    def drop_clean(self, handle: int) -> None:
        """Evict the pages of the file that the system takes for written: the next read of them comes from the disk."""

    def rename(self, old: str, new: str) -> None:
        """Rename `old` to `new` atomically, replacing `new`."""

    def link(self, path: str, other: str) -> None:
        """Give a file a second name (a hard link); `other` does not exist."""

    def remove(self, path: str) -> None: ...

    def protect(self, path: str) -> None:
        """Make the file read-only for everyone."""

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def list(self, directory: str) -> list[str]:
        """Names of the regular files in a directory, in order."""

    def make_directory(self, directory: str) -> None:
        """Make a directory, if it is not there; its parent exists."""

    def sync_directory(self, directory: str) -> None:
        """The names in the directory are on disk: files made, renamed and removed."""

    def lock(self, path: str) -> int | None:
        """Open, make if need be, and lock a file against other processes; None where another holds it."""

    def unlock(self, path: str, handle: int) -> None:
        """Release the lock. The file stays: a process that has opened it would else lock a file without a name."""


# POSIX locks belong to the process and do not exclude other parts of it. So these are the files it has locked.
_LOCKED: set[tuple[int, int]] = set()

# macOS has neither.
_sync_data = getattr(os, "fdatasync", os.fsync)
_drop = getattr(os, "posix_fadvise", None)


class OsFiles:
    """The operating system's files."""

    def open(self, path: str, *, create: bool = False, mode: int = 0o666) -> int:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), mode)

    def open_to_read(self, path: str) -> int:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def close(self, handle: int) -> None:
        os.close(handle)

    def read(self, handle: int, position: int, length: int) -> bytes:
        data = os.pread(handle, length, position)
        if len(data) == length or not data:
            return data
        parts = [data]
        have = len(data)
        while have < length and (data := os.pread(handle, length - have, position + have)):
            parts.append(data)
            have += len(data)
        return b"".join(parts)

    def write(self, handle: int, position: int, data: bytes) -> None:
        written = os.pwrite(handle, data, position)
        while written < len(data):
            # The disk is nearly full, or a quota is reached: the next write raises the error.
            more = os.pwrite(handle, memoryview(data)[written:], position + written)
            if more == 0:
                raise OSError(errno.EIO, f"wrote {written} of {len(data)} bytes")
            written += more

    def truncate(self, handle: int, size: int) -> None:
        os.ftruncate(handle, size)

    def size(self, handle: int) -> int:
        return os.fstat(handle).st_size

    def sync(self, handle: int) -> None:
        os.fsync(handle)

    def sync_data(self, handle: int) -> None:
        _sync_data(handle)

    def drop_clean(self, handle: int) -> None:
        if _drop is not None:
            _drop(handle, 0, 0, os.POSIX_FADV_DONTNEED)

    def rename(self, old: str, new: str) -> None:
        os.rename(old, new)

    def link(self, path: str, other: str) -> None:
        os.link(path, other)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def protect(self, path: str) -> None:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        os.chmod(path, mode & ~0o222)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def list(self, directory: str) -> list[str]:
        with os.scandir(directory) as entries:
            return sorted(entry.name for entry in entries if entry.is_file())

    def make_directory(self, directory: str) -> None:
        try:
            os.mkdir(directory)
        except FileExistsError:
            if not os.path.isdir(directory):
                raise

    def sync_directory(self, directory: str) -> None:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def lock(self, path: str) -> int | None:
        # Not even opened where this process holds it: closing any handle of the file releases the lock.
        while _inode(path) not in _LOCKED:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                # As java.nio's FileChannel does it: a POSIX lock on the whole file.
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                os.close(handle)
                return None
            except BaseException:
                os.close(handle)
                raise
            # A stock node that stopped may have removed the file between our open and our lock: then it is not the file
            # that the next one would lock.
            status = os.fstat(handle)
            inode = (status.st_dev, status.st_ino)
            if _inode(path) == inode:
                _give_to_owner(path, handle)
                _LOCKED.add(inode)
                return handle
            os.close(handle)
        return None

    def unlock(self, path: str, handle: int) -> None:  # noqa: ARG002 - a simulated disk needs the path
        status = os.fstat(handle)
        _LOCKED.discard((status.st_dev, status.st_ino))
        os.close(handle)


def _give_to_owner(path: str, handle: int) -> None:
    """A lock file that a tool made as root must be one that the node's user can open."""
    directory = os.stat(path.rpartition("/")[0])
    if os.geteuid() == 0 and os.fstat(handle).st_uid == 0 != directory.st_uid:
        os.fchown(handle, directory.st_uid, directory.st_gid)


def _inode(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def read_whole(files: Files, path: str, bytes_max: int = 1 << 20) -> bytes:
    """The bytes of a small file; raises StorageError if it is larger than `bytes_max`, OSError if it cannot be read."""
    handle = files.open_to_read(path)
    try:
        size = files.size(handle)
        if size > bytes_max:
            raise StorageError(f"{path} has {size} bytes; at most {bytes_max} are expected")
        return files.read(handle, 0, size)
    finally:
        files.close(handle)


# What a file system without hard links, or one that is out of them, answers.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


def replace_file(files: Files, path: str, data: bytes, also: str | None = None) -> None:
    """Replace a small file so that after a crash either the old or the new one is complete.

    As Kafka does: write `.tmp`, fsync, rename, fsync of the directory. also: a second name of the file in the same
    directory, which the same two fsyncs make durable.
    """
    temporary = f"{path}.tmp"
    handle = files.open(temporary, create=True)
    try:
        files.truncate(handle, 0)
        files.write(handle, 0, data)
        files.sync(handle)
    finally:
        files.close(handle)
    files.rename(temporary, path)
    if also is not None:
        _name(files, path, also, data)
    files.sync_directory(path.rpartition("/")[0])


def _name(files: Files, path: str, other: str, data: bytes) -> None:
    """Give the file a second name in the place of what has that name, which there is at each moment."""
    temporary = f"{other}.tmp"
    if files.exists(temporary):
        files.remove(temporary)
    try:
        files.link(path, temporary)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        replace_file(files, other, data)
        return
    files.rename(temporary, other)


def crc_of_file(files: Files, handle: int, position: int, end: int, crc: int = 0) -> int | None:
    """The CRC-32C of the bytes [position, end), after those that gave `crc`; None where the file ends before."""
    while position < end:
        data = files.read(handle, position, min(WINDOW_BYTES, end - position))
        if not data:
            return None
        crc = crc32c(data, crc)
        position += len(data)
    return crc
