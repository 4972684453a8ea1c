"""The metadata as a reader of the log sees it: model brokers and the checks use it. It shares no code with the
controller's replay.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from records.batch import batches, read_header, records_of
from records.frame import decode_record
from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from records.metadata.configs import ClientQuotaRecord, ConfigRecord, FeatureLevelRecord
from records.metadata.producer_ids import ProducerIdsRecord
from records.metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UserScramCredentialRecord,
)
from records.metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from records.metadata.transactions import AbortTransactionRecord, BeginTransactionRecord, EndTransactionRecord
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Callable

UNCHANGED = -2
NOBODY = -1
_NOWHERE = (UNASSIGNED_DIRECTORY, MIGRATING_DIRECTORY)


@lru_cache(maxsize=2048)
def decode_batch(data: bytes) -> tuple[tuple[int, Any], ...]:
    """The records of one data batch with their offsets, in order; none of a control batch."""
    batch = read_header(data)
    assert batch is not None, "a whole batch"
    if batch.is_control:
        return ()
    return tuple(
        (batch.base_offset + place, decode_record(record.value or b"")[0])
        for place, record in enumerate(records_of(data, batch))
    )


def records_in(data: bytes) -> list[tuple[int, Any]]:
    """The records of all whole batches in some bytes, with their offsets, in order."""
    return [each for _, _, batch in batches_of(data) for each in decode_batch(batch)]


def batches_of(data: bytes) -> list[tuple[int, int, bytes]]:
    """The whole batches in some bytes: (base offset, end offset, bytes)."""
    return [
        (batch.base_offset, batch.last_offset + 1, data[batch.position : batch.position + batch.size])
        for batch in batches(data, check=False)
    ]


Levels = dict[str, tuple[int, int]]


@dataclass(slots=True)
class Broker:
    """A registration. levels: of the features that it supports; directories: the online ones; cordoned: those that take
    no new replicas. rack: None for none.
    """

    epoch: int
    incarnation: bytes
    fenced: bool
    leaving: bool
    offset: int = -1  # of its registration, where that was seen
    levels: Levels = field(default_factory=dict)
    directories: tuple[bytes, ...] = ()
    cordoned: tuple[bytes, ...] = ()
    rack: str | None = None

    def serves(self, directory: bytes) -> bool:
        """Whether a replica in this directory is online, as far as that is known."""
        return directory in _NOWHERE or not self.directories or directory in self.directories


@dataclass(slots=True)
class Partition:
    """A partition as the log has it."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    epoch: int
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    elr: tuple[int, ...]
    last_known: tuple[int, ...]
    directories: tuple[bytes, ...] = ()
    recovering: bool = False

    def normal(self) -> Partition:
        """The partition without directories if all of them are unassigned; records have directories from
        metadata.version 17 on.
        """
        return replace(self, directories=()) if set(self.directories) == {MIGRATING_DIRECTORY} else self

    def directory_of(self, broker_id: int) -> bytes:
        """The directory of a broker's replica; a reserved id if it is unknown, or there is no replica."""
        if broker_id not in self.replicas or len(self.directories) != len(self.replicas):
            return UNASSIGNED_DIRECTORY
        return self.directories[self.replicas.index(broker_id)]


class Settling:
    """Gives the records that take effect with each batch: those of a metadata transaction do so at its end, or never
    (KIP-868).
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, Any]] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a transaction is open."""
        return self._open is not None

    def take(self, batch: bytes) -> list[tuple[int, Any]]:
        """The records, with their offsets, that take effect with this batch."""
        records: list[tuple[int, Any]] = []
        for offset, record in decode_batch(batch):
            if type(record) is BeginTransactionRecord:
                self._open = []
            elif type(record) is EndTransactionRecord:
                records += self._open or ()
                self._open = None
            elif type(record) is AbortTransactionRecord:
                self._open = None
            elif self._open is not None:
                self._open.append((offset, record))
            else:
                records.append((offset, record))
        return records


