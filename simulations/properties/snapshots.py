"""Snapshots: each has the state of the log up to its end, ends where a batch ends, and covers what a log lacks.

S17 SnapshotAtLogStart, SnapshotContentEqualsReplay; S28 SnapshotsKnown (a stored snapshot is registered, and not
fetched again).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raft.interface import effects as do
from raft.interface.inputs import SnapshotStored, SnapshotTaken
from raft.state.log_view import BOOTSTRAP
from raft.storage.names import snapshot_name
from records.batch import CorruptBatch, batches, records_of
from records.control_batch import SNAPSHOT_FOOTER, SNAPSHOT_HEADER, control_type
from records.messages.fetch_snapshot import FetchSnapshotRequest
from simulations.world.disk import DIRECTORY
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from raft.interface.config import SnapshotId
    from raft.interface.recovered import Recovered
    from records.batch import Batch
    from simulations.world.ledger import Ledger
    from simulations.world.process import Process


class Snapshots:
    """contents: the bytes of each snapshot that any node took, by id: a download must be one of them."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.contents: dict[SnapshotId, set[bytes]] = {}
        self._parts: dict[int, int] = {}  # node id: number of the last part
        self._freezing: dict[int, dict[int, SnapshotId]] = {}  # node id: by number of the order
        self.inputs = {SnapshotTaken: self._on_taken, SnapshotStored: self._on_stored}
        self.performs = {
            do.FreezeSnapshot: self._freezes,
            do.DeleteSnapshot: self._deletes,
            do.AdvanceLogStart: self._advances,
            do.WriteSnapshotPart: self._writes_part,
            do.Send: self._sends,
        }

    def on_started(self, process: Process) -> None:
        self._freezing[process.node.id] = {}
        self._parts[process.node.id] = 0

    def on_recovered(self, process: Process, recovered: Recovered) -> None:
        ends = [stored.id.end_offset for stored in recovered.snapshots]
        if recovered.log_start > max(ends, default=0):
            text = f"node {process.node.id} starts with a log from {recovered.log_start}, and snapshots up to {ends}"
            raise Violation("S17", text)
        for stored in recovered.snapshots:
            if stored.id in self.contents:  # another node wrote it, and this one died before it could report its own
                self.contents[stored.id].add(self._check(process, stored.id))

    def _on_taken(self, process: Process, event: SnapshotTaken, effects: list[Any]) -> None:
        self.contents.setdefault(event.id, set()).add(self._check(process, event.id))
        _is_known(process, event.id, effects)

    def _on_stored(self, process: Process, event: SnapshotStored, effects: list[Any]) -> None:
        snapshot = self._freezing[process.node.id].pop(event.number)
        if event.refused:
            return
        data = self._check(process, snapshot)
        # The process that wrote it may have died before it could report it.
        if data not in self.contents.setdefault(snapshot, {data}):
            raise Violation("S17", f"node {process.node.id} stored bytes for {snapshot} that no node wrote")
        _is_known(process, snapshot, effects)

    def _writes_part(self, process: Process, effect: do.WriteSnapshotPart) -> None:
        if effect.number <= self._parts[process.node.id]:
            raise Violation("S28", f"node {process.node.id} uses the number {effect.number} for a second part")
        self._parts[process.node.id] = effect.number

    def _sends(self, process: Process, effect: do.Send) -> None:
        if type(effect.request) is not FetchSnapshotRequest:
            return
        wanted = effect.request.topics[0].partitions[0].snapshot_id
        if any(each.id == (wanted.end_offset, wanted.epoch) for each in process.replica.log.snapshots):
            raise Violation("S28", f"node {process.node.id} fetches {wanted}, which it already has")

    def _check(self, process: Process, snapshot: SnapshotId) -> bytes:
        """Check a snapshot that is reported as stored; returns its bytes."""
        node_id = process.node.id
        history = self._ledger.history
        path = f"{DIRECTORY}/{snapshot_name(*snapshot)}"
        inode = process.node.disk.durable.get(path)
        if inode is None:
            raise Violation("S17", f"node {node_id} has stored {snapshot}, but its disk has no file of that name")
        data = bytes(inode.synced)
        if history.epoch_at.get(snapshot.end_offset) != snapshot.epoch:
            raise Violation("S17", f"node {node_id} has stored {snapshot}, where no committed batch ends")
        try:
            batches = list(_batches(data))
        except CorruptBatch as error:
            raise Violation("S17", f"node {node_id} has stored {snapshot}, but its file is damaged: {error}") from None
        kinds = [control_type(records_of(data, batch)[0].key) for data, batch in batches if batch.is_control]
        if kinds[:1] != [SNAPSHOT_HEADER] or kinds[-1:] != [SNAPSHOT_FOOTER] or not batches[-1][1].is_control:
            raise Violation("S17", f"node {node_id} has stored {snapshot}, but its file is incomplete")
        if not history.gives(batches, snapshot.end_offset):
            raise Violation(
                "S17", f"the snapshot {snapshot} of node {node_id} differs from the state of the log up to there"
            )
        return data

    def _freezes(self, process: Process, effect: do.FreezeSnapshot) -> None:
        self._freezing[process.node.id][effect.number] = effect.id

    def _advances(self, process: Process, effect: do.AdvanceLogStart) -> None:
        self._covers(process, effect.start_offset, None)
        older = [each.id for each in process.replica.log.snapshots if each.id.end_offset < effect.start_offset]
        if older:
            raise Violation(
                "S28",
                f"node {process.node.id} deletes its log below {effect.start_offset}, but keeps the snapshots {older}",
            )

    def _deletes(self, process: Process, effect: do.DeleteSnapshot) -> None:
        if effect.id != BOOTSTRAP:
            self._covers(process, self._ledger.shadow(process).start, effect.id)

    def _covers(self, process: Process, start: int, without: SnapshotId | None) -> None:
        """The log begins at `start`: some stored snapshot reaches up to there."""
        stored = self._ledger.durable(process.node).snapshots
        if start and not any(snapshot.end_offset >= start and snapshot != without for snapshot in stored):
            text = f"the log of node {process.node.id} starts at {start}, but its snapshots are {sorted(stored)}"
            raise Violation("S17", text)


def _batches(data: bytes) -> Iterator[tuple[bytes, Batch]]:
    position = 0
    for batch in batches(data):
        yield data, batch
        position = batch.position + batch.size
    if position != len(data):
        raise CorruptBatch(-1, position, f"{len(data) - position} bytes are no batch")


def _is_known(process: Process, snapshot: SnapshotId, effects: list[Any]) -> None:
    """A stored snapshot is registered, or ordered to be deleted."""
    held = [effect for _, effect in process.replica._held]  # noqa: SLF001 - orders wait while an election is saved
    is_deleted = any(type(effect) is do.DeleteSnapshot and effect.id == snapshot for effect in (*effects, *held))
    if not is_deleted and all(stored.id != snapshot for stored in process.replica.log.snapshots):
        raise Violation("S28", f"node {process.node.id} stored {snapshot}, but its replica does not list it")
