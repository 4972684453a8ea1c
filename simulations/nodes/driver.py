"""One process of a controller: `controller.node.node.Node` itself, on a simulated loop, disk and network.

All code between a decoded request and the bytes on disk is the product's. Added are the reports to the watch, and the
points at which a plan may inject a fault.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from controller.config.served import served_config
from controller.interface.effects import Reply as ControllerReply
from controller.interface.env import Env
from controller.interface.inputs import KraftVersion
from controller.interface.inputs import Requested as ControllerRequested
from controller.interface.loggers import ROOT, Loggers
from controller.interface.settings import settings_of
from controller.node.long_requests import may_be_long
from controller.node.long_serving import PARTS_CONNECTION
from controller.node.making import Edges, Setup, make_node
from controller.node.node import Node as Driver
from controller.state.partitions import uncommon_fields as rare
from raft.interface import effects as do
from raft.interface.inputs import Answered, Requested, Source
from raft.network.requests import Incoming
from records.features.levels import FEATURES, KRAFT_VERSION, METADATA_VERSION, find_metadata_version, metadata_version
from records.metadata.configs import FeatureLevelRecord
from simulations.nodes.config_values import NODE_LOGGERS
from simulations.nodes.long_thread import SimLongThread
from simulations.nodes.long_turns import LongTurns
from simulations.nodes.loop import SimLoop
from simulations.nodes.own_channels import OwnEnd, SimChannels
from simulations.world.disk import DIRECTORY
from simulations.world.files import Dead
from simulations.world.interfaces import Watch
from simulations.world.process import DISK_TROUBLE, Process
from simulations.world.releases import levels_of
from simulations.world.violation import Violation, describe_error
from simulations.world.world import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.config.node import NodeConfig
    from controller.core.apis import Api
    from controller.core.controller import Controller
    from controller.interface.access import Access
    from controller.interface.effects import Effect
    from controller.interface.inputs import Input as ControllerInput
    from raft.interface.inputs import Input
    from simulations.world.messages import Frame
    from simulations.world.process import Connection, Node

SHUTDOWN_US = 4 * SECOND
# A small limit on distinct uncommon values, in place of thousands, so that small worlds drop unused ones too.
rare._CROWD_MIN = 4  # noqa: SLF001 - what it is changes no answer
# The channels of a node's own requests stand beside those of the quorum.
OWN = 1_000_000

_STORED = (
    do.SaveElection, do.Append, do.Truncate, do.ResetLog, do.SaveEpochs, do.AdvanceLogStart, do.DeleteSnapshot,
    do.WriteSnapshotPart, do.FreezeSnapshot, do.DropSnapshotPart,
)  # fmt: skip


class ControllerWatch(Watch, Protocol):
    """The reports of a controller beside those of its replica. See `cluster.watch`."""

    def on_controller_stepped(self, process: Any, event: ControllerInput, effects: list[Any]) -> None: ...
    def replies(self, process: Any, source: Source, response: Any) -> None: ...


class ControllerProcess(Process):
    """A running controller. driver: the product's; machine: the view of its state that the checks read. begins_with:
    the records that the formatter wrote, with their versions. sliced: the share of requests served in slices; if it is
    not 0, batches are replayed in parts, and snapshots are written record by record.
    """

    watch: ControllerWatch

    def __init__(self, node: Node, properties: dict[str, str], begins_with: list[tuple[Any, int]]) -> None:
        super().__init__(node)
        self._properties = properties
        self._begins_with = begins_with
        self.loop = SimLoop(self, self._guard)
        self.sliced = 0.0
        self.sliced_rng = node.stream("long requests", node.life)
        self.driver: WatchedDriver
        self.controller: Controller
        self.loggers: Loggers

    def boot(self) -> None:
        """Open the directory and take the first step. Raises Dead if the plan says so, StorageError from storage."""
        node = self.node
        config = served_config(self._properties)
        self.loggers = Loggers(dict.fromkeys(NODE_LOGGERS) | {ROOT: "INFO"})
        env = Env(
            node.config.cluster_id, node.id, node.stream("controller", node.life), settings_of(config), config,
            loggers=self.loggers, access=self.make_access(config),
        )  # fmt: skip
        setup = Setup(
            node.key, DIRECTORY, node.limits, node.config, node.static_voters, env, node.endpoints(),
            levels_of(node.release), lambda: self._begins_with, node.stream("core", node.life),
        )  # fmt: skip
        edges = Edges(
            server=lambda _node: self.make_server(),
            channels=lambda _node: self.make_channels(),
            own_channels=lambda _node: self.make_own_channels(),
            long_executor=lambda _node: SimLongThread(self.loop, node.stream("long thread", node.life)),
        )
        clock, world = self.clock, self.world
        driver: Any = make_node(
            setup, self.files, self.loop, self.flush, edges,  # type: ignore[arg-type]
            wall_ms=lambda: clock.wall_ms(world.now), log=SimLog(self), on_end=self.on_ended,  # type: ignore[arg-type]
            make=partial(WatchedDriver, self),
        )  # fmt: skip
        self.storage, self.replica, self.controller = driver.storage, driver.replica, driver.controller
        self.watch.on_recovered(self, self.storage.recovered)
        self.machine = Machine(self.controller)  # type: ignore[assignment]
        driver.long.queue.rest_from_s = 0.0  # those of a world are short
        if self.sliced:
            # Each batch in parts of a record, and by columns where it can be, as the product does with large ones.
            driver.controller.state.rows_min = 2
            driver.controller.env.partitions_at_once = driver.long.part_size = 1
            driver.timers.between_steps_ms = 5
            driver.snapshot.batch_records, driver.snapshot.rest_s = 1, 0.002
            driver.feed.piece_bytes, driver.feed.whole_bytes_max, driver.feed.part_records = 1, 0, 1
        self.is_listening = True
        driver.start()

    def make_access(self, config: NodeConfig) -> Access | None:  # noqa: ARG002 - of secured processes
        """The authorizer; None where everybody may do everything."""
        return None

    def make_server(self) -> Any:
        """Make the server of requests."""
        return SimServer(self)

    def make_channels(self) -> Any:
        """Make the channels to the quorum."""
        return SimChannels(self, self, 0)

    def make_own_channels(self) -> Any:
        """Make the channels to the active controller, for this node's own requests."""
        return SimChannels(self, OwnEnd(self), OWN)

    def now_ms(self) -> int:
        """The clock of the loop is in floating seconds, so it may be a millisecond behind the node's."""
        return self.driver.now_ms()

    # Called by the network and the machine

    def handle(self, event: Input | None) -> None:
        assert event is not None, "a node is started by its driver"
        self._guard(self.driver.to_raft, event)

    def handle_request(self, connection: Connection, frame: Frame, requested: Requested) -> None:
        if self.is_dead or connection.id not in self.connections:
            return
        connection.asked = frame
        connection.asked_at = self.world.now
        source = Source(connection.id, frame.number)
        request = requested.request
        api_key = type(request).__schema__.api_key
        incoming = Incoming(
            source, api_key, frame.version, frame.number, "simulated", request, b"", 0,
            self.replica.config.listener, f"10.0.0.{connection.client.node.id % 250}:1000",
            getattr(connection.client, "identity", None),
        )  # fmt: skip
        self.watch.on_asked(self, frame, requested)
        self._guard(self.driver.on_request, incoming)
        if not self.is_dead:
            self.watch.took_request(self, frame, requested)

    def handle_answer(self, frame: Frame, answered: Answered) -> None:
        if not self.is_dead:
            self.watch.on_answered(self, frame, answered)
            self._guard(self.driver.on_peer, answered)

    def on_disconnected(self, connection: Connection) -> None:
        """A client has closed its connection."""
        if self.connections.pop(connection.id, None) is not None:
            self._guard(self.driver.on_disconnected, connection.id)

    def shut_down(self) -> None:
        """Shut down cleanly; after a timeout in any case."""
        self._guard(self.driver.shut_down)
        self.world.after(SHUTDOWN_US, self.when_awake, self._guard, self.driver.end_now)

    def on_clock_changed(self) -> None:
        self.loop.on_clock_changed()

    # Within

    def reach(self, prefix: str, cls: type) -> None:
        """The node is at a point. Raises Dead if it ends there."""
        name = f"{prefix}:{cls.__name__}"
        if name in self._armed:
            self.node.triggers.reach(name, self)

    def on_stepped(self, name: str, event: Any, effects: list[Any]) -> None:
        """The quorum's core took a step."""
        self.steps += 1
        self.watch.on_stepped(self, name, event, effects)
        if self.node.step_us:
            self.busy_until = max(self.busy_until, self.world.now) + self.node.step_us

    def on_performed(self) -> None:
        """All effects of a step were started."""
        if self.node.triggers.states:
            self.node.triggers.look(self)

    def resign(self) -> None:
        """The process cannot go on: the product notifies the peers, and accepts no more input."""
        self._inbox.clear()
        self.driver.give_up()

    def on_ended(self) -> None:
        """The driver has ended."""
        if self.driver.failure is None:
            self.node.on_left(self)

    def _guard(self, act: Callable[..., Any], *args: Any) -> None:
        if self.is_dead:
            return
        try:
            act(*args)
        except Dead as death:
            self.node.on_died(self, death)


