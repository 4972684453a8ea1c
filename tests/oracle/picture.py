"""Our state before a command, for the predicates of `exceptions.py`, and what is kept of earlier states."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from controller.config.dynamic import DynamicConfig
from records.frame import decode_record
from records.metadata.topics import ClearElrRecord, RemoveTopicRecord
from records.uuids import uuid_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.config.node import NodeConfig
    from controller.state.partitions.partition import Partition
    from controller.state.tables.brokers import Broker
    from tests.oracle.commands import Answer
    from tests.oracle.ours import Ours

    # The text of a topic's id, and the partition's number.
    Place = tuple[str, int]

BROKER, TOPIC = 4, 2
MIN_ISR = "min.insync.replicas"
# What Java takes for an int, but for its range.
JAVA_INT = re.compile(r"[+-]?\d+")


@dataclass(slots=True)
class Picture:
    """Our state before a command.

    topics: id by name. unparsable: topics whose min.insync.replicas is no int for Java. uncommitted: ids of topics that
    were created or deleted, and delegation tokens, by records that are not committed. cleared: the brokers that a
    ClearElrRecord took out of the ELR of a partition. deleted: whether a topic was ever deleted. is_active: whether
    this node led. config: of this node, from its file; own_configs: its dynamic configs; all_configs: those of all
    nodes.
    """

    topics: dict[str, str]
    partitions: dict[Place, Partition]
    brokers: dict[int, Broker]
    unparsable: frozenset[str]
    uncommitted: frozenset[str]
    cleared: dict[Place, frozenset[int]]
    deleted: bool
    is_active: bool
    config: NodeConfig
    own_configs: Mapping[str, str]
    all_configs: Mapping[str, str]

    def is_applicable(self) -> bool:
        """Whether this node can apply its dynamic configs; those of its file are in effect where it cannot."""
        dynamic = DynamicConfig(self.config, self.own_configs, self.all_configs)
        return dynamic.config is not self.config or not (dynamic.node or dynamic.cluster)

    def with_strangers(self) -> list[Place]:
        """The partitions with a broker in their ISR or their ELR that is none of their replicas."""
        return [
            place
            for place, partition in self.partitions.items()
            if not set(partition.replicas).issuperset((*partition.isr, *partition.elr, *partition.last_known_elr))
        ]

    def counts(self, name: str) -> set[int]:
        """The replication factors of a topic's partitions."""
        id_ = self.topics.get(name)
        return {len(partition.replicas) for (topic, _), partition in self.partitions.items() if topic == id_}

    def partition_count(self, name: str) -> int:
        id_ = self.topics.get(name)
        return sum(topic == id_ for topic, _ in self.partitions)


@dataclass(slots=True)
class Past:
    """Facts of earlier states that the present one lacks."""

    cleared: dict[Place, frozenset[int]] = field(default_factory=dict)
    deleted: bool = False
    _version: tuple[Any, ...] = ()
    _partitions: dict[Place, Partition] = field(default_factory=dict)

    def picture(self, ours: Ours) -> Picture:
        state = ours.state
        version = id(state), state.partitions.version, len(state.topics)
        if version != self._version:
            self._version = version
            self._partitions = {
                (uuid_text(topic.topic_id), index): partition for topic, index, partition in state.partitions
            }
        topics = {name: uuid_text(id_) for name, id_ in state.topic_ids.items()}
        return Picture(
            topics,
            self._partitions,
            dict(state.brokers.items()),
            frozenset(name for name in topics if not is_java_int(ours, name)),
            frozenset(map(uuid_text, state.topics.log.uncommitted)) | frozenset(state.tokens.log.uncommitted),
            dict(self.cleared),
            self.deleted,
            ours.controller.is_active,
            ours.config,
            state.configs.get((BROKER, str(ours.config.node_id)), {}),
            state.configs.get((BROKER, ""), {}),
        )

    def follow(self, before: Picture, answer: Answer) -> None:
        """Record what these records changed."""
        for batch in answer.batches:
            kinds = {type(decode_record(value)[0]) for value in batch if len(value) > 1}
            if RemoveTopicRecord in kinds:
                self.deleted = True
            if ClearElrRecord in kinds:
                for place, partition in before.partitions.items():
                    brokers = frozenset((*partition.elr, *partition.last_known_elr))
                    if brokers:
                        self.cleared[place] = self.cleared.get(place, frozenset()) | brokers


def is_java_int(ours: Ours, name: str) -> bool:
    """Whether Java reads an int from the min.insync.replicas that is in effect for a topic."""
    for resource in ((TOPIC, name), (BROKER, str(ours.config.node_id)), (BROKER, "")):
        value = ours.state.configs.get(resource, {}).get(MIN_ISR)
        if value is not None:
            return JAVA_INT.fullmatch(value) is not None
    return True
