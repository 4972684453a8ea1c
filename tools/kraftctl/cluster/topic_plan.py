"""The plan of a topic's alteration: KIP-4's rules for AlterTopic, by the requests that Kafka has for its parts.

1. If an assignment is given, existing partitions with other replicas are reassigned, and missing ones are added. The
   replication factor and the number of partitions are ignored.
2. Else, if a replication factor is given, every partition, existing or added, gets that many replicas.
3. Else, if a number of partitions is given, the controller places the added partitions.

Configs are set and deleted in any case. All checks are made before anything is altered.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from controller.state.partitions.partition import Partition
    from controller.state.tables.brokers import Broker
    from tools.offline.image import Image

    Replicas = tuple[int, ...]


# Kafka's limit on the records that one request may write.
ADDED_MAX = 10_000


class CannotAlter(Exception):
    """The cluster cannot carry out the alteration; the text is one line with what was requested and the obstacle."""


class Alteration(NamedTuple):
    """A requested alteration. None and empty for parts that are not requested.

    assignment: partition -> replicas, the preferred leader first. partitions: their number afterwards.
    configs: key -> value, None to delete it.
    """

    topic: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Mapping[int, Replicas] | None = None
    configs: Mapping[str, str | None] = {}


class Move(NamedTuple):
    """A reassignment. before: the partition's replicas, or those that a reassignment in progress leads to."""

    partition: int
    before: Replicas
    after: Replicas


class Plan(NamedTuple):
    """The steps of an alteration, in this order.

    configs: as requested. partitions: the number of partitions afterwards; None if none is added. first_replicas: of
    each added partition; None if the controller places them. moves: reassignments, ascending by partition.
    """

    topic: str
    configs: Mapping[str, str | None]
    partitions: int | None
    first_replicas: tuple[Replicas, ...] | None
    moves: tuple[Move, ...]

    @property
    def is_empty(self) -> bool:
        return not self.configs and self.partitions is None and not self.moves


def plan(image: Image, asked: Alteration) -> Plan:
    """The plan of an alteration; raises CannotAlter."""
    topic_id = image.topic_ids.get(asked.topic)
    if topic_id is None:
        raise CannotAlter(f"topic {asked.topic}: the topic does not exist")
    existing = image.topics[topic_id].partitions
    if not existing or sorted(existing) != list(range(len(existing))):
        raise CannotAlter(f"topic {asked.topic}: its partitions are unknown")
    if asked.assignment is not None:
        targets: Mapping[int, Replicas] = asked.assignment
        _check_numbers(asked.topic, len(existing), targets)
    elif asked.replication_factor is not None:
        count = _count(asked.topic, len(existing), asked.partitions)
        targets = resize(image.brokers, existing, count, asked.replication_factor)
    else:
        count = _count(asked.topic, len(existing), asked.partitions)
        added = None if count == len(existing) else count
        return Plan(asked.topic, asked.configs, added, None, ())
    for partition, replicas in sorted(targets.items()):
        _check_replicas(f"topic {asked.topic}, partition {partition}", image.brokers, replicas)
    return _plan_targets(image.brokers, asked, existing, targets)


def _plan_targets(
    brokers: Mapping[int, Broker], asked: Alteration, existing: Mapping[int, Partition], targets: Mapping[int, Replicas]
) -> Plan:
    """The plan that gives each partition its target replicas."""
    # CreatePartitions requires as many replicas for each new partition as partition 0 has. A partition with another
    # target is created with that number, and reassigned afterwards.
    factor = len(existing[0].replicas)
    moves = []
    first_replicas = []
    for partition, target in sorted(targets.items()):
        known = existing.get(partition)
        if known is None:
            first = _first_replicas(brokers, target, factor)
            if not any(brokers[broker].is_active for broker in first):
                where = f"topic {asked.topic}, partition {partition}"
                raise CannotAlter(f"{where}: of brokers {list(first)} none is active, so nobody could lead it")
            first_replicas.append(first)
            if first != target:
                moves.append(Move(partition, first, target))
        elif target != destination(known):
            moves.append(Move(partition, destination(known), target))
    added = len(existing) + len(first_replicas) if first_replicas else None
    return Plan(asked.topic, asked.configs, added, tuple(first_replicas) if first_replicas else None, tuple(moves))


def destination(partition: Partition) -> Replicas:
    """The replicas of a partition after its reassignment, if one is in progress."""
    return tuple(broker for broker in partition.replicas if broker not in partition.removing)


