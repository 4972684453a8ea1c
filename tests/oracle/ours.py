"""Our controller behind the commands: the only module of the oracle that uses its internals."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from controller.config.node import NodeConfig
from controller.config.resources import knows_config
from controller.config.values.node_values import RELEASE
from controller.core.apis import APIS
from controller.core.controller import Controller
from controller.core.steps import deadline_ms as deadline_ms_of
from controller.core.steps import step
from controller.handlers.security.delegation_tokens import secrets_of
from controller.interface.effects import (
    Append,
    ConfirmLeadership,
    Noted,
    Reply,
    Resign,
    SetLogLevel,
    UpgradeKraftVersion,
)
from controller.interface.env import Env
from controller.interface.inputs import (
    Committed,
    HighWatermark,
    KraftVersion,
    KraftVersionSupport,
    LeaderChanged,
    LeadershipConfirmed,
    Principal,
    RequestContext,
    Requested,
    SnapshotClosed,
    SnapshotOpened,
    SnapshotPart,
    Ticked,
)
from controller.interface.loggers import ROOT, Loggers
from controller.interface.refusals import alternatives
from controller.interface.settings import settings_of
from controller.node.authorizers import access_of
from controller.state.snapshots import batches as snapshot_batches
from controller.state.state import State
from controller.state.view import stable_view
from raft.interface.config import SnapshotId
from raft.interface.inputs import Source
from records.batch import batches, build_control_batch, records_of
from records.codec import decode, encode
from records.features.levels import supported_features
from records.metadata.configs import FeatureLevelRecord
from records.registry import request_class
from records.wire import DecodeError, EncodeError
from tests.oracle.commands import AGAIN_MS, Answer, Hold, Lead, Lose, Pass, Request, Restart, Snapshot, Start
from tests.oracle.java_random import Twin
from tests.oracle.release import KAFKA

if TYPE_CHECKING:
    from controller.state.partitions.partition import Partition
    from controller.state.tables.brokers import Broker
    from tests.oracle.commands import Command

CLUSTER = "A4Yig6TtRc-2rCYFqzcMeQ"
NODE_ID = 3000
START_MS = 1_000_000
TICKS_MAX = 10_000
# Control records: their keys have a version and a type.
LEADER_CHANGE, KRAFT_VERSION, KRAFT_VOTERS = b"\0\0\0\2", b"\0\0\0\5", b"\0\0\0\6"
KRAFT_VERSION_MAX = 1
PROPERTIES = {
    "process.roles": "controller",
    "node.id": str(NODE_ID),
    "controller.quorum.voters": f"{NODE_ID}@localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://localhost:9093",
    "log.dirs": "oracle-logs",
    # A NoOp record says nothing that is compared; a sequence that wants them asks for them.
    "metadata.max.idle.interval.ms": "0",
    # So that the two periodic tasks are not due at the same moment.
    "leader.imbalance.check.interval.seconds": "310",
}

_configs: dict[tuple[tuple[str, str], ...], NodeConfig] = {}


def properties_of(start: Start) -> dict[str, str]:
    """The node's configuration, the same for both sides."""
    return {**PROPERTIES, RELEASE: KAFKA.name, **dict(start.properties)}


def bootstrap_of(start: Start) -> list[tuple[Any, int]]:
    """The records that begin the log, the same for both sides."""
    return [(FeatureLevelRecord(name=name, feature_level=level), 0) for name, level in start.levels]


