"""One node: drives the two cores on an event loop, a disk and a network, with one function for each effect.

Decisions are made in `raft` and `controller`, none here. Loop, files, executor, server and channels are parameters, so
a simulation runs this code with its own.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.core.steps import step as controller_step
from controller.interface import effects as controller_effects
from controller.interface import inputs
from controller.node.admission import Admission, NotAllowed
from controller.node.arrivals import OTHER_CLUSTER, Arrivals
from controller.node.autopilot_task import AUTOPILOT_CONNECTION, AutopilotTask
from controller.node.between_cores import TO_CONTROLLER, TO_RAFT, Proposals
from controller.node.disconnections import Disconnections
from controller.node.feed import StateFeed
from controller.node.leave_task import LEAVE_CONNECTION, Leave
from controller.node.long_serving import PARTS_CONNECTION, LongServing
from controller.node.longest_step import LongestStep
from controller.node.loopback_requests import LOOPBACK_CONNECTION, LoopbackRequests
from controller.node.replies import Replies
from controller.node.snapshot_task import SnapshotTask
from controller.node.stop_snapshot import Stop
from controller.node.timers import Timers
from raft.interface import effects as raft_effects
from raft.interface import inputs as raft_inputs
from raft.network.election_preparation import ElectionPreparation
from raft.network.shared_ids import SharedIds
from raft.step import start as raft_start
from raft.step import step as raft_step
from raft.storage.errors import DiskFailed, remedy_fields
from records.release import VERSION

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from controller.core.controller import Controller
    from controller.node.logging.logs import Log
    from controller.node.long_thread import Executor
    from raft.interface.config import SnapshotId
    from raft.network.channels import Channels
    from raft.network.requests import Incoming
    from raft.network.server import Server
    from raft.state.replica import Replica
    from raft.storage.storage import Storage

# A node that failed ends after this time, in which it sends the other voters that it leads no more.
RESIGNATION_S = 0.1
# Shorter steps do not count as the longest.
MEASURED_S_MIN = 0.001


class Parts(NamedTuple):
    """What a node drives. own_channels: for this node's registration; long_executor: for long requests."""

    storage: Storage
    replica: Replica
    controller: Controller
    server: Server
    channels: Channels
    own_channels: Channels
    long_executor: Executor


