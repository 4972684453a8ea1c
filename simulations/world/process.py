"""One process of a node: the real core and the real storage, driven as `controller/node/node.py` drives them.

It handles one input after the other and performs the effects of each in their order. It may die before any effect and
within any job of its flush thread.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from raft.interface import effects as do
from raft.interface.inputs import Disconnected, Input, Resign, ShutDown, Ticked, WallClock
from raft.interface.limits import NEVER
from raft.state.replica import Replica
from raft.step import start, step
from raft.storage.errors import CorruptLog, CorruptSnapshot, DiskFailed
from raft.storage.storage import Storage
from records.batch import CorruptBatch
from records.messages.versions import ApiVersionsRequest
from simulations.world.channels import Channel
from simulations.world.disk import DIRECTORY
from simulations.world.files import Dead, SimFiles
from simulations.world.flush_thread import SimFlushThread
from simulations.world.machine import Machine
from simulations.world.register import Register
from simulations.world.releases import VERSIONS
from simulations.world.world import MS, SECOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from raft.interface.inputs import Answered, Requested
    from simulations.world.interfaces import Network, Watch
    from simulations.world.links import Pipe
    from simulations.world.messages import Frame
    from simulations.world.releases import Versions

# From the callback on the flush thread until the event loop runs it.
HANDOFF_US = 20
HOUSEKEEPING_US = SECOND
SHUTDOWN_US = 5 * SECOND
# The longest wait of one step, however many syncs it needs.
PAUSE_US_MAX = 6 * SECOND

# Errors of a disk or of its contents, at which a process stops.
DISK_TROUBLE = (DiskFailed, CorruptLog, CorruptSnapshot, CorruptBatch, OSError)

# Probes are points at which a plan may strike; their names are made once.
_INPUTS: dict[type, str] = {type(None): "start"}
_BEFORE: dict[type, str] = {}
_AFTER: dict[type, str] = {}


def _probe_name(names: dict[type, str], prefix: str, cls: type) -> str:
    name = names.get(cls)
    if name is None:
        name = names[cls] = f"{prefix}:{cls.__name__}"
    return name


class PartDenied(Exception):
    """A peer answered that this node may not take part in the quorum."""


class Connection:
    """One TCP connection. id: the server's number for it, 0 before it was accepted. is_wanted: by the client; asked:
    the request that the server has not answered yet, taken at asked_at.
    """

    __slots__ = (
        "asked", "asked_at", "asked_class", "channel", "client", "id", "is_wanted", "server", "to_client", "to_server",
        "versions",
    )  # fmt: skip

    def __init__(self, client: Process, channel: Channel, to_server: Pipe, to_client: Pipe) -> None:
        self.client = client
        self.channel = channel
        self.server: Process | None = None
        self.id = 0
        self.is_wanted = True
        self.to_server = to_server
        self.to_client = to_client
        self.asked: Frame | None = None
        self.asked_at = 0
        self.asked_class: type = object
        self.versions: Versions = {}


class Process:
    """A running replica with its storage, state machine and connections.

    is_paused: it does not run, while the kernel accepts packets. busy_until: it waits for its disk.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.world = node.world
        self.watch: Watch = node.watch
        self.network: Network = node.network
        self.clock = node.clock
        self.rng = node.stream("process", node.life)
        self.life = node.life
        self.is_dead = False
        self.has_failed = False
        self.is_paused = False
        self.is_listening = False
        self.busy_until = 0
        self.connections: dict[int, Connection] = {}
        self.channels: dict[int, Channel] = {}
        self.steps = 0
        self._accepted = 0
        self._inbox: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._draining = False
        self._timer_at = NEVER
        self._timer_ms = NEVER  # the deadline for which the timer is set
        self._own: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._armed = node.triggers.armed_states
        self.flush = SimFlushThread(self.world, lambda death: self.node.on_died(self, death))
        self.files = SimFiles(node.disk, partial(node.before_disk, self), self._sync_pause)

    @property
    def is_awake(self) -> bool:
        """Whether it handles inputs at once."""
        return not (self.is_dead or self.is_paused or self._inbox or self.world.now < self.busy_until)

    def boot(self) -> None:
        """Open the directory and take the first step. Raises Dead if the plan says so, StorageError from storage."""
        node = self.node
        self.storage = Storage(
            self.files, DIRECTORY, self.flush, on_input=self._on_disk_input, on_failure=self._on_disk_failure,
            on_note=self._note, limits=node.limits,
        )  # fmt: skip
        recovered = self.storage.recovered
        self.watch.on_recovered(self, recovered)
        self.replica = Replica(node.config, node.key, node.static_voters, recovered, node.stream("core", node.life))
        self.machine = Register(self)
        self.is_listening = True
        self.handle(None)
        self._every_second()

    # Called by the network and the machine

    def when_awake(self, act: Callable[..., None], *args: Any) -> None:
        """Call `act(*args)` now, or when this process can, after all that came before."""
        if self.is_dead:
            return
        if self._inbox or self.is_paused or self.world.now < self.busy_until:
            self._inbox.append((act, args))
            self._drain_later()
        else:
            act(*args)

    def receive_soon(self, event: Input) -> None:
        """Handle an input in a separate step, after the current one."""
        self.world.after(0, self.when_awake, self.handle, event)

    def resume(self) -> None:
        """Continue after a pause."""
        self.is_paused = self.has_failed
        self._drain_later()

    def _drain_later(self) -> None:
        if not self._draining and not self.is_paused:
            self._draining = True
            self.world.at(self.busy_until, self._drain)

    def _drain(self) -> None:
        self._draining = False
        while self._inbox and not self.is_dead and not self.is_paused:
            if self.world.now < self.busy_until:
                self._drain_later()
                return
            act, args = self._inbox.popleft()
            act(*args)

    def accept(self, connection: Connection) -> int:
        """The kernel has taken a connection; returns its number."""
        self._accepted += 1
        self.connections[self._accepted] = connection
        return self._accepted

    def on_disconnected(self, connection: Connection) -> None:
        """A client has closed its connection."""
        if self.connections.pop(connection.id, None) is not None:
            self.handle(Disconnected(connection.id))

    def shut_down(self) -> None:
        """Shut down gracefully; after SHUTDOWN_US in any case."""
        self.handle(ShutDown())
        self.world.after(SHUTDOWN_US, self.when_awake, self._leave)

    def handle_request(self, connection: Connection, frame: Frame, requested: Requested) -> None:
        if self.is_dead or connection.id not in self.connections:
            return
        connection.asked = frame
        connection.asked_at = self.world.now
        if type(requested.request) is ApiVersionsRequest:
            self._answer(connection.id, VERSIONS)  # in a node, the table of APIs answers it, and not the replica
            return
        self.watch.on_asked(self, frame, requested)
        self.handle(requested)
        if not self.is_dead:
            self.watch.took_request(self, frame, requested)

    def handle_answer(self, frame: Frame, answered: Answered) -> None:
        if not self.is_dead:
            self.watch.on_answered(self, frame, answered)
            self.handle(answered)

    def handle(self, event: Input | None) -> None:
        """Take one step by an input (None: the start), perform its effects, then call the state machine."""
        if self.is_dead:
            return
        replica = self.replica
        name = _INPUTS.get(type(event)) or _probe_name(_INPUTS, "input", type(event))
        try:
            if name in self._armed:
                self.node.triggers.reach(name, self)
            now_ms = self.clock.ms(self.world.now)
            effects = start(replica, now_ms) if event is None else step(replica, event, now_ms)
            self.steps += 1
            self.watch.on_stepped(self, name, event, effects)
            for effect in effects:
                self._perform(effect)
            if replica.deadline_ms < self._timer_ms:
                self._set_timer(replica.deadline_ms)
            if self.node.triggers.states:
                self.node.triggers.look(self)
            if self.node.step_us:
                self.busy_until = max(self.busy_until, self.world.now) + self.node.step_us
            # The state machine is called after all effects.
            while self._own and not self.is_dead:
                act, event = self._own.popleft()
                act(event)
        except Dead as death:
            self.node.on_died(self, death)
        except DISK_TROUBLE as error:
            self.node.on_failed(self, error)

    def _set_timer(self, deadline_ms: int) -> None:
        if self.clock.frozen:
            return  # it is set when the clock goes on
        when = max(self.clock.when(deadline_ms), self.world.now + MS)
        if when < self._timer_at:
            self._timer_at, self._timer_ms = when, deadline_ms
            self.world.at(when, self._wake, when)

    def _wake(self, when: int) -> None:
        if when != self._timer_at or self.is_dead:
            return
        self._timer_at = self._timer_ms = NEVER
        if self.clock.ms(self.world.now) >= self.replica.deadline_ms:
            self.when_awake(self.handle, Ticked())
        elif self.replica.deadline_ms < NEVER:
            self._set_timer(self.replica.deadline_ms)

    def on_clock_changed(self) -> None:
        """The monotonic clock changes its rate."""
        self._timer_at = self._timer_ms = NEVER
        if self.is_listening and self.replica.deadline_ms < NEVER:
            self._set_timer(self.replica.deadline_ms)

    # Effects

    def _perform(self, effect: Any) -> None:
        cls = type(effect)
        if self._armed:
            self._reach(_BEFORE.get(cls) or _probe_name(_BEFORE, "before", cls))
        self.watch.performs(self, effect)
        self._PERFORM[cls](self, effect)
        if self._armed:
            self._reach(_AFTER.get(cls) or _probe_name(_AFTER, "after", cls))

    def now_ms(self) -> int:
        """The time that the core is given."""
        return self.clock.ms(self.world.now)

    def _reach(self, name: str) -> None:
        """The node reaches a point. Raises Dead if it ends there."""
        if name in self._armed:
            self.node.triggers.reach(name, self)

    def _store(self, effect: do.Effect) -> None:
        self.storage.perform(effect)

    def _send(self, effect: do.Send) -> None:
        channel = self.channels.get(effect.peer)
        if channel is None:
            channel = self.channels[effect.peer] = Channel(self, effect.peer)
        channel.send(effect)

    def _reply(self, effect: do.Reply) -> None:
        self._answer(effect.source.connection, effect.response)

    def _reply_records(self, effect: do.ReplyRecords) -> None:
        if effect.source.connection not in self.connections:
            return
        data = self.storage.read(effect.start_offset, effect.end_offset, effect.bytes_max)
        # The response was made for this one answer, so it may be changed.
        effect.response.responses[0].partitions[0].records = data
        self._answer(effect.source.connection, effect.response)

    def _reply_snapshot(self, effect: do.ReplySnapshot) -> None:
        if effect.source.connection not in self.connections:
            return
        data = self.storage.read_snapshot(effect.id, effect.position, effect.length)
        effect.response.topics[0].partitions[0].unaligned_records = data
        self._answer(effect.source.connection, effect.response)

    def _answer(self, number: int, response: Any) -> None:
        connection = self.connections.get(number)
        if connection is not None:
            self.network.reply(connection, response)

    def _high_watermark(self, effect: do.HighWatermark) -> None:
        self.storage.perform(effect)
        self._own.append((self.machine.on_committed, effect.offset))

    def _load_snapshot(self, effect: do.LoadSnapshot) -> None:
        self._own.append((self.machine.load, effect.id))

    def _on_leader_changed(self, effect: do.LeaderChanged) -> None:
        self._own.append((self.machine.on_leader_changed, effect))

    def _on_proposal_refused(self, effect: do.ProposalRefused) -> None:
        self._own.append((self.machine.on_refused, effect))

    def _reserve(self, effect: do.ReserveOffsets) -> None:
        self._own.append((self.machine.reserve, effect))

    def _supports(self, effect: do.KraftVersionSupport) -> None:
        self._own.append((self.machine.supports, effect))

    def _on_confirmed(self, effect: do.LeadershipConfirmed) -> None:
        self._own.append((self.machine.on_confirmed, effect))

    def _on_noted(self, effect: do.Noted) -> None:
        self._note(effect.name, effect.fields)

    def _shutdown_complete(self, _effect: do.ShutdownComplete) -> None:
        self.world.after(0, self.when_awake, self._leave)

    def _on_denied(self, effect: do.Denied) -> None:
        self.node.on_failed(self, PartDenied(f"node {effect.peer} does not let it take part"))

    def _on_voters_changed(self, _effect: do.VotersChanged) -> None:
        """Channels follow the endpoints of each `Send`."""

    # The disk

    def _on_disk_input(self, event: Input) -> None:
        self.world.after(HANDOFF_US, self.when_awake, self.handle, event)

    def _on_disk_failure(self, failure: DiskFailed) -> None:
        """Called on the thread where the disk failed; from the flush thread, the node learns of it after a hand-off."""
        assert isinstance(failure.error, OSError), failure
        if self.flush.is_running():
            self.world.after(HANDOFF_US, self.when_awake, self.node.on_failed, self, failure)

    def _sync_pause(self) -> None:
        delay = self.node.sync_us()
        if self.flush.is_running():
            self.flush.pause(delay)
        else:
            # A start syncs once for each of many segments; all of them together are over some time, too.
            self.busy_until = min(max(self.busy_until, self.world.now) + delay, self.world.now + PAUSE_US_MAX)

    def _every_second(self) -> None:
        """Housekeeping, about once a second."""
        if self.is_dead:
            return
        try:
            self.storage.tick(self.clock.ms(self.world.now))
        except Dead as death:
            self.node.on_died(self, death)
        except DiskFailed as error:
            self.node.on_failed(self, error)
        if not self.has_failed:
            self.handle(WallClock(self.clock.wall_offset_ms))
            self.world.after(HOUSEKEEPING_US, self.when_awake, self._every_second)

    # The end

    def _leave(self) -> None:
        """Close everything and end."""
        if self.is_dead:
            return
        try:
            self.storage.close()
        except Dead as death:
            self.node.on_died(self, death)
        except DiskFailed as error:
            self.node.on_failed(self, error)
        else:
            self.node.on_left(self)

    def resign(self) -> None:
        """The process cannot go on: a leader sends EndQuorumEpoch; no more input is accepted, nothing is written."""
        self._inbox.clear()
        self._own.clear()
        self.is_paused = True
        for effect in step(self.replica, Resign(self.replica.epoch), self.clock.ms(self.world.now)):
            if isinstance(effect, do.Send):
                self._send(effect)

    def die(self) -> None:
        """Stop everything of the process."""
        self.is_dead = True
        self.is_listening = False
        self._inbox.clear()
        self._own.clear()
        self.files.die()
        self.flush.die()

    def _note(self, name: str, fields: dict[str, Any]) -> None:
        self.watch.on_noted(self, name, fields)

    # The method for each effect

    _PERFORM: ClassVar[dict[type, Callable[[Process, Any], None]]] = {
        do.Send: _send,
        do.Reply: _reply,
        do.ReplyRecords: _reply_records,
        do.ReplySnapshot: _reply_snapshot,
        do.HighWatermark: _high_watermark,
        do.LoadSnapshot: _load_snapshot,
        do.LeaderChanged: _on_leader_changed,
        do.ProposalRefused: _on_proposal_refused,
        do.ReserveOffsets: _reserve,
        do.KraftVersionSupport: _supports,
        do.LeadershipConfirmed: _on_confirmed,
        do.Noted: _on_noted,
        do.ShutdownComplete: _shutdown_complete,
        do.Denied: _on_denied,
        do.VotersChanged: _on_voters_changed,
        **dict.fromkeys(
            (
                do.SaveElection, do.Append, do.Truncate, do.ResetLog, do.SaveEpochs, do.AdvanceLogStart,
                do.DeleteSnapshot, do.WriteSnapshotPart, do.FreezeSnapshot, do.DropSnapshotPart,
            ),
            _store,
        ),
    }  # fmt: skip


Node = Machine[Process]
"""A machine on which such processes run."""