def resize(
    brokers: Mapping[int, Broker], existing: Mapping[int, Partition], count: int, factor: int
) -> dict[int, Replicas]:
    """Targets for partitions 0 to `count` with `factor` replicas each; raises CannotAlter.

    An existing partition keeps its first replicas, in-sync ones before others, so that little data moves. A new replica
    goes to a rack without a replica of the partition, and there to the broker with the fewest replicas of the topic;
    the first replica of an added partition to the broker that leads the fewest.
    """
    usable = {
        number: broker
        for number, broker in brokers.items()
        if broker.is_active and broker.has_uncordoned_directory
    }  # fmt: skip
    if factor < 1:
        raise CannotAlter(f"a replication factor of {factor} is invalid; it must be at least 1")
    if factor > len(usable):
        raise CannotAlter(
            f"a replication factor of {factor} needs {factor} brokers, and {len(usable)} are active and not cordoned"
        )
    kept = {number: _kept_replicas(existing[number], factor) for number in range(len(existing))}
    load = dict.fromkeys(usable, 0)
    leads = dict.fromkeys(usable, 0)
    for replicas in kept.values():
        _count_replicas(replicas, load, leads)
    targets = {}
    for number in range(count):
        replicas = kept.get(number, ())
        while len(replicas) < factor:
            racks = {brokers[broker].rack for broker in replicas if broker in brokers} - {None}
            # Fewest partitions led, for a first replica; then a new rack; then the lowest load; then the lowest id.
            choices = [
                (0 if replicas else leads[broker], usable[broker].rack in racks, load[broker], broker)
                for broker in usable
                if broker not in replicas
            ]
            chosen = min(choices)[-1]
            load[chosen] += 1
            leads[chosen] += not replicas
            replicas = (*replicas, chosen)
        targets[number] = replicas
    return targets


def _kept_replicas(partition: Partition, factor: int) -> Replicas:
    now = destination(partition)
    in_sync = [broker for broker in now if broker in partition.isr]
    others = [broker for broker in now if broker not in partition.isr]
    chosen = set((in_sync + others)[:factor])
    return tuple(broker for broker in now if broker in chosen)


def _count_replicas(replicas: Sequence[int], load: dict[int, int], leads: dict[int, int]) -> None:
    for broker in replicas:
        if broker in load:
            load[broker] += 1
    if replicas and replicas[0] in leads:
        leads[replicas[0]] += 1


def _first_replicas(brokers: Mapping[int, Broker], target: Replicas, factor: int) -> Replicas:
    """The replicas to create a partition with: as many as required, those of its target first."""
    if len(target) >= factor:
        return target[:factor]
    others = [number for number, broker in sorted(brokers.items()) if number not in target and broker.is_active]
    if len(target) + len(others) < factor:
        raise CannotAlter(
            f"new partitions are created with {factor} replicas, as partition 0 has, and there are only "
            f"{len(target) + len(others)} brokers for them"
        )
    return (*target, *others[: factor - len(target)])


def _count(topic: str, existing: int, asked: int | None) -> int:
    if asked is None:
        return existing
    if asked < existing:
        raise CannotAlter(f"topic {topic}: it has {existing} partitions, {asked} would be fewer (INVALID_PARTITIONS)")
    if asked - existing > ADDED_MAX:
        raise CannotAlter(f"topic {topic}: {asked - existing} new partitions exceed the limit of {ADDED_MAX} at once")
    return asked


def _check_numbers(topic: str, existing: int, numbers: Iterable[int]) -> None:
    added = sorted(number for number in numbers if number >= existing)
    if added != list(range(existing, existing + len(added))):
        raise CannotAlter(
            f"topic {topic}: it has partitions 0 to {existing - 1}; those that are added must follow without a gap, "
            f"and {', '.join(map(str, added))} do not"
        )


def _check_replicas(where: str, brokers: Mapping[int, Broker], replicas: Replicas) -> None:
    if not replicas:
        raise CannotAlter(f"{where}: it needs at least one replica")
    if len(set(replicas)) != len(replicas):
        raise CannotAlter(f"{where}: brokers {list(replicas)} contain a duplicate")
    for number in replicas:
        broker = brokers.get(number)
        if broker is None:
            raise CannotAlter(f"{where}: broker {number} is not registered; registered are {sorted(brokers)}")
        if not broker.has_uncordoned_directory:
            raise CannotAlter(f"{where}: all log directories of broker {number} are cordoned")
