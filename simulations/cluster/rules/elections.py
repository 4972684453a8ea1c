"""The rules of one PartitionChangeRecord, by the state before and the brokers that are active after (KIP-631, KIP-455,
KIP-704, KIP-858, KIP-966).

It has no field that changes nothing; it elects the right leader if there is one; its ELR has the replicas that left the
ISR; and it completes a reassignment as soon as possible.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from records.messages.partitions import AlterPartitionRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from records.uuids import MIGRATING_DIRECTORY
from simulations.cluster.metadata.image import NOBODY, UNCHANGED, Image, Partition
from simulations.cluster.metadata.member_rules import (
    BROKER,
    DIRECTORIES_SINCE,
    ELR,
    METADATA_VERSION,
    MIN_ISR,
    TOPIC,
    allows_unclean,
    is_active,
)  # fmt: skip
from simulations.cluster.rules.case import first_directory
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from records.metadata.topics import PartitionChangeRecord

# Below 3.6-IV0 a new leader epoch fences a replica that leaves the ISR.
NO_BUMP_SINCE = 12
PREFERRED, UNCLEAN = 0, 1
LISTS = (
    ("isr", "isr"), ("replicas", "replicas"), ("adding_replicas", "adding"), ("removing_replicas", "removing"),
    ("eligible_leader_replicas", "elr"), ("last_known_elr", "last_known"), ("directories", "directories"),
)  # fmt: skip


@dataclass(slots=True)
class Change:
    """before: the image before the record; after: the image after the whole operation, for the active brokers. lost:
    brokers that register in it. by_broker: the broker whose report of its directories it is. properties: of the node's
    file, for min_isr. replicas_max: the number of replicas of partition 0 before the operation. request: None where it
    is periodic work.
    """

    before: Image
    after: Image
    record: PartitionChangeRecord
    lost: Collection[int]
    by_broker: int
    min_isr: int
    replicas_max: int
    properties: Mapping[str, str] = field(default_factory=dict)
    request: Any = None

    @property
    def key(self) -> tuple[bytes, int]:
        return bytes(self.record.topic_id), self.record.partition_id

    def log_rules(self, node_id: int) -> None:
        """Check a change of a partition. Raises Violation if the record is not the one that the rules give."""
        partition = self.before.partitions[self.key]
        changed = self._after_record(partition)
        for wrong in (
            self._repeats(partition), self._elects(partition, changed), self._bumps(partition, changed),
            self._eligible(partition, changed), self._check_last_known(partition, changed),
            self._goes_on(partition, changed), self._ends(partition, changed), self._shrinks(partition, changed),
            self._directories(partition, changed),
        ):  # fmt: skip
            if wrong:
                name = self.before.topics[self.key[0]]
                text = f"node {node_id} changes {name}-{self.key[1]}, {partition}, by {self.record}"
                raise Violation("C21", f"{text}: {wrong}")

    def _after_record(self, partition: Partition) -> Partition:
        """The partition after the record."""
        changed = Partition(*(getattr(partition, name) for name in Partition.__slots__))
        for name, of in LISTS:
            value = getattr(self.record, name)
            if value is not None:
                setattr(changed, of, tuple(value))
        if self.record.leader != UNCHANGED:
            changed.leader = self.record.leader
        return changed

    def _repeats(self, partition: Partition) -> str:
        for name, of in LISTS:
            value = getattr(self.record, name)
            if value is not None and tuple(value) == getattr(partition, of):
                return f"{name} did not change"
        if self.record.leader_recovery_state >= 0 and (self.record.leader_recovery_state > 0) == partition.recovering:
            return "the recovery was so before"
        return ""

    def _elects(self, partition: Partition, changed: Partition) -> str:
        leader, record = changed.leader, self.record
        eligible = set(changed.isr) or set(changed.elr)
        if tuple(changed.isr) == (leader,) and leader not in partition.isr:
            if wrong := self._returns(partition, leader):
                return wrong
            if record.leader_recovery_state > 0 or leader not in {*partition.elr, *partition.isr}:
                return ""  # an unclean election: whether it is allowed is checked by `log_rules`
            eligible = {leader, *changed.elr}
        can = [each for each in changed.replicas if each in eligible and can_lead(self.after, partition, each)]
        if leader == NOBODY:
            can = (
                can or could_return(self.after, changed, before=partition) or self._could_uncleanly(partition, changed)
            )
            return f"no replica leads, but {can} could" if can else ""
        if leader == partition.leader:
            return "" if leader in can else f"{leader} goes on leading, and cannot"
        if leader not in can:
            return "" if partition.recovering or record.leader_recovery_state > 0 else f"{leader} leads, and cannot"
        if leader == changed.replicas[0] and (self._prefers or partition.leader not in can):
            return ""
        if partition.leader in can:
            return f"{leader} leads in place of {partition.leader}, which could remain leader"
        return "" if leader == can[0] else f"{leader} leads, and {can[0]} comes before it"

    def _returns(self, partition: Partition, leader: int) -> str:
        """The last known leader returns only where no replica is in sync or eligible (KIP-966)."""
        has_all = {*partition.isr, *partition.elr} - set(self.lost)
        is_by_word = type(self.request) is ElectLeadersRequest and self.request.election_type == UNCLEAN
        if not has_all or leader in has_all or leader not in partition.last_known or is_by_word:
            return ""
        if allows_unclean(self.before, self.key, self.properties):
            return ""
        return f"{leader} leads uncleanly, and {sorted(has_all)} have all records"

    def _could_uncleanly(self, partition: Partition, changed: Partition) -> list[int]:
        """The replicas that could lead by an unclean election, if the record leaves the partition without a leader."""
        is_tried = self.record.leader == NOBODY or self._is_cancelled
        if not is_tried or not allows_unclean(self.before, self.key, self.properties):
            return []
        return [each for each in changed.replicas if can_lead(self.after, partition, each)]

    def _bumps(self, partition: Partition, changed: Partition) -> str:
        """Whether the leader is named if its epoch must rise, and only then."""
        level = self.before.features.get(METADATA_VERSION, 0)
        shrinks = self.record.isr is not None and not set(partition.isr) <= set(changed.isr)
        has_to = not set(partition.replicas) <= set(changed.replicas) or (shrinks and level < NO_BUMP_SINCE)
        if self.record.leader == UNCHANGED:
            return "the leader epoch has to rise" if has_to else ""
        return "" if changed.leader != partition.leader or has_to else "the leader epoch rises without need"

    def _eligible(self, partition: Partition, changed: Partition) -> str:
        if not self.before.features.get(ELR, 0):
            return "ELRs are not kept" if self.record.eligible_leader_replicas else ""
        if self.record.leader_recovery_state > 0:
            return f"{changed.elr} remain in the ELR" if changed.elr else ""
        from_elr = tuple(changed.isr) == (self.record.leader,) and self.record.leader in partition.elr
        may = {*partition.elr, *partition.isr} - set(changed.isr)
        is_hidden = partition.recovering and self._is_sole(
            partition, changed
        )  # it may be an unclean election, once more
        if not changed.elr and (from_elr or is_hidden):
            return ""  # whether the ISR was full before it was elected is not to be seen
        if len(changed.isr) >= self._min_isr() and not from_elr:
            may = set()
        may -= set(self.lost)
        return f"the ELR is {set(changed.elr)}, expected {may}" if set(changed.elr) != may else ""

    def _is_sole(self, partition: Partition, changed: Partition) -> bool:
        """Whether a replica outside of the ISR was elected, and is now the whole ISR."""
        return tuple(changed.isr) == (self.record.leader,) and self.record.leader not in partition.isr

    def _check_last_known(self, partition: Partition, changed: Partition) -> str:
        wanted = partition.last_known
        if self.before.features.get(ELR, 0):
            if self.record.leader == NOBODY and not partition.last_known:
                wanted = (partition.leader,)
            elif self.record.leader >= 0:
                wanted = ()
        return "" if changed.last_known == wanted else f"last known to lead should be {wanted}"

    def _min_isr(self) -> int:
        """The effective min ISR, at most the number of replicas of partition 0."""
        image = self.before
        topic = image.topics[self.key[0]]
        needed = self.min_isr
        for resource in ((TOPIC, topic), (BROKER, "")):
            value = image.configs.get(resource, {}).get(MIN_ISR)
            if value is not None:
                needed = int(value)
                break
        return min(needed, self.replicas_max)

    def _goes_on(self, partition: Partition, changed: Partition) -> str:
        """A reassignment that can complete does."""
        if (not changed.adding and not changed.removing) or self._is_sole(partition, changed):
            return ""
        if changed.leader == NOBODY:
            return ""  # the last one in sync is gone, and stays there because somebody has to
        is_over = can_end(changed.replicas, changed.isr, changed.adding, changed.removing)
        return "the move goes on, and could be over" if is_over else ""

    def _ends(self, partition: Partition, changed: Partition) -> str:
        """A reassignment that ends with its target could complete, or is cancelled from the same replicas (KIP-455)."""
        is_end = (partition.adding or partition.removing) and not changed.adding and not changed.removing
        target = set(partition.replicas) - set(partition.removing)
        if not is_end or set(changed.replicas) != target or self._is_sole(partition, changed):
            return ""
        if (
            set(partition.adding) == set(partition.removing)
            and type(self.request) is AlterPartitionReassignmentsRequest
        ):
            return ""
        isr = (*changed.isr, *(each for each in partition.isr if each not in target))
        is_over = can_end(partition.replicas, isr, partition.adding, partition.removing)
        return "" if is_over else "the move ends, and could not be over"

    def _shrinks(self, partition: Partition, changed: Partition) -> str:
        """Replicas leave the ISR because they cannot serve, because they go, or because the leader asks for it."""
        if self.by_broker >= 0 or type(self.request) is AlterPartitionRequest or self._is_sole(partition, changed):
            return ""
        gone = [each for each in partition.isr if each not in changed.isr and each in changed.replicas]
        needless = [each for each in gone if can_lead(self.after, partition, each)]
        return f"{needless} leave the ISR, and could stay" if needless else ""

    @property
    def _is_cancelled(self) -> bool:
        """Whether the request cancels the reassignment of the partition."""
        if type(self.request) is not AlterPartitionReassignmentsRequest:
            return False
        name = self.before.topics[self.key[0]]
        targets = [
            asked.replicas
            for topic in self.request.topics
            for asked in topic.partitions
            if (topic.name, asked.partition_index) == (name, self.key[1])
        ]
        return bool(targets) and all(target is None for target in targets)

    @property
    def _prefers(self) -> bool:
        """Whether the preferred replica may take over from another that could go on (KIP-460)."""
        if self.request is None:
            return True
        return type(self.request) is ElectLeadersRequest and self.request.election_type == PREFERRED

    def _directories(self, partition: Partition, changed: Partition) -> str:
        if self.before.features.get(METADATA_VERSION, 0) < DIRECTORIES_SINCE:
            return "directories are not kept" if self.record.directories is not None else ""
        if self.record.directories is None and len(partition.directories) != len(partition.replicas):
            return ""  # it was made when they were not kept
        if len(changed.directories) != len(changed.replicas):
            return "there is not one directory for each replica"
        for broker_id, directory in zip(changed.replicas, changed.directories, strict=True):
            wanted = {first_directory(self.after, broker_id), first_directory(self.before, broker_id)}
            if broker_id in partition.replicas:
                were_kept = len(partition.directories) == len(partition.replicas)
                wanted = {partition.directory_of(broker_id) if were_kept else MIGRATING_DIRECTORY}
            if broker_id != self.by_broker and directory not in wanted:
                return f"the replica of {broker_id} is in {directory.hex()}, not in {[each.hex() for each in wanted]}"
        return ""


def can_end(
    replicas: Collection[int], isr: Collection[int], adding: Collection[int], removing: Collection[int]
) -> bool:
    """Whether a reassignment may complete: all new ones are in sync; where fewer come than go, all that stay are."""
    left_isr, left = set(isr) - set(removing), set(replicas) - set(removing)
    is_left = bool(left_isr and left) or not removing
    return is_left and set(adding) <= left_isr and (len(adding) >= len(removing) or left <= left_isr)


def can_lead(image: Image, partition: Partition, broker_id: int) -> bool:
    """Whether a replica may lead, by its broker, and by its directory."""
    broker = image.brokers.get(broker_id)
    return (
        broker_id in partition.replicas
        and broker is not None
        and is_active(broker)
        and broker.serves(partition.directory_of(broker_id))
    )


def could_return(image: Image, changed: Partition, before: Partition) -> list[int]:
    """The last known leader, if it may lead again when no replica is in sync or eligible (KIP-966)."""
    if not image.features.get(ELR, 0) or changed.isr or changed.elr or len(before.last_known) != 1:
        return []
    return [each for each in before.last_known if can_lead(image, before, each)]


def leads_nobody(image: Image, broker_id: int) -> list[tuple[bytes, int]]:
    """Partitions without a leader that a broker could lead now."""
    return [
        key
        for key, partition in image.partitions.items()
        if partition.leader == NOBODY
        and (
            broker_id in (partition.isr or partition.elr)
            or broker_id in could_return(image, partition, before=partition)
        )
        and can_lead(image, partition, broker_id)
    ]


def leaderless_partitions(image: Image, broker_id: int, properties: Mapping[str, str]) -> list[tuple[bytes, int]]:
    """Partitions without a leader that a broker, which was just unfenced, could lead uncleanly, if
    their topics allow it.
    """
    return [
        key
        for key, partition in image.partitions.items()
        if partition.leader == NOBODY
        and allows_unclean(image, key, properties)
        and can_lead(image, partition, broker_id)
    ]
