"""The output of `kafka-topics --describe`."""

from __future__ import annotations

import sys

from records.errors import Error
from records.java.java_order import hash_order
from records.resource_types import ResourceType
from records.uuids import ZERO_UUID, uuid_text
from tools.client.exceptions import KafkaError, execution_exception
from tools.command_line.java_texts import Uncaught
from tools.command_line.standard_streams import one_line
from tools.kafka.configs.config_calls import ConfigResource, describe_configs
from tools.kafka.topics.topic_calls import list_reassignments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from tools.client.admin import Admin
    from tools.kafka.configs.config_calls import ConfigEntry
    from tools.kafka.topics.topic_calls import Reassignment
    from tools.kafka.topics.topic_reader import PartitionInfo, TopicInfo, TopicReader

    Reassignments = Mapping[tuple[str, int], Reassignment]

DEFAULT_CONFIG = 5
MIN_ISR = "min.insync.replicas"
OVERRIDES = "topics-with-overrides"


def print_topics(admin: Admin, reader: TopicReader, topics: Sequence[TopicInfo], only: Collection[str]) -> None:
    """Print topics with their partitions.

    only: the options that narrow the output; empty to print everything. Raises Uncaught.
    """
    resources = [ConfigResource(ResourceType.TOPIC, topic.name) for topic in topics]
    configs = describe_configs(admin, resources)
    live = reader.live_brokers()
    reassignments = _reassignments(admin, topics)
    reports = set(only) - {OVERRIDES}
    for topic, resource in zip(topics, resources, strict=True):
        entries = configs[resource]
        if isinstance(entries, Uncaught):
            raise entries
        partitions = sorted(topic.partitions, key=lambda partition: partition.number)
        if not reports:
            shown = _overridden(entries)
            if partitions and (shown or OVERRIDES not in only):
                _print_topic(topic, partitions[0], reassignments, shown)
        if OVERRIDES in only:
            continue
        for partition in partitions:
            reassignment = reassignments.get((topic.name, partition.number))
            if not reports or _is_reported(partition, reassignment, entries, live, reports):
                _print_partition(topic.name, partition, reassignment)


def _overridden(entries: Sequence[ConfigEntry]) -> list[str]:
    """What differs from the defaults, as `key=value`, in the order of Java's map."""
    by_name = {entry.name: entry for entry in entries}
    return [
        f"{name}={'null' if by_name[name].value is None else by_name[name].value}"
        for name in hash_order(by_name)
        if by_name[name].source != DEFAULT_CONFIG
    ]


def _reassignments(admin: Admin, topics: Iterable[TopicInfo]) -> Reassignments:
    """Those in progress; none where the node does not say. Raises Uncaught."""
    partitions = {topic.name: [partition.number for partition in topic.partitions] for topic in topics}
    try:
        return list_reassignments(admin, partitions)
    except Uncaught as error:
        code = error.code if isinstance(error, KafkaError) else None
        if code in (Error.UNSUPPORTED_VERSION, Error.CLUSTER_AUTHORIZATION_FAILED):
            return {}
        waited = execution_exception(error)
        raise Uncaught("java.lang.RuntimeException", str(waited), waited) from None


def _replication_factor(partition: PartitionInfo, reassignment: Reassignment | None) -> int:
    """Without the replicas that a reassignment adds, while it is in progress."""
    if reassignment is None:
        return len(partition.replicas)
    changing = {*reassignment.adding, *reassignment.removing}
    if not changing.intersection(partition.replicas):
        return len(partition.replicas)  # it ended between the two requests
    return len(reassignment.replicas) - len(reassignment.adding)


def _is_reported(
    partition: PartitionInfo,
    reassignment: Reassignment | None,
    entries: Sequence[ConfigEntry],
    live: set[int],
    reports: Collection[str],
) -> bool:
    isr, has_leader = len(partition.isr), partition.leader is not None
    if "under-replicated-partitions" in reports and _replication_factor(partition, reassignment) > isr:
        return True
    if "unavailable-partitions" in reports and (not has_leader or partition.leader not in live):
        return True
    least = _min_isr(entries)
    if "under-min-isr-partitions" in reports and (not has_leader or isr < least):
        return True
    return "at-min-isr-partitions" in reports and isr == least


def _min_isr(entries: Sequence[ConfigEntry]) -> int:
    return next((int(entry.value or 0) for entry in entries if entry.name == MIN_ISR), 0)


def _print_topic(topic: TopicInfo, first: PartitionInfo, reassignments: Reassignments, configs: Sequence[str]) -> None:
    topic_id = "" if topic.topic_id == ZERO_UUID else f"\tTopicId: {uuid_text(topic.topic_id)}"
    factor = _replication_factor(first, reassignments.get((topic.name, first.number)))
    sys.stdout.write(
        f"Topic: {one_line(topic.name)}{topic_id}\tPartitionCount: {len(topic.partitions)}\t"
        f"ReplicationFactor: {factor}\tConfigs: {','.join(map(one_line, configs))}\n"
    )


def _print_partition(name: str, partition: PartitionInfo, reassignment: Reassignment | None) -> None:
    moving = ""
    if reassignment is not None:
        adding, removing = _ids(reassignment.adding), _ids(reassignment.removing)
        moving = f"\tAdding Replicas: {adding}\tRemoving Replicas: {removing}"
    leader = "none" if partition.leader is None else partition.leader
    sys.stdout.write(
        f"\tTopic: {one_line(name)}\tPartition: {partition.number}\tLeader: {leader}\t"
        f"Replicas: {_ids(partition.replicas)}\tIsr: {_ids(partition.isr)}{moving}\tElr: {_ids(partition.elr)}\t"
        f"LastKnownElr: {_ids(partition.last_known_elr)}\n"
    )


def _ids(brokers: Sequence[int] | None) -> str:
    return "N/A" if brokers is None else ",".join(map(str, brokers))