class Image:
    """brokers by id; topics: id -> name; names: name -> id; partitions: (topic id, index); configs: (type, name).
    controllers: id -> supported levels. users: ACLs, quotas, credentials and tokens, as records.
    """

    def __init__(self) -> None:
        self.end_offset = 0
        self.brokers: dict[int, Broker] = {}
        self.topics: dict[bytes, str] = {}
        self.names: dict[str, bytes] = {}
        self.counts: dict[bytes, int] = {}
        self.partitions: dict[tuple[bytes, int], Partition] = {}
        self.configs: dict[tuple[int, str], dict[str, str]] = {}
        self.next_producer_id = 0
        self.features: dict[str, int] = {}
        self.controllers: dict[int, Levels] = {}
        self.users: dict[tuple[Any, ...], Any] = {}

    def apply(self, record: Any) -> None:
        """Apply one record; records about other things are ignored."""
        act = APPLY.get(type(record))
        if act is not None:
            act(self, record)

    def is_as(self, other: Image) -> bool:
        """Whether another image has the same contents."""
        return not self.differs_from(other)

    def differs_from(self, other: Image) -> list[str]:
        """The differences from another image, as text."""
        mine, theirs = self._comparable(), other._comparable()
        return [f"{name} {value}, not {theirs[name]}" for name, value in mine.items() if value != theirs[name]]

    def _comparable(self) -> dict[str, Any]:
        """The contents by subject, without empty ones."""
        return {
            "brokers": self._registrations(),
            "names": self.names,
            "partitions": {key: partition.normal() for key, partition in self.partitions.items()},
            "configs": {key: value for key, value in self.configs.items() if value},
            "producer ids": self.next_producer_id,
            "features": {name: level for name, level in self.features.items() if level},
            "controllers": self.controllers,
            "users": self.users,
        }

    def copy(self) -> Image:
        """An independent copy."""
        other = Image()
        for name, value in vars(self).items():
            if isinstance(value, dict):
                value = {key: copy(each) for key, each in value.items()}
            setattr(other, name, value)
        return other

    def with_own_brokers(self) -> Image:
        """A copy that shares everything but its brokers."""
        other = copy(self)
        other.brokers = {each: copy(broker) for each, broker in self.brokers.items()}
        return other

    def _registrations(self) -> dict[int, tuple[Any, ...]]:
        """A registration without the fields that a snapshot does not have."""
        return {
            each: (b.epoch, b.incarnation, b.fenced, b.leaving, b.levels, b.directories, b.cordoned, b.rack)
            for each, b in self.brokers.items()
        }

    def partitions_led_by(self, broker_id: int) -> list[tuple[bytes, int]]:
        """The partitions that a broker leads."""
        return [key for key, partition in self.partitions.items() if partition.leader == broker_id]

    def registers(self, record: RegisterBrokerRecord) -> None:
        self.brokers[record.broker_id] = Broker(
            record.broker_epoch, bytes(record.incarnation_id), record.fenced, record.in_controlled_shutdown,
            levels=levels_of(record), directories=tuple(sorted(map(bytes, record.log_dirs))),
            cordoned=tuple(sorted(map(bytes, record.cordoned_log_dirs or ()))), rack=record.rack,
        )  # fmt: skip

    def unregisters(self, record: UnregisterBrokerRecord) -> None:
        self.brokers.pop(record.broker_id, None)

    def changes_broker(self, record: BrokerRegistrationChangeRecord) -> None:
        broker = self.brokers[record.broker_id]
        if record.fenced:
            broker.fenced = record.fenced > 0
        if record.in_controlled_shutdown:
            broker.leaving = True
        if record.log_dirs:
            broker.directories = tuple(sorted(map(bytes, record.log_dirs)))
        if record.cordoned_log_dirs is not None:
            broker.cordoned = tuple(sorted(map(bytes, record.cordoned_log_dirs)))

    def registers_controller(self, record: RegisterControllerRecord) -> None:
        self.controllers[record.controller_id] = levels_of(record)

    def makes_topic(self, record: TopicRecord) -> None:
        topic_id = bytes(record.topic_id)
        self.topics[topic_id] = record.name
        self.names[record.name] = topic_id
        self.counts[topic_id] = 0

    def makes_partition(self, record: PartitionRecord) -> None:
        topic_id = bytes(record.topic_id)
        self.counts[topic_id] = self.counts.get(topic_id, 0) + 1
        self.partitions[topic_id, record.partition_id] = Partition(
            tuple(record.replicas), tuple(record.isr), record.leader, record.leader_epoch, record.partition_epoch,
            tuple(record.adding_replicas), tuple(record.removing_replicas),
            tuple(record.eligible_leader_replicas or ()), tuple(record.last_known_elr or ()),
            tuple(map(bytes, record.directories)), record.leader_recovery_state > 0,
        )  # fmt: skip

    def changes_partition(self, record: PartitionChangeRecord) -> None:
        partition = self.partitions[bytes(record.topic_id), record.partition_id]
        partition.epoch += 1
        if record.leader != UNCHANGED:
            partition.leader = record.leader
            partition.leader_epoch += 1
        for name, value in (
            ("isr", record.isr), ("replicas", record.replicas), ("adding", record.adding_replicas),
            ("removing", record.removing_replicas), ("elr", record.eligible_leader_replicas),
            ("last_known", record.last_known_elr), ("directories", record.directories),
        ):  # fmt: skip
            if value is not None:
                setattr(partition, name, tuple(value))
        if record.leader_recovery_state >= 0:
            partition.recovering = record.leader_recovery_state > 0

    def removes_topic(self, record: RemoveTopicRecord) -> None:
        topic_id = bytes(record.topic_id)
        name = self.topics.pop(topic_id)
        if self.names.get(name) == topic_id:
            del self.names[name]
        for index in range(self.counts.pop(topic_id)):
            del self.partitions[topic_id, index]
        self.configs.pop((2, name), None)

    def clears_elr(self, record: ClearElrRecord) -> None:
        for partition in self.with_elr(record.topic_name):
            partition.elr = partition.last_known = ()
            partition.epoch += 1

    def with_elr(self, topic_name: str) -> list[Partition]:
        """The partitions of a topic, or of all with an empty name, that a ClearElrRecord of it changes."""
        return [
            partition
            for (topic_id, _), partition in self.partitions.items()
            if topic_name in ("", self.topics[topic_id]) and (partition.elr or partition.last_known)
        ]

    def configures(self, record: ConfigRecord) -> None:
        configs = self.configs.setdefault((record.resource_type, record.resource_name), {})
        if record.value is None:
            configs.pop(record.name, None)
        else:
            configs[record.name] = record.value

    def sets_feature(self, record: FeatureLevelRecord) -> None:
        self.features[record.name] = record.feature_level

    def gives_producer_ids(self, record: ProducerIdsRecord) -> None:
        self.next_producer_id = record.next_producer_id

    def sets_quota(self, record: ClientQuotaRecord) -> None:
        entity = sorted((part.entity_type, part.entity_name or "") for part in record.entity)
        if record.remove:
            self.users.pop((*entity, record.key), None)
        else:
            self.users[*entity, record.key] = record.value

    def sets_credential(self, record: UserScramCredentialRecord) -> None:
        self.users["scram", record.name, record.mechanism] = record

    def removes_credential(self, record: RemoveUserScramCredentialRecord) -> None:
        del self.users["scram", record.name, record.mechanism]

    def sets_rule(self, record: AccessControlEntryRecord) -> None:
        self.users["acl", bytes(record.id)] = record

    def removes_rule(self, record: RemoveAccessControlEntryRecord) -> None:
        del self.users["acl", bytes(record.id)]

    def sets_token(self, record: DelegationTokenRecord) -> None:
        self.users["token", record.token_id] = record

    def removes_token(self, record: RemoveDelegationTokenRecord) -> None:
        self.users.pop(("token", record.token_id), None)


