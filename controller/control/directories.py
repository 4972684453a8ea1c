"""AssignReplicasToDirs: a broker tells in which of its directories its replicas are (KIP-858)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controller.control.heartbeats import checked_broker
from controller.control.partitions import leader_and_isr_changes
from controller.leadership import Leadership
from controller.partition_change import Wish
from controller.record_versions import DIRECTORY_ASSIGNMENT
from controller.results import Result
from records.errors import ApiError, Error
from records.messages.partitions import AssignReplicasToDirsResponse

if TYPE_CHECKING:
    from controller.env import Env
    from controller.inputs import RequestContext
    from controller.results import Item
    from controller.state import State
    from controller.tables.brokers import Broker
    from controller.tables.topics import Topic
    from records.messages.partitions import AssignReplicasToDirsRequest

DirectoryResult = AssignReplicasToDirsResponse.DirectoryData
TopicResult = DirectoryResult.TopicData
PartitionResult = TopicResult.PartitionData


def assign_replicas(state: State, _context: RequestContext, request: AssignReplicasToDirsRequest, env: Env) -> Result:
    """AssignReplicasToDirs: replicas in a directory that is not online leave their ISRs in the same batch."""
    if state.metadata_version < DIRECTORY_ASSIGNMENT:
        raise ApiError(Error.UNSUPPORTED_VERSION, "Directory assignment is not supported yet.")
    broker = checked_broker(state, request.broker_id, request.broker_epoch)
    leadership = Leadership(state, env)
    records: list[Item] = []
    offline_rows: set[int] = set()
    directories = []
    for directory in request.directories:
        topics = []
        for asked in directory.topics:
            topic = state.topics.get(asked.topic_id)
            results = []
            for partition in asked.partitions:
                index = partition.partition_index
                error = check(leadership, broker, topic, index)
                if error == Error.NONE and topic is not None:
                    change = leadership.change(topic, index, Wish(directories={broker.broker_id: directory.id}))
                    records += [] if change is None else [change]
                    if not broker.has_online(directory.id):
                        offline_rows.add(topic.row(index))
                results.append(PartitionResult(partition_index=index, error_code=error))
            topics.append(TopicResult(topic_id=asked.topic_id, partitions=tuple(results)))
        directories.append(DirectoryResult(id=directory.id, topics=tuple(topics)))
    records += leader_and_isr_changes(state, env, np.array(sorted(offline_rows), np.intp), removed=broker.broker_id)
    response = AssignReplicasToDirsResponse(throttle_time_ms=0, error_code=Error.NONE, directories=tuple(directories))
    return Result(response, records, atomic=False)


def check(leadership: Leadership, broker: Broker, topic: Topic | None, index: int) -> Error:
    """Why a broker cannot have put its replica of this partition anywhere."""
    if topic is None:
        return Error.UNKNOWN_TOPIC_ID
    partition = leadership.find(topic, index)
    if partition is None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.NONE if broker.broker_id in partition.replicas else Error.NOT_LEADER_OR_FOLLOWER
