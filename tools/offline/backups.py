"""Backups of the metadata: a checkpoint and the log behind it, byte for byte, and a manifest with their digests.

A backup is a directory with `__cluster_metadata-0` in it, so every tool for log directories reads it. It holds secrets:
credentials of SCRAM and of delegation tokens, configs of brokers. Its files are for their owner alone.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from raft.storage.files import OsFiles, read_whole
from raft.storage.names import snapshot_name
from records.metadata_log import PARTITION_DIRECTORY
from tools.offline.examined import examine
from tools.offline.log_file import LogFile
from tools.offline.new_directories import make_directories
from tools.offline.replayed import Replay, bytes_to_read
from tools.offline.saved_copy import CopyExists, Digest, digest_of, write_file

# pathlib costs 10 ms
# ruff: noqa: PTH100, PTH112, PTH120, PTH123

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tools.offline.examined import Examined

MANIFEST = "backup.json"
KIND = "kraft-metadata-backup"
VERSION = 1
_MANIFEST_BYTES_MAX = 16 << 20
_WINDOW_BYTES = 1 << 20


class BadBackup(Exception):
    """A directory that is no whole backup; the text names the file and what is wrong with it."""


class Manifest(NamedTuple):
    """What a backup holds. offsets: start inclusive, end exclusive. last_time_ms: when its last batch was written.

    committed: offsets below it were known to be committed when it was made; all of them from a live quorum.
    """

    cluster_id: str
    source: str
    made_ms: int
    start_offset: int
    end_offset: int
    committed: int
    epoch: int
    last_time_ms: int
    files: dict[str, Digest]


def begin_backup(target: str) -> str:
    """Make the temporary directory of a new backup, with an empty partition; returns its path.

    Raises CopyExists if the backup is there, OSError.
    """
    if os.path.lexists(target):
        raise CopyExists(f"{target} is there already; name another directory")
    part = f"{target}.part"
    if os.path.lexists(part):
        raise CopyExists(f"{part} is there: another save to this place runs, or was interrupted; then remove it")
    make_directories(part, 0o700)
    make_directories(f"{part}/{PARTITION_DIRECTORY}", 0o700)
    return part


def end_backup(part: str, target: str, *, cluster_id: str, source: str, made_ms: int, committed: int) -> Manifest:
    """Check the files, write the manifest, and give the backup its name; it is on disk when this returns.

    committed: exclusive, of the offsets that are known to be committed. Raises BadBackup, OSError.
    """
    examined = examine(part)
    if examined.fault is not None:
        raise BadBackup(str(examined.fault))
    files = OsFiles()
    inside = f"{part}/{PARTITION_DIRECTORY}"
    digests = {f"{PARTITION_DIRECTORY}/{name}": digest_of(f"{inside}/{name}") for name in files.list(inside)}
    manifest = Manifest(
        cluster_id, source, made_ms, examined.start_offset, examined.end_offset, committed, examined.epoch,
        last_time_ms(examined),
        digests,
    )  # fmt: skip
    said = {**manifest._asdict(), "files": {name: digest._asdict() for name, digest in digests.items()}}
    text = json.dumps({"kind": KIND, "version": VERSION, **said}, indent=2) + "\n"
    write_file(f"{part}/{MANIFEST}", text.encode())
    files.sync_directory(inside)
    files.sync_directory(part)
    files.rename(part, target)
    files.sync_directory(os.path.dirname(os.path.abspath(target)))
    return manifest


def check_source(examined: Examined) -> str:
    """The cluster id of a log directory of which a backup can be made. Raises BadBackup."""
    if examined.mark is None or examined.mark.cluster_id is None:
        raise BadBackup(f"{examined.log_directory} has no meta.properties with a cluster.id")
    if examined.fault is not None:
        raise BadBackup(
            f"{examined.fault}. A backup would lack the records from there on; back up another controller, or "
            "`kraftctl log truncate` this directory first, which keeps a copy"
        )
    return examined.mark.cluster_id


def save_directory(examined: Examined, target: str, made_ms: int) -> Manifest:
    """Back up a log directory that is not in use, without a torn end. Raises BadBackup, CopyExists, OSError."""
    cluster_id = check_source(examined)
    part = begin_backup(target)
    for segment in examined.segments:
        _copy(segment.path, f"{part}/{PARTITION_DIRECTORY}", segment.size)
    for snapshot in examined.snapshots:
        path = f"{examined.directory}/{snapshot_name(*snapshot)}"
        _copy(path, f"{part}/{PARTITION_DIRECTORY}", os.stat(path).st_size)  # noqa: PTH116
    return end_backup(
        part, target, cluster_id=cluster_id, source=examined.log_directory, made_ms=made_ms,
        committed=examined.committed,
    )  # fmt: skip


def read_manifest(backup: str) -> Manifest:
    """The manifest of a backup. Raises BadBackup."""
    path = f"{backup}/{MANIFEST}"
    try:
        said: Any = json.loads(read_whole(OsFiles(), path, _MANIFEST_BYTES_MAX))
        if said["kind"] != KIND or said["version"] != VERSION:
            raise BadBackup(f"{path} is of kind {said['kind']!r:.40}, version {said['version']!r:.40}")
        for name in ("made_ms", "start_offset", "end_offset", "committed", "epoch", "last_time_ms"):
            if type(said[name]) is not int:
                raise BadBackup(f"{path}: {name} is {said[name]!r:.40}, not a number")
        files = {str(name): Digest(int(each["size"]), str(each["sha256"])) for name, each in said["files"].items()}
        values = {name: said[name] for name in Manifest._fields if name != "files"}
        if not all(isinstance(values[name], str) for name in ("cluster_id", "source")):
            raise BadBackup(f"{path}: cluster_id or source is no text")
        return Manifest(files=files, **values)
    except FileNotFoundError:
        raise BadBackup(f"{backup} is no backup: it has no {MANIFEST}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadBackup(f"{path} is no manifest: {type(error).__name__}: {error}") from None


def verify_backup(
    backup: str, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> tuple[Manifest, Examined]:
    """Check the digests, the log and the checkpoints of a backup, and replay it. Raises BadBackup, OSError.

    progress: called with the bytes that were replayed, and how many there are.
    """
    manifest, examined = check_backup(backup)
    total = bytes_to_read(examined)
    fault = Replay(examined, lambda done: progress(done, total)).run().fault
    if fault is not None:
        raise BadBackup(str(fault))
    return manifest, examined


def check_backup(backup: str) -> tuple[Manifest, Examined]:
    """Check the digests, the log and the checkpoints of a backup. Raises BadBackup, OSError."""
    manifest = read_manifest(backup)
    inside = f"{backup}/{PARTITION_DIRECTORY}"
    if not os.path.isdir(inside):
        raise BadBackup(f"{backup} has no {PARTITION_DIRECTORY}")
    there = {f"{PARTITION_DIRECTORY}/{name}" for name in OsFiles().list(inside)}
    for name in sorted({*there, *manifest.files}):
        if name not in manifest.files:
            raise BadBackup(f"{backup}/{name} is not in the manifest")
        if name not in there:
            raise BadBackup(f"{backup}/{name} is missing")
        if digest_of(f"{backup}/{name}") != manifest.files[name]:
            raise BadBackup(f"{backup}/{name} has other bytes than were saved")
    examined = examine(backup)
    if examined.fault is not None:
        raise BadBackup(str(examined.fault))
    if examined.end_offset != manifest.end_offset:
        raise BadBackup(f"{backup} ends at offset {examined.end_offset}; its manifest says {manifest.end_offset}")
    return manifest, examined


def last_time_ms(examined: Examined) -> int:
    """When the last batch of the log was written; -1 for an empty log."""
    last = -1
    written = [segment for segment in examined.segments if segment.size]  # a crash may leave the last one empty
    for segment in written[-1:]:
        with LogFile(segment.path) as log:
            for batch in log.batches(0, segment.size):
                last = batch.max_timestamp
    return last


def offset_at(examined: Examined, time_ms: int) -> int:
    """The end offset of the batches that were written at or before a time."""
    end_offset = examined.start_offset
    for segment in examined.segments:
        with LogFile(segment.path) as log:
            for batch in log.batches(0, segment.size):
                if batch.max_timestamp > time_ms:
                    return end_offset
                end_offset = batch.last_offset + 1
    return end_offset


def _copy(path: str, directory: str, size: int) -> None:
    """Copy the first bytes of a file into a directory, and sync them."""
    copy_bytes(path, f"{directory}/{os.path.basename(path)}", size)  # noqa: PTH119


def copy_bytes(path: str, target: str, size: int) -> None:
    """Copy the first bytes of a file to a new one, and sync it. Raises OSError, also where the file is shorter."""
    files = OsFiles()
    handle = files.open(target, create=True, mode=0o600)
    try:
        with open(path, "rb") as source:
            position = 0
            while position < size:
                data = source.read(min(_WINDOW_BYTES, size - position))
                if not data:
                    raise OSError(f"{path} became shorter while it was read")
                files.write(handle, position, data)
                position += len(data)
        files.sync(handle)
    finally:
        files.close(handle)
