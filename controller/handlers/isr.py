"""AlterPartition: a partition leader changes the ISR (KIP-497, KIP-704, KIP-841, KIP-903, KIP-966)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.handlers.heartbeats import require_broker
from controller.interface.effects import Noted
from controller.interface.results import Result, at_once
from controller.rules.partition_change import PartitionTarget
from controller.rules.partition_elections import PartitionElections
from controller.state.partitions.partition import NO_LEADER_CHANGE, RECOVERED, RECOVERING, apply_change
from records.errors import Error
from records.messages.partitions import AlterPartitionResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.partitions.partition import Partition
    from controller.state.partitions.topics import Topic
    from controller.state.state import State
    from records.messages.partitions import AlterPartitionRequest

TopicResult = AlterPartitionResponse.TopicData
PartitionResult = TopicResult.PartitionData

# From this version on the request has the broker epoch of each member, as known to the leader.
EPOCHS_VERSION = 3
ANY_EPOCH = -1


def idle(
    _state: State, _context: RequestContext, request: AlterPartitionRequest, _env: Env
) -> AlterPartitionResponse | None:
    """The answer to a request that names no topic; None for others."""
    return None if request.topics else AlterPartitionResponse(throttle_time_ms=0, error_code=Error.NONE, topics=())


def alter_partition(state: State, context: RequestContext, request: AlterPartitionRequest, env: Env) -> Result:
    """AlterPartition: each partition is changed or refused on its own."""
    nothing = idle(state, context, request, env)
    if nothing is not None:
        return at_once(nothing)
    leader = require_broker(state, request.broker_id, request.broker_epoch)
    elections = PartitionElections(state, env)
    records: list[tuple[Any, int]] = []
    effects: list[Noted] = []
    topics = []
    rests_on = state.brokers.last_change()
    for asked_topic in request.topics:
        topic = state.topics.get(asked_topic.topic_id)
        rests_on = max(rests_on, state.topics.change_offset(asked_topic.topic_id))
        results = []
        for asked in asked_topic.partitions:
            if topic is None:
                results.append(refusal(asked.partition_index, Error.UNKNOWN_TOPIC_ID))
                continue
            rests_on = max(rests_on, state.partitions.change_offset(topic.row(asked.partition_index)))
            alteration = _Alteration(elections, topic, leader.broker_id, asked, context.version)
            results.append(alteration.result())
            records += alteration.records
            effects += alteration.effects
        topics.append(TopicResult(topic_id=asked_topic.topic_id, partitions=tuple(results)))
    response = AlterPartitionResponse(throttle_time_ms=0, error_code=Error.NONE, topics=tuple(topics))
    return Result(response, records, rests_on, atomic=False, effects=effects)


class _Alteration:
    """One partition of a request. result: its part of the response; records: those that change it."""

    __slots__ = ("asked", "broker_id", "effects", "elections", "isr", "records", "topic", "version")

    def __init__(self, elections: PartitionElections, topic: Topic, broker_id: int, asked: Any, version: int) -> None:
        self.elections = elections
        self.topic = topic
        self.broker_id = broker_id
        self.asked = asked
        self.records: list[tuple[Any, int]] = []
        self.effects: list[Noted] = []
        self.version = version
        # The requested members, each with its broker epoch.
        self.isr: list[tuple[int, int]] = []

    def result(self) -> PartitionResult:
        asked = self.asked
        index = asked.partition_index
        partition = self.elections.find(self.topic, index)
        if partition is None:
            return refusal(index, Error.UNKNOWN_TOPIC_OR_PARTITION)
        # What is longer than the replicas is refused; nothing is done for the rest of it.
        looked_at = len(partition.replicas) + 1
        if self.version >= EPOCHS_VERSION:
            self.isr = [(each.broker_id, each.broker_epoch) for each in asked.new_isr_with_epochs[:looked_at]]
        else:
            self.isr = [(each, ANY_EPOCH) for each in asked.new_isr[:looked_at]]
        error = check(partition, asked, self.broker_id, [member for member, _ in self.isr])
        if error == Error.NONE:
            error = self.check_members()
        if error != Error.NONE:
            fields = {"topic": self.topic.name, "partition": index, "broker_id": self.broker_id, "error": error.name}
            self.effects.append(Noted("alter_partition_refused", fields))
            return refusal(index, error)
        target = PartitionTarget(
            election=self.elections.election(self.topic),
            isr=[member for member, _ in self.isr],
            recovery_state=asked.leader_recovery_state,
        )
        change = self.elections.change(self.topic, index, target)
        if change is not None:
            self.records.append(change)
            partition = apply_change(partition, change[0])
            # Completing a reassignment may elect another leader than the requester, which must then fetch the new
            # state before it retries. So this error comes with a record.
            if change[0].leader not in (NO_LEADER_CHANGE, self.broker_id):
                return refusal(index, Error.NEW_LEADER_ELECTED)
        return PartitionResult(
            partition_index=index,
            error_code=Error.NONE,
            leader_id=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=partition.isr,
            leader_recovery_state=partition.recovery_state,
            partition_epoch=partition.partition_epoch,
        )

    def check_members(self) -> Error:
        """INELIGIBLE_REPLICA if a requested member is not active, or has another epoch than the leader knows."""
        brokers = self.elections.state.brokers
        for member, epoch in self.isr:
            broker = brokers.get(member)
            if broker is None or not broker.is_active or epoch not in (ANY_EPOCH, broker.epoch):
                return Error.INELIGIBLE_REPLICA
        return Error.NONE


def check(partition: Partition, asked: Any, broker_id: int, isr: Sequence[int]) -> Error:
    """The error of a request, by the partition alone: the first of Kafka's checks that fails."""
    # A leader with a higher epoch has it from a later controller: this node is no longer the active one.
    if asked.leader_epoch > partition.leader_epoch or asked.partition_epoch > partition.partition_epoch:
        return Error.NOT_CONTROLLER
    if asked.leader_epoch < partition.leader_epoch:
        return Error.FENCED_LEADER_EPOCH
    if broker_id != partition.leader:
        return Error.INVALID_REQUEST
    if asked.partition_epoch < partition.partition_epoch:
        return Error.INVALID_UPDATE_VERSION
    if len(set(isr)) != len(isr) or not set(isr) <= set(partition.replicas) or partition.leader not in isr:
        return Error.INVALID_REQUEST
    requested = asked.leader_recovery_state
    if requested not in (RECOVERED, RECOVERING) or (requested == RECOVERING and len(isr) > 1):
        return Error.INVALID_REQUEST
    if partition.recovery_state == RECOVERED and requested == RECOVERING:
        return Error.INVALID_REQUEST
    return Error.NONE


def refusal(index: int, error: int) -> PartitionResult:
    """The result for a partition that is not changed."""
    return PartitionResult(
        partition_index=index, error_code=error, leader_id=0, leader_epoch=0, isr=(), partition_epoch=0
    )
