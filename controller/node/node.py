"""One node: the two cores on a loop, a disk and a network, and what is done about each effect.

Nothing here decides what a node should do; `raft` and `controller` do. Loop, files, executor, server and channels are
handed in, so a simulation runs this very code in a world of its own.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from controller.core.apis import APIS, Kind
from controller.interface import effects as controller_effects
from controller.interface import inputs
from controller.node.envelope import opened, sealed
from controller.node.feed import StateFeed
from controller.node.incoming import context_of
from controller.node.loopback_requests import OWN_CONNECTION, OwnRequests
from controller.node.request_bounds import TooLarge, refusal_of_size
from controller.node.snapshot_task import SnapshotTask
from raft import effects as raft_effects
from raft import inputs as raft_inputs
from raft.snapshots import may_take
from raft.step import start as raft_start
from raft.step import step as raft_step
from records.errors import ApiError
from records.messages.envelope import EnvelopeResponse
from records.wire import EncodeError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from controller.core.controller import Controller
    from controller.node.logs import Log
    from raft.config import SnapshotId
    from raft.inputs import Source
    from raft.network.channels import Channels
    from raft.network.requests import Incoming
    from raft.network.server import Server
    from raft.replica import Replica
    from raft.storage.errors import DiskFailed
    from raft.storage.storage import Storage
    from records.headers import RequestHeader

HOUSEKEEPING_S = 1.0
# What is left to do after a fault: to tell the others that this node leads no more.
LAST_WORDS_S = 0.1
REQUEST_RECEIVED = "request_received"


class Node:
    """Both cores, driven. All of it runs on the loop's thread.

    failure: why the node cannot go on; None while it can. on_end: called once, when the node is done: after `shut_down`
    or a failure. wall_ms: the wall clock.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        wall_ms: Callable[[], int],
        log: Log,
        on_end: Callable[[], None],
    ) -> None:
        self.loop = loop
        self.log = log
        self.failure: BaseException | None = None
        self.is_ending = False
        self._wall_ms = wall_ms
        self._on_end = on_end
        self._inputs: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._is_draining = True  # nothing is done before the start, as when who knocked early is gone already
        self._timer: asyncio.TimerHandle | None = None
        self._housekeeping: asyncio.TimerHandle | None = None
        self._envelopes: dict[Source, RequestHeader] = {}
        self._kraft_version = -1
        self._timer_ms = self._told = 0  # told: news for the state that wait in _inputs
        self.replica: Replica
        self.controller: Controller
        self.storage: Storage
        self.server: Server
        self.channels: Channels
        self.own_channels: Channels
        self.own_requests: OwnRequests
        self.feed: StateFeed
        self.snapshot: SnapshotTask

    def assemble(
        self,
        *,
        storage: Storage,
        replica: Replica,
        controller: Controller,
        server: Server,
        channels: Channels,
        own_channels: Channels,
    ) -> None:
        """Take the parts in, which were made with the callbacks below. own_channels: for this node's registration."""
        self.storage, self.replica, self.controller = storage, replica, controller
        self.server, self.channels, self.own_channels = server, channels, own_channels
        self.feed = StateFeed(controller, storage, self._step_controller, self._later)
        self.own_requests = OwnRequests(replica, controller, own_channels, self.to_controller)
        self.snapshot = SnapshotTask(storage, self._later, self._wall_ms, self._snapshot_given_up)
        self._do_raft: dict[type, Callable[[Any], None]] = {
            raft_effects.Send: channels.send,
            raft_effects.Reply: lambda effect: self._reply(effect.source, effect.response),
            raft_effects.ReplyRecords: self._reply_records,
            raft_effects.ReplySnapshot: self._reply_snapshot,
            raft_effects.HighWatermark: self._on_high_watermark,
            # Told in its turn: by then the controller is what earlier inputs have made of it.
            raft_effects.LoadSnapshot: lambda effect: self._tell(self._load_snapshot, effect.id),
            raft_effects.LeaderChanged: lambda effect: self._tell(self.feed.leader_changed, effect),
            raft_effects.LeadershipConfirmed: lambda effect: self.to_controller(
                inputs.LeadershipConfirmed(effect.number, effect.epoch)
            ),
            raft_effects.ProposalRefused: self._on_refused,
            raft_effects.VotersChanged: self._keep_channels,
            raft_effects.ShutdownComplete: lambda _effect: self._end(),
            raft_effects.Noted: lambda effect: self.log(effect.name, **effect.fields),
        }
        self._do_controller: dict[type, Callable[[Any], None]] = {
            controller_effects.Reply: lambda effect: self._reply(effect.source, effect.response),
            controller_effects.Append: self._append,
            controller_effects.ConfirmLeadership: lambda effect: self.to_raft(
                raft_inputs.ConfirmLeadership(effect.number)
            ),
            controller_effects.Resign: self._resign,
            controller_effects.TakeSnapshot: self._take_snapshot,
            controller_effects.SendToActive: lambda effect: self.own_requests.send(effect, self.now_ms()),
            controller_effects.Noted: lambda effect: self.log(effect.name, **effect.fields),
            controller_effects.SetLogLevel: self._set_log_level,
        }

    def stand_around(self, around: Callable[[type, Callable[[Any], None]], Callable[[Any], None]]) -> None:
        """Have more done about effects: `around` gets a class of them and what is done, and says what is to be done."""
        self._do_raft.setdefault(raft_effects.Append, self.storage.perform)
        for actions in (self._do_raft, self._do_controller):
            actions.update([(kind, around(kind, act)) for kind, act in actions.items()])

    # What the edges call.

    def start(self) -> None:
        """The first step; requests may come from now on."""
        self.log("node_starting", node_id=self.replica.key.id, log_end=self.replica.log.end)
        for name, fields in self.storage.notes:
            self.log(name, **fields)
        self._inputs.appendleft((self._start_raft, None))
        self._is_draining = False
        self._tell_wall_clock()
        self._drain()
        self._keep_house()

    def on_request(self, incoming: Incoming) -> None:
        """A request came in on a listener."""
        if REQUEST_RECEIVED in self.log.shown:
            self._tell_request(incoming)
        context = context_of(incoming, self.server, self.now_ms())
        source, request = incoming.source, incoming.message
        api = APIS[incoming.api_key]
        if api.kind is Kind.ENVELOPE:
            try:
                context, header, request = opened(request, context)
            except ApiError as error:
                self.server.reply(source, EnvelopeResponse(response_data=None, error_code=error.code))
                return
            self._envelopes[source] = header
            api = APIS[context.api_key]
        try:
            refusal = refusal_of_size(api, request, context.version, len(incoming.frame))
        except TooLarge as error:
            self.server.disconnect(source, str(error))
            return
        if refusal is not None:
            self._reply(source, refusal)
        elif api.kind is Kind.RAFT:
            self.to_raft(raft_inputs.Requested(source, request, context.version, context.listener))
        else:
            self.to_controller(inputs.Requested(context, request))

    def _tell_request(self, incoming: Incoming) -> None:
        api, client_id = type(incoming.message).__name__, incoming.client_id
        client = self.server.peer(incoming.source)
        self.log(REQUEST_RECEIVED, api=api, version=incoming.version, client=client, client_id=client_id)

    def on_disconnected(self, connection: int) -> None:
        if self._envelopes:
            for source in [source for source in self._envelopes if source.connection == connection]:
                del self._envelopes[source]
        self.to_raft(raft_inputs.Disconnected(connection))
        self.to_controller(inputs.Disconnected(connection))

    def on_peer(self, event: raft_inputs.Input) -> None:
        """What came of a `Send`."""
        self.to_raft(event)

    def on_own_answer(self, event: raft_inputs.Input) -> None:
        """What came of a request of this node's own to the active controller."""
        self.own_requests.on_input(event)

    def on_disk(self, event: raft_inputs.Input) -> None:
        """The disk did what it was asked for; called on the executor's thread."""
        self.loop.call_soon_threadsafe(self._disk_said, event)

    def on_disk_failure(self, error: DiskFailed) -> None:
        """The disk failed; called on any thread."""
        self.loop.call_soon_threadsafe(self.fail, error)

    def on_disk_note(self, name: str, fields: dict[str, Any]) -> None:
        """The storage has something for the log; called on any thread."""
        self.loop.call_soon_threadsafe(lambda: self.log(name, **fields))

    def note(self, name: str, fields: dict[str, Any]) -> None:
        """An edge has something for the log."""
        self.log(name, **fields)

    def shut_down(self) -> None:
        """Leave in good order: hand leadership over, and end when that is done or in vain."""
        if self.is_ending:
            return
        self.log("node_stopping")
        self.to_controller(inputs.ShutDown())
        self.to_raft(raft_inputs.ShutDown())

    def fail(self, error: BaseException) -> None:
        """Say that this node cannot go on, tell the others if it leads, and end."""
        if self.is_ending:
            return
        self.is_ending = True
        self.failure = error
        self.log("node_failed", error=f"{type(error).__name__}: {error}", exc_info=error)
        self._inputs.clear()
        try:
            # Only what goes to others is still done: nothing that this node would remember.
            for effect in raft_step(self.replica, raft_inputs.Resign(self.replica.epoch), self.now_ms()):
                if isinstance(effect, raft_effects.Send):
                    self.channels.send(effect)
        except Exception as second:  # whatever it is, the node ends
            self.log("resigning_failed", error=repr(second))
        self.loop.call_later(LAST_WORDS_S, self._finish)

    # Inputs to the cores, one after the other.

    def now_ms(self) -> int:
        return int(self.loop.time() * 1000)

    def to_raft(self, event: raft_inputs.Input) -> None:
        self._inputs.append((self._step_raft, event))
        self._drain()

    def to_controller(self, event: inputs.Input) -> None:
        self._inputs.append((self._step_controller, event))
        self._drain()

    def _drain(self) -> None:
        if self._is_draining or self.is_ending:
            return
        self._is_draining = True
        try:
            while self._inputs and not self.is_ending:
                step, event = self._inputs.popleft()
                step(event)
        except Exception as error:  # a core that raises is wrong, or the disk is: the node must stop
            self.fail(error)
        finally:
            self._is_draining = False
        self._arm()

    def _start_raft(self, _event: None) -> None:
        now_ms = self.now_ms()
        self._perform_raft(raft_start(self.replica, now_ms, self._wall_ms() - now_ms))

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
        for effect in self.controller.step(event, self.now_ms()):
            self._do_controller[type(effect)](effect)

    def _disk_said(self, event: raft_inputs.Input) -> None:
        self.to_raft(event)
        if isinstance(event, raft_inputs.SnapshotTaken):
            self.to_controller(inputs.SnapshotWritten(event.id, event.size))

    def _later(self, action: Callable[[], None]) -> None:
        """Go on with a long work in a later turn of the loop, so that others get theirs."""
        self.loop.call_soon(self._go_on, action)

    def _go_on(self, action: Callable[[], None]) -> None:
        self._inputs.append((lambda _: action(), None))
        self._drain()

    # Time.

    def _arm(self) -> None:
        """Have the cores stepped when the first of them wants to be."""
        if self.is_ending:
            return
        due_ms = self.replica.deadline_ms
        wanted_ms = self.controller.deadline_ms
        if wanted_ms is not None and wanted_ms < due_ms:
            due_ms = wanted_ms
        if self._timer is not None:
            if self._timer_ms <= due_ms:
                return  # it comes soon enough, and is set anew then
            self._timer.cancel()
        self._timer_ms = due_ms
        # Never at once: the clock of whole milliseconds may say that it is not yet due.
        self._timer = self.loop.call_later(max(due_ms - self.now_ms(), 1) / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        now_ms = self.now_ms()
        if self.replica.deadline_ms <= now_ms:
            self._inputs.append((self._step_raft, raft_inputs.Ticked()))
        wanted_ms = self.controller.deadline_ms
        if wanted_ms is not None and wanted_ms <= now_ms:
            self._inputs.append((self._step_controller, inputs.Ticked()))
        self._drain()

    def _keep_house(self) -> None:
        """What is done every second or so, and not on the way of anything."""
        if self.is_ending:
            return
        self._tell_wall_clock()
        self.storage.tick(self.now_ms())
        self._housekeeping = self.loop.call_later(HOUSEKEEPING_S, self._keep_house)

    def _tell_wall_clock(self) -> None:
        offset_ms = self._wall_ms() - self.now_ms()
        self._inputs.append((self._step_raft, raft_inputs.WallClock(offset_ms)))
        self._inputs.append((self._step_controller, inputs.WallClock(offset_ms)))

    # Effects of raft.

    def _reply(self, source: Source, response: Any) -> None:
        if source.connection == OWN_CONNECTION:
            self.own_requests.answered(source, response)
            return
        try:
            header = self._envelopes.pop(source, None)
            self.server.reply(source, response if header is None else sealed(header, response))
        except EncodeError as error:
            self.server.disconnect(source, f"the answer cannot be written: {error}")

    def _reply_records(self, effect: raft_effects.ReplyRecords) -> None:
        data = self.storage.read(effect.start_offset, effect.end_offset, effect.bytes_max)
        # The response was made for this one answer, and nobody else has it.
        effect.response.responses[0].partitions[0].records = data
        self._reply(effect.source, effect.response)

    def _reply_snapshot(self, effect: raft_effects.ReplySnapshot) -> None:
        data = self.storage.read_snapshot(effect.id, effect.position, effect.length)
        effect.response.topics[0].partitions[0].unaligned_records = data
        self._reply(effect.source, effect.response)

    def _tell(self, take: Callable[[Any], None], news: Any) -> None:
        """Have the state fed when its turn comes, in the order of what raft said."""
        self._told += 1
        self._inputs.append((self._take_news, (take, news)))

    def _take_news(self, news: tuple[Callable[[Any], None], Any]) -> None:
        self._told -= 1
        news[0](news[1])

    def _load_snapshot(self, snapshot: SnapshotId) -> None:
        """The state begins anew: what is being written of the old one is of no use."""
        self.snapshot.drop()
        self.feed.load(snapshot)

    def _on_high_watermark(self, effect: raft_effects.HighWatermark) -> None:
        self.storage.perform(effect)
        if self._told:
            self._tell(self.feed.high_watermark, effect.offset)
        else:
            # At once, before other effects of the step: a client's answer goes before what followers are told.
            self.feed.high_watermark(effect.offset)

    def _keep_channels(self, effect: raft_effects.VotersChanged) -> None:
        """Connections to those who are no voters any more are let go; bootstrap servers have negative numbers."""
        self.channels.retain({voter.key.id for voter in effect.voters})

    def _on_refused(self, effect: raft_effects.ProposalRefused) -> None:
        self.log("append_refused", epoch=effect.epoch, base_offset=effect.base_offset)
        self.to_controller(inputs.AppendRefused(effect.epoch))

    # Effects of the controller.

    def _append(self, effect: controller_effects.Append) -> None:
        self.to_raft(raft_inputs.Propose(effect.epoch, effect.base_offset, effect.last_offset, effect.data))

    def _resign(self, effect: controller_effects.Resign) -> None:
        self.log("resigning", epoch=effect.epoch, reason=effect.reason)
        self.to_raft(raft_inputs.Resign(effect.epoch))

    def _take_snapshot(self, effect: controller_effects.TakeSnapshot) -> None:
        kraft_version, voters = self.replica.control_state_at(effect.id.end_offset)
        if not may_take(self.replica, effect.id) or not self.snapshot.begin(
            effect.id, effect.timestamp_ms, effect.view, kraft_version, voters
        ):
            self._snapshot_given_up(effect.id, "one that is as new is here")

    def _snapshot_given_up(self, snapshot: SnapshotId, reason: str) -> None:
        self.to_controller(inputs.SnapshotGivenUp(snapshot, reason))

    def _set_log_level(self, effect: controller_effects.SetLogLevel) -> None:
        self.log.set_level(effect.name, effect.level)

    # The end.

    def _end(self) -> None:
        """Raft has handed over what it had."""
        if not self.is_ending:
            self.is_ending = True
            # One turn more, so that the last answers leave.
            self.loop.call_soon(self._finish)

    def end_now(self) -> None:
        """Wait no longer for anybody."""
        if not self.is_ending:
            self.is_ending = True
            self._finish()

    def _finish(self) -> None:
        for timer in (self._timer, self._housekeeping):
            if timer is not None:
                timer.cancel()
        self.snapshot.drop()
        self.server.close()
        self.channels.close()
        self.own_channels.close()
        try:
            self.storage.close()
        except Exception as error:  # as in _drain
            self.failure = self.failure or error
            self.log("closing_failed", error=repr(error))
        self._on_end()
