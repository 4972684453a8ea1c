"""The state machine of the raft level: a map of registers, which records each write and when it was committed.

It does what Kafka's ReplicatedCounter does (apply committed records, take snapshots, load them), and reports each of
these to the watch.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from raft.interface.config import SnapshotId
from raft.interface.inputs import ConfirmLeadership, OffsetsReserved, Propose, UpgradeKraftVersion
from raft.snapshots import may_take
from raft.state.log_view import BOOTSTRAP
from records.batch import batches, build_batch
from simulations.world.writes import Replay, State, read_snapshot, snapshot_values, write_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from raft.interface.effects import (
        KraftVersionSupport,
        LeaderChanged,
        LeadershipConfirmed,
        ProposalRefused,
        ReserveOffsets,
    )
    from raft.interface.inputs import Input
    from raft.state.replica import Replica
    from raft.storage.storage import Storage
    from simulations.world.clocks import NodeClock
    from simulations.world.interfaces import Watch
    from simulations.world.world import World

READ_BYTES = 1 << 20


class Settings(Protocol):
    """The snapshots of a machine: one each this many records (0: none), with this much padding."""

    id: int
    snapshot_every: int
    snapshot_padding: int


class Host(Protocol):
    """The process around a register."""

    storage: Storage
    replica: Replica
    clock: NodeClock
    world: World

    @property
    def node(self) -> Settings: ...
    @property
    def watch(self) -> Watch: ...
    def handle(self, event: Input | None) -> None: ...
    def when_awake(self, act: Callable[..., None], *args: Any) -> None: ...


class Register:
    """One replica of it. offset: up to where it has applied; leads: the epoch that it may write in, None if it does not
    lead.
    """

    def __init__(self, process: Host) -> None:
        self._process = process
        self._node = process.node
        self.replay = Replay()
        self.offset = 0
        self.epoch = 0
        self.timestamp_ms = 0
        self.leads: int | None = None
        self.next_offset = 0
        self.pending: deque[tuple[int, tuple[int, ...]]] = deque()  # end offset, numbers of writes
        self._snapshot_at = 0
        self._questions = 0
        self._is_asking = False
        self._handed_us = 0
        self._handing = 0  # inputs that raft gets later
        self._supported = (0, 0)

    # Called by raft

    def on_committed(self, high_watermark: int) -> None:
        """All whole batches below it may be applied."""
        process = self._process
        while self.offset < high_watermark:
            data = process.storage.read(self.offset, high_watermark, READ_BYTES)
            assert data, f"the log has nothing at {self.offset}, below the high watermark {high_watermark}"
            for batch in batches(data):
                assert batch.base_offset == self.offset, f"batch {batch} at {self.offset}"
                self.replay.take(data[batch.position : batch.position + batch.size])
                self.offset = batch.last_offset + 1
                self.epoch, self.timestamp_ms = batch.leader_epoch, batch.max_timestamp
        process.watch.on_applied(process, self.offset, self.epoch, self.replay)
        while self.pending and self.pending[0][0] <= high_watermark:
            end, numbers = self.pending.popleft()
            if self.leads is not None:
                process.watch.on_acknowledged(process, numbers, end)
        every = self._node.snapshot_every
        if every and self.offset - self._snapshot_at >= every:
            self._take_snapshot()

    def load(self, snapshot: SnapshotId) -> None:
        """Start again from a snapshot; the formatter's is empty."""
        self.leads = None
        self._is_asking = False
        state = State()
        if snapshot != BOOTSTRAP:
            state = read_snapshot(self._process.storage.snapshot_batches(snapshot))
        self.replay.count, self.replay.digest = state.writes, state.digest
        self.replay.registers = dict(state.registers)
        self.offset, self.epoch = snapshot
        self._snapshot_at = snapshot.end_offset
        self._process.watch.on_loaded(self._process, snapshot, state)

    def on_leader_changed(self, event: LeaderChanged) -> None:
        """Set whether it may write, and from which offset."""
        self.leads = None
        self._is_asking = False
        self.pending.clear()
        if event.leader_id == self._node.id:
            assert self.offset == event.end_offset, f"it leads from {event.end_offset}, and has applied {self.offset}"
            self.leads = event.epoch
            self.next_offset = event.end_offset

    def reserve(self, wanted: ReserveOffsets) -> None:
        """Leave offsets to a control batch, behind all that was written."""
        if self.leads != wanted.epoch:
            return
        base, self.next_offset = self.next_offset, self.next_offset + wanted.count
        self._hand(OffsetsReserved(wanted.epoch, base))

    def supports(self, event: KraftVersionSupport) -> None:
        """All voters of an epoch support a level of kraft.version."""
        self._supported = (event.epoch, event.level)

    def upgrade(self) -> bool:
        """Raise kraft.version to what all voters support; returns whether it does."""
        epoch, level = self._supported
        if self.leads is None or epoch != self.leads or level < 1:
            return False
        self._supported = (epoch, 0)
        base, self.next_offset = self.next_offset, self.next_offset + 2
        self._hand(UpgradeKraftVersion(self.leads, base, level))
        return True

    def on_refused(self, event: ProposalRefused) -> None:
        """A write is not in the log; writes after it cannot be either."""
        if self.leads == event.epoch:
            self.leads = None
            self.pending.clear()

    def on_confirmed(self, event: LeadershipConfirmed) -> None:
        self._is_asking = False
        self._process.watch.on_confirmed(self._process, event.number, event.epoch, self.offset)

    # Called by clients

    def write(self, registers: Iterable[int], first_number: int, size: int, delay_us: int = 0) -> None:
        """Write to registers, one record each, all in one batch; only while it leads. delay_us: until raft gets it."""
        assert self.leads is not None, "only the leader writes"
        numbers: list[int] = []
        values = []
        for register in registers:
            numbers.append(first_number + len(numbers))
            values.append(write_value(register, numbers[-1], size))
        data = build_batch(
            values, base_offset=self.next_offset, leader_epoch=self.leads,
            timestamp_ms=self._process.clock.wall_ms(self._process.world.now),
        )  # fmt: skip
        base, self.next_offset = self.next_offset, self.next_offset + len(values)
        self.pending.append((self.next_offset, tuple(numbers)))
        self._process.watch.wrote(self._process, tuple(numbers), self.next_offset)
        self._hand(Propose(self.leads, base, self.next_offset - 1, data), delay_us)

    def _hand(self, event: Propose | OffsetsReserved | UpgradeKraftVersion, delay_us: int = 0) -> None:
        """Give raft an input, after all that it was given before."""
        world = self._process.world
        self._handed_us = max(self._handed_us, world.now + delay_us)  # one after the other
        if self._handed_us <= world.now and not self._handing:
            self._process.handle(event)
        else:
            self._handing += 1
            world.at(self._handed_us, self._process.when_awake, self._take, event)

    def _take(self, event: Propose | OffsetsReserved | UpgradeKraftVersion) -> None:
        self._handing -= 1
        self._process.handle(event)

    def ask(self) -> int:
        """Request a confirmation of leadership, or wait for the one that is under way, as the controller does; returns
        its number.
        """
        if not self._is_asking:
            self._is_asking = True
            self._questions += 1
            self._process.watch.on_questioned(self._process, self._questions)
            self._process.handle(ConfirmLeadership(self._questions))
        return self._questions

    def _take_snapshot(self) -> None:
        process = self._process
        snapshot = SnapshotId(self.offset, self.epoch)
        self._snapshot_at = self.offset
        if not may_take(process.replica, snapshot):
            return
        kraft_version, voters = process.replica.control_state_at(snapshot.end_offset)
        writer = process.storage.new_snapshot(
            snapshot, self.timestamp_ms, process.clock.wall_ms(process.world.now),
            kraft_version=kraft_version, voters=voters,
        )  # fmt: skip
        if writer is None:
            return
        values = snapshot_values(self.replay.state(), self._node.snapshot_padding)
        for first in range(0, len(values), 4):
            writer.append(values[first : first + 4])
        writer.freeze()
