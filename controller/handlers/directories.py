"""AssignReplicasToDirs: a broker reports in which of its directories its replicas are (KIP-858)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.handlers.heartbeats import require_broker
from controller.interface.results import Result
from controller.rules.partition_change import PartitionTarget
from controller.rules.partition_elections import PartitionElections
from records.errors import ApiError, Error
from records.features.record_versions import DIRECTORY_ASSIGNMENT
from records.messages.partitions import AssignReplicasToDirsResponse

if TYPE_CHECKING:
    from controller.interface.env import Env
    from controller.interface.inputs import RequestContext
    from controller.state.partitions.topics import Topic
    from controller.state.state import State
    from controller.state.tables.brokers import Broker
    from records.messages.partitions import AssignReplicasToDirsRequest

DirectoryResult = AssignReplicasToDirsResponse.DirectoryData
TopicResult = DirectoryResult.TopicData
PartitionResult = TopicResult.PartitionData


def assign_replicas(state: State, _context: RequestContext, request: AssignReplicasToDirsRequest, env: Env) -> Result:
    """AssignReplicasToDirs: replicas in an offline directory leave their ISRs in the same batch."""
    if state.metadata_version < DIRECTORY_ASSIGNMENT:
        raise ApiError(Error.UNSUPPORTED_VERSION, "Directory assignment is not supported yet.")
    broker = require_broker(state, request.broker_id, request.broker_epoch)
    elections = PartitionElections(state, env)
    records: list[tuple[Any, int]] = []
    offline: dict[tuple[bytes, int], Topic] = {}
    directories = []
    for directory in request.directories:
        topics = []
        for asked in env.slices.spread(directory.topics):
            topic = state.topics.get(asked.topic_id)
            results = []
            for partition in env.slices.spread(asked.partitions):
                index = partition.partition_index
                error = check(elections, broker, topic, index)
                if error == Error.NONE and topic is not None:
                    change = elections.change(
                        topic, index, PartitionTarget(directories={broker.broker_id: directory.id})
                    )
                    records += [] if change is None else [change]
                    if not broker.has_online(directory.id):
                        offline[topic.topic_id, index] = topic
                results.append(PartitionResult(partition_index=index, error_code=error))
            topics.append(TopicResult(topic_id=asked.topic_id, partitions=tuple(results)))
        directories.append(DirectoryResult(id=directory.id, topics=tuple(topics)))
    records += left_isrs(elections, broker, offline)
    response = AssignReplicasToDirsResponse(throttle_time_ms=0, error_code=Error.NONE, directories=tuple(directories))
    return Result(response, records, atomic=False)


def left_isrs(
    elections: PartitionElections, broker: Broker, offline: dict[tuple[bytes, int], Topic]
) -> list[tuple[Any, int]]:
    """The records that take the broker's offline replicas of these partitions out of ISRs and leadership.

    They build on the changes of the same request, which may complete a reassignment. Kafka's do not, and can therefore
    elect a leader that is no longer a replica.
    """
    after = PartitionElections(elections.state, elections.env, without=(broker.broker_id,), before=elections)
    records: list[tuple[Any, int]] = []
    for (_, index), topic in after.env.slices.spread(offline.items()):
        partition = after.find(topic, index)
        assert partition is not None, (topic, index)
        isr = [replica for replica in partition.isr if replica != broker.broker_id]
        change = after.change(topic, index, PartitionTarget(election=after.election(topic), isr=isr))
        records += [] if change is None else [change]
    return records


def check(elections: PartitionElections, broker: Broker, topic: Topic | None, index: int) -> Error:
    """Why the broker cannot assign a replica of this partition; NONE if it can."""
    if topic is None:
        return Error.UNKNOWN_TOPIC_ID
    partition = elections.find(topic, index)
    if partition is None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.NONE if broker.broker_id in partition.replicas else Error.NOT_LEADER_OR_FOLLOWER