class Ours:
    """Our controller, and the log of its quorum, which commits at once or, while it is held, on release."""

    def __init__(self, start: Start) -> None:
        config = _configs.get(start.properties)
        if config is None:
            config = _configs[start.properties] = NodeConfig(properties_of(start))
        self.config = config
        self.random = Twin(start.seed)
        self.bootstrap = bootstrap_of(start)
        self.now_ms = START_MS
        self.epoch = 0
        self.end_offset = 0
        self.held = False
        # The offset of the control record that raised kraft.version to 1.
        self.raised: int | None = None
        self.log: list[bytes] = []
        self.answer = Answer()
        self.versions: dict[int, int] = {}
        self.controller = self.new_controller()
        self.lead()

    def new_controller(self) -> Controller:
        env = Env(
            CLUSTER,
            NODE_ID,
            self.random,
            settings_of(self.config),
            self.config,
            now_ms=self.now_ms,
            release=self.config.release,
            access=access_of(self.config),
            loggers=Loggers({ROOT: "FATAL"}),
        )
        state = State(
            supported_features=supported_features(is_unstable(self.config), self.config.release),
            knows_config=partial(knows_config, release=self.config.release),
        )
        return Controller(state, env, bootstrap=self.bootstrap)

    def take(self) -> Answer:
        """The results of the commands since the last call."""
        taken, self.answer = self.answer, Answer()
        return taken

    def run(self, command: Command, number: int, body: bytes = b"") -> Answer:
        """One command. number, body: of a request."""
        match command:
            case Request():
                self.request(command, number, body)
            case Pass():
                self.pass_time(command.ms, command.steps)
            case Lose():
                self.lose()
            case Lead():
                self.lead()
            case Restart():
                self.restart(from_snapshot=command.from_snapshot)
            case Snapshot():
                self.answer.snapshot = self.snapshot()
            case Hold():
                self.held = command.wanted
                self.commit()
            case Start():
                raise AssertionError("a Start makes a new Ours")
        return self.take()

    # Commands.

    def request(self, request: Request, number: int, body: bytes) -> None:
        try:
            message = decode(request_class(request.api_key), request.version, body)
        except DecodeError:
            self.answer.responses.append((number, None))
            return
        unreadable = APIS[request.api_key].unreadable
        if unreadable is not None and unreadable(message) is not None:  # here the node closes the connection
            self.answer.responses.append((number, None))
            return
        self.versions[number] = request.version
        context = RequestContext(
            Source(1, number),
            request.api_key,
            request.version,
            "CONTROLLER",
            arrived_ms=self.now_ms,
            principal=Principal(*request.principal, request.by_token),
            client_id=request.client_id,
            forwarded=request.forwarded,
            security_protocol=request.protocol,
        )
        self.step(Requested(context, message))

    def pass_time(self, ms: int, steps: int) -> None:
        """Advance the clock in one step, and then in small steps for a periodic task that has more to do."""
        for step_ms in (ms, *(AGAIN_MS,) * steps):
            self.now_ms += step_ms
            self.tick()

    def due_in_ms(self) -> int | None:
        """The time until the next deadline; None without one."""
        deadline_ms = deadline_ms_of(self.controller)
        return None if deadline_ms is None else max(deadline_ms - self.now_ms, 0)

    def tick(self) -> None:
        for _ in range(TICKS_MAX):
            deadline_ms = deadline_ms_of(self.controller)
            if deadline_ms is None or deadline_ms > self.now_ms:
                return
            self.step(Ticked())
        raise AssertionError(f"{TICKS_MAX} ticks at one moment")

    def lead(self) -> None:
        self.held = False
        self.commit()
        self.epoch += 1
        self.append_control(LEADER_CHANGE)
        # Another voter has not told what it supports.
        self.step(KraftVersionSupport(self.epoch, KRAFT_VERSION_MAX if len(self.config.voters) == 1 else 0))
        if not self.controller.is_active:
            missing = b"".join(data for data in self.log if _last_offset(data) >= self.controller.state.end_offset)
            self.step(Committed(missing))
        self.step(LeaderChanged(self.epoch, NODE_ID, self.end_offset))

    def lose(self) -> None:
        self.epoch += 1
        self.truncate(self.controller.state.committed_end_offset)
        self.step(LeaderChanged(self.epoch, NODE_ID + 1))

    def restart(self, *, from_snapshot: bool) -> None:
        committed = self.controller.state.committed_end_offset
        snapshot = self.snapshot_bytes() if from_snapshot else b""
        self.answer.snapshot = _values(snapshot)
        self.epoch += 1
        self.truncate(committed)
        self.controller = self.new_controller()
        self.tell_kraft_version()
        if from_snapshot:
            self.step(SnapshotOpened(SnapshotId(self.end_offset, self.epoch)))
            for batch in batches(snapshot):
                part = snapshot[batch.position : batch.position + batch.size]
                self.step(SnapshotPart(part, 1 << 30))
            self.step(SnapshotClosed())
        self.lead()

    def truncate(self, end_offset: int) -> None:
        self.end_offset = min(self.end_offset, end_offset)
        self.log = [data for data in self.log if _last_offset(data) < self.end_offset]
        if self.raised is not None and self.raised >= self.end_offset:
            self.raised = None
            self.tell_kraft_version()

    def tell_kraft_version(self) -> None:
        self.step(KraftVersion(0, -1) if self.raised is None else KraftVersion(KRAFT_VERSION_MAX, self.raised))

    def append_control(self, *keys: bytes) -> None:
        """Control records, into which the controller does not look."""
        records = [(key, b"") for key in keys]
        data = build_control_batch(records, base_offset=self.end_offset, leader_epoch=self.epoch, timestamp_ms=0)
        self.log.append(data)
        self.end_offset += len(keys)

    def snapshot(self) -> list[bytes]:
        return _values(self.snapshot_bytes())

    def snapshot_bytes(self) -> bytes:
        view = stable_view(self.controller.state)
        return b"".join(snapshot_batches(view, base_offset=0, leader_epoch=1, timestamp_ms=0))

    # The quorum.

    def step(self, event: Any) -> None:
        pending = [event]
        while pending:
            effects = step(self.controller, pending.pop(0), self.now_ms)
            appended = False
            for effect in effects:
                match effect:
                    case Append():
                        assert effect.base_offset == self.end_offset, (effect.base_offset, self.end_offset)
                        self.log.append(effect.data)
                        self.end_offset = effect.last_offset + 1
                        self.answer.batches.append(_values(effect.data))
                        appended = True
                    case UpgradeKraftVersion():
                        assert effect.base_offset == self.end_offset, (effect.base_offset, self.end_offset)
                        assert effect.level == KRAFT_VERSION_MAX, effect.level
                        self.raised = effect.base_offset
                        self.append_control(KRAFT_VERSION, KRAFT_VOTERS)
                        self.answer.batches.append([])  # its records are not the controller's
                        pending.append(KraftVersion(effect.level, effect.base_offset))
                    case SetLogLevel():
                        loggers = self.controller.env.loggers
                        assert loggers is not None
                        loggers.put(effect.name, effect.level)
                    case Reply():
                        self.reply(effect)
                    case ConfirmLeadership():
                        pending.append(LeadershipConfirmed(effect.number, self.epoch))
                    case Resign():
                        self.answer.notes.append(f"resigned: {effect.reason}")
                    case Noted():
                        self.answer.events.append(effect.name)
            if appended and not self.held:
                pending.append(HighWatermark(self.end_offset))

    def reply(self, effect: Reply) -> None:
        number = effect.source.correlation
        version = self.versions.pop(number)
        for response in alternatives(effect.response, effect.context):
            try:
                self.answer.responses.append((number, encode(response, version)))
                return
            except EncodeError as error:
                reason = str(error)
        raise AssertionError(reason)

    def commit(self) -> None:
        if not self.held and self.controller.is_active and self.controller.state.committed_end_offset < self.end_offset:
            self.step(HighWatermark(self.end_offset))

    # What generators and lookups read.

    @property
    def state(self) -> State:
        return self.controller.state

    def broker(self, broker_id: int) -> Broker | None:
        return self.state.brokers.get(broker_id)

    def topic_id(self, name: str) -> bytes | None:
        return self.state.topic_ids.get(name)

    def partition(self, name: str, partition_id: int) -> Partition | None:
        topic = self.state.topic(name)
        return None if topic is None else self.state.partitions.find(topic, partition_id)

    def token_secret(self, number: int) -> bytes:
        """The HMAC of the delegation token of this number, in the order of ids; else an unknown HMAC."""
        tokens = sorted(self.state.tokens)
        if not 0 <= number < len(tokens) or not self.config.text("delegation.token.secret.key"):
            return b"no token"
        return secrets_of(self.controller.env).hmac(tokens[number])


def _values(data: bytes) -> list[bytes]:
    return [record.value or b"" for batch in batches(data) for record in records_of(data, batch)]


def _last_offset(data: bytes) -> int:
    return next(batches(data)).last_offset


def is_unstable(config: NodeConfig) -> bool:
    """Whether levels are supported that are not for production yet."""
    return config.flag("unstable.feature.versions.enable")


def supported(*, unstable: bool = False) -> dict[str, tuple[int, int]]:
    """The features and the levels that this software supports, as a stock broker of the same release does."""
    return dict(supported_features(unstable, KAFKA))
