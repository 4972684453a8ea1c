"""After a crash at any moment, a start finds all data that was reported as durable, and no data
that was never written.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from raft.interface.config import ReplicaKey, SnapshotId
from raft.interface.effects import (
    AdvanceLogStart,
    Append,
    DeleteSnapshot,
    FreezeSnapshot,
    HighWatermark,
    ResetLog,
    SaveElection,
    SaveEpochs,
    Truncate,
    WriteSnapshotPart,
)
from raft.interface.inputs import Flushed, Saved, SnapshotStored, SnapshotTaken
from raft.interface.recovered import Election
from raft.storage.errors import DiskFailed, StorageError
from raft.storage.log import LogLimits
from raft.storage.snapshot_file import SnapshotBytes
from raft.storage.storage import Storage
from tests.raft.storage.batches import batch, last_head, leader_change
from tests.raft.storage.disk import Crashed, Disk, unexpected

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = LogLimits(segment_bytes_max=6000, prefix_bytes_max=4000, mark_bytes=1000)
OPENING_OPERATIONS = 8  # of an empty directory


def read_all(storage: Storage) -> bytes:
    data = b""
    offset = storage.recovered.log_start
    while part := storage.read(offset, storage.recovered.log_end, 3000):
        data += part
        offset = last_head(part).last_offset + 1
    return data


@dataclass
class Later:
    """An executor whose jobs run when the test says so."""

    jobs: list[Callable[[], None]] = field(default_factory=list)

    def submit(self, job: Callable[[], None]) -> None:
        self.jobs.append(job)

    def run_one(self) -> None:
        if self.jobs:
            self.jobs.pop(0)()

    def close(self) -> None:
        while self.jobs:
            self.run_one()


@dataclass
class State:
    """The log as it should be after an operation: where it starts, and its batches (base offset, bytes)."""

    start: int = 0
    batches: tuple[tuple[int, bytes], ...] = ()
    end: int = 0


class Life:
    """A random sequence of operations on a replica's storage, and the data reported as durable."""

    def __init__(self, disk: Disk, seed: int) -> None:
        self.rng = Random(seed)
        self.disk = disk
        self.executor = Later()
        self.epoch = 1
        self.number = 0
        self.saves = 0
        self.high_watermark = 0
        self.states = [State()]
        self.elections: list[Election | None] = [None]
        self.flushed = self.saved = 0
        self.asked: set[SnapshotId] = set()
        self.stored: set[SnapshotId] = set()
        self.deleted: set[SnapshotId] = set()
        self.downloading = SnapshotId(0, 0)
        self.failures: list[DiskFailed] = []
        self.storage: Storage | None = None

    def on_input(self, event: Any) -> None:
        match event:
            case Flushed(number=number):
                self.flushed = number
            case Saved(number=number):
                self.saved = number
            case SnapshotTaken(id=snapshot):
                self.stored.add(snapshot)
            case SnapshotStored(refused=refused):
                assert not refused
                self.stored.add(self.downloading)

    def run(self, steps: int) -> None:
        self.storage = Storage(
            self.disk, "node/log", self.executor, on_input=self.on_input, on_failure=self.failures.append,
            limits=LIMITS._replace(cache_bytes_max=2000),
        )  # fmt: skip
        moves = [self.append] * 10 + [
            self.flush, self.flush, self.flush, self.commit, self.elect, self.truncate, self.take_snapshot,
            self.download, self.clean, self.tick,
        ]  # fmt: skip
        for _ in range(steps):
            self.rng.choice(moves)()
        self.storage.close()

    @property
    def now(self) -> State:
        return self.states[-1]

    def perform(self, effect: Any) -> None:
        assert self.storage is not None
        self.storage.perform(effect)

    def append(self) -> None:
        end = self.now.end
        made = []
        for _ in range(self.rng.choice((1, 1, 1, 3))):
            count = self.rng.choice((1, 1, 4))
            data = batch(end, count=count, epoch=self.epoch, size=self.rng.choice((20, 300, 1500)))
            made.append((end, data))
            end += count
        self.number += 1
        state = State(self.now.start, (*self.now.batches, *made), end)
        data = b"".join(data for _, data in made)
        self.states.append(state)
        self.perform(Append(self.number, made[0][0], end, self.epoch, data))

    def flush(self) -> None:
        self.executor.run_one()

    def commit(self) -> None:
        # A follower learns of it from the leader, and may have to flush yet what a majority holds.
        ends = [self.states[self.flushed].end, self.now.end]
        self.high_watermark = max(self.high_watermark, self.rng.choice(ends))
        self.perform(HighWatermark(self.high_watermark))

    def elect(self) -> None:
        self.epoch += 1
        self.saves += 1
        vote = ReplicaKey(self.rng.randint(1, 3), bytes(15) + b"\7") if self.rng.random() < 0.5 else None
        leader = self.rng.choice((None, 1, 2))
        self.elections.append(Election(self.epoch, leader, vote))
        self.perform(SaveElection(self.saves, self.epoch, leader, vote, 1, ()))
        if self.rng.random() < 0.5:
            self.number += 1
            end = self.now.end
            data = leader_change(end, self.epoch)
            self.states.append(State(self.now.start, (*self.now.batches, (end, data)), end + 1))
            self.perform(Append(self.number, end, end + 1, self.epoch, data))
            self.perform(SaveEpochs(((self.epoch, end),)))

    def truncate(self) -> None:
        cuts = [base for base, _ in self.now.batches if base >= self.high_watermark] + [self.now.end]
        end = self.rng.choice(cuts)
        if end < self.high_watermark:
            return
        self.number += 1
        kept = tuple(entry for entry in self.now.batches if entry[0] < end)
        self.states.append(State(self.now.start, kept, end))
        self.perform(Truncate(self.number, end))

    def take_snapshot(self) -> None:
        assert self.storage is not None
        snapshot = self.snapshot_at(self.high_watermark)
        if snapshot is None:
            return
        self.asked.add(snapshot)
        writer = self.storage.new_snapshot(snapshot, 5, 6)
        if writer is not None:
            writer.append([b"state"] * 3)
            writer.freeze()

    def snapshot_at(self, end: int) -> SnapshotId | None:
        """The id of a snapshot that ends at a batch boundary of the log."""
        last = [data for base, data in self.now.batches if base < end]
        if not last or end not in {*(base for base, _ in self.now.batches), self.now.end}:
            return None
        return SnapshotId(end, int.from_bytes(last[-1][12:16], "big"))

    def download(self) -> None:
        end = self.now.end + self.rng.randint(1, 50)
        self.epoch += 1
        snapshot = SnapshotId(end, self.epoch)
        source = SnapshotBytes(self.epoch, 7)
        data = source.header(8) + source.data([b"other state"] * 5) + source.footer()
        self.asked.add(snapshot)
        self.downloading = snapshot
        self.perform(WriteSnapshotPart(1, snapshot, 0, data[:100]))
        self.perform(WriteSnapshotPart(2, snapshot, 100, data[100:]))
        self.perform(FreezeSnapshot(3, snapshot))
        # As the core: the log is emptied when the snapshot is stored.
        self.executor.close()
        if snapshot not in self.stored:
            return
        self.high_watermark = end
        self.number += 1
        self.states.append(State(end, (), end))
        self.perform(ResetLog(self.number, snapshot))

    def clean(self) -> None:
        """Move the log's start up to the newest stored snapshot, and delete those before it."""
        if not self.stored:
            return
        newest = max(self.stored, key=lambda snapshot: (snapshot.epoch, snapshot.end_offset))
        self.perform(AdvanceLogStart(self.next_clean(), newest.end_offset))
        for snapshot in self.stored - self.deleted - {newest}:
            self.deleted.add(snapshot)
            self.perform(DeleteSnapshot(snapshot))

    def next_clean(self) -> int:
        self.number += 1
        self.states.append(self.now)
        return self.number

    def tick(self) -> None:
        assert self.storage is not None
        self.storage.tick(self.rng.randint(0, 200_000))

    def check(self, disk: Disk) -> None:
        """Check that the state that a start finds on `disk` is possible."""
        storage = open_storage(disk)
        found = storage.recovered
        assert found.election in self.elections[self.saved :]
        ids = {stored.id for stored in found.snapshots}
        assert (self.stored - self.deleted) - ids == {
            snapshot for snapshot in self.stored - self.deleted if snapshot.end_offset < found.log_start
        }
        assert ids <= self.asked
        data = read_all(storage)
        # A snapshot was stored that the log on disk does not reach: a download, or an own one of what was not flushed.
        is_reset = found.log_start == found.log_end and found.log_end in {at.end_offset for at in ids}
        is_reset = is_reset and found.log_end > min(state.end for state in self.states[self.flushed :])
        assert is_reset or any(
            _may_be(data, found.log_start, found.log_end, self.states, self.flushed, state)
            for state in range(self.flushed, len(self.states))
        ), f"start {found.log_start}, end {found.log_end}, last flushed end {self.states[self.flushed].end}"
        # And the life goes on from there, and ends well.
        epoch = max(self.epoch, 1)
        storage.perform(Append(1, found.log_end, found.log_end + 1, epoch, batch(found.log_end, epoch=epoch)))
        storage.close()
        again = open_storage(disk)
        assert again.recovered.log_end == found.log_end + 1
        assert [note for note in again.notes if note[0] != "epoch_checkpoint_healed"] == []
        assert [name for name in disk.tree() if name.endswith((".part", ".deleted", ".tmp"))] == []
        again.close()


