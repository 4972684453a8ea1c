"""The files that a formatter writes into a log directory, byte for byte as Kafka's does."""

from __future__ import annotations

from raft.storage.bootstrap import BOOTSTRAP
from raft.storage.files import OsFiles, replace_file
from raft.storage.meta_properties import write_meta_properties
from raft.storage.names import snapshot_name
from raft.storage.snapshot_file import SnapshotBytes
from records.frame import encode_record
from records.metadata_log import PARTITION_DIRECTORY
from tools.offline.new_directories import make_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from raft.storage.meta_properties import MetaProperties
    from records.control import VotersRecord


def write_directory(
    directory: str,
    mark: MetaProperties,
    records: list[Any],
    voters: VotersRecord | None,
    kraft_version: int,
    time_ms: int,
) -> None:
    """Write all files of a directory, and create it if it is missing; `meta.properties` is written last.

    voters: the initial voters, written to a snapshot; None for static voters. Raises OSError.
    """
    files = OsFiles()
    make_directories(directory)
    replace_file(files, f"{directory}/{BOOTSTRAP}", bootstrap_checkpoint(records, time_ms))
    if voters is not None:
        partition = f"{directory}/{PARTITION_DIRECTORY}"
        files.make_directory(partition)
        write_snapshot(files, partition, voters_checkpoint(voters, kraft_version, time_ms))
        files.sync_directory(directory)
    write_meta_properties(files, directory, mark, time_ms // 1000)


def bootstrap_checkpoint(records: list[Any], time_ms: int) -> bytes:
    """`bootstrap.checkpoint`: the first records of the log, between header and footer."""
    built = SnapshotBytes(0, time_ms)
    return built.header(0) + built.data([encode_record(record, 0) for record in records]) + built.footer()


def voters_checkpoint(voters: VotersRecord, kraft_version: int, time_ms: int) -> bytes:
    """The snapshot 0-0 of a quorum whose voters are dynamic: kraft.version and the voters, no metadata (KIP-853)."""
    built = SnapshotBytes(0, time_ms)
    return built.header(time_ms, kraft_version, voters) + built.footer()


def write_snapshot(files: OsFiles, partition: str, data: bytes) -> None:
    """Write the snapshot 0-0 to the partition's directory, read-only like every frozen snapshot."""
    path = f"{partition}/{snapshot_name(0, 0)}"
    part = f"{path}.part"
    handle = files.open(part, create=True, mode=0o600)
    try:
        files.truncate(handle, 0)
        files.write(handle, 0, data)
        files.sync(handle)
    finally:
        files.close(handle)
    files.protect(part)
    files.rename(part, path)
    files.sync_directory(partition)
