"""Where replicas are now: on which brokers, in which directories of those."""

from __future__ import annotations

from records.errors import Error
from records.java.java_order import DEFAULT_CAPACITY, bucket_order, hash_code
from tools.client.exceptions import KafkaError, execution_exception
from tools.kafka.cluster_calls import describe_cluster
from tools.kafka.reassign.reassignment_calls import Replica, describe_directories, describe_replicas
from tools.kafka.topics.topic_reader import copied_capacity, shown_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tools.client.admin import Admin

    Partition = tuple[str, int]
    Replicas = dict[Partition, tuple[int, ...]]


def replicas_of_topics(admin: Admin, topics: Collection[str]) -> Replicas:
    """The replicas of all partitions of these topics. Raises Uncaught for the first topic that is not there."""
    by_partition: Replicas = {}
    described = describe_replicas(admin, topics)
    for name in shown_order(described):
        replicas = described[name]
        if isinstance(replicas, KafkaError):
            unknown = replicas.code == Error.UNKNOWN_TOPIC_OR_PARTITION
            raise execution_exception(KafkaError(replicas.code, f"Topic {name} not found.") if unknown else replicas)
        by_partition.update(((name, index), each) for index, each in enumerate(replicas))
    return by_partition


def replicas_of_partitions(admin: Admin, partitions: Collection[Partition]) -> Replicas:
    """The replicas of these partitions. Raises Uncaught if a topic or a partition is not there."""
    by_partition = replicas_of_topics(admin, {topic for topic, _ in partitions})
    missing = [partition for partition in _copied_order(partitions) if partition not in by_partition]
    if missing:
        listed = ", ".join(f"{topic}-{index}" for topic, index in missing)
        raise execution_exception(KafkaError(Error.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition: {listed}"))
    return {partition: by_partition[partition] for partition in partitions}


def current_directories(admin: Admin, replicas: Mapping[Partition, tuple[int, ...]]) -> dict[Replica, str]:
    """The directory of each replica on a broker that lives, where it has one. Raises Uncaught."""
    live = {node.broker_id for node in describe_cluster(admin).brokers}
    wanted = [
        Replica(topic, index, broker)
        for (topic, index), brokers in replicas.items()
        for broker in brokers
        if broker in live
    ]
    directories = describe_directories(admin, wanted)
    return {replica: place.current for replica, place in directories.items() if place.current is not None}


def _copied_order(partitions: Collection[Partition]) -> list[Partition]:
    """The order of a HashSet that Java makes of other partitions at once."""
    distinct = list(dict.fromkeys(partitions))
    codes = [(31 * (31 + index) + hash_code(topic)) & 0xFFFFFFFF for topic, index in distinct]
    return bucket_order(distinct, codes, max(copied_capacity(len(distinct)), DEFAULT_CAPACITY))
