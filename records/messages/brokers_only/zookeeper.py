"""Requests of ZooKeeper-era controllers to their brokers; no 4.x node serves these."""

from records.schema import message, since, struct, tagged_field, until
from records.wire import array, boolean, int8, int16, int32, int64, nullable, string, uuid


@struct
class LeaderAndIsrPartitionState:
    """The state of a partition, for a broker that hosts it."""

    topic_name: string = until(1, default="", ignorable=True)
    partition_index: int32
    controller_epoch: int32
    leader: int32
    leader_epoch: int32
    isr: array[int32]
    partition_epoch: int32
    replicas: array[int32]
    adding_replicas: array[int32] = since(3, default=(), ignorable=True)
    removing_replicas: array[int32] = since(3, default=(), ignorable=True)
    is_new: boolean = since(1, default=False, ignorable=True)
    leader_recovery_state: int8 = since(6, default=0)


@message(api_key=4, kind="request", versions=(0, 7), served=None, flexible=4)
class LeaderAndIsrRequest:
    """Tells a broker which partitions it leads or follows; sent by controllers of the ZooKeeper era.

    type: 0 unknown, 1 an increment, 2 everything.
    ungrouped_partition_states: up to version 1, each with its topic.
    topic_states: since version 2.
    live_leaders: addresses of the leaders named.
    host_name: where the leader listens.
    is_new: whether the replica is a new one.
    """

    @struct
    class LeaderAndIsrTopicState:
        topic_name: string = since(2, default="")
        topic_id: uuid = since(5, default=bytes(16), ignorable=True)
        partition_states: array[LeaderAndIsrPartitionState] = since(2, default=())

    @struct
    class LeaderAndIsrLiveLeader:
        broker_id: int32
        host_name: string
        port: int32

    controller_id: int32
    is_kraft_controller: boolean = since(7, default=False)
    controller_epoch: int32
    broker_epoch: int64 = since(2, default=-1, ignorable=True)
    type: int8 = since(5, default=0)
    ungrouped_partition_states: array[LeaderAndIsrPartitionState] = until(1, default=())
    topic_states: array[LeaderAndIsrTopicState] = since(2, default=())
    live_leaders: array[LeaderAndIsrLiveLeader]


@struct
class LeaderAndIsrPartitionError:
    """The outcome for one partition."""

    topic_name: string = until(4, default="", ignorable=True)
    partition_index: int32
    error_code: int16


@message(api_key=4, kind="response", versions=(0, 7), served=None, flexible=4)
class LeaderAndIsrResponse:
    """Says which partitions a broker could not take over.

    partition_errors: the outcome for each partition.
    topics: since version 5, by topic id.
    """

    @struct
    class LeaderAndIsrTopicError:
        topic_id: uuid = since(5, default=bytes(16))
        partition_errors: array[LeaderAndIsrPartitionError] = since(5, default=())

    error_code: int16
    partition_errors: array[LeaderAndIsrPartitionError] = until(4, default=())
    topics: array[LeaderAndIsrTopicError] = since(5, default=())


@message(api_key=5, kind="request", versions=(0, 4), served=None, flexible=2)
class StopReplicaRequest:
    """Tells a broker to stop serving replicas, and perhaps to delete them; sent by controllers of the ZooKeeper era.

    delete_partitions: up to version 2, whether to delete all that are named.
    delete_partition: whether to delete this replica.
    ungrouped_partitions: the partitions of version 0.
    topic_states: since version 3.
    """

    @struct
    class StopReplicaPartitionV0:
        topic_name: string = until(0, default="")
        partition_index: int32 = until(0, default=0)

    @struct
    class StopReplicaTopicV1:
        name: string = since(1, default="", until=2)
        partition_indexes: array[int32] = since(1, default=(), until=2)

    @struct
    class StopReplicaTopicState:
        @struct
        class StopReplicaPartitionState:
            partition_index: int32 = since(3, default=0)
            leader_epoch: int32 = since(3, default=-1)
            delete_partition: boolean = since(3, default=False)

        topic_name: string = since(3, default="")
        partition_states: array[StopReplicaPartitionState] = since(3, default=())

    controller_id: int32
    is_kraft_controller: boolean = since(4, default=False)
    controller_epoch: int32
    broker_epoch: int64 = since(1, default=-1, ignorable=True)
    delete_partitions: boolean = until(2, default=False)
    ungrouped_partitions: array[StopReplicaPartitionV0] = until(0, default=())
    topics: array[StopReplicaTopicV1] = since(1, default=(), until=2)
    topic_states: array[StopReplicaTopicState] = since(3, default=())


