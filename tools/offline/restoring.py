"""Formatting the directories of a node from a backup, as of an offset: the node is then the only voter (KIP-853)."""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple

from raft.interface.config import Endpoint, ReplicaKey, Voter
from raft.storage.files import OsFiles
from raft.storage.meta_properties import (
    META_PROPERTIES,
    MetaProperties,
    new_directory_id,
    read_meta_properties,
    write_meta_properties,
)
from records.metadata_log import PARTITION_DIRECTORY
from tools.offline.backups import copy_bytes
from tools.offline.examined import examine
from tools.offline.forced_voters import force_voter
from tools.offline.new_directories import make_directories
from tools.offline.recovery_plan import EPOCH_STEP
from tools.offline.saved_copy import write_file
from tools.offline.truncation import plan_truncation, truncate

# pathlib costs 10 ms
# ruff: noqa: PTH116

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.config.node import NodeConfig
    from tools.offline.backups import Manifest
    from tools.offline.examined import Examined

_PART = "restore.part"
# In the metadata directory while a restore runs: beside it a partition without `meta.properties` is a leftover.
_UNFINISHED = "restore.unfinished"


class CannotRestore(Exception):
    """The backup cannot be restored into these directories; the text says why and what would help."""


class Restoring(NamedTuple):
    """What a restore writes. end_offset: of the restored log, before the voter record; lost: offsets of the backup that
    are left out. endpoints: of the voter, empty with static voters. new_kraft_version: 1 where `kraft_version` is 0 and
    the configuration names other voters, which have nothing: they would be a majority without the metadata. others: the
    former voters, as far as they are known.
    """

    backup: str
    cluster_id: str
    node_id: int
    directories: tuple[str, ...]
    metadata_directory: str
    kraft_version: int
    end_offset: int
    lost: int
    new_epoch: int
    endpoints: tuple[Endpoint, ...]
    new_kraft_version: int
    others: tuple[int, ...]


def plan_restoring(
    backup: str, manifest: Manifest, examined: Examined, config: NodeConfig, as_of: int, address: tuple[str, int] | None
) -> Restoring:
    """Check that a backup fits a configuration and its empty directories.

    Raises CannotRestore, CannotTruncate; OSError.
    """
    directories = tuple(dict.fromkeys((*config.log_dirs, config.metadata_log_dir)))
    for directory in directories:
        for name in (META_PROPERTIES, PARTITION_DIRECTORY):
            if os.path.lexists(f"{directory}/{name}") and not _is_leftover(
                directory, name, config.metadata_log_dir, (manifest.cluster_id, config.node_id)
            ):
                raise CannotRestore(f"{directory}/{name} is there; a backup is restored into empty directories only")
    end_offset = plan_truncation(examined, as_of).end_offset
    if end_offset == 0:
        raise CannotRestore(
            f"as of offset {as_of} there is no record; the backup begins with its first record after that"
        )
    kraft_version = max((level for offset, level in examined.kraft_versions if offset < end_offset), default=0)
    if kraft_version == 0 and not config.voters:
        raise CannotRestore("the backup has static voters (kraft.version 0): set controller.quorum.voters")
    others = {*config.voters, *(examined.voters.ids if kraft_version and examined.voters is not None else ())}
    others -= {config.node_id}
    new_kraft_version = 1 if others else kraft_version
    endpoints = []
    for each in config.advertised_listeners if new_kraft_version else ():
        host, port = address or (each.host, each.port)
        if host is None:
            raise CannotRestore(f"listener {each.name} has no host that other nodes can use: give --address HOST:PORT")
        endpoints.append(Endpoint(each.name.upper(), host, port))
    return Restoring(
        backup,
        manifest.cluster_id,
        config.node_id,
        directories,
        config.metadata_log_dir,
        kraft_version,
        end_offset,
        examined.end_offset - end_offset,
        manifest.epoch + EPOCH_STEP,
        tuple(endpoints),
        new_kraft_version,
        tuple(sorted(others)),
    )


def restore(plan: Restoring, draw: Callable[[int], int], time_ms: int) -> None:
    """Write the directories; `meta.properties`, without which a node does not start, is written last.

    draw: returns this many random bits. Raises OSError.
    """
    files = OsFiles()
    for directory in plan.directories:
        make_directories(directory)
    unfinished = f"{plan.metadata_directory}/{_UNFINISHED}"
    write_file(unfinished, b"A restore writes this directory, or was interrupted; then it can be run again.\n")
    files.sync_directory(plan.metadata_directory)
    shutil.rmtree(f"{plan.metadata_directory}/{PARTITION_DIRECTORY}", ignore_errors=True)
    part = f"{plan.metadata_directory}/{_PART}"
    shutil.rmtree(part, ignore_errors=True)  # of a restore that was interrupted
    inside = f"{part}/{PARTITION_DIRECTORY}"
    make_directories(inside)
    source = f"{plan.backup}/{PARTITION_DIRECTORY}"
    for name in files.list(source):
        copy_bytes(f"{source}/{name}", f"{inside}/{name}", os.stat(f"{source}/{name}").st_size)
    files.sync_directory(inside)
    truncate(plan_truncation(examine(part), plan.end_offset))
    marks: dict[str, MetaProperties | None] = {}
    for directory in plan.directories:
        marks[directory] = MetaProperties(1, plan.cluster_id, plan.node_id, new_directory_id(draw, marks))
    own = marks[plan.metadata_directory]
    assert own is not None, "made above"
    assert own.directory_id is not None, "made above"
    directory_id = own.directory_id if plan.new_kraft_version else bytes(16)
    voter = Voter(ReplicaKey(plan.node_id, directory_id), plan.endpoints, (0, 1))
    examined = examine(part)
    assert examined.end_offset == plan.end_offset, f"the copy ends at {examined.end_offset}, not {plan.end_offset}"
    force_voter(examined, voter, plan.new_epoch, time_ms, plan.new_kraft_version)
    files.rename(inside, f"{plan.metadata_directory}/{PARTITION_DIRECTORY}")
    os.rmdir(part)  # noqa: PTH106
    files.sync_directory(plan.metadata_directory)
    for directory in sorted(plan.directories, key=lambda each: each == plan.metadata_directory):
        values = marks[directory]
        assert values is not None, "made above"
        write_meta_properties(files, directory, values, time_ms // 1000)
    files.remove(unfinished)
    files.sync_directory(plan.metadata_directory)


def _is_leftover(directory: str, name: str, metadata_directory: str, ids: tuple[str, int]) -> bool:
    """Whether an interrupted restore left this file or directory. ids: of the cluster and the node."""
    if not os.path.lexists(f"{metadata_directory}/{_UNFINISHED}"):
        return False
    if os.path.lexists(f"{metadata_directory}/{META_PROPERTIES}"):
        return False  # it was complete, and the node may have run since
    if name == PARTITION_DIRECTORY:
        return directory == metadata_directory
    mark = read_meta_properties(OsFiles(), directory)
    return mark is not None and (mark.cluster_id, mark.node_id) == ids
