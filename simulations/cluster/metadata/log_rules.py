"""The rules of the committed log of a cluster, record by record, and batch by batch.

Its rules of members, directories and transactions are in `member_rules`; here are
C06 FencedNotInIsr, C07 IsrSubset, C08 epochs go up, C09 BrokerEpochUnique, C11 ReassignmentSafe, C12
ProducerIdBlocksDisjoint, C13 AtomicBatches, C14 UncleanElectionOnlyIfEnabled, C15 TopicIdUnique, C16
CommittedDataSurvives, as far as ISRs show: they grow only by a leader's request.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any

from records.metadata.brokers import (
    BrokerRegistrationChangeRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from records.metadata.configs import ConfigRecord, FeatureLevelRecord
from records.metadata.producer_ids import ProducerIdsRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from simulations.cluster.metadata import member_rules
from simulations.cluster.metadata.image import NOBODY, UNCHANGED, Image, Partition, Settling, batches_of
from simulations.cluster.metadata.member_rules import BROKER, ELR, MIN_ISR, PRODUCER_IDS, TOPIC
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Callable

RECOVERING = 1


class LogRules:
    """image: the committed metadata. topics_made: ids of all topics that ever existed. levels: where the levels of
    features changed, (end offset, all of them), in order. ended: epochs of unregistered brokers. settled: end offsets
    of batches at which no transaction is open, in order. counted: how often a level rose or fell, and a transaction was
    aborted. elections: by kind, the offsets of those that elected a replica outside of the ISR (KIP-966, KIP-841).
    """

    def __init__(self) -> None:
        self.image = Image()
        self.topics_made: set[bytes] = set()
        self.ended: set[int] = set()
        self.settled: list[int] = [0]
        self.levels: list[tuple[int, dict[str, int]]] = []
        self.counted: Counter[str] = Counter()
        self.elections: dict[str, list[int]] = {"unclean": [], "elr": []}
        self._settling = Settling()
        self._transactions = member_rules.Transactions()
        self._read_up_to: dict[tuple[int, int], int] = {}  # (broker, epoch): how far it said that it had read
        self._former: dict[bytes, int] = {}  # incarnation: the epoch of which it said that it had ended well
        self._broker_epoch = -1
        self._touched: dict[tuple[bytes, int], Partition | None] = {}  # as each was before this batch
        self._brokers: set[int] = set()
        self._back: set[int] = set()  # new incarnations in this batch
        self._made: set[bytes] = set()
        self._targets: dict[tuple[str, int], list[set[int]]] = {}
        self._isr_requests: dict[tuple[bytes, int], dict[int, set[tuple[int, int]]]] = {}
        self._unclean: set[tuple[str, int]] = set()  # partitions for which a client asked for an unclean election
        self._unclean_anywhere = False
        # Replicas that this batch leaves in a directory that is offline.
        self._lost: list[tuple[tuple[bytes, int], int]] = []
        self._levels_changed = False
        self._min_isr_changed: set[str] = set()  # topics of which this batch does so; "" for all brokers

    def on_committed(self, data: bytes, end_offset: int) -> None:
        """One more batch is committed. Raises Violation if its records cannot follow those before."""
        image = self.image
        for _, _, batch in batches_of(data):
            aborted = self._transactions.take(batch)
            if aborted:
                self.counted["cut_transaction"] += aborted
            for offset, record in self._settling.take(batch):
                act = BEFORE.get(type(record))
                if act is not None:
                    act(self, record, offset)
                image.apply(record)
                if type(record) is RegisterBrokerRecord:
                    image.brokers[record.broker_id].offset = offset
        image.end_offset = end_offset
        if not self._settling.is_open:
            self.settled.append(end_offset)
            self._after_batch(end_offset)

    def last_settled_offset(self, end_offset: int) -> int:
        """The greatest settled offset, up to a given one: records after it may be part of a transaction."""
        return self.settled[bisect_right(self.settled, end_offset) - 1]

    def on_isr_requested(self, key: tuple[bytes, int], epoch: int, members: set[tuple[int, int]]) -> None:
        """A present or former leader of a partition requests an ISR at a partition epoch. members: each with the broker
        epoch that the leader knows.
        """
        self._isr_requests.setdefault(key, {}).setdefault(epoch, set()).update(members)

    def on_heartbeat(self, broker_id: int, epoch: int, offset: int) -> None:
        """A broker of an epoch reports that it has read up to an offset, inclusive."""
        key = broker_id, epoch
        self._read_up_to[key] = max(self._read_up_to.get(key, -1), offset)

    def on_registration_requested(self, incarnation: bytes, former_epoch: int) -> None:
        """An incarnation requests a registration, with the epoch of its last clean shutdown; -1 for none."""
        self._former[incarnation] = former_epoch

    def on_reassignment_requested(self, topic: str, partition: int, replicas: set[int]) -> None:
        """A client requests a reassignment of a partition."""
        self._targets.setdefault((topic, partition), []).append(replicas)

    def on_unclean_election_requested(self, topic: str, partition: int) -> None:
        """A client requests an unclean election."""
        self._unclean.add((topic, partition))

    def unclean_election_requested_for_all(self) -> None:
        """A client requests unclean elections of all partitions without a leader."""
        self._unclean_anywhere = True

    # Before a record is applied

    def registers(self, record: RegisterBrokerRecord, offset: int) -> None:
        member_rules.registers_broker(self.image, record, offset)
        existing = self.image.brokers.get(record.broker_id)
        self._brokers.add(record.broker_id)
        if existing is not None and existing.incarnation == bytes(record.incarnation_id):
            if record.broker_epoch != existing.epoch:
                text = f"broker {record.broker_id} registers again and gets the epoch {record.broker_epoch} at {offset}"
                raise Violation("C09", f"{text}; it had {existing.epoch}")
            return
        if not self._broker_epoch < record.broker_epoch <= offset:
            text = f"broker {record.broker_id} registers at offset {offset} with epoch {record.broker_epoch}"
            raise Violation("C09", f"{text}; the last broker epoch was {self._broker_epoch}")
        self._broker_epoch = record.broker_epoch
        self._back.add(record.broker_id)
        former = self._former.get(bytes(record.incarnation_id))
        # When the feature is turned off, stock leaves the ELRs as they are (see FINDINGS).
        is_kept = self.image.features.get(ELR, 0) > 0
        # The clean shutdown of a broker that is not registered any more does not count.
        is_unclean = existing is None or (former is not None and former != existing.epoch)
        if is_kept and is_unclean:
            eligible = [
                _name(key) for key, partition in self.image.partitions.items() if record.broker_id in partition.elr
            ]
            if eligible:
                text = (
                    f"at {offset} broker {record.broker_id} restarts after an unclean shutdown, but is still in the ELR"
                )
                raise Violation("C16", f"{text} for {eligible}")

    def changes_broker(self, record: BrokerRegistrationChangeRecord, offset: int) -> None:
        self._brokers.add(record.broker_id)
        broker = self.image.brokers.get(record.broker_id)
        if broker is None or broker.epoch != record.broker_epoch:
            text = f"at {offset} broker {record.broker_id} of epoch {record.broker_epoch} changes; it is {broker}"
            raise Violation("C10", text)
        read = self._read_up_to.get((record.broker_id, record.broker_epoch), -1)
        if record.fenced < 0 and read < broker.offset:
            text = f"at {offset} broker {record.broker_id} is unfenced, but has read only up to {read}"
            raise Violation("C06", f"{text}; its registration is at {broker.offset}")
        lost = member_rules.loses_directories(self.image, record)
        self._lost += [(key, record.broker_id) for key in lost]

    def unregisters(self, record: UnregisterBrokerRecord, offset: int) -> None:
        member_rules.unregisters(self.image, record, offset)
        self.ended.add(record.broker_epoch)
        self._brokers.add(record.broker_id)

    def registers_controller(self, record: RegisterControllerRecord, offset: int) -> None:
        member_rules.registers_controller(self.image, record, offset)

    def sets_feature(self, record: FeatureLevelRecord, offset: int) -> None:
        member_rules.sets_feature(self.image, record, offset)
        now = self.image.features.get(record.name, 0)
        if self.levels and record.feature_level != now:
            self.counted["level_up" if record.feature_level > now else "level_down"] += 1
        self._levels_changed = True
        if record.name == ELR:  # comes with the minimum that it needs, and removes no eligible replica (see FINDINGS)
            self._min_isr_changed.clear()

    def makes_topic(self, record: TopicRecord, offset: int) -> None:
        topic_id = bytes(record.topic_id)
        if topic_id in self.topics_made or record.name in self.image.names:
            raise Violation("C15", f"topic {record.name} of id {topic_id.hex()} is created at {offset}, but existed")
        self.topics_made.add(topic_id)
        self._made.add(topic_id)

    def removes_topic(self, record: RemoveTopicRecord, offset: int) -> None:
        topic_id = bytes(record.topic_id)
        if topic_id not in self.image.topics:
            raise Violation("C15", f"topic {topic_id.hex()} is removed at {offset}, but does not exist")
        for key in [key for key in self._touched if key[0] == topic_id]:
            del self._touched[key]
        self._made.discard(topic_id)

    def makes_partition(self, record: PartitionRecord, offset: int) -> None:
        topic_id = bytes(record.topic_id)
        if self.image.counts.get(topic_id) != record.partition_id:
            there = self.image.counts.get(topic_id)
            raise Violation(
                "C13", f"at {offset} partition {record.partition_id} is created in a topic that has {there}"
            )
        self._touched[topic_id, record.partition_id] = None
        member_rules.places(self.image, record, offset)
        member_rules.are_active(self.image, record.isr, f"at {offset} a partition is made with {record.isr} in sync")

    def changes_partition(self, record: PartitionChangeRecord, offset: int) -> None:
        key = bytes(record.topic_id), record.partition_id
        partition = self.image.partitions.get(key)
        if partition is None:
            raise Violation("C15", f"at {offset} {_name(key)} changes, but does not exist")
        if key not in self._touched:
            self._touched[key] = Partition(*(getattr(partition, name) for name in Partition.__slots__))
        self._lost += [(key, broker_id) for broker_id in member_rules.moves_offline(self.image, partition, record)]
        if record.leader_recovery_state == RECOVERING:
            self.elections["unclean"].append(offset)
        if record.leader in partition.elr:
            self.elections["elr"].append(offset)
        self._elects(key, partition, record, offset)
        self._reassigns(key, partition, record, offset)

    def _elects(self, key: tuple[bytes, int], partition: Partition, record: PartitionChangeRecord, offset: int) -> None:
        """A replica outside of the ISR may lead only if that is allowed, and must recover (KIP-704)."""
        member_rules.elects(self.image, key, record, offset)
        isr_requested = self._isr_request(key, partition)
        joins = set(record.isr or ()) - set(partition.isr)
        leader = record.leader
        has_all = leader in {*partition.isr, *partition.elr, *isr_requested}
        is_cancelled = () in (record.adding_replicas, record.removing_replicas)
        # When a reassignment is cancelled and no replica in sync is a former one, the first former one is (KIP-455).
        chosen = tuple((record.replicas or partition.replicas)[:1]) if is_cancelled else (leader,)
        is_unclean = not has_all and self._allows_unclean(key) and tuple(record.isr or ()) in {(leader,), chosen}
        if (
            not is_unclean
            and joins - isr_requested
            and (len(record.isr or ()) > 1 or not joins & {*partition.elr, *partition.last_known})
        ):
            text = f"at {offset} {joins} join the ISR of {_name(key)}, which was {partition.isr}"
            raise Violation("C16", f"{text}; in epoch {partition.epoch} its leader asked for {sorted(isr_requested)}")
        if not is_cancelled:  # a cancelled reassignment may have to restore any former replica
            text = f"at {offset} {joins} join the ISR of {_name(key)}"
            member_rules.are_active(self.image, joins, text)
        if leader in (UNCHANGED, NOBODY, partition.leader):
            return
        text = (
            f"at {offset} {leader} becomes leader of {_name(key)}, whose ISR is {partition.isr} and ELR {partition.elr}"
        )
        if not is_unclean and not has_all and leader not in partition.last_known:
            raise Violation("C14", text)
        # Stock takes the former replica for one in sync when all that are were added ones, and it need not recover.
        is_restored = is_cancelled and (leader,) == chosen and set(partition.isr) <= set(partition.adding)
        if not (has_all or is_restored or partition.recovering) and record.leader_recovery_state != RECOVERING:
            raise Violation("C14", f"{text}; its leader recovery state is not RECOVERING")
        broker = self.image.brokers.get(leader)
        if broker is None or broker.leaving:
            raise Violation("C06", f"at {offset} {leader} becomes leader of {_name(key)}, but is {broker}")

    def _isr_request(self, key: tuple[bytes, int], partition: Partition) -> set[int]:
        """Members that the leader asked for in this partition epoch, with their present broker epochs."""
        asked = self._isr_requests.get(key, {}).get(partition.epoch, set())
        brokers = self.image.brokers
        return {member for member, epoch in asked if member in brokers and brokers[member].epoch == epoch}

    def _allows_unclean(self, key: tuple[bytes, int]) -> bool:
        """Whether unclean elections are allowed: by a config, or because a client requested it."""
        name = self.image.topics[key[0]]
        is_requested = self._unclean_anywhere or (name, key[1]) in self._unclean
        return is_requested or member_rules.allows_unclean(self.image, key, {})

    def _reassigns(
        self, key: tuple[bytes, int], partition: Partition, record: PartitionChangeRecord, offset: int
    ) -> None:
        """The end of a reassignment: all targets are in sync; or it is cancelled, and the former replicas are restored.
        A reassignment that completes at once is only in the record of its end.
        """
        has_begun = bool(partition.adding or partition.removing)
        if not has_begun and record.replicas is None:
            return
        adding = partition.adding if record.adding_replicas is None else tuple(record.adding_replicas)
        removing = partition.removing if record.removing_replicas is None else tuple(record.removing_replicas)
        replicas = partition.replicas if record.replicas is None else tuple(record.replicas)
        isr = set(partition.isr if record.isr is None else record.isr)
        # It may complete by the ISR until now or the one that the leader asks for, and another leader be elected in the
        # same record, as in stock.
        is_unclean = isr == {record.leader} and record.leader not in partition.isr and self._allows_unclean(key)
        if adding or removing:
            return
        former = set(partition.replicas) - set(partition.adding)
        targets = set(partition.replicas) - set(partition.removing)
        requested = self._targets.get((self.image.topics[key[0]], key[1]), [])
        text = (
            f"at {offset} the reassignment of {_name(key)} from {former} to {targets} ends with {replicas}, ISR {isr}"
        )
        new = set(replicas) - former
        in_sync = {*partition.isr, *self._isr_request(key, partition)} if is_unclean else isr
        if not new <= in_sync or (partition.isr and not isr and not partition.elr):
            raise Violation("C11", f"{text}: not all new replicas are in the ISR, or none is")
        if set(replicas) not in (former, targets) and set(replicas) not in requested:
            raise Violation("C11", f"{text}; no client asked for that")

    def configures(self, record: ConfigRecord, offset: int) -> None:
        self._levels_changed |= record.resource_type == BROKER
        if record.name == MIN_ISR and record.resource_type in (TOPIC, BROKER):
            self._min_isr_changed.add(record.resource_name if record.resource_type == TOPIC else "")
        if record.resource_type == TOPIC and record.resource_name not in self.image.names:
            raise Violation(
                "C13", f"at {offset} a config of topic {record.resource_name} is set, but the topic does not exist"
            )

    def gives_producer_ids(self, record: ProducerIdsRecord, offset: int) -> None:
        if record.next_producer_id < self.image.next_producer_id + PRODUCER_IDS:
            text = f"at {offset} producer ids up to {record.next_producer_id} are allocated"
            raise Violation("C12", f"{text}; the next producer id was {self.image.next_producer_id}")

    # After a batch

    def _after_batch(self, end_offset: int) -> None:
        image = self.image
        for topic_id in self._made:
            if topic_id in image.topics and not image.counts[topic_id]:
                raise Violation(
                    "C13", f"before {end_offset} topic {image.topics[topic_id]} is created without partitions"
                )
        self._made.clear()
        for key, before in self._touched.items():
            self._is_sound(key, before, end_offset)
        self._touched.clear()
        for broker_id in self._brokers:
            self._is_out(broker_id, end_offset)
        self._brokers.clear()
        for key, broker_id in self._lost:
            if key in image.partitions:
                partition = image.partitions[key]
                member_rules.is_out(partition, broker_id, f"before {end_offset} {_name(key)} is {partition}")
        self._lost.clear()
        if self._levels_changed:
            self.levels.append((end_offset, dict(image.features)))
            member_rules.shares_min_isr(image, end_offset)
            self._levels_changed = False
        if self._min_isr_changed:
            self._begins_anew(end_offset)
            self._min_isr_changed.clear()
        self._back.clear()

    def _begins_anew(self, end_offset: int) -> None:
        """Eligible replicas were determined by the former min.insync.replicas, so they are cleared (KIP-966)."""
        image = self.image
        if not image.features.get(ELR, 0):
            return
        for key, partition in image.partitions.items():
            if partition.elr and not self._min_isr_changed.isdisjoint({"", image.topics[key[0]]}):
                text = f"before {end_offset} {MIN_ISR} changes, and {_name(key)} is {partition}"
                raise Violation("C07", f"{text}: the ELR of the former value remains")

    def _is_sound(self, key: tuple[bytes, int], before: Partition | None, end_offset: int) -> None:
        partition = self.image.partitions[key]
        text = f"before {end_offset} {_name(key)} is {partition}"
        replicas, isr, elr = set(partition.replicas), set(partition.isr), set(partition.elr)
        if not replicas or len(replicas) != len(partition.replicas) or len(isr) != len(partition.isr):
            raise Violation("C07", f"{text}: a replica is listed twice, or there is none")
        # A broker without a replica that stays in the ELR is a bug of stock (see FINDINGS): it is never elected.
        if not isr <= replicas or isr & elr:
            raise Violation("C07", f"{text}: a broker of the ISR holds no replica, or is in the ELR as well")
        if partition.leader != NOBODY and partition.leader not in isr:
            raise Violation("C07", f"{text}: the leader is not in the ISR")
        # The last leader is stored when it stops leading; before the feature, stock does not store it (see FINDINGS).
        led = before is not None and before.leader != NOBODY
        if before is not None and led and not isr and not elr and not partition.last_known:
            raise Violation("C07", f"{text}: ISR and ELR are empty; it was {before}")
        if before is not None and not isr and self.image.features.get(ELR, 0):
            had = {*before.isr, *before.elr} - self._back
            if had and not elr:
                raise Violation("C07", f"{text}: the ELR is empty, but {had} had all committed records")
        if before is not None and (partition.leader_epoch < before.leader_epoch or partition.epoch <= before.epoch):
            raise Violation("C08", f"{text}: it was {before}")
        for broker_id in (*partition.isr, partition.leader):
            self._may_serve(broker_id, key, partition, text)

    def _may_serve(self, broker_id: int, key: tuple[bytes, int], partition: Partition, text: str) -> None:
        """A fenced broker leads nothing, and is in an ISR only as its last member."""
        if broker_id == NOBODY:
            return
        broker = self.image.brokers.get(broker_id)
        if broker is not None and not broker.fenced:
            return
        if partition.leader == broker_id or len(partition.isr) > 1:
            raise Violation("C06", f"{text}: {broker_id} is {broker}")
        _ = key

    def _is_out(self, broker_id: int, end_offset: int) -> None:
        broker = self.image.brokers.get(broker_id)
        if broker is not None and not broker.fenced:
            return
        for key, partition in self.image.partitions.items():
            if broker_id in partition.isr or broker_id == partition.leader:
                self._may_serve(broker_id, key, partition, f"before {end_offset} {_name(key)} is {partition}")


def _name(key: tuple[bytes, int]) -> str:
    return f"{key[0].hex()[:8]}-{key[1]}"


BEFORE: dict[type, Callable[[LogRules, Any, int], None]] = {
    RegisterBrokerRecord: LogRules.registers,
    BrokerRegistrationChangeRecord: LogRules.changes_broker,
    UnregisterBrokerRecord: LogRules.unregisters,
    RegisterControllerRecord: LogRules.registers_controller,
    FeatureLevelRecord: LogRules.sets_feature,
    TopicRecord: LogRules.makes_topic,
    RemoveTopicRecord: LogRules.removes_topic,
    PartitionRecord: LogRules.makes_partition,
    PartitionChangeRecord: LogRules.changes_partition,
    ConfigRecord: LogRules.configures,
    ProducerIdsRecord: LogRules.gives_producer_ids,
}
