"""Disks: a start finds the state that was reported as saved, and finds it durable; nothing is reported as stored that
may still be lost; a node stops only by a fault of its disk.

S18 DurableState, S29 StopsByFault.
"""

from __future__ import annotations

import errno
from collections import deque
from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.interface.inputs import Flushed, Saved, SnapshotStored, SnapshotTaken
from raft.state.log_view import BOOTSTRAP
from raft.storage.errors import DiskFailed
from simulations.world.chains import EMPTY
from simulations.world.process import PartDenied
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from raft.interface.config import SnapshotId
    from raft.interface.recovered import Recovered
    from simulations.world.ledger import Ledger
    from simulations.world.process import Node, Process

# What the system says of a disk that fails.
FAULTS = {errno.EIO, errno.ENOSPC, errno.EROFS}

Election = tuple[int, int | None, int | None]  # epoch, leader, vote


class Promise:
    """The contents that one disk must have. elections: those that a start may find, the first being the last reported
    as saved; end, number: up to where the log was reported as flushed, and its prefix number; operations: (number, end,
    prefix) of those ordered since.
    """

    def __init__(self) -> None:
        self.elections: list[tuple[int, Election | None]] = [(0, None)]
        self.end = 0
        self.number = EMPTY
        self.operations: deque[tuple[int, int, int]] = deque()
        self.snapshots: set[SnapshotId] = set()
        self.freezing: dict[int, SnapshotId] = {}

    def cut(self, end_offset: int, number: int) -> None:
        """Limit the promise: from now on the disk must have only the log up to here."""
        if end_offset < self.end:
            self.end, self.number = end_offset, number


