"""Random histories of a cluster: metadata records that may follow each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.state.state import State
from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
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
from records.metadata.transactions import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
    ZkMigrationStateRecord,
)
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

# Some share a bucket in Java's HashSet, whose order is part of the bytes of an ELR.
BROKERS = (1, 2, 3, 17, 18, 33, 65537)
NAMES = ("orders", "a.b", "a_b", "payments-eu", "x")


def uuid(random: Random) -> bytes:
    return random.getrandbits(126).to_bytes(16, "big")


def own_directory(broker_id: int, number: int = 0) -> bytes:
    """A directory that belongs to the broker, whether that has registered it or not."""
    return bytes((number + 1,)) * 12 + broker_id.to_bytes(4, "big")


def some(random: Random, ids: Iterable[int], count: int | None = None) -> tuple[int, ...]:
    ids = list(ids)
    return tuple(random.sample(ids, min(len(ids), random.randrange(len(ids) + 1) if count is None else count)))


def first_records(metadata_version: int = 30) -> list[Any]:
    """metadata.version, by default 4.3-IV0, and ELR where that has it."""
    return [
        FeatureLevelRecord(name="metadata.version", feature_level=metadata_version),
        FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=int(metadata_version >= 23)),
    ]


def next_record(random: Random, state: State, transactions: bool = True) -> Any:
    """A record that may follow in this state; partitions are the most frequent."""
    while True:
        kinds = (
            PARTITION_KINDS if random.random() < 0.7 else TRANSACTION_KINDS if random.random() < 0.1 else OTHER_KINDS
        )
        if kinds is TRANSACTION_KINDS and not transactions:
            continue
        record = random.choice(kinds)(random, state)
        if record is not None:
            return record


def live(random: Random, count: int, state: State, metadata_version: int = 30) -> list[Any]:
    """Replay `count` records as committed ones, starting from an empty state; returns them."""
    lived = []
    records = first_records(metadata_version)
    for _ in range(count):
        record = records.pop(0) if records else next_record(random, state, transactions=False)
        lived.append(record)
        offset = state.end_offset
        state.commit(offset + 1)
        state.replay(record, offset)
        state.commit(offset + 1)
    return lived


def fresh(records: Iterable[Any]) -> State:
    """The state after these records, all committed."""
    state = State()
    for offset, record in enumerate(records):
        state.commit(offset + 1)
        state.replay(record, offset)
        state.commit(offset + 1)
    return state


def bursts(random: Random, count: int, state: State) -> list[Any]:
    """Replay, as committed, `count` bursts of similar records, as bulk operations write them; returns them."""
    lived: list[Any] = []

    def replay(records: Iterable[Any]) -> None:
        for record in records:
            offset = state.end_offset
            state.commit(offset + 1)
            state.replay(record, offset)
            state.commit(offset + 1)
            lived.append(record)

    replay(first_records())
    for _ in range(count):
        replay(random.choice((new_topic, new_topic, changes, changes, more_partitions, other_things))(random, state))
    return lived


def new_topic(random: Random, state: State) -> list[Any]:
    made = topic(random, state)
    return [] if made is None else [made, *partitions_of(random, made.topic_id, range(random.choice((1, 3, 40, 120))))]


def more_partitions(random: Random, state: State) -> list[Any]:
    if not state.topics:
        return []
    of = state.topics[random.choice(list(state.topics))]
    first = of.partition_count() + random.choice((0, 0, 0, 1, -3))
    return partitions_of(random, of.topic_id, range(max(first, 0), max(first, 0) + random.choice((2, 30))))


def partitions_of(random: Random, topic_id: bytes, ids: Iterable[int]) -> list[Any]:
    ids = list(ids)
    if random.random() < 0.3:
        random.shuffle(ids)
    width = random.choice((1, 3, 3, 5, 9))
    found = []
    for partition_id in ids:
        replicas = some(random, range(1, 20), width)
        isr = replicas if random.random() < 0.9 else replicas[:1]
        found.append(
            PartitionRecord(
                partition_id=partition_id,
                topic_id=topic_id,
                replicas=replicas,
                isr=isr,
                removing_replicas=replicas[:1] if random.random() < 0.02 else (),
                adding_replicas=replicas[-1:] if random.random() < 0.02 else (),
                leader=random.choice((replicas[0], -1)),
                leader_recovery_state=int(random.random() < 0.05),
                leader_epoch=random.choice((0, 0x7FFFFFFF)),
                partition_epoch=random.randrange(9),
                directories=tuple(own_directory(broker) for broker in replicas) if random.random() < 0.9 else (),
                eligible_leader_replicas=replicas[1:2] if random.random() < 0.3 else None,
                last_known_elr=replicas[:1] if random.random() < 0.1 else None,
            )
        )
    return found


def changes(random: Random, state: State) -> list[Any]:
    every = [(of.topic_id, of, id_) for of in state.topics.values() for id_ in of.partition_ids()]
    if not every:
        return []
    count = random.choice((5, 40, 100))
    chosen = random.choices(every, k=count) if random.random() < 0.3 else random.sample(every, min(count, len(every)))
    fields = random.sample(
        ("isr", "leader", "eligible_leader_replicas", "last_known_elr", "leader_recovery_state", "adding_replicas"), 2
    )
    found = []
    for topic_id, of, partition_id in chosen:
        now = state.partitions.find(of, partition_id)
        assert now is not None
        values: dict[str, Any] = dict.fromkeys(fields, now.replicas[:1])
        for name, value in (("leader", random.choice(now.replicas)), ("leader_recovery_state", random.randrange(2))):
            if name in values:
                values[name] = value
        if random.random() < 0.1:
            values["isr"] = now.replicas
        found.append(PartitionChangeRecord(partition_id=partition_id, topic_id=topic_id, **values))
    return found


def other_things(random: Random, state: State) -> list[Any]:
    made = random.choice((remove_topic, clear_elr, config, nothing))(random, state)
    return [] if made is None else [made]


# Topics and partitions.


def topic(random: Random, state: State) -> Any:
    name = random.choice(NAMES) + random.choice(("", "1", "2"))
    return None if name in state.topic_ids else TopicRecord(name=name, topic_id=uuid(random))


def remove_topic(random: Random, state: State) -> Any:
    if not state.topics or random.random() < 0.8:
        return None
    return RemoveTopicRecord(topic_id=random.choice(list(state.topics)))


def partition(random: Random, state: State) -> Any:
    if not state.topics:
        return None
    chosen = state.topics[random.choice(list(state.topics))]
    partition_id = chosen.partition_count()
    if random.random() < 0.15:
        partition_id = random.choice((0, 1, partition_id + 1, 7, 100_000, -1))
    replicas = some(random, BROKERS, random.choice((1, 2, 3, 3, 3, 3, 5, 7)))
    if random.random() < 0.03:
        replicas = tuple(range(1, 13))
    isr = some(random, replicas) if random.random() < 0.5 else replicas
    if random.random() < 0.02:
        isr = (*isr, -7)
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=chosen.topic_id,
        replicas=replicas,
        isr=isr,
        removing_replicas=some(random, replicas, 1) if random.random() < 0.1 else (),
        adding_replicas=some(random, replicas, 1) if random.random() < 0.1 else (),
        leader=random.choice(isr) if isr else -1,
        leader_recovery_state=int(random.random() < 0.1),
        leader_epoch=random.randrange(5),
        partition_epoch=random.randrange(9),
        directories=directories(random, replicas) if random.random() < 0.7 and has_directories(state) else (),
        eligible_leader_replicas=some(random, replicas, 1) if random.random() < 0.2 and has_elr(state) else None,
        last_known_elr=some(random, replicas, 1) if random.random() < 0.1 and has_elr(state) else None,
    )


def since(state: State, metadata_version: int) -> bool:
    """Whether a feature of a metadata.version may be used."""
    return state.metadata_version == 0 or state.metadata_version >= metadata_version


def has_directories(state: State) -> bool:
    return since(state, 17)


def has_elr(state: State) -> bool:
    return since(state, 23)


def directories(random: Random, replicas: tuple[int, ...]) -> tuple[bytes, ...]:
    known = (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, *(own_directory(broker) for broker in BROKERS))
    return tuple(random.choice(known) for _ in replicas)


def partition_change(random: Random, state: State) -> Any:
    chosen = [found for found in state.topics.values() if found.partition_count()]
    if not chosen:
        return None
    of = random.choice(chosen)
    partition_id = random.choice(list(of.partition_ids()))
    now = state.partitions.find(of, partition_id)
    assert now is not None

    def perhaps(value: Any, otherwise: Any = None, chance: float = 0.2) -> Any:
        return value if random.random() < chance else otherwise

    replicas = perhaps(some(random, BROKERS, random.randrange(1, 5)), chance=0.1)
    width = len(now.replicas if replicas is None else replicas)
    return PartitionChangeRecord(
        partition_id=partition_id,
        topic_id=of.topic_id,
        isr=perhaps(some(random, replicas or now.replicas), chance=0.6),
        leader=perhaps(random.choice((-1, *now.replicas)), -2, chance=0.5),
        replicas=replicas,
        removing_replicas=perhaps(some(random, now.replicas, random.randrange(2))),
        adding_replicas=perhaps(some(random, now.replicas, random.randrange(2))),
        leader_recovery_state=perhaps(random.randrange(2), -1),
        directories=directories(random, tuple(range(width)))
        if (replicas is not None or random.random() < 0.1) and has_directories(state)
        else None,
        eligible_leader_replicas=perhaps(some(random, now.replicas, random.randrange(3))) if has_elr(state) else None,
        last_known_elr=perhaps(some(random, now.replicas, random.randrange(2))) if has_elr(state) else None,
    )


def clear_elr(random: Random, state: State) -> Any:
    if random.random() < 0.9:
        return None
    return ClearElrRecord(topic_name=random.choice(["", *state.topic_ids]))


# Everything else.


def register_broker(random: Random, state: State) -> Any:
    broker_id = random.choice(BROKERS)
    own = [own_directory(broker_id, number) for number in range(3)]
    return RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=uuid(random),
        broker_epoch=random.randrange(100),
        end_points=(
            RegisterBrokerRecord.BrokerEndpoint(name="A", host="h", port=9092, security_protocol=0),
            RegisterBrokerRecord.BrokerEndpoint(name="B", host="h", port=9093, security_protocol=3),
        ),
        features=(
            RegisterBrokerRecord.BrokerFeature(
                name="metadata.version", min_supported_version=7, max_supported_version=30
            ),
        ),
        rack=random.choice((None, "r1")),
        fenced=random.random() < 0.5,
        in_controlled_shutdown=random.random() < 0.2,
        log_dirs=tuple(random.sample(own, random.randrange(4))) if has_directories(state) else (),
        cordoned_log_dirs=random.choice((None, (), (own[0],))) if since(state, 30) else None,
    )


def of_broker(make: Callable[[Random, State, Any], Any]) -> Callable[[Random, State], Any]:
    def made(random: Random, state: State) -> Any:
        return make(random, state, random.choice(list(state.brokers.values()))) if state.brokers else None

    return made


@of_broker
def unregister_broker(random: Random, _state: State, broker: Any) -> Any:
    if random.random() < 0.7:
        return None
    return UnregisterBrokerRecord(broker_id=broker.broker_id, broker_epoch=broker.epoch)


@of_broker
def change_broker(random: Random, state: State, broker: Any) -> Any:
    own = own_directory(broker.broker_id, 1)
    return BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch,
        fenced=random.choice((-1, 0, 1)),
        in_controlled_shutdown=random.randrange(2),
        log_dirs=random.choice(((), (own,))) if has_directories(state) else (),
        cordoned_log_dirs=random.choice((None, (), (own,))) if since(state, 30) else None,
    )


@of_broker
def fence_broker(random: Random, _state: State, broker: Any) -> Any:
    kind = random.choice((FenceBrokerRecord, UnfenceBrokerRecord))
    return kind(id=broker.broker_id, epoch=broker.epoch)


def register_controller(random: Random, state: State) -> Any:
    if not since(state, 15):
        return None
    return RegisterControllerRecord(
        controller_id=random.randrange(3000, 3003),
        incarnation_id=uuid(random),
        zk_migration_ready=False,
        end_points=(
            RegisterControllerRecord.ControllerEndpoint(name="CONTROLLER", host="c", port=1, security_protocol=1),
        ),
        features=(),
    )


def unregister_controller(random: Random, state: State) -> Any:
    if not state.controllers or random.random() < 0.5:
        return None
    return UnregisterControllerRecord(controller_id=random.choice(list(state.controllers)))


def config(random: Random, state: State) -> Any:
    resource = random.choice(
        [(4, ""), (4, "1"), (16, "metrics"), (32, "group"), *((2, name) for name in state.topic_ids)]
    )
    return ConfigRecord(
        resource_type=resource[0],
        resource_name=resource[1],
        name=random.choice(("retention.ms", "min.insync.replicas")),
        value=random.choice((None, "1", "2")),
    )


def feature(random: Random, _state: State) -> Any:
    return FeatureLevelRecord(
        name=random.choice(("group.version", "kraft.version", "transaction.version")), feature_level=random.randrange(3)
    )


def quota(random: Random, _state: State) -> Any:
    parts = [
        ClientQuotaRecord.EntityData(entity_type=type_, entity_name=random.choice((None, "alice")))
        for type_ in random.sample(("user", "client-id"), random.randrange(1, 3))
    ]
    return ClientQuotaRecord(
        entity=tuple(parts),
        key=random.choice(("producer_byte_rate", "controller_mutation_rate")),
        value=float(random.randrange(9)),
        remove=random.random() < 0.4,
    )


def producer_ids(_random: Random, state: State) -> Any:
    current = state.producer_ids.get("next")
    return ProducerIdsRecord(broker_id=1, broker_epoch=7, next_producer_id=current.next_id + 1000 if current else 0)


def acl(random: Random, state: State) -> Any:
    if state.acls and random.random() < 0.4:
        return RemoveAccessControlEntryRecord(id=random.choice(list(state.acls)))
    return AccessControlEntryRecord(
        id=uuid(random),
        resource_type=2,
        resource_name="orders",
        pattern_type=3,
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=random.choice((2, 3)),
    )


def scram(random: Random, state: State) -> Any:
    if not since(state, 11):
        return None
    if state.scram and random.random() < 0.4:
        name, mechanism = random.choice(list(state.scram))
        return RemoveUserScramCredentialRecord(name=name, mechanism=mechanism)
    return UserScramCredentialRecord(
        name=random.choice(("alice", "bob")),
        mechanism=random.choice((1, 2)),
        salt=uuid(random),
        stored_key=uuid(random),
        server_key=uuid(random),
        iterations=4096,
    )


def token(random: Random, state: State) -> Any:
    if not since(state, 14):
        return None
    if state.tokens and random.random() < 0.4:
        return RemoveDelegationTokenRecord(token_id=random.choice(list(state.tokens)))
    return DelegationTokenRecord(
        owner="User:alice",
        requester="User:bob",
        renewers=("User:carol",),
        issue_timestamp=random.randrange(100),
        max_timestamp=1000,
        expiration_timestamp=500,
        token_id=random.choice(("t1", "t2", "t3")),
    )


def nothing(random: Random, _state: State) -> Any:
    return NoOpRecord() if random.random() < 0.5 else ZkMigrationStateRecord(zk_migration_state=0)


def transaction(random: Random, state: State) -> Any:
    if state.transaction_start == -1:
        return BeginTransactionRecord(name="t")
    return random.choice((EndTransactionRecord(), AbortTransactionRecord(reason="r")))


PARTITION_KINDS = (topic, partition, partition, partition, partition_change, partition_change, remove_topic, clear_elr)
TRANSACTION_KINDS = (transaction,)
OTHER_KINDS = (
    register_broker, unregister_broker, change_broker, fence_broker, register_controller, unregister_controller, config,
    feature, quota, producer_ids, acl, scram, token, nothing,
)  # fmt: skip
