"""The state of an active controller, by its own log: all records committed when it became active, and all that it
wrote.

C21 Rules: its records and responses are those that the rules of each request give; here are the rules of single
records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from records.messages.configs import AlterConfigsRequest, IncrementalAlterConfigsRequest
from records.messages.partitions import AlterPartitionRequest, AssignReplicasToDirsRequest
from records.messages.reassignments import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from records.messages.topics import CreatePartitionsRequest, CreateTopicsRequest, DeleteTopicsRequest
from records.metadata.brokers import BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord
from records.metadata.configs import ConfigRecord
from records.metadata.topics import PartitionChangeRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from records.metadata.transactions import BeginTransactionRecord, EndTransactionRecord
from simulations.cluster.metadata.image import NOBODY, batches_of, decode_batch, records_in
from simulations.cluster.metadata.member_rules import METADATA_VERSION
from simulations.cluster.rules import written
from simulations.cluster.rules.case import TRANSACTIONS_SINCE, Case
from simulations.cluster.rules.departures import Departures
from simulations.cluster.rules.elections import Change, leaderless_partitions, leads_nobody
from simulations.cluster.rules.looks import Changes
from simulations.world.violation import Violation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simulations.cluster.metadata.image import Image

NO_LIMIT = 1 << 15
# Requests for which Kafka's managers return `ControllerResult.atomicOf`, with the records that are of them alone:
# changes of partitions may be of periodic work in the same step.
WHOLE: dict[type, tuple[type, ...]] = {
    CreateTopicsRequest: (TopicRecord, PartitionRecord, ConfigRecord),
    DeleteTopicsRequest: (RemoveTopicRecord,),
    CreatePartitionsRequest: (PartitionRecord,),
    IncrementalAlterConfigsRequest: (ConfigRecord,),
    AlterConfigsRequest: (ConfigRecord,),
}
# Requests that may name a partition twice.
NAMES_PARTITIONS = (
    AlterPartitionRequest, AssignReplicasToDirsRequest, AlterPartitionReassignmentsRequest, ElectLeadersRequest,
)  # fmt: skip
BATCH_BYTES = "internal.metadata.max.batch.size.in.bytes"


class Mirror:
    """image: the state of the active controller of an epoch. begin: where the log ended when it became active;
    last_offset: of what it has written, at least. about: the id of its cluster, its voters, kraft.version. at_once: the
    ISRs that a broker leaves in one step.
    """

    def __init__(
        self,
        node_id: int,
        epoch: int,
        committed: Image,
        properties: Mapping[str, str],
        about: tuple[str, tuple[int, ...], int],
        at_once: int = 5_000,
    ) -> None:
        self.node_id = node_id
        self.epoch = epoch
        self.image = committed.copy()
        self.begin = committed.end_offset
        self.last_offset = self.begin - 1
        self.departures = Departures(at_once)
        self.changes = Changes()
        self._heard_ms: dict[tuple[int, int], int] = {}  # by broker and its epoch: when it sent its last heartbeat
        self._properties = properties
        self._about = about

    def case(self, request: Any, version: int, appended: Sequence[bytes]) -> Case:
        """A request that was handled in this step, with its records, which are not in the image yet.

        So its rules must read the image before `wrote`.
        """
        records = [record for data in appended for _, record in records_in(data)]
        case = Case(self.node_id, self.image, request, version, records, self._properties, *self._about)
        case.departures, case.begin = self.departures, self.begin
        return case

    def check_times(self, appended: Sequence[bytes], moment_ms: int) -> None:
        """The records have the present time, and the present versions. Raises Violation."""
        level = self.image.features.get(METADATA_VERSION, 0)
        for data in appended:
            for _, _, batch in batches_of(data):
                written.log_rules(self.node_id, level, batch, moment_ms)

    def takes_as_a_whole(self, request: Any, appended: Sequence[bytes]) -> None:
        """What the request changes takes effect at one batch boundary: a leader that dies at any other has changed
        nothing (KIP-868). Raises Violation.
        """
        kinds = WHOLE.get(type(request), ())
        parts = [each for each in self._operations(appended) if any(isinstance(record, kinds) for record in each)]
        if len(parts) > 1:
            sizes = ", ".join(str(len(each)) for each in parts)
            text = f"node {self.node_id} brings a {type(request).__name__} into effect in parts of {sizes} records"
            raise Violation("C21", text)

    def begin_sessions(self, now_ms: int) -> None:
        """The controller became active: a broker that is not fenced has a new session."""
        brokers = self.image.brokers
        self._heard_ms = {(each, broker.epoch): now_ms for each, broker in brokers.items() if not broker.fenced}

    def brokers_since(self, since_ms: int) -> set[int]:
        """The brokers of which the present incarnation has sent a heartbeat since then."""
        recent = {key for key, heard_ms in self._heard_ms.items() if heard_ms >= since_ms}
        return {broker_id for broker_id, broker in self.image.brokers.items() if (broker_id, broker.epoch) in recent}

    def on_heartbeat(self, request: Any, appended: Sequence[bytes], now_ms: int, *, is_done: bool) -> None:
        """A heartbeat is handled, before `wrote`. is_done: whether it was decided."""
        self._heard_ms[request.broker_id, request.broker_epoch] = now_ms
        self.departures.on_heartbeat(self.image, request, self._last_offset_with(appended), is_done=is_done)

    def wrote(
        self, appended: Sequence[bytes], by_broker: int = NOBODY, ended_well: int = NOBODY, request: Any = None
    ) -> None:
        """Add the records to the image. by_broker: whose directories the request was about. ended_well: the broker that
        registers after a clean shutdown. request: None where it was periodic work.

        Raises Violation if the rules do not give a change of a partition.
        """
        records = [each for data in appended for each in records_in(data)]
        for offset, record in records:
            self.changes.on_written(self.image, record, offset)
            if request is None and type(record) is PartitionChangeRecord:
                self.departures.left_isrs(self.image, record, offset)
        for operation in self._operations(appended):
            after = self.image.with_own_brokers()
            for record in operation:
                if type(record) in _OF_BROKERS:
                    after.apply(record)
            lost = {record.broker_id for record in operation if type(record) is RegisterBrokerRecord} - {ended_well}
            changed = {record.broker_id for record in operation if type(record) in _OF_BROKERS}
            changes = [record for record in operation if type(record) is PartitionChangeRecord]
            self._are_once(changes, request)
            leaving = self._leaves(changes) if request is None and not changed else NOBODY
            if leaving in after.brokers and not after.brokers[leaving].leaving:
                after.brokers[leaving].fenced = True
                self._lead_on(changes, leaving)
            most = {bytes(record.topic_id): self._replicas_of_first(record.topic_id) for record in changes}
            least = int(self._properties.get("min.insync.replicas", 1))
            for record in operation:
                if type(record) is PartitionChangeRecord:
                    limits = least, most[bytes(record.topic_id)]
                    change = Change(self.image, after, record, lost, by_broker, *limits, self._properties, request)
                    change.log_rules(self.node_id)
                self.image.apply(record)
            # An election follows this alone. A broker may be able to lead before, where a replica was moved back to it.
            unfenced = {each.broker_id for each in operation if type(each) in _OF_BROKERS and _unfences(each)}
            for broker_id in unfenced:
                if left := leads_nobody(self.image, broker_id) or leaderless_partitions(
                    self.image, broker_id, self._properties
                ):
                    text = f"node {self.node_id} unfences broker {broker_id}, which could lead {left}: no replica leads"
                    raise Violation("C21", text)
            self.departures.on_written(operation)
        self.departures.leave_at_once(self.node_id, self.image)
        self.last_offset = self._last_offset_with(appended)
        for offset, record in records:
            if type(record) is RegisterBrokerRecord and record.broker_id in self.image.brokers:
                self.image.brokers[record.broker_id].offset = offset

    def _last_offset_with(self, appended: Sequence[bytes]) -> int:
        """The last offset that this controller has written, with what it appends now."""
        return batches_of(appended[-1])[-1][1] - 1 if appended else self.last_offset

    def _are_once(self, changes: Sequence[PartitionChangeRecord], request: Any) -> None:
        """An operation changes a partition once, unless the request names it more often."""
        if type(request) in NAMES_PARTITIONS:
            return
        keys = [(bytes(record.topic_id), record.partition_id) for record in changes]
        twice = {key for key in keys if keys.count(key) > 1} if len(set(keys)) < len(keys) else set()
        if twice:
            names = [f"{self.image.topics[topic_id]}-{index}" for topic_id, index in sorted(twice)]
            raise Violation(
                "C21", f"node {self.node_id} writes two changes of {names} for one {type(request).__name__}"
            )

    def _leaves(self, changes: Sequence[PartitionChangeRecord]) -> int:
        """The broker that leaves all of these ISRs: its session expired, and it is fenced in a later step."""
        isrs = [(self.image.partitions[bytes(each.topic_id), each.partition_id].isr, each.isr) for each in changes]
        gone = [set(isr) - set(isr if changed is None else changed) for isr, changed in isrs]
        common = set.intersection(*gone) if gone else set()
        return common.pop() if len(common) == 1 and all(len(each) == 1 for each in gone) else NOBODY

    def _lead_on(self, changes: Sequence[PartitionChangeRecord], leaving: int) -> None:
        """A broker that may yet turn out to be alive leaves no partition without a leader. Raises Violation."""
        led = [each for each in changes if each.leader != NOBODY]
        if len(led) < len(changes):
            text = f"node {self.node_id} takes leaders from partitions before it fences broker {leaving}"
            raise Violation("C21", f"{text}, of which {len(changes) - len(led)} have no other")

    def _replicas_of_first(self, topic_id: bytes) -> int:
        """The number of replicas of partition 0 bounds the effective min ISR."""
        first = self.image.partitions.get((bytes(topic_id), 0))
        return len(first.replicas) if first is not None else NO_LIMIT

    def _operations(self, appended: Sequence[bytes]) -> list[list[Any]]:
        """The records that take effect together: those of a batch, or of a metadata transaction."""
        operations: list[list[Any]] = []
        is_open = False
        for data in appended:
            for _, _, batch in batches_of(data):
                if not is_open:
                    operations.append([])
                for _, record in decode_batch(batch):
                    if type(record) is BeginTransactionRecord:
                        is_open = True
                    elif type(record) is EndTransactionRecord:
                        is_open = False
                    operations[-1].append(record)
        return operations

    @property
    def is_exact(self) -> bool:
        """Whether an operation is written as a whole; otherwise, without transactions, it may be split anywhere."""
        return BATCH_BYTES not in self._properties or self.image.features.get(METADATA_VERSION, 0) >= TRANSACTIONS_SINCE


def _unfences(record: Any) -> bool:
    """Whether the record unfences a broker."""
    return type(record) is BrokerRegistrationChangeRecord and record.fenced < 0


_OF_BROKERS = (RegisterBrokerRecord, BrokerRegistrationChangeRecord, UnregisterBrokerRecord)
