"""Assignment of new replicas: brokers that can take them, manual assignments, and the record of a new partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.rules.partition_elections import active_among, default_directory
from controller.rules.placement import Usable, UsableBroker, place
from controller.state.partitions.first_partitions import FirstPartitions
from controller.state.partitions.partition import Partition, partition_record
from records.errors import ApiError, Error
from records.features.record_versions import partition_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.env import Env
    from controller.interface.results import Item
    from controller.state.state import State
    from records.metadata.topics import PartitionRecord

# Of placed replicas none is in the ISR, since all are on brokers that are fenced or marked as shutting down.
NONE_ACTIVE = "All brokers are currently fenced or in controlled shutdown."
# A topic with fewer partitions takes as long in columns as record by record.
FEW = 4
# So many partitions are placed in some 0.1 ms, without a pause.
AT_ONCE = 100


def check_assignment(state: State, env: Env, replicas: Sequence[int], replica_count: int | None) -> None:
    """Check a manual list of replicas against the registered brokers; fenced brokers are allowed.

    replica_count: of the topic's other partitions; None if it may differ.
    Raises ApiError(INVALID_REPLICA_ASSIGNMENT) for the first violation, by ascending broker id.
    """
    if not replicas:
        raise _refusal("The manual partition assignment includes an empty replica list.")
    previous = None
    for broker_id in sorted(replicas):
        if broker_id not in state.brokers:
            raise _refusal(
                f"The manual partition assignment includes broker {broker_id}, but no such broker is registered."
            )
        if not (env.release.assigns_cordoned or state.brokers[broker_id].has_uncordoned_directory):
            raise _refusal(
                f"The manual partition assignment includes broker {broker_id}, but all its log directories are "
                "cordoned."
            )
        if broker_id == previous:
            raise _refusal(f"The manual partition assignment includes the broker {broker_id} more than once.")
        previous = broker_id
    if replica_count is not None and len(replicas) != replica_count:
        raise _refusal(
            f"The manual partition assignment includes a partition with {len(replicas)} replica(s), but this is not "
            f"consistent with previous partitions, which have {replica_count} replica(s)."
        )


def check_manual_replicas(
    state: State, env: Env, partition_id: int, replicas: Sequence[int], replica_count: int | None
) -> None:
    """Check the manual replicas of a new partition: as `check_assignment`, and one of them must be active."""
    check_assignment(state, env, replicas, replica_count)
    if not active_among(state, replicas):
        raise _refusal(
            f"All brokers specified in the manual partition assignment for partition {partition_id} are fenced or in "
            "controlled shutdown."
        )


def placed_replicas(state: State, env: Env, partition_count: int, replica_count: int) -> list[list[int]]:
    """Replicas for new partitions, chosen by rack (KIP-36).

    A broker is usable if its session is: one that is unfenced again after a controlled shutdown gets replicas, although
    its registration keeps the mark of that shutdown until it registers again, and it is in no ISR until then.
    Raises ApiError(INVALID_REPLICATION_FACTOR) if there are too few brokers.
    """
    assert env.sessions is not None, "only the active controller places replicas"
    sessions = env.sessions
    if sessions.usable is None:
        sessions.usable = Usable(
            UsableBroker(session.broker_id, broker.rack, session.fenced)
            for session in sessions
            if not session.is_shutting_down and (broker := state.brokers[session.broker_id]).has_uncordoned_directory
        )
    spread = env.slices.spread if partition_count > AT_ONCE else iter
    return place(sessions.usable, partition_count, replica_count, env.random, spread)


def all_have_an_active_replica(state: State, assignments: Sequence[Sequence[int]]) -> bool:
    """Whether each partition has a replica that can be its leader. Where one has none, `NONE_ACTIVE` says why."""
    active = active_among(state, set().union(*assignments))
    return not any(map(set(active).isdisjoint, assignments))


def new_partitions(
    state: State, env: Env, topic_id: bytes, assignments: Sequence[Sequence[int]], first_id: int = 0
) -> list[tuple[PartitionRecord, int]]:
    """The records of new partitions, and their version. The first active replica leads; one at least must be active.

    assignments: the replicas of each. first_id: the number of the first partition.
    """
    version = partition_version(state.metadata_version)
    brokers: set[int] = set().union(*assignments)
    directories = {broker_id: default_directory(state, broker_id) for broker_id in brokers}
    active = set(active_among(state, brokers))
    records = []
    for partition_id, replicas in enumerate(assignments, first_id):
        env.slices.pause()
        isr = tuple(replica for replica in replicas if replica in active)
        assert isr, (topic_id, partition_id, replicas)
        directories_of = tuple(directories[replica] for replica in replicas)
        partition = Partition(tuple(replicas), isr, isr[0], 0, 0, directories_of)
        records.append((partition_record(partition, topic_id, partition_id, version=version), version))
    return records


def first_partitions(state: State, env: Env, topic_id: bytes, assignments: Sequence[Sequence[int]]) -> Sequence[Item]:
    """The records of all partitions of a new topic, from 0 on: one item where all replicas are active."""
    brokers: set[int] = set().union(*assignments)
    if len(assignments) < min(FEW, state.rows_min) or len(active_among(state, brokers)) < len(brokers):
        return new_partitions(state, env, topic_id, assignments)
    directories = {broker_id: default_directory(state, broker_id) for broker_id in brokers}
    return (FirstPartitions(topic_id, partition_version(state.metadata_version), assignments, directories),)


def _refusal(text: str) -> ApiError:
    return ApiError(Error.INVALID_REPLICA_ASSIGNMENT, text)
