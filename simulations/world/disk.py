"""A disk: the files as processes see them, and the part of them that survives a power failure.

A process sees each write at once, in the page cache. Only synced data is on disk for certain: the bytes of a file by a
sync of the file, its name by a sync of the directory. A killed process leaves the page cache behind, with the pages
that a failed sync has marked as clean; at a power failure, the rng decides how much of the rest survives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.metadata_log import PARTITION_DIRECTORY

if TYPE_CHECKING:
    from random import Random

SECTOR_BYTES = 512
DIRECTORY = f"node/{PARTITION_DIRECTORY}"
"""Where on its disk a node has its log."""


class Write(NamedTuple):
    """Bytes at a position; or, where `data` is None, a new size."""

    number: int
    position: int
    data: bytes | None


class Counter:
    """How often the durable contents of a disk have changed."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Inode:
    """A file. data: as processes see it; synced: as it is on disk for certain; writes: those since, in order.

    version counts the changes of `synced`; stable: how many of its first bytes did not change since a reader last set
    it to their number. settled: of the disk, which counts the changes of all its files. rot: by position, the flipped
    bits that a reader finds. has_lost: a sync of it has failed, and some of its writes were lost with that.
    """

    __slots__ = ("data", "has_lost", "read_only", "rot", "settled", "stable", "synced", "version", "writes", "written")

    def __init__(self, settled: Counter, data: bytes = b"", *, read_only: bool = False) -> None:
        self.settled = settled
        self.data = bytearray(data)
        self.synced = bytearray(data)
        self.writes: list[Write] = []
        self.written = 0
        self.version = 0
        self.stable = 0
        self.read_only = read_only
        self.rot: dict[int, int] = {}
        self.has_lost = False

    def read(self, position: int, length: int) -> bytes:
        data = self.data[position : position + length]
        for at, bits in self.rot.items():
            if position <= at < position + len(data):
                data[at - position] ^= bits
        return bytes(data)

    def write(self, position: int, data: bytes) -> None:
        _put(self.data, position, data)
        self.written += 1
        if self.rot:
            self.rot = {at: bits for at, bits in self.rot.items() if not position <= at < position + len(data)}
        write = Write(self.written, position, data)
        self.writes.append(self._in_sectors(write) if self.has_lost else write)

    def truncate(self, size: int) -> None:
        _resize(self.data, size)
        self.written += 1
        if self.rot:
            self.rot = {at: bits for at, bits in self.rot.items() if at < size}
        self.writes.append(Write(self.written, size, None))

    def settle(self, number: int) -> None:
        """All writes up to this one are on disk."""
        writes = self.writes
        at = 0
        for at, write in enumerate(writes, 1):
            if write.number > number:
                at -= 1
                break
            self.stable = min(self.stable, write.position)
            _apply(self.synced, write)
        if at:
            del writes[:at]
            self.version += 1
            self.settled.count += 1

    def lose(self, number: int) -> None:
        """A sync failed: the kernel marks these writes as clean, and never tries them again. If a later one is in the
        same sector, the sector goes to the disk as processes see it. Sizes are of the journal, and not lost.
        """
        kept = [write for write in self.writes if write.number > number or write.data is None]
        self.has_lost = self.has_lost or len(kept) < len(self.writes)
        self.writes = [self._in_sectors(write) for write in kept]

    def drop_clean(self) -> None:
        """Evict the clean pages: from now on processes see what is on the disk, and writes that were not synced yet.

        The size stays that of the inode in memory: bytes that a failed sync has lost read as zeros.
        """
        size = len(self.data)
        self.data = bytearray(self.synced)
        for write in self.writes:
            _apply(self.data, write)
        _resize(self.data, size)

    def _in_sectors(self, write: Write) -> Write:
        start = write.position // SECTOR_BYTES * SECTOR_BYTES
        if write.data is None or start >= len(self.data):
            return write  # bytes that a later size cuts off again do not matter
        stop = -(-(write.position + len(write.data)) // SECTOR_BYTES) * SECTOR_BYTES
        return Write(write.number, start, bytes(self.data[start:stop]))


class NameChange(NamedTuple):
    """A file got the name `new`, or (None) lost it; old: its former name, None for none."""

    number: int
    directory: str
    old: str | None
    new: str | None
    inode: Inode


class Disk:
    """The files of one node, by path. They outlive its processes.

    number: of the disks that the node has had. changes: of names, until their directory is synced; changed: how many
    there were; named: those that are on disk since `generation` began, which ends when all names change. full: no file
    can grow. locked: paths that a process has locked.
    """

    def __init__(self, number: int = 1) -> None:
        self.number = number
        self.files: dict[str, Inode] = {}
        self.durable: dict[str, Inode] = {}
        self.changes: list[NameChange] = []
        self.changed = 0
        self.directories: set[str] = {""}
        self.locked: set[str] = set()
        self.full = False
        self.settled = Counter()
        self.generation = 0
        self.named: list[NameChange] = []

    def create(self, path: str) -> Inode:
        inode = self.files[path] = Inode(self.settled)
        self._change(parent(path), None, path, inode)
        return inode

    def rename(self, old: str, new: str) -> None:
        inode = self.files.pop(old)
        self.files[new] = inode
        self._change(parent(new), old, new, inode)

    def link(self, path: str, other: str) -> None:
        inode = self.files[other] = self.files[path]
        self._change(parent(other), None, other, inode)

    def remove(self, path: str) -> None:
        inode = self.files.pop(path)
        self._change(parent(path), path, None, inode)

    def settle_names(self, directory: str, number: int) -> None:
        """All changes of names in a directory, up to this one, are on disk."""
        left = []
        for change in self.changes:
            if change.directory == directory and change.number <= number:
                _rename(self.durable, change)
                self.named.append(change)
            else:
                left.append(change)
        self.changes = left

    def put(self, path: str, data: bytes, *, read_only: bool = False) -> None:
        """Put a file on the disk, as a formatter or an operator does."""
        inode = Inode(self.settled, data, read_only=read_only)
        self.files[path] = self.durable[path] = inode
        self._begin_generation()

    def take_away(self, path: str) -> None:
        """Remove a file from the disk, without a trace."""
        self.files.pop(path, None)
        self.durable.pop(path, None)
        self.changes = [change for change in self.changes if path not in {change.old, change.new}]
        self._begin_generation()

    def lose_power(self, rng: Random, *, journal: bool = True) -> None:
        """The machine loses power. Synced data is kept; the rng decides what survives of the rest.

        journal: names change on the disk in the order in which they were changed, as with any journal of metadata; else
        each change by itself.
        """
        names = dict(self.durable)
        if journal:
            kept = self.changes[: int(rng.random() * (len(self.changes) + 1))]
        else:
            kept = [change for change in self.changes if rng.random() < 0.5]
        for change in kept:
            _rename(names, change)
        survivors: dict[int, Inode] = {}
        self.files = {}
        for path in sorted(names):
            inode = names[path]
            if id(inode) not in survivors:
                survivors[id(inode)] = survivor = Inode(self.settled, _survivor(inode, rng), read_only=inode.read_only)
                survivor.rot = {at: bits for at, bits in inode.rot.items() if at < len(survivor.data)}
            self.files[path] = survivors[id(inode)]
        self.durable = dict(self.files)
        self.changes = []
        self.locked.clear()
        self._begin_generation()

    def copy_durable(self) -> dict[str, bytes]:
        """The contents of a backup of it."""
        return {path: bytes(inode.synced) for path, inode in sorted(self.durable.items())}

    def _begin_generation(self) -> None:
        self.generation += 1
        self.named.clear()

    def _change(self, directory: str, old: str | None, new: str | None, inode: Inode) -> None:
        self.changed += 1
        self.changes.append(NameChange(self.changed, directory, old, new, inode))


def parent(path: str) -> str:
    return path.rpartition("/")[0]


def _rename(names: dict[str, Inode], change: NameChange) -> None:
    # A name may be gone, or be another file's by now, where an earlier change did not come through.
    if change.old is not None and names.get(change.old) is change.inode:
        del names[change.old]
    if change.new is not None:
        names[change.new] = change.inode


def _survivor(inode: Inode, rng: Random) -> bytes:
    """The bytes of a file after a power failure: its first writes completely, and a part of the others.

    Of the first of these, the bytes up to some position may survive; or any sectors of all of them, and zeros
    elsewhere.
    """
    data = bytearray(inode.synced)
    if not inode.writes:
        return bytes(data)
    whole = int(rng.random() * (len(inode.writes) + 1))
    if rng.random() < 0.25:
        whole = 0
    for write in inode.writes[:whole]:
        _apply(data, write)
    rest = inode.writes[whole:]
    if not rest:
        return bytes(data)
    kind = int(rng.random() * 5)
    if kind == 4:
        return _mix(data, rest, rng)
    if rest[0].data is None:
        return bytes(data)
    if kind == 1:
        _put(data, rest[0].position, rest[0].data[: int(rng.random() * (len(rest[0].data) + 1))])
    elif kind > 1:
        newer = bytearray(data)
        for write in rest[:1] if kind == 2 else rest:
            if write.data is None:
                break  # a change of size is of the journal: it waits for the data before it
            _apply(newer, write)
        _resize(data, max(len(data), len(newer)))
        for start in range(0, len(newer), SECTOR_BYTES):
            if rng.random() < 0.5:
                data[start : start + SECTOR_BYTES] = newer[start : start + SECTOR_BYTES]
    return bytes(data)


def _mix(data: bytearray, writes: list[Write], rng: Random) -> bytes:
    """Some of the written sectors are there, in a file that still has its old size: data may be written before the
    journal.
    """
    newer = bytearray(data)
    size = len(data)
    for write in writes:
        _apply(newer, write)
    for start in range(0, min(size, len(newer)), SECTOR_BYTES):
        if rng.random() < 0.5:
            data[start : start + SECTOR_BYTES] = newer[start : start + SECTOR_BYTES]
    return bytes(data[:size])


def _apply(data: bytearray, write: Write) -> None:
    if write.data is None:
        _resize(data, write.position)
    else:
        _put(data, write.position, write.data)


def _put(data: bytearray, position: int, written: bytes) -> None:
    if len(data) < position:
        data.extend(bytes(position - len(data)))
    data[position : position + len(written)] = written


def _resize(data: bytearray, size: int) -> None:
    if size < len(data):
        del data[size:]
    elif size > len(data):
        data.extend(bytes(size - len(data)))
