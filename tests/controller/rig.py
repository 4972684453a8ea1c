"""A controller for tests, with a quorum that the test controls: appended records are committed when it says so."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from controller.core.controller import Controller
from controller.core.serving import write_result
from controller.core.steps import deadline_ms, step
from controller.interface.effects import (
    Append,
    ConfirmLeadership,
    Noted,
    OffsetsReserved,
    Reply,
    SendToActive,
    TakeSnapshot,
    UpgradeKraftVersion,
)
from controller.interface.env import Env
from controller.interface.inputs import (
    Committed,
    HighWatermark,
    LeaderChanged,
    LeadershipConfirmed,
    RequestContext,
    Requested,
    Ticked,
)
from controller.interface.results import Result
from controller.interface.settings import Settings
from controller.state.state import State
from raft.interface.inputs import Source
from records.batch import batches, build_control_batch, records_of
from records.features.levels import CURRENT
from records.frame import decode_record
from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest
from records.messages.partitions import AlterPartitionRequest
from records.messages.topics import CreateTopicsRequest
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.schema import default_of, replace, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.state.partitions.partition import Partition
    from records.features.levels import Release

TopicData = AlterPartitionRequest.TopicData

CLUSTER = "A4Yig6TtRc-2rCYFqzcMeQ"
LATEST = 30


def directory(broker_id: int, number: int = 0) -> bytes:
    """The id of a log directory of a broker."""
    return b"dir-" + bytes([number]) + b"-----" + broker_id.to_bytes(6, "big")


def levels(metadata_version: int = LATEST, *, elr: bool = False) -> list[tuple[Any, int]]:
    """Bootstrap records."""
    records: list[tuple[Any, int]] = [(FeatureLevelRecord(name="metadata.version", feature_level=metadata_version), 0)]
    if elr:
        records.append((FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1), 0))
    return records


class Rig:
    """One controller, and the log of its quorum. auto: appended records are committed at once."""

    def __init__(
        self,
        *,
        metadata_version: int = LATEST,
        elr: bool = False,
        auto: bool = True,
        node_id: int = 3000,
        bootstrap: list[tuple[Any, int]] | None = None,
        seed: int = 1,
        registration: Any = None,
        access: Any = None,
        release: Release = CURRENT,
        **settings: Any,
    ) -> None:
        env = Env(CLUSTER, node_id, Random(seed), Settings(**settings), access=access, release=release)
        self.controller = Controller(
            State(),
            env,
            bootstrap=levels(metadata_version, elr=elr) if bootstrap is None else bootstrap,
            registration=registration,
        )
        self.auto = auto
        self.confirms = True
        self.now_ms = 1000
        self.epoch = 0
        self.log: list[bytes] = []
        self.end_offset = 0
        self.replies: dict[int, Any] = {}
        self.notes: list[Noted] = []
        self.others: list[Any] = []
        self.correlation = 0

    @property
    def state(self) -> State:
        return self.controller.state

    @property
    def deadline_ms(self) -> int | None:
        return deadline_ms(self.controller)

    # Inputs.

    def step(self, event: Any) -> list[Any]:
        """One input; its effects are taken care of, and returned."""
        effects = step(self.controller, event, self.now_ms)
        for effect in effects:
            if isinstance(effect, Append):
                assert effect.base_offset == self.end_offset, (effect.base_offset, self.end_offset)
                self.log.append(effect.data)
                self.end_offset = effect.last_offset + 1
            elif isinstance(effect, Reply):
                assert effect.source.correlation not in self.replies
                self.replies[effect.source.correlation] = effect.response
            elif isinstance(effect, OffsetsReserved | UpgradeKraftVersion):
                assert effect.base_offset == self.end_offset, (effect.base_offset, self.end_offset)
                self.others.append(effect)
                self._append_control(2 if isinstance(effect, UpgradeKraftVersion) else 1)
            elif isinstance(effect, Noted):
                self.notes.append(effect)
            else:
                self.others.append(effect)
        for effect in effects:
            if isinstance(effect, ConfirmLeadership) and self.confirms:
                self.step(LeadershipConfirmed(effect.number, self.epoch))
        if self.auto and any(isinstance(effect, Append) for effect in effects):
            self.commit()
        return effects

    def lead(self) -> Rig:
        """This node leads a new epoch, whose first record is committed."""
        self.epoch += 1
        self._append_control(1)
        if not self.controller.is_active:
            self.step(Committed(self.log_from(self.state.end_offset)))
        self.step(LeaderChanged(self.epoch, self.controller.env.node_id, self.end_offset))
        return self

    def _append_control(self, count: int) -> None:
        """The quorum appends control records of its own."""
        records = [(b"\0\0\0\2", b"")] * count
        self.log.append(
            build_control_batch(records, base_offset=self.end_offset, leader_epoch=self.epoch, timestamp_ms=0)
        )
        self.end_offset += count

    def follow(self, leader_id: int | None = 1) -> Rig:
        """Another node leads, and what was not committed is lost."""
        self.epoch += 1
        self.end_offset = min(self.end_offset, self.state.committed_end_offset)
        self.log = [data for data in self.log if last_offset(data) < self.end_offset]
        self.step(LeaderChanged(self.epoch, leader_id))
        return self

    def commit(self, end_offset: int | None = None) -> None:
        self.step(HighWatermark(self.end_offset if end_offset is None else end_offset))

    def tick(self, ms: int = 0) -> list[Any]:
        """Let time pass; the controller is stepped at each of its deadlines."""
        until = self.now_ms + ms
        effects = []
        while True:
            due_ms = self.deadline_ms
            if due_ms is None or due_ms > until:
                break
            self.now_ms = max(self.now_ms, due_ms)
            effects += self.step(Ticked())
        self.now_ms = until
        return effects

    def send(self, request: Any, version: int | None = None, **context: Any) -> int:
        """A request comes; returns the correlation id by which its answer is found in `replies`."""
        self.correlation += 1
        schema = schema_of(type(request))
        assert schema.served is not None
        assert schema.api_key is not None
        version = schema.served[1] if version is None else version
        fields = {"arrived_ms": self.now_ms, **context}
        source = Source(fields.pop("connection", 1), self.correlation)
        self.step(Requested(RequestContext(source, schema.api_key, version, "CONTROLLER", **fields), request))
        return self.correlation

    def ask(self, request: Any, version: int | None = None, **context: Any) -> Any:
        """A request comes and is answered."""
        return self.replies[self.send(request, version, **context)]

    # Looking.

    def log_from(self, offset: int) -> bytes:
        return b"".join(data for data in self.log if last_offset(data) >= offset)

    def records(self, start: int = 0) -> list[tuple[Any, int]]:
        """The metadata records from an offset on, with their versions."""
        found = []
        for data in self.log:
            for batch in batches(data):
                if not batch.is_control:
                    found += [decode_record(r.value or b"") for r in records_of(data, batch) if r.offset >= start]
        return found

    def partition(self, topic: str, partition_id: int = 0) -> Partition:
        found = self.state.partitions.find(self.state.topic(topic), partition_id)
        assert found is not None, (topic, partition_id)
        return found

    def noted(self, name: str) -> list[dict[str, Any]]:
        return [note.fields for note in self.notes if note.name == name]

    def snapshots(self) -> list[TakeSnapshot]:
        return [effect for effect in self.others if isinstance(effect, TakeSnapshot)]

    def sent(self) -> list[SendToActive]:
        return [effect for effect in self.others if isinstance(effect, SendToActive)]

    # Brokers and topics.

    def register(self, broker_id: int, /, incarnation: int = 1, version: int = 4, **fields: Any) -> Any:
        return self.ask(registration(broker_id, incarnation, **fields), version)

    def heartbeat(self, broker_id: int, **fields: Any) -> Any:
        """A heartbeat of a registered broker that has all metadata; returns the answer."""
        return self.replies[self.heartbeat_unanswered(broker_id, **fields)]

    def heartbeat_unanswered(self, broker_id: int, **fields: Any) -> int:
        broker = self.state.brokers[broker_id]
        given = {
            "broker_epoch": broker.epoch,
            "current_metadata_offset": self.end_offset - 1,
            "want_fence": False,
            **fields,
        }
        request = replace(default_of(BrokerHeartbeatRequest), broker_id=broker_id, **given)
        return self.send(request)

    def brokers(self, *broker_ids: int, **fields: Any) -> Rig:
        """Register and unfence brokers."""
        for broker_id in broker_ids:
            assert self.register(broker_id, **fields).error_code == 0
            assert self.heartbeat(broker_id).is_fenced is False
        return self

    def brokers_as(self, principal: Any, *broker_ids: int) -> Rig:
        """Register and unfence brokers where requests are authorised."""
        for broker_id in broker_ids:
            self.ask(registration(broker_id), 4, principal=principal)
            broker = self.state.brokers[broker_id]
            request = replace(
                default_of(BrokerHeartbeatRequest),
                broker_id=broker_id,
                broker_epoch=broker.epoch,
                current_metadata_offset=self.end_offset - 1,
            )
            self.ask(request, principal=principal)
        return self

    def create_as(self, principal: Any, name: str, *assignments: tuple[int, ...]) -> bytes:
        """Create a topic where requests are authorised; returns its id."""
        answer = self.ask(CreateTopicsRequest(topics=(new_topic(name, *assignments),)), principal=principal)
        topic_id: bytes = answer.topics[0].topic_id
        return topic_id

    def alter(self, topic: str, isr: Any, *, partition_id: int = 0, version: int = 3, **fields: Any) -> Any:
        """AlterPartition by the leader of a partition, `isr` being broker ids; returns the partition's result."""
        partition = self.partition(topic, partition_id)
        given = {
            "partition_index": partition_id,
            "leader_epoch": partition.leader_epoch,
            "partition_epoch": partition.partition_epoch,
            "leader_recovery_state": partition.recovery_state,
            **fields,
        }
        leader = given.pop("leader", partition.leader)
        epochs = given.pop("epochs", {})
        if version >= 3:
            member = TopicData.PartitionData.BrokerState
            given["new_isr_with_epochs"] = tuple(member(broker_id=b, broker_epoch=epochs.get(b, -1)) for b in isr)
        else:
            given["new_isr"] = tuple(isr)
        found = self.state.topic(topic)
        assert found is not None
        data = TopicData(topic_id=found.topic_id, partitions=(TopicData.PartitionData(**given),))
        request = AlterPartitionRequest(broker_id=leader, broker_epoch=self.state.brokers[leader].epoch, topics=(data,))
        return self.ask(request, version).topics[0].partitions[0]

    def fence(self, *broker_ids: int) -> Rig:
        for broker_id in broker_ids:
            self.heartbeat(broker_id, want_fence=True)
        return self

    def unfence(self, *broker_ids: int) -> Rig:
        for broker_id in broker_ids:
            self.heartbeat(broker_id)
        return self

    def create(self, name: str, *assignments: tuple[int, ...], **configs: str) -> bytes:
        """Create a topic with these replicas; returns its id."""
        topic = new_topic(name, *assignments, **configs)
        response = self.ask(CreateTopicsRequest(topics=(topic,)))
        assert response.topics[0].error_code == 0, response
        topic_id: bytes = response.topics[0].topic_id
        return topic_id


