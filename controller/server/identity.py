"""Whose log a node opens: the cluster id and the directory id in its log directories (KIP-858), which it locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raft.interface.config import ReplicaKey
from raft.storage.directory_lock import DirectoryLock
from raft.storage.meta_properties import (
    MetaProperties,
    check_directories,
    new_directory_id,
    read_meta_properties,
    write_meta_properties,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from raft.storage.files import Files


class Identity:
    """The log directories, checked, completed and locked. directory: the one of the metadata log."""

    def __init__(
        self, directory: str, directories: Iterable[str], node_id: int, files: Files, rng: Random, time_s: int
    ) -> None:
        """directory, directories: absolute; time_s: for a new file. Raises StorageError."""
        self.directory = directory
        identities = {path: read_meta_properties(files, path) for path in sorted({directory, *directories})}
        values = check_directories(files, identities, directory, node_id)
        self.lock = DirectoryLock(files, self.directory)
        if values.directory_id is None:
            values = values._replace(directory_id=new_directory_id(rng.getrandbits, identities))
            write_meta_properties(files, self.directory, values, time_s)
        assert values.cluster_id is not None
        assert values.directory_id is not None
        self.values: MetaProperties = values
        self.cluster_id: str = values.cluster_id
        self.key = ReplicaKey(node_id, values.directory_id)
