"""The files that a formatter writes into a log directory, byte for byte as Kafka's does."""

from __future__ import annotations

from enum import Enum

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


class Form(Enum):
    """Where the first records of the log are written: to `bootstrap.checkpoint`, to the snapshot 0-0, or nowhere, and
    then there is no snapshot either.
    """

    FILE = "bootstrap.checkpoint"
    SNAPSHOT = "snapshot 0-0"
    NONE = "none"


def write_directory(
    directory: str,
    mark: MetaProperties,
    records: list[Any],
    voters: VotersRecord | None,
    kraft_version: int,
    time_ms: int,
    form: Form,
) -> None:
    """Write all files of a directory, and create it if it is missing; `meta.properties` is written last.

    voters: the initial voters, written to a snapshot; None for static voters. Raises OSError.
    """
    files = OsFiles()
    make_directories(directory)
    if form is Form.FILE:
        replace_file(files, f"{directory}/{BOOTSTRAP}", bootstrap_checkpoint(records, time_ms))
    in_snapshot = records if form is Form.SNAPSHOT else []
    if form is not Form.NONE and (voters is not None or in_snapshot):
        partition = f"{directory}/{PARTITION_DIRECTORY}"
        files.make_directory(partition)
        write_snapshot(files, partition, first_checkpoint(voters, kraft_version, in_snapshot, time_ms))
        files.sync_directory(directory)
    write_meta_properties(files, directory, mark, time_ms // 1000)


def bootstrap_checkpoint(records: list[Any], time_ms: int) -> bytes:
    """`bootstrap.checkpoint`: the first records of the log, between header and footer."""
    built = SnapshotBytes(0, time_ms)
    return built.header(0) + built.data([encode_record(record, 0) for record in records]) + built.footer()


def first_checkpoint(voters: VotersRecord | None, kraft_version: int, records: list[Any], time_ms: int) -> bytes:
    """The snapshot 0-0: kraft.version and the voters, where they are dynamic (KIP-853), and from Kafka 4.4 on the first
    records of the log (KIP-1170).
    """
    built = SnapshotBytes(0, time_ms)
    header = built.header(time_ms, kraft_version, voters)
    data = built.data([encode_record(record, 0) for record in records]) if records else b""
    return header + data + built.footer()


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
