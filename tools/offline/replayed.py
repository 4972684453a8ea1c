"""Replaying the log of a directory as a controller does, up to the first record that cannot be replayed (KIP-631).

Three invariants are checked beside the rules of replay: the records of each batch can be decoded, no transaction begins
or ends twice, and each checkpoint has the same content as the log below it.
"""

from __future__ import annotations

from typing import NamedTuple

from controller.state.state import ReplayError, State
from raft.storage.names import snapshot_name
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


class Replay:
    """One replay of a directory. note: called with the bytes read so far."""

    def __init__(self, examined: Examined, note: Callable[[int], None] = lambda _bytes: None) -> None:
        self.found = examined
        self.note = note
        self.state = State()
        self.state.commit(ALL)  # so that no undo is kept
        self.batches = self.records = self.bytes = 0
        self.compared: list[tuple[int, int]] = []

    def run(self, end_offset: int = ALL) -> Replayed:
        """Replay the batches below `end_offset`. Raises OSError."""
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
                    self.bytes += len(batch.data)
                    self.note(self.bytes)
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
                try:
                    for stored in () if batch.is_control else records_of(batch):
                        state.replay(metadata_record(stored.value)[0], offset)
                except (MetadataError, DamagedLog, ReplayError, AssertionError, KeyError) as error:
                    return Fault(path, batch.position, -1, f"the checkpoint cannot be loaded: {error}")
        state.end_load()
        state.commit(ALL)
        return None

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
