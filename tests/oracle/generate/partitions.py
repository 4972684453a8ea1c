"""AlterPartition, reassignments, elections and AssignReplicasToDirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.oracle.generate.topics import timeout
from tests.oracle.generate.world import directory

if TYPE_CHECKING:
    from tests.oracle.commands import Command
    from tests.oracle.generate.world import World


def alter(world: World) -> Command:
    """The leader of partitions sends AlterPartition."""
    name, index = world.partition()
    found = world.ours.partition(name, index)
    leader = world.broker() if found is None or world.chance(0.03) else found.leader
    partitions = [altered(world, name, index)]
    topics = [{"topicId": f"$topic_id({name})", "partitions": partitions}]
    if world.chance(0.2):
        other = world.partition_of(name)
        if other != index or world.repeats:
            partitions.append(altered(world, name, other))
    first = name
    if world.chance(0.1):
        name, index = world.partition()
    if name != first or world.repeats:
        topics.append({"topicId": f"$topic_id({name})", "partitions": [altered(world, name, index)]})
    topics = topics if world.chance(0.99) else []
    body = {"brokerId": leader, "brokerEpoch": world.epoch_of(leader), "topics": topics}
    return world.request(56, 2, 3, body)


def altered(world: World, name: str, index: int) -> dict[str, Any]:
    found = world.ours.partition(name, index)
    replicas = [0, 1] if found is None else list(found.replicas)
    isr = [broker for broker in replicas if world.chance(0.7)]
    if found is not None and found.leader not in isr and world.chance(0.93):
        isr.append(found.leader)
    if world.chance(0.03):
        isr = world.pick(([], [*isr, 9], [*isr, *isr[:1]], world.some_brokers(1, 3)))
    epochs = {broker: f"$broker_epoch({broker})" if world.chance(0.7) else -1 for broker in isr}
    if world.chance(0.05) and isr:
        epochs[isr[0]] = f"$broker_epoch({isr[0]})-1"
    recovery: Any = f"$recovery({name},{index})" if world.chance(0.9) else world.pick((0, 1))
    place = f"({name},{index})"
    return {
        "partitionIndex": index,
        "leaderEpoch": f"$leader_epoch{place}" if world.chance(0.96) else world.pick((f"$leader_epoch{place}-1", 99)),
        "partitionEpoch": (
            f"$partition_epoch{place}" if world.chance(0.96) else world.pick((f"$partition_epoch{place}-1", 99))
        ),
        "newIsr": isr,
        "newIsrWithEpochs": [{"brokerId": broker, "brokerEpoch": epochs[broker]} for broker in isr],
        "leaderRecoveryState": recovery,
    }


def reassign(world: World) -> Command:
    topics = []
    for name in world.some_topics(world.pick((1, 1, 1, 2))):
        partitions = []
        for index in world.partitions_of(name, world.pick((1, 1, 2))):
            found = world.ours.partition(name, index)
            replicas: list[int] | None = world.some_brokers(1, 4)
            if found is not None and world.chance(0.3):
                replicas = list(found.replicas)
                world.rng.shuffle(replicas)
            if world.chance(0.2):
                replicas = None
            if world.chance(0.02):
                replicas = []
            partitions.append({"partitionIndex": index, "replicas": replicas})
        topics.append({"name": name, "partitions": partitions})
    if world.chance(0.02):
        topics = []
    body = {"topics": topics, "timeoutMs": timeout(world), "allowReplicationFactorChange": world.chance(0.8)}
    return world.request(45, 0, 1, body)


def list_reassignments(world: World) -> Command:
    topics = None
    if world.chance(0.5):
        names = world.some_topics(world.rng.randint(0, 2))
        topics = [{"name": name, "partitionIndexes": world.partitions_of(name, 2)} for name in names]
    return world.request(46, 0, 0, {"topics": topics, "timeoutMs": timeout(world)})


def elect(world: World) -> Command:
    topics = None
    if world.chance(0.7):
        names = world.some_topics(world.rng.randint(1, 2))
        topics = [{"topic": name, "partitions": world.partitions_of(name, world.rng.randint(1, 3))} for name in names]
        topics = topics if world.chance(0.98) else []
    kind = world.pick((0, 0, 1, 1)) if world.chance(0.97) else world.pick((2, -1))
    return world.request(43, 0, 2, {"electionType": kind, "topicPartitions": topics, "timeoutMs": timeout(world)})


def assign(world: World) -> Command:
    broker_id = world.broker()
    directories = []
    for name in world.some_topics(world.pick((1, 1, 2))):
        owner = max(broker_id, 0) if world.chance(0.95) else 3
        id_ = directory(owner, world.rng.randrange(3))
        if world.chance(0.03):
            id_ = world.pick(("AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"))
        indexes = world.partitions_of(name, world.rng.randint(1, 2))
        partitions = [{"partitionIndex": index} for index in indexes]
        directories.append({"id": id_, "topics": [{"topicId": f"$topic_id({name})", "partitions": partitions}]})
    body = {"brokerId": broker_id, "brokerEpoch": world.epoch_of(broker_id), "directories": directories}
    return world.request(73, 0, 0, body)
