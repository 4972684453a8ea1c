"""The change of one partition: every change of an existing partition goes through `partition_change`
(KIP-631, KIP-455, KIP-858, KIP-966).

A pure function: from a partition, a target and the rules of the cluster it makes one PartitionChangeRecord, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from controller.rules.reassignment import complete
from controller.state.partitions.partition import NO_LEADER, NO_LEADER_CHANGE, RECOVERING
from records.features.record_versions import DIRECTORY_ASSIGNMENT, NO_EPOCH_BUMP_ON_ISR_SHRINK, partition_version
from records.java.java_order import union_order
from records.metadata.topics import PartitionChangeRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from controller.state.partitions.partition import Partition


class Election(Enum):
    """The kind of election.

    ONLINE: the current leader, else the first valid replica. PREFERRED: the first replica if it is valid, else as
    ONLINE. UNCLEAN: as ONLINE, else any live replica, in sync or not.
    """

    PREFERRED = "preferred"
    ONLINE = "online"
    UNCLEAN = "unclean"


@dataclass(slots=True)
class Rules:
    """What a change depends on, beside the partition.

    min_isr: the effective one, at most the replication factor. elr: whether ELRs are kept (KIP-966).
    is_acceptable: whether a broker may lead this partition: it is active, and its replica's directory is online.
    default_directory: the directory for a replica that is new to a broker.
    """

    metadata_version: int
    min_isr: int
    elr: bool
    is_acceptable: Callable[[int], bool]
    default_directory: Callable[[int], bytes]


@dataclass(slots=True)
class PartitionTarget:
    """The requested state of a partition; None: unchanged.

    unclean_shutdown: brokers that may have lost unflushed records and are no longer eligible. directories: by broker
    id, of replicas whose directory is now known.
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
    """The record, and its version, that reaches the target as far as the rules allow; None if nothing changes.

    It also completes a reassignment if possible, updates the ELR, and elects a leader if needed.
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
    """Builds one change. The order of the steps is Kafka's and determines the result.

    isr, replicas, removing, adding, elr: the target. fields: those of the record.
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
        """The leader in the record so far."""
        leader: int = self.fields.get("leader", NO_LEADER_CHANGE)
        return leader

    def complete_reassignment(self) -> None:
        done = complete(self.replicas, self.isr, self.adding, self.removing)
        if done is not None:
            self.replicas, self.isr = done
            self.removing = self.adding = ()

    def fill_elr(self) -> None:
        """A replica that leaves the ISR while it is below min ISR still has every committed record: it is eligible."""
        if not self.rules.elr:
            return
        if len(self.isr) >= self.rules.min_isr:
            self.elr = ()
            return
        # The order of a HashSet, in which Kafka writes an ELR, decides the bytes of the record.
        eligible = union_order(self.partition.elr, self.partition.isr)
        self.elr = tuple(r for r in eligible if r not in self.isr and r not in self.target.unclean_shutdown)

    def elect(self) -> None:
        leader, unclean = self.elect_leader()
        if leader == self.partition.leader:
            return
        # An election from the ELR is clean; the new leader is then the only member of the ISR.
        if leader in self.elr:
            self.isr = (leader,)
            self.elr = tuple(replica for replica in self.elr if replica != leader)
        self.fields["leader"] = leader
        if unclean:
            self.fields["isr"] = (leader,)
            if self.partition.recovery_state != RECOVERING:
                self.fields["leader_recovery_state"] = RECOVERING

    def elect_leader(self) -> tuple[int, bool]:
        """The elected leader, NO_LEADER for none, and whether the election is unclean."""
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
        """Whether this replica can lead without losing records."""
        eligible = self.isr or self.elr
        return replica in eligible and self.rules.is_acceptable(replica)

    def may_elect_last_known_leader(self) -> bool:
        """No replica is in sync or eligible, and the last known leader is back."""
        if not self.rules.elr or self.isr or self.elr or len(self.partition.last_known_elr) != 1:
            return False
        return self.rules.is_acceptable(self.partition.last_known_elr[0])

    def bump_for_dropped_replicas(self) -> None:
        """A removed replica must stop fetching: naming the leader in the record increments the leader epoch."""
        if self.leader == NO_LEADER_CHANGE and not set(self.partition.replicas) <= set(self.replicas):
            self.fields["leader"] = self.partition.leader

    def write_elr(self) -> None:
        unclean = "isr" in self.fields
        if unclean or not self.rules.elr:
            self.elr = ()
        if self.elr != self.partition.elr:
            self.fields["eligible_leader_replicas"] = self.elr

    def write_isr(self) -> None:
        # Without ELR the last member stays in the ISR even when it is fenced: only it has every record.
        if "isr" not in self.fields and (self.isr or self.rules.elr) and self.isr != self.partition.isr:
            self.fields["isr"] = self.isr

    def bump_for_shrunk_isr(self) -> None:
        """Before 3.6-IV0 a shrunk ISR also needs a new leader epoch."""
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
        target = self.target.recovery_state
        if target is not None and target != self.partition.recovery_state:
            self.fields["leader_recovery_state"] = target
