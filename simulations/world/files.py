"""The file operations of `raft.storage` on a simulated disk, for one process; each may fail.

Before each operation the process may die; a sync takes simulated time, in which the rest of the node continues.
"""

from __future__ import annotations

import errno
from functools import lru_cache
from typing import TYPE_CHECKING

from simulations.world.disk import parent

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.world.disk import Disk, Inode


class Dead(BaseException):
    """The process ends here. The code under test must not catch it."""


# The kind of a file, by its name: faults and crash points name these kinds.
_KINDS = (
    (".log", "log"), (".index", "index"), (".timeindex", "index"), (".snapshot", "producers"),
    (".checkpoint", "snapshot"),
    (".part", "part"), ("quorum-state", "election"), ("quorum-state.tmp", "election"), (".deleted", "deleted"),
    ("quorum-state-kept", "kept"), ("quorum-state-kept.tmp", "kept"),
    ("leader-epoch-checkpoint", "epochs"), ("leader-epoch-checkpoint.tmp", "epochs"),
    ("committed-prefix-checkpoint", "prefix"), ("committed-prefix-checkpoint.tmp", "prefix"),
)  # fmt: skip


@lru_cache(maxsize=4096)
def kind_of(path: str) -> str:
    """`log`, `snapshot`, `election` …; `other` for all other files."""
    return next((kind for suffix, kind in _KINDS if path.endswith(suffix)), "other")


class SimFiles:
    """The operations of `raft.storage.files.Files` on a simulated disk, for one process.

    before: called before each operation that changes the disk, and each read, as `before(operation, kind)`; raises Dead
    if the process dies there, OSError if the operation is to fail. sync_pause: called during a sync. After `die` every
    call raises Dead, except for closing and unlocking files.
    """

    def __init__(self, disk: Disk, before: Callable[[str, str], None], sync_pause: Callable[[], None]) -> None:
        self.disk = disk
        self._before = before
        self._sync_pause = sync_pause
        self._handles: dict[int, tuple[str, str, Inode]] = {}  # path, kind, file
        self._next_handle = 3
        self._locked: set[str] = set()
        self._is_dead = False

    def die(self) -> None:
        """The process has ended, and its locks with it."""
        self._is_dead = True
        self.disk.locked -= self._locked

    def open(self, path: str, *, create: bool = False, mode: int = 0o666) -> int:  # noqa: ARG002 - the disk has one user
        self._check()
        inode = self.disk.files.get(path)
        if inode is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", path)
            self._before("create", kind_of(path))
            inode = self.disk.create(path)
        elif inode.read_only:
            raise PermissionError(errno.EACCES, "read only", path)
        return self._handle(path, inode)

    def open_to_read(self, path: str) -> int:
        self._check()
        inode = self.disk.files.get(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        return self._handle(path, inode)

    def close(self, handle: int) -> None:
        if not self._is_dead:
            del self._handles[handle]

    def read(self, handle: int, position: int, length: int) -> bytes:
        self._check()
        _, kind, inode = self._handles[handle]
        self._before("read", kind)
        return inode.read(position, length)

    def write(self, handle: int, position: int, data: bytes) -> None:
        self._check()
        path, kind, inode = self._handles[handle]
        self._before("write", kind)
        if self.disk.full and position + len(data) > len(inode.data):
            # A part of it fitted.
            inode.write(position, bytes(data[: len(data) // 2]))
            raise OSError(errno.ENOSPC, "no space is left", path)
        inode.write(position, bytes(data))

    def truncate(self, handle: int, size: int) -> None:
        self._check()
        _, kind, inode = self._handles[handle]
        if size != len(inode.data):
            self._before("truncate", kind)
            inode.truncate(size)

    def size(self, handle: int) -> int:
        self._check()
        return len(self._handles[handle][2].data)

    def sync(self, handle: int) -> None:
        self._check()
        _, kind, inode = self._handles[handle]
        # The sync need not cover bytes that are written while it runs.
        number = inode.written
        self._sync_pause()
        self._check()
        try:
            self._before("sync", kind)
        except OSError:
            inode.lose(number)
            raise
        inode.settle(number)

    def sync_data(self, handle: int) -> None:
        self.sync(handle)

    def drop_clean(self, handle: int) -> None:
        self._check()
        self._handles[handle][2].drop_clean()

    def rename(self, old: str, new: str) -> None:
        self._check()
        self._before("rename", kind_of(new))
        if old not in self.disk.files:
            raise FileNotFoundError(errno.ENOENT, "no such file", old)
        self.disk.rename(old, new)

    def link(self, path: str, other: str) -> None:
        self._check()
        self._before("link", kind_of(other))
        if path not in self.disk.files:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        self.disk.link(path, other)

    def remove(self, path: str) -> None:
        self._check()
        if path not in self.disk.files:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        self._before("remove", kind_of(path))
        self.disk.remove(path)

    def protect(self, path: str) -> None:
        self._check()
        self._before("protect", kind_of(path))
        self.disk.files[path].read_only = True

    def exists(self, path: str) -> bool:
        self._check()
        return path in self.disk.files or path in self.disk.directories

    def is_directory(self, path: str) -> bool:
        self._check()
        return path in self.disk.directories

    def list(self, directory: str) -> list[str]:
        self._check()
        if directory not in self.disk.directories:
            raise FileNotFoundError(errno.ENOENT, "no such file", directory)
        prefix = f"{directory}/"
        names = [path.removeprefix(prefix) for path in self.disk.files if path.startswith(prefix)]
        return sorted(name for name in names if "/" not in name)

    def make_directory(self, directory: str) -> None:
        self._check()
        if parent(directory) not in self.disk.directories:
            raise FileNotFoundError(errno.ENOENT, "no such file", directory)
        self.disk.directories.add(directory)

    def sync_directory(self, directory: str) -> None:
        self._check()
        number = self.disk.changed
        self._sync_pause()
        self._check()
        self._before("sync", "names")
        self.disk.settle_names(directory, number)

    def lock(self, path: str) -> int | None:
        self._check()
        if path in self.disk.locked:
            return None
        handle = self.open(path, create=True)
        self.disk.locked.add(path)
        self._locked.add(path)
        return handle

    def unlock(self, path: str, handle: int) -> None:
        self._check()
        self.disk.locked.discard(path)
        self._locked.discard(path)
        self.close(handle)

    def _check(self) -> None:
        if self._is_dead:
            raise Dead

    def _handle(self, path: str, inode: Inode) -> int:
        self._next_handle += 1
        self._handles[self._next_handle] = (path, kind_of(path), inode)
        return self._next_handle
