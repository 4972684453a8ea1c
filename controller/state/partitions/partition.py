"""A partition as a value, and what a PartitionChangeRecord makes of it (KIP-631, KIP-455, KIP-858, KIP-966).

Pure, and without numpy: tools import it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from records.metadata.topics import PartitionRecord
from records.uuids import MIGRATING_DIRECTORY

if TYPE_CHECKING:
    from records.metadata.topics import PartitionChangeRecord

NO_LEADER = -1
NO_LEADER_CHANGE = -2

RECOVERED = 0
RECOVERING = 1
NO_RECOVERY_CHANGE = -1


class Partition(NamedTuple):
    """The state of one partition. Broker ids throughout, in the order of the record that set them.

    replicas: the first is the preferred leader; while a reassignment runs, the ones being added and removed too.
    removing, adding: both empty when no reassignment is in progress. leader: NO_LEADER where there is none.
    recovery_state: RECOVERED, or RECOVERING after an unclean election. directories: a directory id for each replica, in
    the order of `replicas`. elr: eligible leader replicas; last_known_elr: in 4.x the last known leader, if anything.
    """

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    directories: tuple[bytes, ...]
    removing: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()
    recovery_state: int = RECOVERED

    @property
    def preferred_leader(self) -> int:
        """The first replica; NO_LEADER where there are no replicas."""
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def is_reassigning(self) -> bool:
        return bool(self.removing or self.adding)

    def directory_of(self, broker_id: int) -> bytes:
        """The directory of a replica; raises ValueError where the broker has none."""
        return self.directories[self.replicas.index(broker_id)]


def partition_of(record: PartitionRecord) -> Partition:
    """The partition that a PartitionRecord states; raises ValueError where its lists contradict each other."""
    replicas = record.replicas
    directories = record.directories
    if directories and len(directories) != len(replicas):
        raise ValueError(f"{len(directories)} directories for {len(replicas)} replicas")
    return Partition(
        tuple(replicas),
        tuple(record.isr),
        record.leader,
        record.leader_epoch,
        record.partition_epoch,
        _directories(tuple(directories), len(replicas)),
        tuple(record.removing_replicas),
        tuple(record.adding_replicas),
        # Records before version 2 have no ELR, which reads as an empty one.
        tuple(record.eligible_leader_replicas or ()),
        tuple(record.last_known_elr or ()),
        _recovery_state(record.leader_recovery_state),
    )


def apply_change(partition: Partition, change: PartitionChangeRecord) -> Partition:
    """The partition after a change; raises ValueError where the change contradicts it.

    The partition epoch rises with every change. The leader epoch rises whenever the change names a leader, also when
    it is the current one: so a change asks for a new leader epoch without a new leader.
    """
    replicas = partition.replicas if change.replicas is None else tuple(change.replicas)
    directories = partition.directories
    if change.directories is not None:
        directories = tuple(change.directories)
    directories = _directories(directories, len(replicas))
    if len(directories) != len(replicas):
        raise ValueError(f"{len(directories)} directories for {len(replicas)} replicas")
    leader = partition.leader
    leader_epoch = partition.leader_epoch
    if change.leader != NO_LEADER_CHANGE:
        leader = change.leader
        leader_epoch = next_epoch(leader_epoch)
    recovery_state = partition.recovery_state
    if change.leader_recovery_state != NO_RECOVERY_CHANGE:
        recovery_state = _recovery_state(change.leader_recovery_state)
    elr = change.eligible_leader_replicas
    last_known_elr = change.last_known_elr
    return Partition(
        replicas,
        partition.isr if change.isr is None else tuple(change.isr),
        leader,
        leader_epoch,
        next_epoch(partition.partition_epoch),
        directories,
        partition.removing if change.removing_replicas is None else tuple(change.removing_replicas),
        partition.adding if change.adding_replicas is None else tuple(change.adding_replicas),
        partition.elr if elr is None else tuple(elr),
        partition.last_known_elr if last_known_elr is None else tuple(last_known_elr),
        recovery_state,
    )


def partition_record(partition: Partition, topic_id: bytes, partition_id: int, *, version: int) -> PartitionRecord:
    """The PartitionRecord of a partition, for a record version.

    An empty ELR is left out. An ELR is written while the feature is off too, since it takes effect again with the
    feature. Raises ValueError where the version has no directories and one was assigned.
    """
    if version < 1 and any(directory != MIGRATING_DIRECTORY for directory in partition.directories):
        raise ValueError("the directory assignment state of one or more replicas")
    return PartitionRecord(
        partition_id=partition_id,
        topic_id=topic_id,
        replicas=partition.replicas,
        isr=partition.isr,
        removing_replicas=partition.removing,
        adding_replicas=partition.adding,
        leader=partition.leader,
        leader_recovery_state=partition.recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=partition.directories if version >= 1 else (),
        eligible_leader_replicas=(partition.elr or None) if version >= 2 else None,
        last_known_elr=(partition.last_known_elr or None) if version >= 2 else None,
    )


def next_epoch(epoch: int) -> int:
    """The epoch after this one; an int32 that wraps, as in Java."""
    return epoch + 1 if epoch != 0x7FFFFFFF else -0x80000000


def _directories(directories: tuple[bytes, ...], replica_count: int) -> tuple[bytes, ...]:
    """Directories of which none is assigned yet follow the number of replicas."""
    if directories.count(MIGRATING_DIRECTORY) == len(directories):
        return (MIGRATING_DIRECTORY,) * replica_count
    return directories


def _recovery_state(value: int) -> int:
    if value not in (RECOVERED, RECOVERING):
        raise ValueError(f"leader recovery state is {value}, not {RECOVERED} or {RECOVERING}")
    return value
