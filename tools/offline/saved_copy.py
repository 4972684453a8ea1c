"""Copies of a log directory, complete and on disk before the original is changed; digests of its files.

A copy is made under a temporary name and renamed when it is complete: a directory of the final name is a whole copy.
"""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from typing import NamedTuple

from raft.storage.bootstrap import BOOTSTRAP
from raft.storage.files import OsFiles
from raft.storage.meta_properties import META_PROPERTIES
from raft.storage.names import is_leftover
from records.metadata_log import PARTITION_DIRECTORY
from tools.offline.new_directories import make_directories

# pathlib costs 10 ms
# ruff: noqa: PTH100, PTH112, PTH113, PTH120, PTH123, PTH202

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SUMS = "SHA256SUMS"
_WINDOW_BYTES = 1 << 20
# Beside the copy, for what a tool writes afterwards where the copy is beside the directory.
_SPARE_BYTES = 1 << 20


class CopyExists(Exception):
    """The directory of a new copy is there already."""


class Digest(NamedTuple):
    """Of a file: its size in bytes, and the SHA-256 of its content as hexadecimal digits."""

    size: int
    sha256: str


def names_in(log_directory: str) -> list[str]:
    """The files of the metadata in a log directory, relative to it, in order; leftovers of a crash are left out."""
    names = [name for name in (META_PROPERTIES, BOOTSTRAP) if os.path.isfile(f"{log_directory}/{name}")]
    partition = f"{log_directory}/{PARTITION_DIRECTORY}"
    inside = [name for name in OsFiles().list(partition) if not is_leftover(name)] if os.path.isdir(partition) else []
    return names + [f"{PARTITION_DIRECTORY}/{name}" for name in inside]


def digests(log_directory: str) -> dict[str, Digest]:
    """The digest of each file of the metadata. Raises OSError."""
    return {name: digest_of(f"{log_directory}/{name}") for name in names_in(log_directory)}


def digest_of(path: str) -> Digest:
    """The digest of a file. Raises OSError."""
    hashed = sha256()
    size = 0
    with open(path, "rb") as file:
        while data := file.read(_WINDOW_BYTES):
            hashed.update(data)
            size += len(data)
    return Digest(size, hashed.hexdigest())


def save_copy(log_directory: str, target: str, note: Callable[[int], None] = lambda _bytes: None) -> dict[str, Digest]:
    """Copy the metadata of a log directory to a new directory, and read the copy back; returns the digests.

    note: called with the bytes copied so far. Raises CopyExists if `target` is there, OSError if there is no room, or
    it cannot be written or reads back otherwise; nothing is left of the copy then.
    """
    if os.path.lexists(target):
        raise CopyExists(f"{target} is there already; name another directory for the copy")
    check_room(log_directory, target)
    part = f"{target}.part"
    if os.path.lexists(part):
        raise CopyExists(f"{part} is there: another copy to this place runs, or was interrupted; then remove it")
    try:
        digests = _copy_files(log_directory, part, note)
        OsFiles().rename(part, target)
        OsFiles().sync_directory(os.path.dirname(os.path.abspath(target)))
    except BaseException as error:
        # What is left would take the room that the node itself needs to start, and be in the way of the next try.
        shutil.rmtree(part, ignore_errors=True)
        if isinstance(error, OSError):
            reason = f"the copy {target} cannot be written: {error.strerror or error}; nothing was changed"
            raise OSError(error.errno, reason) from error
        raise
    return digests


def check_room(log_directory: str, target: str) -> None:
    """Check the room. Raises OSError unless `target`'s file system can hold a copy, and what is written afterwards."""
    needed = sum(os.path.getsize(f"{log_directory}/{name}") for name in names_in(log_directory)) + _SPARE_BYTES
    parent = os.path.dirname(os.path.abspath(target))
    while not os.path.isdir(parent):
        parent = os.path.dirname(parent)
    status = os.statvfs(parent)
    free = status.f_bavail * status.f_frsize
    if free < needed:
        raise OSError(
            f"the copy {target} needs {needed >> 10} KiB, and {free >> 10} KiB are free where {parent} is; "
            "nothing was changed. Name a directory on another file system by --backup"
        )


def _copy_files(log_directory: str, part: str, note: Callable[[int], None]) -> dict[str, Digest]:
    """Copy the files to the new directory `part`, and sync them."""
    files = OsFiles()
    make_directories(part)
    done = 0
    digests: dict[str, Digest] = {}
    for name in names_in(log_directory):
        path = f"{part}/{name}"
        make_directories(os.path.dirname(path))
        hashed = sha256()
        handle = files.open(path, create=True, mode=0o600)
        try:
            with open(f"{log_directory}/{name}", "rb") as source:
                position = 0
                while data := source.read(_WINDOW_BYTES):
                    files.write(handle, position, data)
                    hashed.update(data)
                    position += len(data)
                    done += len(data)
                    note(done)
            files.sync(handle)
        finally:
            files.close(handle)
        digests[name] = Digest(position, hashed.hexdigest())
        if digest_of(path) != digests[name]:
            raise OSError(f"{path} reads back with other bytes than were written")
    write_file(f"{part}/{SUMS}", "".join(f"{digest.sha256}  {name}\n" for name, digest in digests.items()).encode())
    if os.path.isdir(f"{part}/{PARTITION_DIRECTORY}"):
        files.sync_directory(f"{part}/{PARTITION_DIRECTORY}")
    files.sync_directory(part)
    return digests


def write_file(path: str, data: bytes) -> None:
    """Write a new file and sync it; its name is durable after its directory was synced. Raises OSError."""
    files = OsFiles()
    handle = files.open(path, create=True, mode=0o600)
    try:
        files.truncate(handle, 0)
        files.write(handle, 0, data)
        files.sync(handle)
    finally:
        files.close(handle)


def copy_name(log_directory: str, time_s: float) -> str:
    """The default directory of a copy: beside the log directory, as a broker refuses unknown directories within it."""
    from time import gmtime, strftime

    return f"{os.path.abspath(log_directory)}.backup-{strftime('%Y%m%dT%H%M%SZ', gmtime(time_s))}"
