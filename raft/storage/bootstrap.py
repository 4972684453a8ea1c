"""The records that a formatter wrote for the first active controller: `bootstrap.checkpoint`, or the 0-0 snapshot of
Kafka 4.4 (KIP-778, KIP-1170).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.storage.errors import CorruptSnapshot
from raft.storage.names import snapshot_name
from raft.storage.snapshot_file import snapshot_batches
from records.batch import CorruptBatch, records_of
from records.metadata_log import PARTITION_DIRECTORY

if TYPE_CHECKING:
    from raft.storage.files import Files

BOOTSTRAP = "bootstrap.checkpoint"


def read_bootstrap(files: Files, directory: str) -> list[bytes] | None:
    """The values of the bootstrap records in a node's directory; None if no formatter wrote any.

    `bootstrap.checkpoint` takes precedence over the 0-0 snapshot, as in Kafka 4.4. Raises CorruptSnapshot if the file
    is not a snapshot.
    """
    for path in (f"{directory}/{BOOTSTRAP}", f"{directory}/{PARTITION_DIRECTORY}/{snapshot_name(0, 0)}"):
        if files.exists(path):
            values = snapshot_values(files, path)
            if values:
                return values
    return None


def snapshot_values(files: Files, path: str) -> list[bytes]:
    """The values of all data records of a snapshot, for files that are small; raises CorruptSnapshot."""
    values = []
    for data, batch in snapshot_batches(files, path):
        if batch.is_control:
            continue
        try:
            values += [record.value or b"" for record in records_of(data, batch)]
        except CorruptBatch as error:
            raise CorruptSnapshot(path, error.position, error.reason) from None
    return values
