"""Requests of fuzz clients about topics: many partitions at once, and invalid names and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
)
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata_log import METADATA_TOPIC
from simulations.cluster.clients import fuzz_values
from simulations.world.streams import between

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulations.cluster.clients.fuzz_clients import FuzzClient

TIMEOUT_MS = 1200
# Two are alike but for a dot, so that the second of them is refused (KAFKA-1481).
NAMES = ("wide-1", "wide-2", "wide.3", "wide_3")
RARE_NAMES = ("seldom", "x" * 249)
INVALID_NAMES = ("", ".", "..", "a/b", "x" * 250, METADATA_TOPIC)
NOBODY = 9999
# As many partitions as one request may make.
HUGE = 10_000
PREFERRED, UNCLEAN = 0, 1
ZERO = bytes(16)

Creatable = CreateTopicsRequest.CreatableTopic
Growing = CreatePartitionsRequest.CreatePartitionsTopic


def name(fuzz: FuzzClient) -> str:
    """The name of a topic that may exist, and now and then of one that does not, or that is invalid."""
    if fuzz.happens(0.04):
        return str(fuzz.one_of(INVALID_NAMES))
    return str(fuzz.one_of(RARE_NAMES)) if fuzz.happens(0.04) else str(fuzz.one_of(NAMES))


def replicas(fuzz: FuzzClient, size: int | None = None) -> tuple[int, ...]:
    """Brokers for one partition; some lists repeat one, name an unknown one, or are empty."""
    ids = [machine.id for machine in fuzz.run.brokers]
    fuzz.rng.shuffle(ids)
    chosen = ids[: _size(fuzz) if size is None else size]
    if fuzz.happens(0.02):
        chosen = fuzz.one_of(([], [*chosen, NOBODY], [*chosen, chosen[0]]))
    return tuple(chosen)


def _size(fuzz: FuzzClient) -> int:
    """A number of replicas; larger than that of most topics if there are brokers for it."""
    return between(fuzz.rng, 1, max(3, len(fuzz.run.brokers)))


def create(fuzz: FuzzClient) -> CreateTopicsRequest:
    topics = fuzz.some(1, 2, _new_topic)
    return CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS, validate_only=fuzz.happens(0.1))


def _new_topic(fuzz: FuzzClient) -> Any:
    configs = fuzz_values.topic_configs(fuzz, 0.05) if fuzz.happens(0.4) else ()
    wanted = tuple(Creatable.CreatableTopicConfig(name=key, value=value) for key, value in configs)
    if fuzz.happens(0.3):
        return _by_hand(fuzz, wanted)
    count = -1 if fuzz.happens(0.05) else between(fuzz.rng, 8, 40)
    size = -1 if fuzz.happens(0.1) else _size(fuzz)
    if fuzz.happens(0.12):
        count, size = fuzz.one_of(((0, 1), (-2, 1), (3, 0), (3, -2), (3, 99), (HUGE + 1, 1), (HUGE, 99), (HUGE, 0)))
    return Creatable(name=name(fuzz), num_partitions=count, replication_factor=size, assignments=(), configs=wanted)


def _by_hand(fuzz: FuzzClient, configs: tuple[Any, ...]) -> Any:
    """A topic with lists of replicas, in any order of the partitions."""
    size = min(_size(fuzz), len(fuzz.run.brokers))
    count = between(fuzz.rng, 1, 24)
    indexes = list(range(count))
    if fuzz.happens(0.3):
        fuzz.rng.shuffle(indexes)
    if fuzz.happens(0.08):
        indexes[-1] = fuzz.one_of((count, 0, -1))
    lists = [
        Creatable.CreatableReplicaAssignment(partition_index=index, broker_ids=replicas(fuzz, size))
        for index in indexes
    ]
    if fuzz.happens(0.05):
        lists[-1] = Creatable.CreatableReplicaAssignment(partition_index=indexes[-1], broker_ids=replicas(fuzz, 1))
    counts = fuzz.one_of(((3, -1), (-1, 2))) if fuzz.happens(0.06) else (-1, -1)
    return Creatable(
        name=name(fuzz), num_partitions=counts[0], replication_factor=counts[1], assignments=tuple(lists),
        configs=configs,
    )  # fmt: skip


def grow(fuzz: FuzzClient) -> CreatePartitionsRequest:
    topics = fuzz.some(1, 2, _growing)
    # A world in which there were so many would take minutes.
    is_dry = fuzz.happens(0.1) or any(topic.count >= HUGE for topic in topics)
    return CreatePartitionsRequest(topics=topics, timeout_ms=TIMEOUT_MS, validate_only=is_dry)


def _growing(fuzz: FuzzClient) -> Any:
    of = name(fuzz)
    known = fuzz.image.names.get(of)
    now = 0 if known is None else fuzz.image.counts[known]
    more = between(fuzz.rng, 1, 20)
    if fuzz.happens(0.2):
        more = fuzz.one_of((0, -1, -now - 1, HUGE, HUGE + 1, HUGE + 1))
    if not 0 < more < 30 or fuzz.happens(0.6):
        return Growing(name=of, count=now + more, assignments=None)
    first = fuzz.image.partitions.get((known or ZERO, 0))
    size = 1 if first is None else len(first.replicas)
    given = more + (fuzz.one_of((-1, 1)) if fuzz.happens(0.1) else 0)
    lists = tuple(Growing.CreatePartitionsAssignment(broker_ids=replicas(fuzz, size)) for _ in range(given))
    return Growing(name=of, count=now + more, assignments=lists)


def delete(fuzz: FuzzClient) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=fuzz.some(1, 3, _topic_to_delete), timeout_ms=TIMEOUT_MS)


def _topic_to_delete(fuzz: FuzzClient) -> Any:
    """A topic to delete: by name or by id; or by both, or by neither."""
    of = name(fuzz)
    topic_id = fuzz.image.names.get(of, b"t" * 16)
    way = fuzz.rng.random()
    given: tuple[str | None, bytes] = (of, ZERO) if way < 0.45 else (None, topic_id)
    if way > 0.9:
        given = fuzz.one_of(((of, topic_id), (None, ZERO)))
    return DeleteTopicsRequest.DeleteTopicState(name=given[0], topic_id=given[1])


def move(fuzz: FuzzClient) -> AlterPartitionReassignmentsRequest:
    """Reassign many partitions at once, some of them to invalid targets, or back; or a whole topic to one target; or
    nothing.
    """
    wanted = AlterPartitionReassignmentsRequest.ReassignableTopic
    of = name(fuzz)
    if fuzz.happens(0.2):
        place = replicas(fuzz)
        count = fuzz.image.counts.get(fuzz.image.names.get(of, ZERO), 0)
        partitions = tuple(wanted.ReassignablePartition(partition_index=each, replicas=place) for each in range(count))
    else:
        partitions = tuple(
            wanted.ReassignablePartition(
                partition_index=_index(fuzz), replicas=None if fuzz.happens(0.25) else replicas(fuzz)
            )
            for _ in range(between(fuzz.rng, 1, 12))
        )
    return AlterPartitionReassignmentsRequest(
        topics=() if fuzz.happens(0.04) else (wanted(name=of, partitions=partitions),),
        timeout_ms=TIMEOUT_MS,
        allow_replication_factor_change=fuzz.happens(0.7),
    )


def list_moves(fuzz: FuzzClient) -> ListPartitionReassignmentsRequest:
    wanted = ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics
    topics = None if fuzz.happens(0.4) else fuzz.some(
        0, 2, lambda each: wanted(name=name(each), partition_indexes=each.some(1, 6, _index))
    )  # fmt: skip
    return ListPartitionReassignmentsRequest(topics=topics, timeout_ms=TIMEOUT_MS)


def elect(fuzz: FuzzClient) -> ElectLeadersRequest:
    wanted = ElectLeadersRequest.TopicPartitions
    kind = fuzz.one_of((PREFERRED, PREFERRED, UNCLEAN, 7)) if fuzz.happens(0.3) else PREFERRED
    topics = None if fuzz.happens(0.2) else fuzz.some(
        0, 2, lambda each: wanted(topic=name(each), partitions=each.some(1, 12, _index))
    )  # fmt: skip
    return ElectLeadersRequest(election_type=kind, topic_partitions=topics, timeout_ms=TIMEOUT_MS)


def _index(fuzz: FuzzClient) -> int:
    return int(fuzz.one_of((-1, 1000))) if fuzz.happens(0.03) else between(fuzz.rng, 0, 39)


# As often as each is here.
ASKS: tuple[Callable[[FuzzClient], Any], ...] = (create, create, grow, delete, move, move, list_moves, elect)
