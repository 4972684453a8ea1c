"""Requests of fuzz clients in the name of brokers, with slightly wrong epochs, ids and lists, and about the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.messages.brokers import BrokerHeartbeatRequest, BrokerRegistrationRequest, UnregisterBrokerRequest
from records.messages.cluster import DescribeClusterRequest
from records.messages.configs import DescribeConfigsRequest
from records.messages.features import UpdateFeaturesRequest
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.producer_ids import AllocateProducerIdsRequest
from records.messages.quorum import DescribeQuorumRequest
from records.messages.versions import ApiVersionsRequest
from records.metadata_log import METADATA_TOPIC
from records.schema import replace
from records.uuids import LOST_DIRECTORY, UNASSIGNED_DIRECTORY
from simulations.cluster.clients import fuzz_topics as clerk_topics
from simulations.cluster.clients.fuzz_topics import NOBODY
from simulations.cluster.metadata.member_rules import DIRECTORIES_SINCE, METADATA_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulations.cluster.clients.brokers import BrokerMachine
    from simulations.cluster.clients.fuzz_clients import FuzzClient
    from simulations.cluster.metadata.image import Broker, Partition

OWN = b"d" * 16

Key = tuple[bytes, int]
Directory = AssignReplicasToDirsRequest.DirectoryData
Altered = AlterPartitionRequest.TopicData


def alter_partition(fuzz: FuzzClient) -> AlterPartitionRequest:
    """AlterPartition as a leader could send it, with one thing wrong."""
    partitions = list(fuzz.image.partitions.items())
    if not partitions:
        return _alteration(fuzz, NOBODY, (b"t" * 16, 0), None)
    key, partition = fuzz.one_of(partitions)
    if fuzz.happens(0.1):
        key = fuzz.one_of(((b"t" * 16, 0), (key[0], 1000)))
    return _alteration(fuzz, partition.leader, key, partition)


def _alteration(fuzz: FuzzClient, broker_id: int, key: Key, partition: Partition | None) -> AlterPartitionRequest:
    isr = [broker_id] if partition is None else list(partition.isr)
    epochs = [0, 0] if partition is None else [partition.leader_epoch, partition.epoch]
    state = 0
    wrong = fuzz.one_of(("leader epoch", "partition epoch", "member", "twice", "without", "state", "who", "epochs"))
    if wrong in ("leader epoch", "partition epoch"):
        epochs[wrong == "partition epoch"] += fuzz.one_of((-1, 1))
    elif wrong == "member":
        isr.append(NOBODY)
    elif wrong == "twice":
        isr.append(broker_id)
    elif wrong == "without":
        isr = [each for each in isr if each != broker_id]
    elif wrong == "state":
        state = 7
    elif wrong == "who":
        broker_id = fuzz.one_of([machine.id for machine in fuzz.run.brokers])
    brokers = fuzz.image.brokers
    epoch = brokers[broker_id].epoch if broker_id in brokers else 1
    away = fuzz.one_of((-1, 1)) if wrong == "epochs" else 0
    members = tuple(
        Altered.PartitionData.BrokerState(
            broker_id=each, broker_epoch=(brokers[each].epoch if each in brokers else 1) + away
        )
        for each in isr
    )
    one = Altered.PartitionData(
        partition_index=key[1], leader_epoch=epochs[0], new_isr_with_epochs=members, partition_epoch=epochs[1],
        leader_recovery_state=state,
    )  # fmt: skip
    topics = () if fuzz.happens(0.02) else (Altered(topic_id=key[0], partitions=(one,)),)
    return AlterPartitionRequest(broker_id=broker_id, broker_epoch=epoch, topics=topics)


def assign(fuzz: FuzzClient) -> AssignReplicasToDirsRequest:
    """Directories of replicas that a broker does not have, or of missing topics; or of all its replicas."""
    machine = fuzz.one_of(fuzz.run.brokers)
    known = fuzz.image.brokers.get(machine.id)
    if fuzz.happens(0.3):
        mine = [key for key, partition in fuzz.image.partitions.items() if machine.id in partition.replicas]
        return _assignment(machine, known, mine[:100], fuzz.one_of(machine.directories))
    elsewhere = [key for key, partition in fuzz.image.partitions.items() if machine.id not in partition.replicas]
    topics = fuzz.some(
        1, 3, lambda each: each.one_of((*elsewhere, (b"t" * 16, 0), *((key[0], 1000) for key in elsewhere[:1])))
    )
    return _assignment(machine, known, topics, fuzz.one_of(machine.directories))


def _assignment(
    machine: BrokerMachine, known: Broker | None, keys: Sequence[Key], directory: bytes
) -> AssignReplicasToDirsRequest:
    topic = Directory.TopicData
    data = tuple(
        topic(topic_id=topic_id, partitions=(topic.PartitionData(partition_index=index),)) for topic_id, index in keys
    )
    return AssignReplicasToDirsRequest(
        broker_id=machine.id,
        broker_epoch=1 if known is None else known.epoch,
        directories=(Directory(id=directory, topics=data),),
    )


def heartbeat(fuzz: FuzzClient) -> BrokerHeartbeatRequest:
    """A heartbeat of an unknown broker, or with another epoch."""
    broker_id = fuzz.one_of((NOBODY, fuzz.one_of(fuzz.run.brokers).id))
    known = fuzz.image.brokers.get(broker_id)
    return BrokerHeartbeatRequest(
        broker_id=broker_id, broker_epoch=-1 if known is None else known.epoch - 1,
        current_metadata_offset=fuzz.image.end_offset, want_fence=fuzz.happens(0.5), want_shut_down=False,
    )  # fmt: skip


def register(fuzz: FuzzClient) -> BrokerRegistrationRequest:
    """An invalid registration."""
    feature, listener = BrokerRegistrationRequest.Feature, BrokerRegistrationRequest.Listener
    levels = fuzz.image.features
    now = levels.get(METADATA_VERSION, 0)
    other = fuzz.one_of(fuzz.run.brokers)
    higher = feature(name=METADATA_VERSION, min_supported_version=now + 1, max_supported_version=now + 1)
    wrong: list[dict[str, Any]] = [
        {"cluster_id": "another"}, {"broker_id": -1}, {"is_migrating_zk_broker": True}, {"features": ()},
        {"features": (higher,)}, {"broker_id": other.id, "is_migrating_zk_broker": True},
    ]  # fmt: skip
    here = listener(name="PLAINTEXT", host="here", port=9092, security_protocol=0)
    named, unknown_protocol = replace(here, name=""), replace(here, security_protocol=7)
    wrong += [{"listeners": value} for value in ((here, here), (here, named), (unknown_protocol,))]
    if any(level for name, level in levels.items() if name != METADATA_VERSION) or fuzz.run.plan.kraft_version:
        wrong.append({"features": (replace(higher, min_supported_version=0),)})
    if now >= DIRECTORIES_SINCE:
        wrong += [{"log_dirs": value} for value in ((), (LOST_DIRECTORY,), (OWN, OWN), (UNASSIGNED_DIRECTORY, OWN))]
        known = fuzz.image.brokers.get(other.id)
        if known is not None and other.directories[0] in known.directories:
            wrong.append({"log_dirs": (other.directories[0],)})
    given: dict[str, Any] = {
        "broker_id": NOBODY,
        "cluster_id": fuzz.run.cluster_id,
        "features": tuple(
            feature(name=name, min_supported_version=0, max_supported_version=level) for name, level in levels.items()
        ),
        "log_dirs": (OWN,),
        "listeners": (),
        **fuzz.one_of(wrong),
        **(fuzz.one_of(wrong) if fuzz.happens(0.3) else {}),  # the first of two errors is answered
    }
    return BrokerRegistrationRequest(incarnation_id=b"i" * 16, rack=None, **given)


def features(fuzz: FuzzClient) -> UpdateFeaturesRequest:
    """A dry run of levels, and invalid levels."""
    names = ("metadata.version", "kraft.version", "group.version", "transaction.version", "no.version")

    def update(each: FuzzClient) -> Any:
        return UpdateFeaturesRequest.FeatureUpdateKey(
            feature=each.one_of(names), max_version_level=each.one_of((-1, 0, 1, 2, 6, 7, 20, 25, 29, 30, 31, 99)),
            upgrade_type=each.one_of((0, 1, 2, 3, 4)),
        )  # fmt: skip

    return UpdateFeaturesRequest(feature_updates=fuzz.some(1, 3, update), validate_only=True)


def look(fuzz: FuzzClient) -> Any:
    """Describe the cluster, its quorum, or the supported versions."""
    if fuzz.happens(0.02):
        return too_much(fuzz)
    wanted = DescribeQuorumRequest.TopicData
    topic, index = fuzz.one_of(((METADATA_TOPIC, 0), ("wide-1", 0), (METADATA_TOPIC, 1)))
    return fuzz.one_of((
        DescribeClusterRequest(
            include_cluster_authorized_operations=fuzz.happens(0.5), endpoint_type=fuzz.one_of((2, 2, 2, 1, 3))
        ),
        DescribeQuorumRequest(
            topics=(wanted(topic_name=topic, partitions=(wanted.PartitionData(partition_index=index),)),)
        ),
        ApiVersionsRequest(client_software_name=fuzz.one_of(("clerk", "", "a b")), client_software_version="1"),
        UnregisterBrokerRequest(broker_id=fuzz.one_of((NOBODY, -1))),
        AllocateProducerIdsRequest(broker_id=fuzz.one_of(fuzz.run.brokers).id, broker_epoch=-1),
    ))  # fmt: skip


def too_much(fuzz: FuzzClient) -> DescribeConfigsRequest:
    """A request for more than one response may hold."""
    wanted = DescribeConfigsRequest.DescribeConfigsResource
    one = wanted(resource_type=2, resource_name=clerk_topics.name(fuzz), configuration_keys=None)
    count = fuzz.one_of((50, 3_500, 8_000, 31_000))
    return DescribeConfigsRequest(resources=(one,) * count)


ASKS: tuple[Callable[[FuzzClient], Any], ...] = (
    alter_partition, alter_partition, assign, heartbeat, register, features, look, look,
)  # fmt: skip