def is_same(event: ControllerInput, held: ControllerInput) -> bool:
    """Whether an input is this one, which waits for a long step: it is taken when it comes again."""
    return event is held or getattr(event, "context", event) is getattr(held, "context", held)


def formatted_level(level: int) -> int:
    """The level of metadata.version after `kraftctl storage format --release-version` with this name."""
    name = metadata_version(level).name
    used_level = find_metadata_version(name).level
    if used_level != level:
        raise Violation("C19", f"metadata.version {name} is {level}, but the node uses {used_level}")
    return used_level


def bootstrap(level: int) -> list[tuple[Any, int]]:
    """The records that the formatter writes at a metadata.version: each feature at its default level."""
    levels = {METADATA_VERSION: level}
    levels |= {each.name: each.default_level(level) for each in FEATURES if each.name != KRAFT_VERSION}
    return [
        (FeatureLevelRecord(name=name, feature_level=feature_level), 0)
        for name, feature_level in levels.items()
        if feature_level
    ]


class WatchedDriver(Driver):
    """The product's node, with its steps and effects reported."""

    def __init__(self, process: ControllerProcess, *given: Any, **named: Any) -> None:
        self._process = process
        process.driver = self
        self._step: tuple[str, Any] = ("start", None)
        self._controller_input: ControllerInput
        self._error: BaseException | None = None
        super().__init__(*given, **named)
        self.turns = LongTurns(process.node.id, self.loop.time, self.controller)
        self.turns.follow(self.long.queue)
        asks_much = self.arrivals.asks_much
        self.arrivals.asks_much = lambda api, request: self._is_sliced(api) or asks_much(api, request)
        self.arrivals.to_controller = self._take_short
        performs = {**dict.fromkeys(_STORED, self.storage.perform), **self._do_raft}
        self._do_raft = {cls: self._watch(cls, act) for cls, act in performs.items()}

    def _take_short(self, event: ControllerInput) -> None:
        assert isinstance(event, ControllerRequested)
        self.turns.on_short(event.context.api_key)
        self.to_controller(event)

    def _is_sliced(self, api: Api) -> bool:
        process = self._process
        return bool(process.sliced) and may_be_long(api) and process.sliced_rng.random() < process.sliced

    def fail(self, error: BaseException) -> None:
        """Errors of a disk are injected; any other exception is a finding."""
        if self.is_ending:
            return
        if isinstance(error, Violation):
            raise error
        if not isinstance(error, DISK_TROUBLE):
            raise Violation("ASSERT", f"node {self._process.node.id}: {describe_error(error)}") from error
        self._error = error
        self._process.node.on_failed(self._process, error)

    def give_up(self) -> None:
        """End as the product does when it cannot go on."""
        assert self._error is not None, "it has failed"
        super().fail(self._error)

    def _start_raft(self, _event: None) -> None:
        self._step = ("start", None)
        super()._start_raft(None)

    def _step_raft(self, event: Input) -> None:
        self._process.reach("input", type(event))
        self._step = (f"input:{type(event).__name__}", event)
        super()._step_raft(event)

    def _perform_raft(self, effects: list[do.Effect]) -> None:
        self._process.on_stepped(*self._step, effects)
        super()._perform_raft(effects)
        self._process.on_performed()

    def _step_controller(self, event: ControllerInput) -> None:
        self._process.reach("controller", type(event))
        self._controller_input = event
        super()._step_controller(event)
        self.turns.on_stepped()

    def _perform_long(self, performed: tuple[ControllerInput, list[Effect]]) -> None:
        self._controller_input = event = performed[0]
        assert isinstance(event, ControllerRequested)
        self.turns.took(event.context, performed[1])
        super()._perform_long(performed)

    def _perform_controller(self, effects: list[Effect]) -> None:
        event = self._controller_input
        if any(is_same(event, each) for each in self.controller.long.held):
            # The step has taken nothing in, but may have done what was due.
            event = KraftVersion(self.controller.env.kraft_version, self.controller.env.kraft_version_offset)
        self._process.watch.on_controller_stepped(self._process, event, effects)
        for each in effects:
            # A part of a request is checked as a request is; the answer to the whole is made of those to its parts.
            if type(each) is ControllerReply and each.source.connection == PARTS_CONNECTION:
                self._process.watch.replies(self._process, each.source, each.response)
        super()._perform_controller(effects)

    def _watch(self, cls: type, act: Callable[[Any], None]) -> Callable[[Any], None]:
        process = self._process

        def perform(effect: Any) -> None:
            process.reach("before", cls)
            process.watch.performs(process, effect)
            act(effect)
            process.reach("after", cls)

        return perform


