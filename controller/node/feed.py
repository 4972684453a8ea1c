"""Passes committed records from the quorum to the controller: in order, and in pieces of some 8 KiB; larger batches, of
the log and of a snapshot, in parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.interface import inputs
from raft.state.roles import Follower, Leader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.core.controller import Controller
    from raft.interface.config import SnapshotId
    from raft.interface.effects import LeaderChanged
    from raft.state.replica import Replica
    from raft.storage.storage import Storage
    from records.batch import Batch

# The bytes that are read and replayed in one iteration of the loop, in 1 to 3 ms: a vote waits no longer than that.
PIECE_BYTES = 8 << 10
# A larger batch is replayed in parts of so many records, some 10 µs each at most.
PART_RECORDS = 200
# The pause between two pieces while this node knows no leader: replay must not delay the election.
ELECTION_PAUSE_S = 0.005
# The pause before this node looks again whether its leader has answered.
ANSWER_PAUSE_S = 0.1


class StateFeed:
    """Gives a standby its committed batches and snapshots, and the active controller the high watermark.

    A controller that becomes active gets all committed records before the `LeaderChanged`. step: has the controller
    take an input at once; later: runs an action in a later iteration of the loop, after a pause (s).
    """

    def __init__(
        self,
        replica: Replica,
        controller: Controller,
        storage: Storage,
        step: Callable[[inputs.Input], None],
        later: Callable[[Callable[[], None], float], None],
    ) -> None:
        self._controller = controller
        self._storage = storage
        self._step = step
        self._later = later
        self._replica = replica
        self._high_watermark = 0
        self._claim: inputs.LeaderChanged | None = None
        self._snapshot: SnapshotId | None = None
        self.piece_bytes = self.whole_bytes_max = PIECE_BYTES
        self.part_records = PART_RECORDS
        # The batch that is being replayed in parts.
        self._large: bytes | None = None
        # The batches of the snapshot that is being loaded, and the one of which records are left.
        self._batches: Iterator[tuple[bytes, Batch]] | None = None
        self._part: bytes | None = None
        self._is_going = False
        self._awaits_answer = False

    @property
    def is_level(self) -> bool:
        """Whether the state has all records that are known to be committed."""
        return (
            self._batches is None and self._large is None and self._controller.state.end_offset >= self._high_watermark
        )

    def high_watermark(self, offset: int) -> None:
        """All records below `offset` are committed."""
        self._high_watermark = max(self._high_watermark, offset)
        if self._controller.is_active:
            self._step(inputs.HighWatermark(offset))
        else:
            self._go()

    def load(self, snapshot: SnapshotId) -> None:
        """Replace the state by a snapshot: the log no longer has the records that the state lacks."""
        self._high_watermark = max(self._high_watermark, snapshot.end_offset)
        self._snapshot = snapshot
        self._batches = self._large = self._part = None
        self._go()

    def on_leader_changed(self, effect: LeaderChanged) -> None:
        """Pass on a new leader: at once for another node, else when the state has all records up to its epoch."""
        event = inputs.LeaderChanged(effect.epoch, effect.leader_id, effect.end_offset)
        self._claim = None
        if effect.leader_id != self._controller.env.node_id:
            self._step(event)
            self._go()
            return
        self._claim = event
        self._go()

    def _go(self) -> None:
        if not self._is_going:
            self._is_going = True
            is_electing = not isinstance(self._replica.role, (Follower, Leader))
            self._later(self._feed_next, ELECTION_PAUSE_S if is_electing else 0)

    def _feed_next(self) -> None:
        """Feed one piece; if there is more, schedule the next one for a later iteration of the loop."""
        self._is_going = False
        if self._controller.is_active and self._claim is None:
            return
        if self._snapshot is not None:
            self._open_snapshot()
        elif self._batches is not None:
            self._feed_snapshot()
        elif not self._feed_log():
            return
        self._go()

    def _feed_log(self) -> bool:
        """Feed committed batches, then a `LeaderChanged` for this node if there is one; whether there may be more."""
        if self._large is not None:
            self._feed_part(self._large)
            return True
        end_offset = self._controller.state.end_offset
        claim = self._claim
        if not self._controller.is_active and end_offset < self._high_watermark:
            data = self._storage.read(end_offset, self._high_watermark, self.piece_bytes)
            if len(data) > self.whole_bytes_max:  # it is a single batch
                self._large = data
                return True
            if data:
                self._step(inputs.Committed(data))
                return True
        if claim is not None:
            self._claim = None
            self._step(claim)
        elif self._controller.is_catching_up and self.is_level:
            self._take_leader_end()
        return False

    def _feed_part(self, data: bytes) -> None:
        """Feed a part of a large batch, and the batch itself when no record of it is left."""
        self._step(inputs.CommittedPart(data, self.part_records))
        replay = self._controller.replay
        if replay is not None and replay.is_at_end:
            self._large = None
            self._step(inputs.Committed(data))

    def _take_leader_end(self) -> None:
        """Notify a standby that has all records which the leader had committed at its last answer.

        The first answers to a replica that lacks much hold only a part of them, and the high watermark that it knows
        ends with its own log.
        """
        role = self._replica.role
        if not isinstance(role, Follower):
            return
        known = role.state.leader_high_watermark
        if known < 0 and not self._awaits_answer:
            # Its answer need not raise the high watermark, which would call this again.
            self._awaits_answer = True
            self._later(self._look_again, ANSWER_PAUSE_S)
        elif 0 <= known <= self._replica.log.end:
            self._step(inputs.CaughtUp())

    def _look_again(self) -> None:
        self._awaits_answer = False
        self._go()

    def _open_snapshot(self) -> None:
        assert self._snapshot is not None
        snapshot, self._snapshot = self._snapshot, None
        self._batches = self._storage.snapshot_batches(snapshot)
        self._step(inputs.SnapshotOpened(snapshot))

    def _feed_snapshot(self) -> None:
        assert self._batches is not None
        left = PIECE_BYTES
        while left > 0:
            if self._part is None:
                part = next(self._batches, None)
                if part is None:
                    self._batches = None
                    self._step(inputs.SnapshotClosed())
                    return
                data, batch = part
                self._part = data[batch.position : batch.position + batch.size]
            self._step(inputs.SnapshotPart(self._part, PART_RECORDS))
            if self._controller.loaded is not None:
                return
            left -= len(self._part)
            self._part = None