class Recovery:
    """promises: by node id, of its present disk."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._promises: dict[int, Promise] = {}
        self.performs = {
            do.SaveElection: self._saves,
            do.Append: self._operates,
            do.Truncate: self._truncates,
            do.ResetLog: self._resets,
            do.AdvanceLogStart: self._operates,
            do.FreezeSnapshot: self._freezes,
            do.DeleteSnapshot: self._deletes,
        }
        self.inputs = {
            Saved: self._on_saved,
            Flushed: self._on_flushed,
            SnapshotTaken: self._on_taken,
            SnapshotStored: self._on_stored,
        }

    def on_disk_replaced(self, node: Node) -> None:
        """The disk was replaced, or restored from a backup: nothing must be found any more."""
        self._promises.pop(node.id, None)

    def on_start_refused(self, process: Process, error: Exception) -> None:
        """A start may refuse a damaged disk, but not the state that a crash leaves."""
        if process.node.id not in self._ledger.damaged:
            raise Violation("S18", f"node {process.node.id} refuses to start, but its disk was not damaged: {error}")

    def on_failed(self, process: Process, error: Exception) -> None:
        """A node stops only by an injected fault: an error of the disk, damaged contents, or a peer that denies it."""
        if isinstance(error, PartDenied):
            return
        cause = error.error if isinstance(error, DiskFailed) else error.__cause__ or error
        is_reported = isinstance(cause, OSError) and cause.errno in FAULTS
        if not is_reported and process.node.id not in self._ledger.damaged:
            text = f"node {process.node.id} stops, but its disk neither failed nor was damaged: {error}"
            raise Violation("S29", text)

    def on_snapshot_lost(self, node: Node, snapshot: SnapshotId) -> None:
        """A fault removed a snapshot."""
        promise = self._promises.get(node.id)
        if promise is not None:
            promise.snapshots.discard(snapshot)

    def on_recovered(self, process: Process, recovered: Recovered) -> None:
        """A start has opened the disk, and passes this to the core. Shadows are made before."""
        node = process.node
        promise = self._promises.get(node.id)
        election = recovered.election
        saved = None
        if election is not None:
            saved = (election.epoch, election.leader_id, None if election.voted is None else election.voted.id)
        if promise is not None:
            allowed = [each for _, each in promise.elections]
            if saved not in allowed:
                raise Violation("S18", f"node {node.id} starts with {saved}; it may have saved one of {allowed}")
            self._holds_log(process, recovered, promise)
            ids = {stored.id for stored in recovered.snapshots}
            missing = [each for each in promise.snapshots - ids if each.end_offset >= recovered.log_start]
            if missing:
                raise Violation("S18", f"node {node.id} starts without {sorted(missing)}, which were stored")
        self._is_durable(process, recovered, saved)
        self._promises[node.id] = renewed = Promise()
        renewed.elections = [(0, saved)]
        shadow = self._ledger.shadow(process)
        renewed.end, renewed.number = shadow.end, shadow.last
        renewed.snapshots = {stored.id for stored in recovered.snapshots}

    def _holds_log(self, process: Process, recovered: Recovered, promise: Promise) -> None:
        shadow = self._ledger.shadow(process)
        if self._is_begun_anew(recovered, promise):
            return
        if recovered.log_end < promise.end:
            text = (
                f"node {process.node.id} starts with a log up to {recovered.log_end}; up to {promise.end} was flushed"
            )
            raise Violation("S18", text)
        if shadow.at(promise.end) != promise.number and promise.end >= shadow.start:
            text = f"node {process.node.id} starts with a log that differs from what it flushed up to {promise.end}"
            raise Violation("S18", text)

    def _is_begun_anew(self, recovered: Recovered, promise: Promise) -> bool:
        """Whether the log is empty after a stored snapshot of a later epoch than its last record: it was to be emptied
        for the snapshot, and the node died before it reported that.
        """
        ids = [stored.id for stored in recovered.snapshots if stored.id.end_offset == recovered.log_end]
        was = self._ledger.chains.epoch_of(promise.number)
        return recovered.log_start == recovered.log_end and any(snapshot.epoch > was for snapshot in ids)

    def _is_durable(self, process: Process, recovered: Recovered, election: Election | None) -> None:
        """The state that the core starts from would survive a power failure, too."""
        view = self._ledger.durable(process.node)
        shadow = self._ledger.shadow(process)
        end = recovered.log_end
        if view.at(end) != shadow.last:
            text = f"node {process.node.id} starts with a log up to {end}; on its disk it ends at {view.segments_end()}"
            raise Violation("S18", text)
        kept = view.election
        if election is not None and (
            kept
            != (election[0], -1 if election[1] is None else election[1], -1 if election[2] is None else election[2])
        ):
            raise Violation("S18", f"node {process.node.id} starts with {election}, but its disk has {kept}")
        lacking = {stored.id for stored in recovered.snapshots} - view.snapshots
        if lacking:
            raise Violation("S18", f"node {process.node.id} starts with {sorted(lacking)}, which are not on disk")

    # What is ordered

    def _saves(self, process: Process, effect: do.SaveElection) -> None:
        voted = None if effect.voted is None else effect.voted.id
        self._promise(process).elections.append((effect.number, (effect.epoch, effect.leader_id, voted)))

    def _operates(self, process: Process, effect: Any) -> None:
        shadow = self._ledger.shadow(process)
        self._promise(process).operations.append((effect.number, shadow.end, shadow.last))

    def _truncates(self, process: Process, effect: do.Truncate) -> None:
        self._operates(process, effect)
        shadow = self._ledger.shadow(process)
        self._promise(process).cut(shadow.end, shadow.last)

    def _resets(self, process: Process, effect: do.ResetLog) -> None:
        # The snapshot is stored: should the log on disk be behind it, a start empties it.
        self._operates(process, effect)
        promise = self._promise(process)
        shadow = self._ledger.shadow(process)
        promise.end, promise.number = shadow.end, shadow.last

    def _freezes(self, process: Process, effect: do.FreezeSnapshot) -> None:
        self._promise(process).freezing[effect.number] = effect.id

    def _deletes(self, process: Process, effect: do.DeleteSnapshot) -> None:
        self._promise(process).snapshots.discard(effect.id)

    # What is reported as stored

    def _on_saved(self, process: Process, event: Saved, _effects: list[Any]) -> None:
        promise = self._promise(process)
        promise.elections = [entry for entry in promise.elections if entry[0] >= event.number]

    def _on_flushed(self, process: Process, event: Flushed, _effects: list[Any]) -> None:
        promise = self._promise(process)
        while promise.operations and promise.operations[0][0] <= event.number:
            _, end, number = promise.operations.popleft()
            promise.end, promise.number = end, number
        for _, end, number in promise.operations:
            promise.cut(end, number)

    def _on_taken(self, process: Process, event: SnapshotTaken, _effects: list[Any]) -> None:
        self._keeps(process, event.id)

    def _on_stored(self, process: Process, event: SnapshotStored, _effects: list[Any]) -> None:
        snapshot = self._promise(process).freezing.pop(event.number, None)
        if snapshot is not None and not event.refused:
            self._keeps(process, snapshot)

    def _keeps(self, process: Process, snapshot: SnapshotId) -> None:
        if snapshot not in self._ledger.durable(process.node).snapshots:
            raise Violation(
                "S18", f"node {process.node.id} has stored {snapshot}, but its disk has no file of that name"
            )
        if snapshot != BOOTSTRAP:
            self._promise(process).snapshots.add(snapshot)

    def _promise(self, process: Process) -> Promise:
        return self._promises[process.node.id]
