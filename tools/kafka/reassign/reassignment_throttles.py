"""The throttles of reassignments: rates of brokers, and the replicas of topics for which they hold (KIP-73)."""

from __future__ import annotations

import sys

from records.java.java_order import hash_order, integer_order
from records.resource_types import ResourceType
from tools.kafka.cluster_calls import describe_cluster
from tools.kafka.reassign.reassignment_calls import alter_configs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tools.client.admin import Admin
    from tools.kafka.reassign.reassignment_file import Wanted
    from tools.kafka.topics.topic_calls import Reassignment

    Partition = tuple[str, int]
    # Sources and destinations of a partition's replicas.
    Move = tuple[set[int], set[int]]

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
DIRECTORY_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADERS, FOLLOWERS = "leader.replication.throttled.replicas", "follower.replication.throttled.replicas"


def moves_of(
    ongoing: Mapping[Partition, Reassignment],
    wanted: Mapping[Partition, tuple[int, ...]],
    current: Mapping[Partition, tuple[int, ...]],
) -> dict[Partition, Move]:
    """The moves of the reassignments in progress, and of those wanted, whose sources stay where they were."""
    moves = {}
    for partition, moving in ongoing.items():
        moves[partition] = (set(moving.replicas) - set(moving.adding), set(moving.adding))
    for partition, replicas in wanted.items():
        sources = moves[partition][0] if partition in moves else set(current[partition])
        moves[partition] = (sources, set(replicas) - sources)
    return moves


def throttle_moves(admin: Admin, moves: Mapping[Partition, Move], rate: int) -> None:
    """Limit the replication of moving replicas to a rate, in bytes per second. Raises Uncaught."""
    throttled: dict[str, dict[str, set[str]]] = {}
    brokers: set[int] = set()
    for (topic, index), (sources, destinations) in moves.items():
        configs = throttled.setdefault(topic, {LEADERS: set(), FOLLOWERS: set()})
        configs[LEADERS] |= {f"{index}:{broker}" for broker in sources}
        configs[FOLLOWERS] |= {f"{index}:{broker}" for broker in destinations - sources}
        brokers |= sources | destinations
    texts = {
        topic: {name: ",".join(sorted(replicas)) for name, replicas in configs.items()}
        for topic, configs in throttled.items()
    }
    alter_configs(admin, ResourceType.TOPIC, texts)
    alter_configs(
        admin, ResourceType.BROKER, {str(broker): dict.fromkeys(RATES, str(rate)) for broker in sorted(brokers)}
    )
    sys.stdout.write(f"The inter-broker throttle limit was set to {rate} B/s\n")


def throttle_directories(admin: Admin, brokers: Iterable[int], rate: int) -> None:
    """Limit moves between directories of these brokers to a rate, in bytes per second. Raises Uncaught."""
    alter_configs(
        admin, ResourceType.BROKER, {str(broker): {DIRECTORY_RATE: str(rate)} for broker in sorted(set(brokers))}
    )
    sys.stdout.write(f"The replica-alter-dir throttle limit was set to {rate} B/s\n")


def clear_throttles(admin: Admin, wanted: Wanted) -> None:
    """Remove the throttles of all brokers, and of the topics of a file. Raises Uncaught."""
    nodes = [node.broker_id for node in describe_cluster(admin).brokers]
    brokers = integer_order([*nodes, *(broker for _, replicas in wanted.partitions for broker in replicas)])
    listed = ",".join(map(str, brokers))
    sys.stdout.write(f"Clearing broker-level throttles on broker{'' if len(brokers) == 1 else 's'} {listed}\n")
    nothing: dict[str, str | None] = dict.fromkeys((*RATES, DIRECTORY_RATE))
    alter_configs(admin, ResourceType.BROKER, {str(broker): nothing for broker in brokers})
    topics = hash_order(topic for (topic, _), _ in wanted.partitions)
    listed = ",".join(topics)
    sys.stdout.write(f"Clearing topic-level throttles on topic{'' if len(topics) == 1 else 's'} {listed}\n")
    alter_configs(admin, ResourceType.TOPIC, {topic: dict.fromkeys((LEADERS, FOLLOWERS)) for topic in topics})
