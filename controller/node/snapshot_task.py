"""Writing a snapshot of the controller's state, in steps that alternate with other work (KIP-630)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.state.records_of import UnwritableMetadataError
from controller.state.snapshots import bodies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.state.view import View
    from raft.config import SnapshotId
    from raft.storage.snapshots import SnapshotWriter
    from raft.storage.storage import Storage
    from raft.voters import VoterSet

# Batches per iteration of the loop: about half a millisecond of work each.
BATCHES_PER_ITERATION = 4


class SnapshotTask:
    """Writes one snapshot at a time.

    later: runs an action in a later iteration of the loop; wall_ms: the wall clock; give_up: called for a state that
    its metadata.version cannot express: no snapshot of it can be written, and the node goes on, as Kafka's controller
    does.
    """

    def __init__(
        self,
        storage: Storage,
        later: Callable[[Callable[[], None]], None],
        wall_ms: Callable[[], int],
        give_up: Callable[[SnapshotId, str], None],
    ) -> None:
        self._storage = storage
        self._later = later
        self._wall_ms = wall_ms
        self._give_up = give_up
        self._id: SnapshotId | None = None
        self._writer: SnapshotWriter | None = None
        self._bodies: Iterator[tuple[bytes, int]] | None = None

    def begin(
        self, id_: SnapshotId, timestamp_ms: int, view: View, kraft_version: int, voters: VoterSet | None
    ) -> bool:
        """Begin to write; False where that snapshot is stored already."""
        assert self._writer is None, "a snapshot is being written"
        self._writer = self._storage.new_snapshot(
            id_, timestamp_ms, self._wall_ms(), kraft_version=kraft_version, voters=voters
        )
        if self._writer is None:
            return False
        self._id = id_
        self._bodies = bodies(view)
        self._later(self._write_next)
        return True

    def drop(self) -> None:
        """Drop the snapshot that is being written, if there is one."""
        if self._writer is not None:
            self._writer.drop()
            self._writer = self._bodies = self._id = None

    def _write_next(self) -> None:
        if self._writer is None or self._bodies is None:
            return
        for _ in range(BATCHES_PER_ITERATION):
            try:
                found = next(self._bodies, None)
            except UnwritableMetadataError as error:
                id_ = self._id
                assert id_ is not None
                self.drop()
                self._give_up(id_, str(error))
                return
            if found is None:
                self._writer.freeze()
                self._writer = self._bodies = self._id = None
                return
            self._writer.append_body(*found)
        self._later(self._write_next)
