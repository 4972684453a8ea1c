"""The core's view of its log: offsets, epochs and snapshots, and the rules that need only these (KIP-595, KIP-630)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from raft.interface.config import SnapshotId

if TYPE_CHECKING:
    from raft.interface.recovered import Recovered, StoredSnapshot

BOOTSTRAP = SnapshotId(0, 0)
"""The id of the snapshot that the formatter writes. Its own node reads it; it is never sent to another node."""

OFFSET_MAX = 1 << 62
"""The largest offset accepted from a peer, so that arithmetic on offsets does not overflow an int64."""

NOWHERE = -1
"""The durable end while the log is being emptied."""


class EpochEnd(NamedTuple):
    """Where an epoch ends in a log. end_offset: exclusive."""

    end_offset: int
    epoch: int


def order(snapshot: StoredSnapshot) -> tuple[int, int]:
    """The sort key of snapshots: epoch, then end offset."""
    return snapshot.id.epoch, snapshot.id.end_offset


class LogView:
    """start and end (exclusive); durable_end: the end of what is flushed; committed: the records below never change.

    epochs: (epoch, start offset), ascending in both; the last may start at the end, and so have no record yet.
    snapshots: ascending. committed_before: the records below it were committed when an earlier process ran: they are
    not truncated, but this process learns its high watermark from the leader. issued, done: numbers of the last
    operation ordered, and of the last that is on disk.

    Invariants: start <= committed where anything is known to be committed; durable_end <= end; where start is above 0,
    a snapshot ends at or after it.
    """

    __slots__ = (
        "_pending", "bytes", "committed", "committed_before", "done", "durable_end", "end", "epochs", "issued",
        "snapshots", "start",
    )  # fmt: skip

    def __init__(self, recovered: Recovered) -> None:
        self.start = recovered.log_start
        self.end = self.durable_end = recovered.log_end
        self.epochs = list(recovered.epochs)
        self.snapshots = sorted(recovered.snapshots, key=order)
        self.bytes = recovered.log_bytes
        self.committed = max((snapshot.id.end_offset for snapshot in self.snapshots), default=0)
        self.committed_before = min(recovered.committed, self.end)
        self.issued = self.done = 0
        self._pending: deque[tuple[int, int]] = deque()
        assert self.start <= self.end, f"the log starts at {self.start} and ends at {self.end}"
        assert self.start <= self.committed, f"no snapshot covers what is before the log's start {self.start}"
        assert self.committed <= self.end, f"the log ends at {self.end}, before a snapshot of {self.committed}"

    # Reading

    @property
    def last_epoch(self) -> int:
        """The last epoch in the log; in an empty log the epoch of the newest snapshot, else 0."""
        if self.epochs:
            return self.epochs[-1][0]
        return self.snapshots[-1].id.epoch if self.snapshots else 0

    @property
    def committed_end(self) -> int:
        """The records below it are known to be committed, by this process or by an earlier one."""
        return max(self.committed, self.committed_before)

    @property
    def is_flushed(self) -> bool:
        """Whether all operations that were ordered are on disk."""
        return self.done == self.issued

    @property
    def latest_snapshot(self) -> StoredSnapshot | None:
        return self.snapshots[-1] if self.snapshots else None

    def snapshot(self, snapshot: SnapshotId) -> StoredSnapshot | None:
        """The stored snapshot with this id; None where there is none."""
        return next((stored for stored in self.snapshots if stored.id == snapshot), None)

    def is_up_to_date(self, epoch: int, end_offset: int) -> bool:
        """Whether a log that ends like this is at least as up to date as ours (Raft 5.4.1)."""
        return (epoch, end_offset) >= (self.last_epoch, self.end)

    def end_of_epoch(self, epoch: int) -> EpochEnd:
        """Where `epoch` ends in this log, or else the newest earlier epoch of this log (KIP-101, KIP-279)."""
        place = bisect_right(self.epochs, epoch, key=lambda entry: entry[0])
        if place == len(self.epochs):
            end = EpochEnd(self.end, self.last_epoch)
        else:
            end = EpochEnd(self.epochs[place][1], self.epochs[place - 1][0] if place else epoch)
        if self.snapshots and end == (self.snapshots[0].id.end_offset, epoch):
            # Before the oldest epoch of the log is only the snapshot that the log starts from.
            return EpochEnd(*self.snapshots[0].id)
        return end

    def validate(self, offset: int, epoch: int) -> EpochEnd | SnapshotId | None:
        """Whether a log that ends at `offset`, with a last record of `epoch`, is a prefix of this one.

        None: it is. An EpochEnd: it diverges, and the newest epoch that both may share ends there in this log. A
        SnapshotId: it ends before the start of this log, so it must begin with this snapshot.
        """
        if self.start == 0 and offset == 0:
            return None
        if offset == self.end and self.epochs and self.epochs[-1][0] == epoch and self.epochs[-1][1] < offset:
            return None  # the sender is caught up: nearly every Fetch
        if self.snapshots:
            earliest = self.snapshots[0].id
            if offset < self.start or (offset == self.start and epoch != earliest.epoch) or epoch < earliest.epoch:
                return self.snapshots[-1].id
        end = self.end_of_epoch(epoch)
        return end if end.epoch != epoch or end.end_offset < offset else None

    def truncation(self, diverging: EpochEnd) -> int:
        """Where to truncate this log after an answer with a diverging epoch: the end of what both logs may share."""
        if diverging.epoch == 0:
            return min(diverging.end_offset, self.end)
        own = self.end_of_epoch(diverging.epoch)
        if own.epoch == diverging.epoch:
            return min(own.end_offset, diverging.end_offset)
        return own.end_offset

    # Changing. Each change is an operation with a number; it is on disk once `on_flushed` was called with the number.

    def append(self, end_offset: int, epoch: int) -> tuple[int, bool]:
        """Append batches of one epoch, up to `end_offset`; returns the number, and whether the epochs changed."""
        assert end_offset > self.end, f"an append to {end_offset} at {self.end}"
        is_new = self.assign(epoch)
        self.end = end_offset
        return self._issue(end_offset), is_new

    def assign(self, epoch: int) -> bool:
        """Start `epoch` at the end of the log, unless it is the last one; returns whether the epochs changed."""
        assert not self.epochs or epoch >= self.epochs[-1][0], f"epoch {epoch} after {self.epochs[-1][0]}"
        if self.epochs and self.epochs[-1][0] == epoch:
            return False
        # An epoch that was assigned and has no record is removed.
        while self.epochs and self.epochs[-1][1] >= self.end:
            self.epochs.pop()
        self.epochs.append((epoch, self.end))
        return True

    def truncate(self, end_offset: int) -> tuple[int, bool]:
        """Truncate the log to `end_offset`; returns the number, and whether the epochs changed."""
        assert self.committed <= end_offset <= self.end, f"truncation to {end_offset}, committed is {self.committed}"
        is_changed = self._cut(end_offset)
        return self._issue(end_offset), is_changed

    def reset(self, snapshot: SnapshotId) -> int:
        """Empty the log; it starts at the end of a stored snapshot. Returns the number."""
        assert snapshot.end_offset >= self.committed, f"{snapshot} is before what is committed, {self.committed}"
        self._pending = deque((number, NOWHERE) for number, _ in self._pending)
        self.durable_end = NOWHERE
        self.start = self.end = self.committed = snapshot.end_offset
        self.committed_before = 0
        self.epochs.clear()
        return self._issue(snapshot.end_offset)

    def advance_start(self, start_offset: int) -> tuple[int, bool]:
        """Move the start to the end of a stored snapshot; returns the number, and whether the epochs changed."""
        assert self.start < start_offset <= self.committed, f"{start_offset} is not in ({self.start}, {self.committed}]"
        self.start = start_offset
        kept = [entry for entry in self.epochs if entry[1] > start_offset]
        before = self.epochs[: len(self.epochs) - len(kept)]
        if before:
            kept.insert(0, (before[-1][0], start_offset))
        is_changed = kept != self.epochs
        self.epochs = kept
        return self._issue(self.end), is_changed

    def on_flushed(self, number: int, end_offset: int, size: int) -> bool:
        """All operations up to `number` are on disk. end_offset, size: -1 for as expected, or unchanged.

        Returns whether the epochs changed: they do where the disk ends before the offset that was asked for.
        """
        assert number <= self.issued, f"operation {number} was not ordered yet, the last was {self.issued}"
        if number <= self.done:
            return False
        self.done = number
        while self._pending and self._pending[0][0] <= number:
            self.durable_end = self._pending.popleft()[1]
        assert self.durable_end <= self.end, f"{self.durable_end} is on disk of a log that ends at {self.end}"
        if size >= 0:
            self.bytes = size
        if 0 <= end_offset < self.end and not self._pending:
            assert end_offset >= self.committed, f"the disk ends at {end_offset}, committed is {self.committed}"
            return self._cut(end_offset)
        return False

    def add_snapshot(self, snapshot: StoredSnapshot) -> None:
        insort(self.snapshots, snapshot, key=order)

    def forget_snapshots_before(self, snapshot: SnapshotId) -> list[SnapshotId]:
        """Forget the snapshots older than this one, and return their ids."""
        older = [stored.id for stored in self.snapshots if order(stored) < (snapshot.epoch, snapshot.end_offset)]
        del self.snapshots[: len(older)]
        return older

    def commit(self, offset: int) -> None:
        """All records below `offset` are committed; a lower offset than before has no effect."""
        assert offset <= self.end, f"committed {offset} is above the log's end {self.end}"
        self.committed = max(self.committed, offset)

    def _issue(self, end_offset: int) -> int:
        self.issued += 1
        self._pending.append((self.issued, end_offset))
        return self.issued

    def _cut(self, end_offset: int) -> bool:
        self.end = end_offset
        # Flushes that are still under way cover nothing of the part that is removed.
        self._pending = deque((number, min(end, end_offset)) for number, end in self._pending)
        self.durable_end = min(self.durable_end, end_offset)
        assert self.durable_end <= self.end, f"{self.durable_end} is on disk of a log that was cut at {self.end}"
        count = len(self.epochs)
        while self.epochs and self.epochs[-1][1] >= end_offset:
            self.epochs.pop()
        return len(self.epochs) != count
