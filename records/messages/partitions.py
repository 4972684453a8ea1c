"""Reports of brokers to the controller on partitions: AlterPartition, AssignReplicasToDirs (KIP-497, KIP-858)."""

from records.schema import message, since, struct, until
from records.wire import array, int8, int16, int32, int64, string, uuid


@message(api_key=56, kind="request", versions=(0, 3), served=(2, 3), flexible=0)
class AlterPartitionRequest:
    """A partition's leader asks the controller to change the ISR (KIP-497, KIP-704, KIP-841, KIP-903).

    broker_id: the leader.
    topic_name: in versions 0 and 1, in place of the id.
    new_isr: up to version 2.
    new_isr_with_epochs: since version 3: each with the broker epoch that the leader knows.
    broker_epoch: of the leader; of the member of the ISR, -1 where unknown.
    """

    @struct
    class TopicData:
        @struct
        class PartitionData:
            @struct
            class BrokerState:
                broker_id: int32 = since(3, default=0)
                broker_epoch: int64 = since(3, default=-1)

            partition_index: int32
            leader_epoch: int32
            new_isr: array[int32] = until(2, default=())
            new_isr_with_epochs: array[BrokerState] = since(3, default=())
            leader_recovery_state: int8 = since(1, default=0)
            partition_epoch: int32

        topic_name: string = until(1, default="", ignorable=True)
        topic_id: uuid = since(2, default=bytes(16), ignorable=True)
        partitions: array[PartitionData]

    broker_id: int32
    broker_epoch: int64 = -1
    topics: array[TopicData]


@message(api_key=56, kind="response", versions=(0, 3), served=(2, 3), flexible=0)
class AlterPartitionResponse:
    """Gives each partition's state as the controller has it now."""

    @struct
    class TopicData:
        @struct
        class PartitionData:
            partition_index: int32
            error_code: int16
            leader_id: int32
            leader_epoch: int32
            isr: array[int32]
            leader_recovery_state: int8 = since(1, default=0, ignorable=True)
            partition_epoch: int32

        topic_name: string = until(1, default="", ignorable=True)
        topic_id: uuid = since(2, default=bytes(16), ignorable=True)
        partitions: array[PartitionData]

    throttle_time_ms: int32
    error_code: int16
    topics: array[TopicData]


@message(api_key=73, kind="request", versions=(0, 0), flexible=0)
class AssignReplicasToDirsRequest:
    """A broker reports to the controller in which of its log directories replicas are (KIP-858).

    directories: replicas by directory.
    id: of the directory.
    """

    @struct
    class DirectoryData:
        @struct
        class TopicData:
            @struct
            class PartitionData:
                partition_index: int32

            topic_id: uuid
            partitions: array[PartitionData]

        id: uuid
        topics: array[TopicData]

    broker_id: int32
    broker_epoch: int64 = -1
    directories: array[DirectoryData]


@message(api_key=73, kind="response", versions=(0, 0), flexible=0)
class AssignReplicasToDirsResponse:
    """Says for each replica whether the controller accepted the assignment.

    directories: replicas by directory.
    id: of the directory.
    """

    @struct
    class DirectoryData:
        @struct
        class TopicData:
            @struct
            class PartitionData:
                partition_index: int32
                error_code: int16

            topic_id: uuid
            partitions: array[PartitionData]

        id: uuid
        topics: array[TopicData]

    throttle_time_ms: int32
    error_code: int16
    directories: array[DirectoryData]
