"""Writing a snapshot of the controller's state, in steps that alternate with other work (KIP-630)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from controller.state.records_of import UnwritableMetadataError
from controller.state.snapshots import BATCH_PARTITIONS, steps
from raft.snapshots import may_take

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.interface.effects import TakeSnapshot
    from controller.state.view import View
    from raft.interface.config import SnapshotId
    from raft.interface.voters import VoterSet
    from raft.state.replica import Replica
    from raft.storage.snapshots import SnapshotWriter
    from raft.storage.storage import Storage

# Steps per iteration of the loop: about half a millisecond of work each.
STEPS_PER_ITERATION = 4


class SnapshotTask:
    """Writes one snapshot at a time.

    later: runs an action in a later iteration of the loop, after a rest in s; wall_ms: the wall clock; on_given_up:
    called for one that was not written, with the reason. A state that its metadata.version cannot express is one: the
    node goes on, as Kafka's controller does. batch_records, rest_s: of one batch, and between iterations; others for
    simulations alone, so that a small snapshot lasts.
    """

    def __init__(
        self,
        storage: Storage,
        later: Callable[[Callable[[], None], float], None],
        wall_ms: Callable[[], int],
        on_given_up: Callable[[SnapshotId, str], None],
    ) -> None:
        self.batch_records = BATCH_PARTITIONS
        self.rest_s = 0.0
        self._storage = storage
        self._later = later
        self._wall_ms = wall_ms
        self._on_given_up = on_given_up
        self._on_over: Callable[[], None] | None = None
        self._id: SnapshotId | None = None  # until it is on disk
        self._writer: SnapshotWriter | None = None
        self._steps: Iterator[tuple[bytes, int] | None] | None = None

    def take(self, effect: TakeSnapshot, replica: Replica) -> None:
        """Begin to write the snapshot that the controller asks for."""
        kraft_version, voters = replica.control_state_at(effect.id.end_offset)
        if not may_take(replica, effect.id) or not self.begin(
            effect.id, effect.timestamp_ms, effect.view, kraft_version, voters
        ):
            self._on_given_up(effect.id, "one that is as new is here")

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
        self._steps = steps(view, self.batch_records)
        self._later(self._write_next, self.rest_s)
        return True

    @property
    def is_under_way(self) -> bool:
        """Whether a snapshot was begun and is neither on disk nor dropped."""
        return self._id is not None

    def when_over(self, act: Callable[[], None]) -> None:
        """Call `act` once, when the snapshot that is under way is on disk, given up or dropped."""
        self._on_over = act

    def on_stored(self, id_: SnapshotId) -> None:
        """A snapshot is on disk."""
        if id_ == self._id:
            self._over()

    def drop(self) -> None:
        """Drop the snapshot that is being written, if there is one."""
        self._discard()
        self._over()

    def give_up(self, reason: str) -> None:
        """Drop the snapshot that is being written, and report it. One that was written is still stored."""
        id_ = self._discard()
        if id_ is not None:
            self._on_given_up(id_, reason)
        self._over()

    def _discard(self) -> SnapshotId | None:
        """Delete the file that is being written; returns the snapshot's id, None where none is being written."""
        if self._writer is None:
            return None
        self._writer.drop()
        self._writer = self._steps = None
        return self._id

    def _over(self) -> None:
        self._id = None
        act, self._on_over = self._on_over, None
        if act is not None:
            act()

    def _write_next(self) -> None:
        if self._writer is None or self._steps is None:
            return
        try:
            made = list(islice(self._steps, STEPS_PER_ITERATION))
        except UnwritableMetadataError as error:
            self.give_up(str(error))
            return
        for body in made:
            if body is not None:
                self._writer.append_body(*body)
        if len(made) < STEPS_PER_ITERATION:
            self._writer.freeze()
            self._writer = self._steps = None
        else:
            self._later(self._write_next, self.rest_s)
