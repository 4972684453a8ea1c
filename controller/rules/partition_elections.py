"""What the cluster decides for elections: which brokers are active, and what each topic allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.rules.partition_change import Election, Rules, partition_change
from controller.state.partitions.partition import apply_change
from controller.state.tables.configs import BROKER, TOPIC
from records.features.record_versions import DIRECTORY_ASSIGNMENT
from records.java.java_values import parse_integer
from records.uuids import MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from controller.interface.env import Env
    from controller.rules.partition_change import PartitionTarget
    from controller.state.partitions.partition import Partition
    from controller.state.partitions.topics import Topic
    from controller.state.state import State
    from records.metadata.topics import PartitionChangeRecord

MIN_ISR = "min.insync.replicas"
UNCLEAN_ELECTION = "unclean.leader.election.enable"


def active_among(state: State, replicas: Iterable[int]) -> tuple[int, ...]:
    """Those of the replicas that may lead partitions and be in their ISR, in their order."""
    brokers = state.brokers
    return tuple(replica for replica in replicas if (broker := brokers.get(replica)) is not None and broker.is_active)


def default_directory(state: State, broker_id: int) -> bytes:
    """The directory for a replica that is new to a broker, as far as the controller can know (KIP-858)."""
    if state.metadata_version < DIRECTORY_ASSIGNMENT:
        return MIGRATING_DIRECTORY
    broker = state.brokers.get(broker_id)
    return UNASSIGNED_DIRECTORY if broker is None else broker.default_directory


class PartitionElections:
    """The partitions as one operation reads and changes them; values of a topic are looked up once.

    A second change of a partition in the same operation builds on the first. Kafka builds both on the same state, so
    they can contradict each other.

    also: a broker that counts as active although its registration does not have it yet. without: brokers that do not
    count as active, whatever their registration has. before: an earlier part of the operation to build on.
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
        self.elr = state.is_elr_enabled
        self.changed: dict[tuple[bytes, int], Partition] = {} if before is None else before.changed
        self._min_isr: dict[bytes, int] = {}
        self._unclean: dict[bytes, bool] = {}

    def find(self, topic: Topic, partition_id: int) -> Partition | None:
        """The partition with the changes of this operation; None if there is none."""
        changed = self.changed.get((topic.topic_id, partition_id))
        return self.state.partitions.find(topic, partition_id) if changed is None else changed

    def change(
        self, topic: Topic, partition_id: int, target: PartitionTarget
    ) -> tuple[PartitionChangeRecord, int] | None:
        """The record, and its version, for the target of an existing partition; None if nothing changes."""
        partition = self.find(topic, partition_id)
        assert partition is not None, (topic, partition_id)
        change = partition_change(partition, topic.topic_id, partition_id, self.rules(topic, partition), target)
        if change is not None:
            self.changed[topic.topic_id, partition_id] = apply_change(partition, change[0])
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
            # Not a replica, such as a last known leader that was reassigned since; Kafka throws an exception.
            if broker is None or broker_id in without or broker_id not in partition.replicas:
                return False
            if broker_id != also and not broker.is_active:
                return False
            return broker.has_online(partition.directory_of(broker_id))

        return is_acceptable

    def min_isr(self, topic: Topic) -> int:
        """min.insync.replicas, but at most the number of replicas of partition 0, which stands for the topic."""
        known = self._min_isr.get(topic.topic_id)
        if known is None:
            first = self.state.partitions.find(topic, 0)
            configured = min_isr(self.state, self.env, topic.name)
            known = configured if first is None else min(configured, len(first.replicas))
            self._min_isr[topic.topic_id] = known
        return known

    def allows_unclean(self, topic: Topic) -> bool:
        known = self._unclean.get(topic.topic_id)
        if known is None:
            known = self._unclean[topic.topic_id] = allows_unclean_election(self.state, self.env, topic.name)
        return known

    def election(self, topic: Topic) -> Election:
        """The kind of election if none was requested."""
        return Election.UNCLEAN if self.allows_unclean(topic) else Election.ONLINE


def min_isr(state: State, env: Env, topic: str) -> int:
    """min.insync.replicas of a topic."""
    for text in _values(state, env, topic, MIN_ISR):
        # A broker, not this controller, checked the dynamic value.
        value = parse_integer(text.strip())
        if value is not None and value >= 0:
            return value
    return env.settings.min_insync_replicas


def allows_unclean_election(state: State, env: Env, topic: str) -> bool:
    """unclean.leader.election.enable of a topic."""
    for text in _values(state, env, topic, UNCLEAN_ELECTION):
        # `Boolean.parseBoolean` does not trim: anything but the word itself keeps the data.
        return text.lower() == "true"
    return env.settings.unclean_leader_election_enable


def _values(state: State, env: Env, topic: str, key: str) -> list[str]:
    """The values of a key on the topic, on this node and on all nodes, by precedence."""
    resources = ((TOPIC, topic), (BROKER, str(env.node_id)), (BROKER, ""))
    configs = state.configs
    return [configs[resource][key] for resource in resources if key in configs.get(resource, ())]
