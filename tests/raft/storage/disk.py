"""A disk in memory, in place of `OsFiles`, that can fail at any operation, and lose at a crash what was not synced."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

SECTOR = 512


def unexpected(failure: Exception) -> None:
    """For what must not happen."""
    raise AssertionError(failure)


class Crashed(BaseException):
    """The machine went down before this operation. No code under test may catch it."""


@dataclass
class Inode:
    """data: as the process sees it; synced: as it is on disk for certain; writes: since then, in order."""

    data: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    writes: list[tuple[int, bytes]] = field(default_factory=list)  # position -1: truncated to the length of an int
    read_only: bool = False


class Disk:
    """Directories are names of files; renames and removals are durable when their directory is synced.

    operations: what was done, as (name, path). fail_at: the number, from 1, of the operation that raises EIO;
    crash_at: of the one before which the machine goes down; None for never. Reads count as no operations.
    """

    def __init__(self) -> None:
        self.files: dict[str, Inode] = {}
        self.durable: dict[str, Inode] = {}
        self.pending: list[tuple[str, str, str | None, Inode | None]] = []  # directory, path, None to remove
        self.directories: set[str] = {""}
        self.handles: dict[int, tuple[str, Inode]] = {}
        self.locked: set[str] = set()
        self.operations: list[tuple[str, str]] = []
        self.fail_at: int | None = None
        self.fail_with = errno.EIO
        self.failure: OSError | None = None
        self.crash_at: int | None = None
        self.next_handle = 3

    def open(self, path: str, *, create: bool = False, mode: int = 0o666) -> int:
        inode = self.files.get(path)
        if inode is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", path)
            self._count("create", path)
            inode = self.files[path] = Inode()
            self.pending.append((_parent(path), path, "put", inode))
        if inode.read_only:
            raise PermissionError(errno.EACCES, "read only", path)
        return self._handle(path, inode)

    def open_to_read(self, path: str) -> int:
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        return self._handle(path, self.files[path])

    def close(self, handle: int) -> None:
        del self.handles[handle]

    def read(self, handle: int, position: int, length: int) -> bytes:
        return bytes(self.handles[handle][1].data[position : position + length])

    def write(self, handle: int, position: int, data: bytes) -> None:
        path, inode = self.handles[handle]
        self._count("write", path)
        _write(inode.data, position, data)
        inode.writes.append((position, bytes(data)))

    def truncate(self, handle: int, size: int) -> None:
        path, inode = self.handles[handle]
        if size == len(inode.data):
            return
        self._count("truncate", path)
        _resize(inode.data, size)
        inode.writes.append((-1, size.to_bytes(8, "big")))

    def size(self, handle: int) -> int:
        return len(self.handles[handle][1].data)

    def sync(self, handle: int) -> None:
        path, inode = self.handles[handle]
        try:
            self._count("sync", path)
        except OSError:
            # The kernel marks the pages as clean, and never writes them; sizes are of the journal.
            inode.writes = [write for write in inode.writes if write[0] < 0]
            raise
        data = bytearray(inode.synced)
        for position, written in inode.writes:
            _apply(data, position, written)
        inode.synced = bytes(data)
        inode.writes.clear()

    def sync_data(self, handle: int) -> None:
        self.sync(handle)

    def drop_clean(self, handle: int) -> None:
        """The pages that were written, or that a failed sync has marked as clean, are read from the disk again."""
        inode = self.handles[handle][1]
        size = len(inode.data)
        inode.data[:] = inode.synced
        for position, written in inode.writes:
            _apply(inode.data, position, written)
        _resize(inode.data, size)

    def rename(self, old: str, new: str) -> None:
        self._count("rename", new)
        inode = self.files.pop(old)
        self.files[new] = inode
        self.pending.append((_parent(new), new, old, inode))

    def link(self, path: str, other: str) -> None:
        self._count("link", other)
        assert other not in self.files, other
        inode = self.files[other] = self.files[path]
        self.pending.append((_parent(other), other, "put", inode))

    def remove(self, path: str) -> None:
        if path not in self.files:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        self._count("remove", path)
        inode = self.files.pop(path)
        self.pending.append((_parent(path), path, None, inode))

    def protect(self, path: str) -> None:
        self._count("protect", path)
        self.files[path].read_only = True

    def exists(self, path: str) -> bool:
        return path in self.files or path in self.directories

    def is_directory(self, path: str) -> bool:
        return path in self.directories

    def list(self, directory: str) -> list[str]:
        if directory not in self.directories:
            raise FileNotFoundError(errno.ENOENT, "no such directory", directory)
        prefix = f"{directory}/"
        names = [path.removeprefix(prefix) for path in self.files if path.startswith(prefix)]
        return sorted(name for name in names if "/" not in name)

    def make_directory(self, directory: str) -> None:
        self.directories.add(directory)

    def sync_directory(self, directory: str) -> None:
        self._count("sync directory", directory)
        for entry in [entry for entry in self.pending if entry[0] == directory]:
            self.pending.remove(entry)
            _settle(self.durable, entry)

    def lock(self, path: str) -> int | None:
        if path in self.locked:
            return None
        handle = self.open(path, create=True)
        self.locked.add(path)
        return handle

    def unlock(self, path: str, handle: int) -> None:
        self.locked.discard(path)
        self.close(handle)

    def after_crash(self, rng: Random) -> Disk:
        """A disk after a crash: everything that was synced, and a random part of the rest."""
        found = Disk()
        found.directories = set(self.directories)
        names = dict(self.durable)
        # A journal brings the changes of names to the disk in order, so a number of the first ones.
        for entry in self.pending[: rng.randint(0, len(self.pending))]:
            _settle(names, entry)
        contents: dict[int, bytes] = {}
        for path, inode in names.items():
            if id(inode) not in contents:
                contents[id(inode)] = _survivor(inode, rng)
            data = contents[id(inode)]
            copy = Inode(bytearray(data), data, [], inode.read_only)
            found.files[path] = found.durable[path] = copy
        return found

    def tree(self) -> dict[str, bytes]:
        return {path: bytes(inode.data) for path, inode in sorted(self.files.items())}

    def _handle(self, path: str, inode: Inode) -> int:
        self.next_handle += 1
        self.handles[self.next_handle] = (path, inode)
        return self.next_handle

    def _count(self, operation: str, path: str) -> None:
        number = len(self.operations) + 1
        if self.crash_at is not None and number >= self.crash_at:
            raise Crashed
        self.operations.append((operation, path))
        if number == self.fail_at:
            self.failure = OSError(self.fail_with, f"{operation} was made to fail", path)
            raise self.failure


def _survivor(inode: Inode, rng: Random) -> bytes:
    """The bytes of a file after a crash: its first writes, and of the next ones the first bytes, or some sectors."""
    data = bytearray(inode.synced)
    whole = rng.randint(0, len(inode.writes))
    for position, written in inode.writes[:whole]:
        _apply(data, position, written)
    rest = inode.writes[whole:]
    if not rest or rest[0][0] < 0:
        return bytes(data)
    kind = rng.choice(("none", "first bytes", "sectors", "sectors of all"))
    if kind == "first bytes":
        position, written = rest[0]
        _write(data, position, written[: rng.randint(0, len(written))])
    elif kind != "none":
        # Pages go to the disk in any order: the file has its new size, and zeros where a sector did not arrive.
        newer = bytearray(data)
        for position, written in rest if kind == "sectors of all" else rest[:1]:
            if position < 0:
                break
            _apply(newer, position, written)
        _resize(data, max(len(data), len(newer)))
        for start in range(0, len(newer), SECTOR):
            if rng.random() < 0.5:
                data[start : start + SECTOR] = newer[start : start + SECTOR]
    return bytes(data)


def _apply(data: bytearray, position: int, written: bytes) -> None:
    if position < 0:
        _resize(data, int.from_bytes(written, "big"))
    else:
        _write(data, position, written)


def _write(data: bytearray, position: int, written: bytes) -> None:
    if len(data) < position:
        _resize(data, position)
    data[position : position + len(written)] = written


def _resize(data: bytearray, size: int) -> None:
    if size < len(data):
        del data[size:]
    else:
        data.extend(bytes(size - len(data)))


def _settle(names: dict[str, Inode], entry: tuple[str, str, str | None, Inode | None]) -> None:
    _, path, old, inode = entry
    if old is None:
        names.pop(path, None)
        return
    assert inode is not None
    if old != "put":
        names.pop(old, None)
    names[path] = inode


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
