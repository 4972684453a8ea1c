"""DescribeQuorum (KIP-595, KIP-836)."""

from records.schema import message, since, struct
from records.wire import array, int16, int32, int64, nullable, string, uint16, uuid


@message(api_key=55, kind="request", versions=(0, 2), flexible=0)
class DescribeQuorumRequest:
    """Asks the leader of the quorum about its voters and observers (KIP-595, KIP-836, KIP-853).

    topics: __cluster_metadata, partition 0.
    """

    @struct
    class TopicData:
        @struct
        class PartitionData:
            partition_index: int32

        topic_name: string
        partitions: array[PartitionData]

    topics: array[TopicData]


@message(api_key=55, kind="response", versions=(0, 2), flexible=0)
class DescribeQuorumResponse:
    """The log end offset and fetch times of each voter and observer (KIP-595, KIP-836, KIP-853).

    current_voters: the voters, the leader included.
    observers: the replicas without a vote.
    log_end_offset: exclusive; -1 where unknown.
    last_fetch_timestamp: when it fetched last, by the leader's clock; -1 where unknown, and for the leader.
    last_caught_up_timestamp: when it last had all of the leader's records; for the leader, now; -1 where unknown.
    nodes: where the voters listen.
    """

    @struct
    class TopicData:
        @struct
        class PartitionData:
            @struct
            class ReplicaState:
                replica_id: int32
                replica_directory_id: uuid = since(2, default=bytes(16))
                log_end_offset: int64
                last_fetch_timestamp: int64 = since(1, default=-1, ignorable=True)
                last_caught_up_timestamp: int64 = since(1, default=-1, ignorable=True)

            partition_index: int32
            error_code: int16
            error_message: nullable[string] = since(2, default="", ignorable=True)
            leader_id: int32
            leader_epoch: int32
            high_watermark: int64
            current_voters: array[ReplicaState]
            observers: array[ReplicaState]

        topic_name: string
        partitions: array[PartitionData]

    @struct
    class Node:
        @struct
        class Listener:
            name: string = since(2, default="")
            host: string = since(2, default="")
            port: uint16 = since(2, default=0)

        node_id: int32 = since(2, default=0)
        listeners: array[Listener] = since(2, default=())

    error_code: int16
    error_message: nullable[string] = since(2, default="", ignorable=True)
    topics: array[TopicData]
    nodes: array[Node] = since(2, default=())
