"""The change of one partition: every mutation of a partition but its making goes through `partition_change`
(KIP-631, KIP-455, KIP-858, KIP-966).

Pure: a partition, what is wished, and what of the cluster bears on it; out comes one PartitionChangeRecord, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from controller.features.record_versions import DIRECTORY_ASSIGNMENT, NO_EPOCH_BUMP_ON_ISR_SHRINK, partition_version
from controller.rules.reassignment import completed
from controller.state.partitions.partition import NO_LEADER, NO_LEADER_CHANGE, RECOVERING
from records.metadata.topics import PartitionChangeRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from controller.state.partitions.partition import Partition


class Election(Enum):
    """Which leader is sought.

    ONLINE: the current one, else the first valid replica. PREFERRED: the first replica, where it is valid. UNCLEAN:
    as ONLINE, and at last any live replica, in sync or not.
    """

    PREFERRED = "preferred"
    ONLINE = "online"
    UNCLEAN = "unclean"


@dataclass(slots=True)
class Rules:
    """What of the cluster bears on a partition.

    min_isr: effective, at most the replication factor. elr: whether eligible leader replicas are kept (KIP-966).
    is_acceptable: whether a broker may lead this partition: it is active, and the partition's directory is online.
    default_directory: where a broker puts a replica that is new to it.
    """

    metadata_version: int
    min_isr: int
    elr: bool
    is_acceptable: Callable[[int], bool]
    default_directory: Callable[[int], bytes]


@dataclass(slots=True)
class PartitionTarget:
    """What a partition should become; None: as it is.

    unclean_shutdown: brokers that lost what they had not flushed, and so are eligible no more. directories: by broker
    id, for replicas whose directory is now known.
    """

    election: Election = Election.ONLINE
    isr: Sequence[int] | None = None
    replicas: Sequence[int] | None = None
    removing: Sequence[int] | None = None
    adding: Sequence[int] | None = None
    recovery_state: int | None = None
    unclean_shutdown: Collection[int] = ()
    directories: Mapping[int, bytes] | None = None


def partition_change(
    partition: Partition, topic_id: bytes, partition_id: int, rules: Rules, target: PartitionTarget
) -> tuple[PartitionChangeRecord, int] | None:
    """The record, and its version, that makes the wish true as far as the rules allow; None where nothing changes.

    Each run also completes a reassignment that can be completed, keeps the ELR and elects a leader where need be.
    """
    change = _Change(partition, rules, target)
    change.complete_reassignment()
    change.fill_elr()
    change.elect()
    change.bump_for_dropped_replicas()
    change.write_elr()
    change.write_isr()
    change.bump_for_shrunk_isr()
    change.write_last_known_leader()
    change.write_assignment()
    change.write_recovery_state()
    if not change.fields:
        return None
    record = PartitionChangeRecord(partition_id=partition_id, topic_id=topic_id, **change.fields)
    return record, partition_version(rules.metadata_version)


class _Change:
    """A change while it is put together. The order of its steps is Kafka's, and matters.

    isr, replicas, removing, adding, elr: what is aimed at. fields: what the record will say.
    """

    __slots__ = ("adding", "elr", "fields", "isr", "partition", "removing", "replicas", "rules", "target")

    def __init__(self, partition: Partition, rules: Rules, target: PartitionTarget) -> None:
        self.partition = partition
        self.rules = rules
        self.target = target
        self.isr = partition.isr if target.isr is None else tuple(target.isr)
        self.replicas = partition.replicas if target.replicas is None else tuple(target.replicas)
        self.removing = partition.removing if target.removing is None else tuple(target.removing)
        self.adding = partition.adding if target.adding is None else tuple(target.adding)
        self.elr = partition.elr
        self.fields: dict[str, Any] = {}

    @property
    def leader(self) -> int:
        """What the record says of the leader so far."""
        leader: int = self.fields.get("leader", NO_LEADER_CHANGE)
        return leader

    def complete_reassignment(self) -> None:
        done = completed(self.replicas, self.isr, self.adding, self.removing)
        if done is not None:
            self.replicas, self.isr = done
            self.removing = self.adding = ()

    def fill_elr(self) -> None:
        """Who left the ISR while it is below min ISR still has every committed record, and stays eligible."""
        if not self.rules.elr:
            return
        if len(self.isr) >= self.rules.min_isr:
            self.elr = ()
            return
        eligible = in_hash_order(self.partition.elr, self.partition.isr)
        self.elr = tuple(r for r in eligible if r not in self.isr and r not in self.target.unclean_shutdown)

    def elect(self) -> None:
        leader, unclean = self.elected()
        if leader == self.partition.leader:
            return
        # One elected from the ELR is elected cleanly, and is the whole ISR from then on.
        if leader in self.elr:
            self.isr = (leader,)
            self.elr = tuple(replica for replica in self.elr if replica != leader)
        self.fields["leader"] = leader
        if unclean:
            self.fields["isr"] = (leader,)
            if self.partition.recovery_state != RECOVERING:
                self.fields["leader_recovery_state"] = RECOVERING

    def elected(self) -> tuple[int, bool]:
        """The leader that the election finds, NO_LEADER for none, and whether it is unclean."""
        partition = self.partition
        if self.target.election == Election.PREFERRED and self.is_valid(self.replicas[0]):
            return self.replicas[0], False
        if self.is_valid(partition.leader):
            return partition.leader, False
        for replica in self.replicas:
            if self.is_valid(replica):
                return replica, False
        if self.may_elect_last_known_leader():
            return partition.last_known_elr[0], True
        if self.target.election == Election.UNCLEAN:
            for replica in self.replicas:
                if self.rules.is_acceptable(replica):
                    return replica, True
        return NO_LEADER, False

    def is_valid(self, replica: int) -> bool:
        """Whether this one can lead without loss."""
        eligible = self.isr or self.elr
        return replica in eligible and self.rules.is_acceptable(replica)

    def may_elect_last_known_leader(self) -> bool:
        """Nobody in sync or eligible is left, and the one that led last is back."""
        if not self.rules.elr or self.isr or self.elr or len(self.partition.last_known_elr) != 1:
            return False
        return self.rules.is_acceptable(self.partition.last_known_elr[0])

    def bump_for_dropped_replicas(self) -> None:
        """A replica that was dropped must not be followed any more: the leader epoch rises, so a leader is named."""
        if self.leader == NO_LEADER_CHANGE and not set(self.partition.replicas) <= set(self.replicas):
            self.fields["leader"] = self.partition.leader

    def write_elr(self) -> None:
        unclean = "isr" in self.fields
        if unclean or not self.rules.elr:
            self.elr = ()
        if self.elr != self.partition.elr:
            self.fields["eligible_leader_replicas"] = self.elr

    def write_isr(self) -> None:
        # Without ELR the last member stays in the ISR when it goes, for it alone has everything.
        if "isr" not in self.fields and (self.isr or self.rules.elr) and self.isr != self.partition.isr:
            self.fields["isr"] = self.isr

    def bump_for_shrunk_isr(self) -> None:
        """Before 3.6-IV0 a member that left the ISR was fenced off by a new leader epoch."""
        if self.rules.metadata_version >= NO_EPOCH_BUMP_ON_ISR_SHRINK:
            return
        isr = self.fields.get("isr")
        if self.leader == NO_LEADER_CHANGE and isr is not None and not set(self.partition.isr) <= set(isr):
            self.fields["leader"] = self.partition.leader

    def write_last_known_leader(self) -> None:
        if not self.rules.elr:
            return
        if self.leader == NO_LEADER and not self.partition.last_known_elr:
            self.fields["last_known_elr"] = (self.partition.leader,)
        elif self.leader not in (NO_LEADER, NO_LEADER_CHANGE) and self.partition.last_known_elr:
            self.fields["last_known_elr"] = ()

    def write_assignment(self) -> None:
        partition = self.partition
        if self.replicas:
            if self.rules.metadata_version >= DIRECTORY_ASSIGNMENT:
                directories = self.directories()
                if directories != partition.directories:
                    self.fields["directories"] = directories
            if self.replicas != partition.replicas:
                self.fields["replicas"] = self.replicas
        if self.removing != partition.removing:
            self.fields["removing_replicas"] = self.removing
        if self.adding != partition.adding:
            self.fields["adding_replicas"] = self.adding

    def directories(self) -> tuple[bytes, ...]:
        known = dict(zip(self.partition.replicas, self.partition.directories, strict=True))
        if self.target.directories:
            known.update(self.target.directories)
        default = self.rules.default_directory
        return tuple(known[replica] if replica in known else default(replica) for replica in self.replicas)

    def write_recovery_state(self) -> None:
        wished = self.target.recovery_state
        if wished is not None and wished != self.partition.recovery_state:
            self.fields["leader_recovery_state"] = wished


def in_hash_order(first: Sequence[int], more: Sequence[int]) -> list[int]:
    """The distinct ids of both in the order in which Java's HashSet, made from `first`, gives them back.

    Kafka writes an ELR in that order, so it is part of the bytes: ascending for ids below 16.
    """
    buckets = 16
    while buckets < int(len(first) / 0.75) + 1:
        buckets *= 2
    members = list(dict.fromkeys((*first, *more)))
    while len(members) > buckets * 3 // 4:
        buckets *= 2
    return sorted(members, key=lambda member: (member ^ (member >> 16)) & (buckets - 1))
