"""What of the cluster decides over leaders and in-sync replicas: who is active, and what each topic allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.features.record_versions import DIRECTORY_ASSIGNMENT
from controller.rules.partition_change import Election, Rules, partition_change
from controller.state.partitions.partition import merged
from controller.state.tables.configs import BROKER, TOPIC
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from controller.interface.env import Env
    from controller.rules.partition_change import PartitionTarget
    from controller.state.partitions.partition import Partition
    from controller.state.partitions.topics import Topic
    from controller.state.state import State
    from records.metadata.topics import PartitionChangeRecord

MIN_ISR = "min.insync.replicas"
UNCLEAN_ELECTION = "unclean.leader.election.enable"


def is_active(state: State, broker_id: int) -> bool:
    """Whether a broker may lead partitions and be in their ISR."""
    broker = state.brokers.get(broker_id)
    return broker is not None and broker.is_active


def default_directory(state: State, broker_id: int) -> bytes:
    """Where a broker puts a replica that is new to it, as far as the controller can tell (KIP-858)."""
    if state.metadata_version < DIRECTORY_ASSIGNMENT:
        return MIGRATING_DIRECTORY
    broker = state.brokers.get(broker_id)
    return UNASSIGNED_DIRECTORY if broker is None else broker.default_directory


class PartitionElections:
    """The partitions as one operation sees and changes them; what a topic says is looked up once.

    A partition that comes twice in one operation is the second time as its first change left it: two changes of one
    base, as Kafka writes them, could contradict each other.

    also: a broker that counts as active though its registration does not say so yet. without: brokers that do not
    count, whatever theirs say. before: an earlier part of the operation, whose changes this one goes on from.
    """

    __slots__ = ("_min_isr", "_unclean", "also", "changed", "elr", "env", "metadata_version", "state", "without")

    def __init__(
        self,
        state: State,
        env: Env,
        *,
        also: int | None = None,
        without: Collection[int] = (),
        before: PartitionElections | None = None,
    ) -> None:
        self.state = state
        self.env = env
        self.also = also
        self.without = without
        self.metadata_version = state.metadata_version
        self.elr = state.elr_enabled
        self.changed: dict[tuple[bytes, int], Partition] = {} if before is None else before.changed
        self._min_isr: dict[bytes, int] = {}
        self._unclean: dict[bytes, bool] = {}

    def find(self, topic: Topic, partition_id: int) -> Partition | None:
        """The partition, with what this operation did to it; None where there is none."""
        changed = self.changed.get((topic.topic_id, partition_id))
        return self.state.partitions.find(topic, partition_id) if changed is None else changed

    def change(
        self, topic: Topic, partition_id: int, target: PartitionTarget
    ) -> tuple[PartitionChangeRecord, int] | None:
        """The record, and its version, that fulfils the wish for a partition that is there; None where it is so."""
        partition = self.find(topic, partition_id)
        assert partition is not None, (topic, partition_id)
        change = partition_change(partition, topic.topic_id, partition_id, self.rules(topic, partition), target)
        if change is not None:
            self.changed[topic.topic_id, partition_id] = merged(partition, change[0])
        return change

    def rules(self, topic: Topic, partition: Partition) -> Rules:
        return Rules(
            self.metadata_version,
            self.min_isr(topic),
            self.elr,
            self.acceptor(partition),
            lambda broker_id: default_directory(self.state, broker_id),
        )

    def acceptor(self, partition: Partition) -> Callable[[int], bool]:
        """Whether a broker may lead the partition: it is active, and the directory of its replica is online."""
        brokers = self.state.brokers
        also, without = self.also, self.without

        def is_acceptable(broker_id: int) -> bool:
            broker = brokers.get(broker_id)
            # Kafka fails on a broker that is no replica, such as a last known leader that was moved away since.
            if broker is None or broker_id in without or broker_id not in partition.replicas:
                return False
            if broker_id != also and not broker.is_active:
                return False
            return broker.has_online(partition.directory_of(broker_id))

        return is_acceptable

    def min_isr(self, topic: Topic) -> int:
        """min.insync.replicas, but no more than partition 0 has replicas: that one speaks for the topic."""
        known = self._min_isr.get(topic.topic_id)
        if known is None:
            first = self.state.partitions.find(topic, 0)
            wished = min_isr(self.state, self.env, topic.name)
            known = self._min_isr[topic.topic_id] = wished if first is None else min(wished, len(first.replicas))
        return known

    def allows_unclean(self, topic: Topic) -> bool:
        known = self._unclean.get(topic.topic_id)
        if known is None:
            known = self._unclean[topic.topic_id] = allows_unclean_election(self.state, self.env, topic.name)
        return known

    def election(self, topic: Topic) -> Election:
        """How a leader is sought where none was asked for."""
        return Election.UNCLEAN if self.allows_unclean(topic) else Election.ONLINE


def min_isr(state: State, env: Env, topic: str) -> int:
    """min.insync.replicas of a topic."""
    for text in _values(state, env, topic, MIN_ISR):
        # A broker's dynamic value was checked by a broker, not here.
        if text.strip().isdigit():
            return int(text)
    return env.settings.min_insync_replicas


def allows_unclean_election(state: State, env: Env, topic: str) -> bool:
    """unclean.leader.election.enable of a topic."""
    for text in _values(state, env, topic, UNCLEAN_ELECTION):
        return text.strip().lower() == "true"
    return env.settings.unclean_leader_election_enable


def _values(state: State, env: Env, topic: str, key: str) -> list[str]:
    """What the topic, this node and all nodes say of a key that has one name everywhere, the strongest first."""
    resources = ((TOPIC, topic), (BROKER, str(env.node_id)), (BROKER, ""))
    configs = state.configs
    return [configs[resource][key] for resource in resources if key in configs.get(resource, ())]