def open_storage(disk: Disk) -> Storage:
    return Storage(
        disk, "node/log", Later(), on_input=lambda _: None, on_failure=unexpected, limits=LIMITS
    )  # fmt: skip


def new_life(seed: int) -> Life:
    disk = Disk()
    disk.directories.add("node")
    return Life(disk, seed)


def _may_be(data: bytes, start: int, end: int, states: list[State], flushed: int, at: int) -> bool:
    """Whether a log of these bytes is possible after a crash with the operations up to `at` begun."""
    state = states[at]
    if start > state.start and start not in {base for base, _ in state.batches} | {state.end}:
        return False
    whole = [entry for entry in state.batches if start <= entry[0] < end]
    if start < state.start or b"".join(data for _, data in whole) != data:
        return False
    # All that was flushed and that no later operation took away, the one that the crash interrupted among them.
    least = min(state.end for state in states[flushed : at + 2])
    return end >= least or start > state.start


@pytest.mark.parametrize("seed", range(8))
def test_a_start_after_any_crash_finds_all_data_reported_as_saved(seed: int) -> None:
    first = new_life(seed)
    first.run(60)
    rng = Random(seed)

    for crash_at in range(2, len(first.disk.operations) + 1):
        life = new_life(seed)
        life.disk.crash_at = crash_at
        with pytest.raises(Crashed):
            life.run(60)

        life.check(life.disk.after_crash(rng))

        assert life.failures == []


