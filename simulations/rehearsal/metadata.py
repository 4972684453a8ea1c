"""The operator's own metadata, with which the simulated nodes begin. It is only read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from controller.state.records_of import UnwritableMetadataError, records_of
from controller.state.state import ReplayError, State
from controller.state.view import stable_view
from raft.storage.errors import StorageError
from raft.storage.names import snapshot_id
from raft.storage.snapshot_file import SnapshotBytes, check_snapshot
from records.features.levels import METADATA_VERSION, supported_features
from records.frame import encode_record
from records.metadata.brokers import RegisterControllerRecord
from tools.offline.examined import NotALog, ReadOnlyFiles, examine
from tools.offline.log_file import DamagedLog, LogFile
from tools.offline.metadata_values import MetadataError, metadata_record
from tools.offline.replayed import Replay
from tools.offline.stored_records import records_of as stored_records

if TYPE_CHECKING:
    from records.control import VotersRecord

BATCH_RECORDS = 500


class BadMetadata(Exception):
    """A directory or file that cannot be read; the text is one line."""


class Metadata(NamedTuple):
    """values: the records as a snapshot has them, framed. end_offset, epoch: where they stand in the log.

    brokers: (id, epoch) of those that are not fenced, and so send heartbeats. source: what was read.
    """

    values: list[bytes]
    end_offset: int
    epoch: int
    brokers: list[tuple[int, int]]
    source: str

    def checkpoint(self, kraft_version: int, voters: VotersRecord | None, time_ms: int) -> bytes:
        """The bytes of a snapshot with these records, and with the voters of the rehearsal."""
        built = SnapshotBytes(self.epoch, time_ms)
        parts = [built.header(time_ms, kraft_version, voters)]
        starts = range(0, len(self.values), BATCH_RECORDS)
        parts += [built.data(self.values[first : first + BATCH_RECORDS]) for first in starts]
        parts.append(built.footer())
        return b"".join(parts)


def read_metadata(path: str) -> Metadata:
    """The metadata of a log directory, which may be that of a running node, or of a checkpoint. Raises BadMetadata."""
    try:
        if os.path.isdir(path):  # noqa: PTH112
            state, end_offset, epoch = _of_directory(path)
        else:
            state, end_offset, epoch = _of_file(path)
        return _metadata(state, end_offset, epoch, path)
    except BadMetadata:
        raise
    except FileNotFoundError:
        raise BadMetadata(f"{path}: there is no such directory or file") from None
    except (DamagedLog, MetadataError, NotALog, ReplayError, StorageError, UnwritableMetadataError, OSError) as error:
        raise BadMetadata(f"{path}: {error}") from None


def _of_directory(path: str) -> tuple[State, int, int]:
    examined = examine(path)
    if examined.fault is not None:
        raise BadMetadata(f"{examined.fault}; see kraftctl log verify")
    replayed = Replay(examined).run()
    if replayed.fault is not None:
        raise BadMetadata(f"{replayed.fault}; see kraftctl log verify")
    epoch = max((epoch for epoch, _ in examined.epochs), default=0)
    if examined.snapshots:
        epoch = max(epoch, examined.snapshots[-1][1])
    return replayed.state, replayed.end_offset, epoch


def _of_file(path: str) -> tuple[State, int, int]:
    known = snapshot_id(os.path.basename(path))  # noqa: PTH119
    if not os.path.exists(path):  # noqa: PTH110
        raise FileNotFoundError
    if known is None:
        raise BadMetadata(f"{path} is neither a log directory nor a checkpoint, by its name: OFFSET-EPOCH.checkpoint")
    end_offset, epoch = known
    check_snapshot(ReadOnlyFiles(), path)
    state = State()
    state.begin_load(end_offset)
    with LogFile(path) as log:
        for batch in log.batches():
            for stored in () if batch.is_control else stored_records(batch):
                state.replay(metadata_record(stored.value)[0], end_offset - 1)
    state.end_load()
    return state, end_offset, epoch


def _metadata(state: State, end_offset: int, epoch: int, path: str) -> Metadata:
    state.commit(end_offset)
    view = stable_view(state)
    level = state.metadata_version
    lowest, highest = supported_features()[METADATA_VERSION]
    if not lowest <= level <= highest:
        raise BadMetadata(
            f"{path} has no metadata that a controller can start with: metadata.version {level}, supported is "
            f"{lowest} to {highest}"
        )
    # Nodes of the rehearsal register themselves.
    records = [
        (record, version) for record, version in records_of(view) if type(record) is not RegisterControllerRecord
    ]
    values = [encode_record(record, version) for record, version in records]
    brokers = [(each.broker_id, each.epoch) for each in state.brokers.values() if not each.fenced]
    return Metadata(values, max(end_offset, 1), max(epoch, 1), sorted(brokers), path)
