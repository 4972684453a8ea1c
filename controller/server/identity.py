"""Whose log a node opens: the cluster id and the directory id in its log directories (KIP-858), which it locks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from raft.config import ReplicaKey
from raft.storage.directory_lock import DirectoryLock
from raft.storage.errors import StorageError
from raft.storage.meta_properties import (
    MetaProperties,
    check_directories,
    new_directory_id,
    read_meta_properties,
    write_meta_properties,
)
from records.metadata_log import PARTITION_DIRECTORY

if TYPE_CHECKING:
    from random import Random

    from controller.config.node import NodeConfig
    from raft.storage.files import Files


class Identity:
    """The log directories, checked, completed and locked."""

    def __init__(self, config: NodeConfig, files: Files, rng: Random, time_s: int) -> None:
        """Raises StorageError."""
        self.directory = os.path.abspath(config.metadata_log_dir)  # noqa: PTH100
        found = {}
        for path in sorted({os.path.abspath(path) for path in (*config.log_dirs, config.metadata_log_dir)}):  # noqa: PTH100
            found[path] = read_meta_properties(files, path)
        _refuse_unmarked_log(files, self.directory, found[self.directory])
        values = check_directories(files, found, self.directory, config.node_id)
        self.lock = DirectoryLock(files, self.directory)
        if values.directory_id is None:
            values = values._replace(directory_id=new_directory_id(rng.getrandbits, found))
            write_meta_properties(files, self.directory, values, time_s)
        assert values.cluster_id is not None
        assert values.directory_id is not None
        self.values: MetaProperties = values
        self.cluster_id: str = values.cluster_id
        self.key = ReplicaKey(config.node_id, values.directory_id)


def _refuse_unmarked_log(files: Files, directory: str, mark: MetaProperties | None) -> None:
    """Raises StorageError for a metadata log without the file that says whose it is: to format would lose the ids."""
    partition = f"{directory}/{PARTITION_DIRECTORY}"
    if mark is None and files.is_directory(partition) and files.list(partition):
        raise StorageError(
            f"{directory}/meta.properties is missing, and the directory has a metadata log: do not format it. "
            "`kraftctl doctor -c FILE` prints how to restore the file"
        )