APPLY: dict[type, Callable[[Image, Any], None]] = {
    RegisterBrokerRecord: Image.registers,
    UnregisterBrokerRecord: Image.unregisters,
    BrokerRegistrationChangeRecord: Image.changes_broker,
    TopicRecord: Image.makes_topic,
    PartitionRecord: Image.makes_partition,
    PartitionChangeRecord: Image.changes_partition,
    RemoveTopicRecord: Image.removes_topic,
    ClearElrRecord: Image.clears_elr,
    ConfigRecord: Image.configures,
    ProducerIdsRecord: Image.gives_producer_ids,
    FeatureLevelRecord: Image.sets_feature,
    RegisterControllerRecord: Image.registers_controller,
    ClientQuotaRecord: Image.sets_quota,
    UserScramCredentialRecord: Image.sets_credential,
    RemoveUserScramCredentialRecord: Image.removes_credential,
    AccessControlEntryRecord: Image.sets_rule,
    RemoveAccessControlEntryRecord: Image.removes_rule,
    DelegationTokenRecord: Image.sets_token,
    RemoveDelegationTokenRecord: Image.removes_token,
}


def levels_of(record: Any) -> Levels:
    """The levels of each feature that a registration supports."""
    return {each.name: (each.min_supported_version, each.max_supported_version) for each in record.features}