@message(api_key=5, kind="response", versions=(0, 4), served=None, flexible=2)
class StopReplicaResponse:
    """Says which replicas a broker could not stop.

    partition_errors: the outcome for each partition.
    """

    @struct
    class StopReplicaPartitionError:
        topic_name: string
        partition_index: int32
        error_code: int16

    error_code: int16
    partition_errors: array[StopReplicaPartitionError]


@struct
class UpdateMetadataPartitionState:
    """The state of a partition, for any broker."""

    topic_name: string = until(4, default="", ignorable=True)
    partition_index: int32
    controller_epoch: int32
    leader: int32
    leader_epoch: int32
    isr: array[int32]
    zk_version: int32
    replicas: array[int32]
    offline_replicas: array[int32] = since(4, default=(), ignorable=True)


@message(api_key=6, kind="request", versions=(0, 8), served=None, flexible=6)
class UpdateMetadataRequest:
    """Sends a broker the leaders, ISRs and nodes; sent by controllers of the ZooKeeper era.

    type: 0 unknown, 1 an increment, 2 everything.
    ungrouped_partition_states: up to version 4, each with its topic.
    topic_states: since version 5.
    live_brokers: the brokers and where they listen.
    zk_version: counts the changes of the partition's state in ZooKeeper.
    endpoints: one for each listener.
    listener: the listener's name.
    v0_host: where the broker listens, in version 0.
    v0_port: the port of version 0.
    """

    @struct
    class UpdateMetadataTopicState:
        topic_name: string = since(5, default="")
        topic_id: uuid = since(7, default=bytes(16), ignorable=True)
        partition_states: array[UpdateMetadataPartitionState] = since(5, default=())

    @struct
    class UpdateMetadataBroker:
        @struct
        class UpdateMetadataEndpoint:
            port: int32 = since(1, default=0)
            host: string = since(1, default="")
            listener: string = since(3, default="", ignorable=True)
            security_protocol: int16 = since(1, default=0)

        id: int32
        v0_host: string = until(0, default="", ignorable=True)
        v0_port: int32 = until(0, default=0, ignorable=True)
        endpoints: array[UpdateMetadataEndpoint] = since(1, default=(), ignorable=True)
        rack: nullable[string] = since(2, default="", ignorable=True)

    controller_id: int32
    is_kraft_controller: boolean = since(8, default=False)
    type: int8 = tagged_field(0, default=0, since=8)
    controller_epoch: int32
    broker_epoch: int64 = since(5, default=-1, ignorable=True)
    ungrouped_partition_states: array[UpdateMetadataPartitionState] = until(4, default=())
    topic_states: array[UpdateMetadataTopicState] = since(5, default=())
    live_brokers: array[UpdateMetadataBroker]


@message(api_key=6, kind="response", versions=(0, 8), served=None, flexible=6)
class UpdateMetadataResponse:
    """Says whether a broker took over the metadata."""

    error_code: int16


@message(api_key=7, kind="request", versions=(0, 3), served=None, flexible=3)
class ControlledShutdownRequest:
    """Asks the controller of the ZooKeeper era to move leaders away from a broker that wants to stop.

    broker_id: the broker that stops.
    """

    broker_id: int32
    broker_epoch: int64 = since(2, default=-1, ignorable=True)


@message(api_key=7, kind="response", versions=(0, 3), served=None, flexible=3)
class ControlledShutdownResponse:
    """Says which partitions the stopping broker still leads.

    remaining_partitions: the partitions still led by it.
    """

    @struct
    class RemainingPartition:
        topic_name: string
        partition_index: int32

    error_code: int16
    remaining_partitions: array[RemainingPartition]
