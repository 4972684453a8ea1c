"""Whose log a node opens: the cluster id and the directory id in its log directories (KIP-858), which it locks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from raft.config import ReplicaKey
from raft.storage.directory_lock import DirectoryLock
from raft.storage.meta_properties import (
    MetaProperties,
    check_directories,
    new_directory_id,
    read_meta_properties,
    write_meta_properties,
)

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