@pytest.mark.parametrize("seed", range(3))
def test_the_state_that_a_start_finds_is_durable(seed: int) -> None:
    """A process was killed with writes in the page cache; then, after a start, the machine went down."""
    first = new_life(seed)
    first.run(60)

    for crash_at in range(OPENING_OPERATIONS + 2, len(first.disk.operations) + 1, 3):
        life = new_life(seed)
        life.disk.crash_at = crash_at
        with pytest.raises(Crashed):
            life.run(60)
        life.disk.crash_at = None
        life.disk.locked.clear()
        started = open_storage(life.disk)

        again = open_storage(life.disk.after_crash(Random(crash_at)))

        assert again.recovered == started.recovered
        assert read_all(again) == read_all(started)


@pytest.mark.parametrize("seed", range(3))
def test_after_a_failed_operation_nothing_more_is_reported(seed: int) -> None:
    first = new_life(seed)
    first.run(60)
    rng = Random(seed)

    for fail_at in range(OPENING_OPERATIONS + 1, len(first.disk.operations) + 1):
        life = new_life(seed)
        life.disk.fail_at = fail_at
        with contextlib.suppress(DiskFailed):
            life.run(60)
        before = (life.flushed, life.saved, set(life.stored))
        life.executor.close()

        assert [str(failure.error) for failure in life.failures] == [str(life.disk.failure)]
        assert (life.flushed, life.saved, life.stored) == before
        life.failures.clear()
        life.check(life.disk.after_crash(rng))


def test_a_directory_that_cannot_be_opened_is_one_clear_error() -> None:
    for fail_at in range(1, OPENING_OPERATIONS + 1):
        life = new_life(1)
        life.disk.fail_at = fail_at

        with pytest.raises(StorageError, match=r"^node/log cannot be opened: .* was made to fail"):
            life.run(1)

        assert life.disk.handles == {}
