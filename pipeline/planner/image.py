"""The cluster in a copy of the metadata log: the newest checkpoint and the log after it, replayed.

The controller's own replay does it, by columns, so the plan is for the state on which the controller acts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from controller.state.partitions.bulk_batches import load_batch, replay_batch
from controller.state.partitions.uncommon_fields import IS_WIDE
from controller.state.state import ReplayError, State
from pipeline.planner.cluster import NO_REPLICA, BadCluster, Broker, Cluster
from pipeline.source.directories import find
from pipeline.source.ranges import Walk
from records.batch import CorruptBatch, batches
from records.wire import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipeline.source.directories import Copy, LogFile


class Image(NamedTuple):
    """A cluster as of an offset. end_offset: exclusive. reassigning: partitions that are being reassigned.

    Their replicas are the targets of the reassignments.
    """

    cluster_id: str
    directory: str
    end_offset: int
    cluster: Cluster
    reassigning: int


def image_of(
    path: str, cluster_id: str | None = None, progress: Callable[[str], None] = lambda _line: None
) -> Image:  # fmt: skip
    """The image of a node directory, of the most advanced node in a folder of them, or of a copy of the log.

    cluster_id: for a directory without one. progress: called with the file that is read. Raises BadCluster, which names
    the file, if there is no valid log.
    """
    copies, skipped = find([path], cluster_id)
    if not copies:
        raise BadCluster("; ".join(one.reason for one in skipped) or f"{path}: there is no metadata log")
    copy = max(copies, key=_end_offset)
    state = State()
    _load_checkpoint(state, copy, progress)
    for file, following in zip(copy.segments, [*copy.segments[1:], None], strict=True):
        if following is None or following.offset > state.end_offset:
            _replay_segment(state, copy, file, is_last=following is None, progress=progress)
    return Image(copy.cluster_id, copy.directory, state.end_offset, *_cluster(state))


def _end_offset(copy: Copy) -> int:
    ends = [file.offset for file in copy.checkpoints]
    if copy.segments:
        ends.append(Walk(copy, copy.segments[-1]).run(is_last=True).end_offset)
    return max(ends, default=0)


def _load_checkpoint(state: State, copy: Copy, progress: Callable[[str], None]) -> None:
    if not copy.checkpoints:
        return
    file = copy.checkpoints[-1]
    data = _sound(copy, file, is_checkpoint=True, is_last=False, progress=progress)
    state.begin_load(file.offset)
    try:
        for batch in batches(data):
            if not batch.is_control:
                load_batch(state, data, batch)
    except (ReplayError, DecodeError, CorruptBatch) as error:
        raise BadCluster(f"{file.path}: {error}") from error
    state.end_load()


def _replay_segment(
    state: State, copy: Copy, file: LogFile, *, is_last: bool, progress: Callable[[str], None]
) -> None:  # fmt: skip
    data = _sound(copy, file, is_checkpoint=False, is_last=is_last, progress=progress)
    if file.offset > state.end_offset:
        raise BadCluster(f"{file.path}: offsets {state.end_offset} to {file.offset - 1} are in no file before it")
    try:
        for batch in batches(data):
            if batch.last_offset < state.end_offset:
                continue
            if batch.is_control:
                state.end_offset = batch.last_offset + 1
                state.commit(state.end_offset)
            else:
                replay_batch(state, data, batch)
    except (ReplayError, DecodeError, CorruptBatch) as error:
        raise BadCluster(f"{file.path}: {error}") from error


def _sound(
    copy: Copy, file: LogFile, *, is_checkpoint: bool, is_last: bool, progress: Callable[[str], None]
) -> bytes:  # fmt: skip
    """The whole batches of a file; raises BadCluster at the first error in it."""
    progress(file.path)
    walk = Walk(copy, file, is_checkpoint=is_checkpoint).run(is_last=is_last)
    if walk.findings:
        raise BadCluster(walk.findings[0].problem)
    try:
        return Path(file.path).read_bytes()[: walk.end]
    except OSError as error:
        raise BadCluster(f"{file.path}: {error.strerror or error}") from error


def _cluster(state: State) -> tuple[Cluster, int]:
    partitions = state.partitions
    partitions.sort_loaded_rows()
    columns = partitions.columns
    rows = np.flatnonzero(columns.topic[: columns.end] >= 0)
    matrix = np.stack([column[rows] for column in columns.replicas], axis=1)
    moving = partitions.reassigning()
    # Lists that do not fit in the columns, or are about to change, are read one by one.
    special = {int(row): partitions.get(int(row)) for row in {*moving.tolist(), *_wide(state)}}
    lists = {
        row: [one for one in partition.replicas if one not in partition.removing] for row, partition in special.items()
    }
    width = max([matrix.shape[1], *map(len, lists.values())])
    replicas = np.full((len(rows), width), NO_REPLICA, np.int32)
    replicas[:, : matrix.shape[1]] = matrix
    for row, kept in lists.items():
        at = int(np.searchsorted(rows, row))
        replicas[at] = NO_REPLICA
        replicas[at, : len(kept)] = kept
    names = ["" if topic is None else topic.name for topic in partitions.topics]
    brokers = [Broker(one.broker_id, one.rack, one.fenced) for one in state.brokers.values()]
    cluster = Cluster(brokers, names, columns.topic[rows], columns.partition_id[rows], replicas)
    return cluster, len(moving)


def _wide(state: State) -> list[int]:
    """Rows whose lists do not fit in the columns."""
    columns = state.partitions.columns
    rows = np.flatnonzero(columns.topic[: columns.end] >= 0)
    wide: list[int] = rows[columns.uncommon_values.of_kind(IS_WIDE)[columns.uncommon[rows]]].tolist()
    return wide
