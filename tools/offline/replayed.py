"""Replaying the log of a directory as a controller does, up to the first record that cannot be replayed (KIP-631).

Three invariants are checked beside the rules of replay: the records of each batch can be decoded, no transaction begins
or ends twice, and each checkpoint has the same content as the log below it.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from tools.offline.scanned import scan_batch  # first, as it says with which settings numpy is imported

# isort: split
from controller.state.partitions.bulk_batches import replay_columns
from controller.state.state import ReplayError, State
from raft.storage.names import snapshot_name
from records.bulk.bulk_shapes import Columns
from tools.offline.examined import Fault
from tools.offline.log_file import DamagedLog, LogFile
from tools.offline.metadata_values import MetadataError, metadata_record
from tools.offline.stored_records import records_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.offline.examined import Examined
    from tools.offline.log_file import StoredBatch

ALL = 1 << 62


class Replayed(NamedTuple):
    """The result of a replay. state: as of end_offset (exclusive); fault: what ended it, None if nothing did.

    start_offset: where it began, 0 or the end of the oldest checkpoint. batches, records: that were replayed.
    compared: the checkpoints whose content equals that of the log.
    """

    state: State
    start_offset: int
    end_offset: int
    batches: int
    records: int
    compared: list[tuple[int, int]]
    fault: Fault | None


def bytes_to_read(examined: Examined) -> int:
    """The bytes that a replay reads: the log, the checkpoint that it begins with, and those that are compared."""
    used = [each for each in examined.snapshots if each[0] >= max(examined.start_offset, 1)]
    sizes = [os.stat(f"{examined.directory}/{snapshot_name(*each)}").st_size for each in used]  # noqa: PTH116
    return sum(sizes) + sum(segment.size for segment in examined.segments)


class Replay:
    """One replay of a directory. note: called with the bytes read so far; `bytes_to_read` says of how many.

    by_columns: whether large batches are replayed by columns. Where that meets a fault, all is replayed again one by
    one, to find the first record that is at fault.
    """

    def __init__(
        self, examined: Examined, note: Callable[[int], None] = lambda _bytes: None, *, by_columns: bool = True
    ) -> None:
        self.found = examined
        self.note = note
        self.by_columns = by_columns
        self.state = State()
        self.state.commit(ALL)  # so that no undo is kept
        self.batches = self.records = self.bytes = 0
        self.compared: list[tuple[int, int]] = []

    def run(self, end_offset: int = ALL) -> Replayed:
        """Replay the batches below `end_offset`. Raises OSError."""
        replayed = self._run(end_offset)
        if replayed.fault is None or not self.by_columns:
            return replayed
        return Replay(self.found, self.note, by_columns=False).run(end_offset)

    def _run(self, end_offset: int) -> Replayed:
        examined = self.found
        covering = [each for each in examined.snapshots if each[0] >= examined.start_offset]
        start = 0
        fault = None
        if examined.start_offset > 0 and covering:
            start = covering[0][0]
            fault = self._load(self.state, covering[0])
        at = start
        for segment in examined.segments:
            if fault is not None or at >= end_offset or segment.end_offset <= at:
                continue
            with LogFile(segment.path) as log:
                for batch in log.batches(0, segment.size):
                    self._read(batch)
                    if batch.base_offset < at:
                        continue
                    if batch.last_offset >= end_offset or batch.base_offset >= examined.end_offset:
                        break
                    fault = self._replay(segment.path, batch) or self._compare(batch.last_offset + 1)
                    if fault is not None:
                        break
                    at = batch.last_offset + 1
        return Replayed(self.state, start, at, self.batches, self.records, self.compared, fault)

    def _replay(self, path: str, batch: StoredBatch) -> Fault | None:
        self.batches += 1
        offset = batch.base_offset
        try:
            if self._replay_columns(self.state, batch):
                return None
            for stored in () if batch.is_control else records_of(batch):
                offset = stored.offset
                self.state.replay(metadata_record(stored.value)[0], offset)
                self.records += 1
        except MetadataError as error:
            return Fault(path, batch.position, offset, f"the record cannot be decoded: {error}")
        except DamagedLog as error:
            return Fault(path, batch.position, offset, f"the batch cannot be read: {error}")
        except ReplayError as error:
            reason = f"{error.record.__name__} cannot be replayed: {error.reason}"
            return Fault(path, batch.position, offset, reason)
        except (AssertionError, KeyError) as error:
            return Fault(path, batch.position, offset, f"the record cannot be replayed: {error}")
        return None

    def _load(self, state: State, snapshot: tuple[int, int]) -> Fault | None:
        """Load a checkpoint into an empty state."""
        path = f"{self.found.directory}/{snapshot_name(*snapshot)}"
        offset = snapshot[0] - 1
        state.begin_load(snapshot[0])
        with LogFile(path) as log:
            for batch in log.batches():
                self._read(batch)
                try:
                    if self._replay_columns(state, batch, offset):
                        continue
                    for stored in () if batch.is_control else records_of(batch):
                        state.replay(metadata_record(stored.value)[0], offset)
                except (MetadataError, DamagedLog, ReplayError, AssertionError, KeyError) as error:
                    return Fault(path, batch.position, -1, f"the checkpoint cannot be loaded: {error}")
        state.end_load()
        state.commit(ALL)
        return None

    def _read(self, batch: StoredBatch) -> None:
        self.bytes += len(batch.data)
        self.note(self.bytes)

    def _replay_columns(self, state: State, batch: StoredBatch, offset: int | None = None) -> bool:
        """Replay a large data batch. offset: of all its records, for a checkpoint. False, with nothing done, where they
        must be replayed one by one.
        """
        found = scan_batch(batch) if self.by_columns and not batch.is_control else None
        if found is None:
            return False
        for each in found:
            if isinstance(each, Columns):
                if offset is not None:
                    each.offsets[:] = offset
                for _ in replay_columns(state, each):
                    pass
            else:
                state.replay(each.record, each.offset if offset is None else offset)
        if offset is None:
            self.records += batch.record_count
            state.end_offset = batch.last_offset + 1
        return True

    def _compare(self, end_offset: int) -> Fault | None:
        """Compare the state with a checkpoint that ends here, if there is one."""
        for snapshot in self.found.snapshots:
            if snapshot[0] != end_offset or self.state.transaction:
                continue
            state = State()
            fault = self._load(state, snapshot)
            if fault is not None:
                return fault
            if state.contents() != self.state.contents():
                ours, theirs = self.state.contents(), state.contents()
                other = sorted(name for name in ours if ours[name] != theirs[name])
                path = f"{self.found.directory}/{snapshot_name(*snapshot)}"
                what = f"its content differs from that of the log below offset {end_offset}: {', '.join(other)}"
                return Fault(path, 0, -1, what)
            self.compared.append(snapshot)
        return None