class Machine:
    """The interface of a state machine at the raft level. leads: the epoch in which it may write; None if it does not
    lead.
    """

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    @property
    def offset(self) -> int:
        return self._controller.state.end_offset

    @property
    def leads(self) -> int | None:
        return self._controller.env.epoch if self._controller.is_active else None


class SimLog:
    """The node's own log, as notes of the run. shown: the events whose fields are expensive, and
    which are written here.
    """

    shown: frozenset[str] = frozenset()

    def __init__(self, process: ControllerProcess) -> None:
        self._process = process

    def __call__(self, name: str, **fields: Any) -> None:
        fields.pop("exc_info", None)
        self._process.watch.on_noted(self._process, name, fields)

    def set_level(self, logger: str, level: str | None) -> None:
        """DescribeConfigs shows the level; every event is kept regardless of it."""
        self._process.loggers.put(logger, level)


class SimServer:
    """Replaces `raft.network.server.Server`."""

    def __init__(self, process: ControllerProcess) -> None:
        self._process = process

    def reply(self, source: Source, response: Any) -> None:
        process = self._process
        connection = process.connections.get(source.connection)
        if connection is not None:
            process.watch.replies(process, source, response)
            process.network.reply(connection, response)

    def encoder(self, source: Source) -> Callable[[Any], Any] | None:
        return None if source.connection not in self._process.connections else lambda response: response

    def send(self, source: Source, answer: Any) -> None:
        self.reply(source, answer)

    def disconnect(self, source: Source, reason: str) -> None:
        raise Violation("ASSERT", f"node {self._process.node.id} cannot answer {source}: {reason}")

    def close(self) -> None:
        """The connections close with the process."""