def registration(broker_id: int, /, incarnation: int = 1, **fields: Any) -> BrokerRegistrationRequest:
    given = {
        "broker_id": broker_id,
        "cluster_id": CLUSTER,
        "incarnation_id": bytes([incarnation]) * 16,
        "listeners": (
            BrokerRegistrationRequest.Listener(
                name="PLAINTEXT", host=f"broker{broker_id}", port=9092, security_protocol=0
            ),
        ),
        "features": (feature("metadata.version", 7, LATEST), feature("eligible.leader.replicas.version", 0, 1)),
        "rack": None,
        "log_dirs": (directory(broker_id),),
    }
    return BrokerRegistrationRequest(**{**given, **fields})


def feature(name: str, low: int, high: int) -> BrokerRegistrationRequest.Feature:
    return BrokerRegistrationRequest.Feature(name=name, min_supported_version=low, max_supported_version=high)


def replayed(data: Iterable[bytes]) -> State:
    """The state that the records of a log make one by one."""
    state = State()
    for part in data:
        for batch in batches(part):
            state.commit(batch.last_offset + 1)
            for record in records_of(part, batch) if not batch.is_control else ():
                state.replay(decode_record(record.value or b"")[0], record.offset)
            state.end_offset = batch.last_offset + 1
    return state


def new_topic(name: str, *assignments: tuple[int, ...], **configs: str) -> CreateTopicsRequest.CreatableTopic:
    cls = CreateTopicsRequest.CreatableTopic
    return cls(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=tuple(
            cls.CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
            for index, replicas in enumerate(assignments)
        ),
        configs=tuple(
            cls.CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ),
    )


def set_config(rig: Rig, kind: int, name: str, key: str, value: str) -> None:
    """Set a dynamic config, as a request would."""
    record = ConfigRecord(resource_type=kind, resource_name=name, name=key, value=value)
    write_result(rig.controller, Result(None, [(record, 0)]))
    rig.step(Ticked())


def last_offset(data: bytes) -> int:
    return next(batches(data)).last_offset