class Node:
    """Both cores, driven on the loop's thread. `controller.node.making.make_node` makes it, of its parts.

    failure: why the node cannot go on; None while it can. on_end: called once, when the node has ended: after
    `shut_down` or a failure. wall_ms: the wall clock at the loop's time. clock: s, for the time that steps take; None
    for the loop's.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make_parts: Callable[[Node], Parts],
        *,
        wall_ms: Callable[[], int],
        log: Log,
        on_end: Callable[[], None],
        clock: Callable[[], float] | None = None,
    ) -> None:
        """make_parts: gets this node for its callbacks, none of which it calls. Raises what that does."""
        self.loop = loop
        self._clock = loop.time if clock is None else clock
        self.log = log
        self.failure: BaseException | None = None
        self.is_ending = False
        self._wall_ms = wall_ms
        self._on_end = on_end
        self._inputs: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._is_draining = True  # inputs that come before `start` wait for it
        self.replies = Replies()
        self._kraft_version = -1
        self.admission = Admission(log, self.replies.send)
        self._shared_ids = SharedIds(self.note)
        self.longest_step = LongestStep(loop.time)
        self._feed_events = 0  # those for the feed that wait in _inputs
        storage, replica, controller, server, channels, own_channels, long_executor = make_parts(self)
        self.storage, self.replica, self.controller = storage, replica, controller
        self.server, self.channels, self.own_channels = server, channels, own_channels
        self.feed = StateFeed(replica, controller, storage, self._step_controller, self._later)
        self.loopback_requests = LoopbackRequests(replica, controller, own_channels, self.to_controller)
        self.admission.begin(controller)
        self.long = LongServing(
            self.loop, long_executor, controller, server, self.admission, self.replies,
            now_ms=self.now_ms, perform=self.perform_long, fail=self.fail,
        )  # fmt: skip
        self._disconnections = Disconnections(
            self.loop, self.admission, self.replies, self.long, queue=self._queue, drain=self._drain
        )
        self.autopilot = AutopilotTask(
            replica, controller, self.admission,
            log=log, now_ms=self.now_ms, to_raft=self.to_raft, to_controller=self.to_controller,
        )  # fmt: skip
        self.leave = Leave(self.loop, replica, controller, self.autopilot, own_channels, log)
        own = {LOOPBACK_CONNECTION: self.loopback_requests.on_answer, AUTOPILOT_CONNECTION: self.autopilot.on_answer}
        own |= {LEAVE_CONNECTION: self.leave.on_answer, PARTS_CONNECTION: self.long.on_part_answer}
        self.replies.begin(server, own, self.long.answer)
        self.arrivals = Arrivals(
            log=self.log, server=server, replica=replica, controller=controller, admission=self.admission,
            replies=self.replies, long=self.long, shared_ids=self._shared_ids,
            now_ms=self.now_ms, to_raft=self.to_raft, to_controller=self.to_controller,
        )  # fmt: skip
        self.snapshot = SnapshotTask(
            storage, self._later, self._wall_ms, lambda *given_up: self.to_controller(inputs.SnapshotGivenUp(*given_up))
        )
        self._stop = Stop(self.loop, replica, self.snapshot, self.to_controller, self.to_raft)
        self.timers = Timers(
            self.loop, replica, controller, storage, ElectionPreparation(self.loop, replica, channels),
            now_ms=self.now_ms, wall_ms=self._wall_ms, queue=self._queue, drain=self._drain,
        )  # fmt: skip
        self._proposals = Proposals(self.loop, lambda event: self._queue(event, None), self._drain)
        self._do_raft = self._raft_actions(channels)
        self._do_controller = self._controller_actions(replica)

    def _raft_actions(self, channels: Channels) -> dict[type, Callable[[Any], None]]:
        """What is done about each effect of the replica that is not for the disk."""
        return {
            raft_effects.Send: channels.send,
            raft_effects.Reply: lambda effect: self.replies.send(effect.source, effect.response),
            raft_effects.ReplyRecords: self._reply_records,
            raft_effects.ReplySnapshot: self._reply_snapshot,
            raft_effects.HighWatermark: self._on_high_watermark,
            # In the queue, behind earlier inputs of the controller, which its answer to these rests on.
            raft_effects.LoadSnapshot: lambda effect: self._queue_for_feed(self._load_snapshot, effect.id),
            raft_effects.LeaderChanged: lambda effect: self._queue_for_feed(self.feed.on_leader_changed, effect),
            **{kind: self._passing(self.to_controller, make) for kind, make in TO_CONTROLLER.items()},
            raft_effects.ProposalRefused: self._on_refused,
            # Close the connections to nodes that are no longer voters; bootstrap servers have negative ids.
            raft_effects.VotersChanged: lambda effect: channels.retain({voter.key.id for voter in effect.voters}),
            raft_effects.ShutdownComplete: lambda _effect: self._end(),
            raft_effects.Denied: lambda effect: self.fail(NotAllowed(effect.peer)),
            raft_effects.Noted: self._on_noted,
        }

    def _controller_actions(self, replica: Replica) -> dict[type, Callable[[Any], None]]:
        """What is done about each effect of the controller."""
        return {
            controller_effects.Reply: lambda effect: self.replies.send(effect.source, effect.response, effect.context),
            **{kind: self._passing(self.to_raft, make) for kind, make in TO_RAFT.items()},
            controller_effects.Append: self._proposals.add,
            controller_effects.ServeLater: lambda effect: self.long.take_decoded(effect.context, effect.request),
            controller_effects.Requeue: self._requeue,
            controller_effects.Resign: self._resign,
            controller_effects.TakeSnapshot: lambda effect: self.snapshot.take(effect, replica),
            controller_effects.SendToActive: lambda effect: self.loopback_requests.send(effect, self.now_ms()),
            controller_effects.Noted: lambda effect: self.log(effect.name, **effect.fields),
            controller_effects.SetLogLevel: lambda effect: self.log.set_level(effect.name, effect.level),
        }

    def wrap_effects(self, wrap: Callable[[type, Callable[[Any], None]], Callable[[Any], None]]) -> None:
        """Replace the function for each class of effects: `wrap` gets the class and the function, and returns the new
        function.
        """
        self._do_raft.setdefault(raft_effects.Append, self.storage.perform)
        for actions in (self._do_raft, self._do_controller):
            actions.update([(kind, wrap(kind, act)) for kind, act in actions.items()])

    # Called by the listeners, the channels and the storage.

    def start(self) -> None:
        """Make the first step; requests are accepted from now on."""
        self.log("node_starting", node_id=self.replica.key.id, version=VERSION, log_end_offset=self.replica.log.end)
        for name, fields in self.storage.notes:
            self.log(name, **fields)
        self._inputs.appendleft((self._start_raft, None))
        self._is_draining = False
        self.timers.queue_wall_clock()
        self._drain()
        if not self.is_ending:
            self.timers.start()
            self.autopilot.start(self.loop)

    def on_request(self, incoming: Incoming) -> None:
        """A request came in on a listener."""
        self.arrivals.take(incoming)

    def on_disconnected(self, connection: int) -> None:
        """A connection was closed."""
        self._shared_ids.on_disconnected(connection)
        self._disconnections.add(connection)

    def on_peer(self, event: raft_inputs.Input) -> None:
        """A `Send` was answered, or failed."""
        self.to_raft(event)

    def on_own_answer(self, event: raft_inputs.Input) -> None:
        """A request of this node to the active controller was answered, or failed."""
        if not self.leave.on_input(event):
            self.loopback_requests.on_input(event)

    def on_disk(self, event: raft_inputs.Input) -> None:
        """The disk completed an effect; called on the executor's thread."""
        self.loop.call_soon_threadsafe(self._on_disk_done, event)

    def on_disk_failure(self, error: DiskFailed) -> None:
        """The disk failed; called on any thread."""
        self.loop.call_soon_threadsafe(self.fail, error)

    def on_disk_note(self, name: str, fields: dict[str, Any]) -> None:
        """The storage reports an event for the log; called on any thread."""
        self.loop.call_soon_threadsafe(lambda: self.log(name, **fields))

    def _on_noted(self, effect: raft_effects.Noted) -> None:
        """The core reports an event for the log; of addresses it knows nothing."""
        peer = effect.fields.get("peer")
        if effect.name == OTHER_CLUSTER:
            return  # `Arrivals` has logged it, with the address
        address = self.channels.address_of(peer) if isinstance(peer, int) else ""
        self.log(effect.name, **effect.fields, **({"address": address} if address else {}))

    def note(self, name: str, fields: dict[str, Any]) -> None:
        """A part of the node reports an event for the log."""
        self.log(name, **fields)

    def shut_down(self, on_left: Callable[[], Any] = lambda: None) -> None:
        """Leave the voters where that is configured, call `on_left`, take a snapshot if a restart would have much to
        replay, then hand leadership over, and end when raft has done so or has given up. A second call ends a wait.
        """
        if not self.is_ending:
            self.log("node_stopping")
            self.leave.begin(on_left, self._stop.begin)

    def fail(self, error: BaseException) -> None:
        """Log why this node cannot go on, send the other voters that it no longer leads, and end."""
        if self.is_ending:
            return
        self._stop_inputs()
        self.failure = error
        self.log("node_failed", error=f"{type(error).__name__}: {error}", **remedy_fields(error), exc_info=error)
        self._inputs.clear()
        try:
            # Only messages to others are sent: this node must save nothing more.
            for effect in raft_step(self.replica, raft_inputs.Resign(self.replica.epoch), self.now_ms()):
                if isinstance(effect, raft_effects.Send):
                    self.channels.send(effect)
        except Exception as second:  # whatever it is, the node ends
            self.log("resigning_failed", error=repr(second))
        self.loop.call_later(RESIGNATION_S, self._finish)

    # Inputs of the cores, one after the other.

    def now_ms(self) -> int:
        return int(self.loop.time() * 1000)

    def _passing(self, take: Callable[[Any], None], make: Callable[[Any], Any]) -> Callable[[Any], None]:
        """A function that passes an effect of one core on to the other."""
        return lambda effect: take(make(effect))

    def to_raft(self, event: raft_inputs.Input) -> None:
        self._queue(event, None)
        self._drain()

    def to_controller(self, event: inputs.Input) -> None:
        self._inputs.append((self._step_controller, event))
        self._drain()

    def _queue(self, raft_input: raft_inputs.Input | None, controller_input: inputs.Input | None) -> None:
        """Queue an input for each core, None for none, for the next `_drain`."""
        if raft_input is not None:
            self._proposals.pass_on()
            self._inputs.append((self._step_raft, raft_input))
        if controller_input is not None:
            self._inputs.append((self._step_controller, controller_input))

    def _drain(self) -> None:
        if self._is_draining or self.is_ending:
            return
        self._is_draining = True
        try:
            while self._inputs and not self.is_ending:
                step, event = self._inputs.popleft()
                begin_s = self._clock()
                step(event)
                if (taken_s := self._clock() - begin_s) > MEASURED_S_MIN:
                    self.longest_step.add(taken_s)
        except Exception as error:  # a core that raises is wrong, or the disk is: the node must stop
            self.fail(error)
        finally:
            self._is_draining = False
        if not self.is_ending:
            self.timers.arm()

    def _start_raft(self, _event: None) -> None:
        wall_ms = self._wall_ms()  # before the other clock, so that no time is after the wall clock
        now_ms = self.now_ms()
        self._perform_raft(raft_start(self.replica, now_ms, wall_ms - now_ms))

    def _step_raft(self, event: raft_inputs.Input) -> None:
        self._perform_raft(raft_step(self.replica, event, self.now_ms()))

    def _perform_raft(self, effects: list[raft_effects.Effect]) -> None:
        for effect in effects:
            do = self._do_raft.get(type(effect))
            if do is None:
                self.storage.perform(effect)
            else:
                do(effect)
        if self._kraft_version != self.replica.kraft_version:
            self._kraft_version = self.replica.kraft_version
            last = self.replica.kraft_versions.last()
            self.to_controller(inputs.KraftVersion(self._kraft_version, -1 if last is None else last[0]))

    def _step_controller(self, event: inputs.Input) -> None:
        self._perform_controller(controller_step(self.controller, event, self.now_ms()))
        if self.admission.waiting:
            for incoming in self.admission.take_ready():
                self.on_request(incoming)

    def perform_long(self, event: inputs.Requested, effects: list[controller_effects.Effect]) -> None:
        """Perform the effects of a long step, before any other step is taken."""
        self._inputs.appendleft((self._perform_long, (event, effects)))
        self._drain()

    def _perform_long(self, performed: tuple[inputs.Input, list[controller_effects.Effect]]) -> None:
        self._perform_controller(performed[1])

    def _requeue(self, effect: controller_effects.Requeue) -> None:
        self._inputs.extendleft((self._step_controller, event) for event in reversed(effect.events))

    def _perform_controller(self, effects: list[controller_effects.Effect]) -> None:
        for effect in effects:
            self._do_controller[type(effect)](effect)

    def _on_disk_done(self, event: raft_inputs.Input) -> None:
        self.to_raft(event)
        if isinstance(event, raft_inputs.SnapshotTaken):
            self.to_controller(inputs.SnapshotWritten(event.id, event.size))
            self.snapshot.on_stored(event.id)

    def _later(self, action: Callable[[], None], wait_s: float = 0) -> None:
        """Continue long work in a later iteration of the loop, so that other inputs are handled in between."""

        def go_on() -> None:
            self._inputs.append((lambda _: action(), None))
            self._drain()

        if wait_s:
            self.loop.call_later(wait_s, go_on)
        else:
            self.loop.call_soon(go_on)

    # Effects of raft.

    def _reply_records(self, effect: raft_effects.ReplyRecords) -> None:
        data = self.storage.read(effect.start_offset, effect.end_offset, effect.bytes_max)
        # The response was made for this one answer, and nothing else refers to it.
        effect.response.responses[0].partitions[0].records = data
        self.replies.send(effect.source, effect.response)

    def _reply_snapshot(self, effect: raft_effects.ReplySnapshot) -> None:
        data = self.storage.read_snapshot(effect.id, effect.position, effect.length)
        effect.response.topics[0].partitions[0].unaligned_records = data
        self.replies.send(effect.source, effect.response)

    def _queue_for_feed(self, take: Callable[[Any], None], event: Any) -> None:
        """Queue an event for the feed, in the order of raft's effects."""
        self._feed_events += 1
        self._inputs.append((self._step_feed, (take, event)))

    def _step_feed(self, queued: tuple[Callable[[Any], None], Any]) -> None:
        self._feed_events -= 1
        take, event = queued
        take(event)

    def _load_snapshot(self, snapshot: SnapshotId) -> None:
        """The state is replaced, so a snapshot of the old state that is being written is dropped."""
        self.snapshot.drop()
        self.feed.load(snapshot)

    def _on_high_watermark(self, effect: raft_effects.HighWatermark) -> None:
        self.storage.perform(effect)
        if self._feed_events:
            self._queue_for_feed(self.feed.high_watermark, effect.offset)
        else:
            # At once, before the other effects of the step: the answers to clients go before those to followers.
            self.feed.high_watermark(effect.offset)

    def _on_refused(self, effect: raft_effects.ProposalRefused) -> None:
        self.log("append_refused", epoch=effect.epoch, base_offset=effect.base_offset)
        self.to_controller(inputs.AppendRefused(effect.epoch))

    # Effects of the controller.

    def _resign(self, effect: controller_effects.Resign) -> None:
        self.log("resigning", epoch=effect.epoch, reason=effect.reason)
        self.to_raft(raft_inputs.Resign(effect.epoch))

    # The end.

    def _end(self) -> None:
        """Raft has handed over its leadership, or had none."""
        if not self.is_ending:
            self._stop_inputs()
            # In the next iteration of the loop, so that the last answers are sent.
            self.loop.call_soon(self._finish)

    def end_now(self) -> None:
        """End without waiting for raft."""
        if not self.is_ending:
            self._stop_inputs()
            self._finish()

    def _stop_inputs(self) -> None:
        """Accept no more inputs."""
        self.is_ending = True
        self.leave.close()
        self._stop.close()
        self.timers.close()
        self.autopilot.close()

    def _finish(self) -> None:
        self.snapshot.drop()
        self.long.close()
        self.server.close()
        self.channels.close()
        self.own_channels.close()
        try:
            self.storage.close()
        except Exception as error:  # as in _drain
            self.failure = self.failure or error
            self.log("closing_failed", error=f"{type(error).__name__}: {error}", **remedy_fields(error))
        self._on_end()
