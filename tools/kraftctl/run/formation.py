"""A node without a formatted directory forms a quorum with others, or joins one (`kraft.quorum.bootstrap.expect`)."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from raft.formation.file import remove_formation
from raft.storage.files import OsFiles
from raft.storage.meta_properties import read_meta_properties
from raft.storage.names import snapshot_name
from records.metadata_log import PARTITION_DIRECTORY
from records.uuids import uuid_text
from tools.kafka.storage_format import format_of
from tools.offline.formatting import format_directories, has_metadata_log
from tools.offline.initial_voters import InitialVoter

if TYPE_CHECKING:
    from controller.config.node import NodeConfig
    from controller.node.logging.logs import Log
    from raft.formation.rules import Form, Join


def needs_formation(config: NodeConfig) -> bool:
    """Whether the node is to form a quorum before it runs. Raises StorageError, OSError."""
    if not config.number("kraft.quorum.bootstrap.expect"):
        return False
    directory = os.path.abspath(config.metadata_log_dir)  # noqa: PTH100
    if has_metadata_log(directory):
        return False  # the start says what is missing
    if read_meta_properties(OsFiles(), directory) is not None:
        remove_formation(OsFiles(), directory)
        return False
    return True


def form(config: NodeConfig, log: Log) -> bool:
    """Wait for the other controllers, and format the directories; False where a signal came first.

    Raises StorageError, OSError, ConfigError, ValueError, FormatError, WriteError.
    """
    from asyncio import Runner

    from uvloop import new_event_loop

    from tools.kraftctl.run.find_quorum import find_quorum

    directory = os.path.abspath(config.metadata_log_dir)  # noqa: PTH100
    with Runner(loop_factory=new_event_loop) as runner:
        decision, directory_id = runner.run(find_quorum(config, directory, log))
    if decision is None:
        return False
    format_as(config, decision, directory_id, log)
    remove_formation(OsFiles(), directory)
    return True


def format_as(config: NodeConfig, decision: Form | Join, directory_id: bytes, log: Log) -> None:
    """Format the directories as a voter of the new quorum, or as an observer of the one that exists."""
    from time import time

    from raft.formation.rules import Form
    from tools.rng import random_bits

    wanted = format_of(config, decision.cluster_id)
    wanted.directory_id = directory_id
    if isinstance(decision, Form):
        wanted.voters = [
            InitialVoter(each.node_id, each.host, each.port, each.directory_id) for each in decision.controllers
        ]
    else:
        # A node that was killed while it formatted may have left the voters of a quorum that was not formed.
        snapshot = f"{config.metadata_log_dir}/{PARTITION_DIRECTORY}/{snapshot_name(0, 0)}"
        with suppress(FileNotFoundError):
            OsFiles().remove(snapshot)
    format_directories(wanted, lambda _line: None, random_bits, int(time() * 1000))
    directory = uuid_text(directory_id)
    if wanted.voters is None:
        log("quorum_joined", cluster_id=decision.cluster_id, directory_id=directory)
    else:
        log("quorum_formed", cluster_id=decision.cluster_id, directory_id=directory)
