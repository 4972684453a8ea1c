"""The contents of a cluster: Metadata, DescribeCluster, DescribeTopicPartitions."""

from records.schema import field, message, since, struct
from records.wire import array, boolean, int8, int16, int32, nullable, string, uuid


@message(api_key=3, kind="request", versions=(0, 13), flexible=9)
class MetadataRequest:
    """Asks a broker where the partitions of topics are; null or, in version 0, an empty list asks for all (KIP-4,
    KIP-516).

    topics: those wanted; null for all, since version 1, and empty for none.
    topics.topic_id: since version 10; zero where the name is given.
    topics.name: null where the id is given.
    allow_auto_topic_creation: whether a topic that is not there may be made.
    include_topic_authorized_operations: whether to say what the caller may do with each topic.
    """

    @struct
    class MetadataRequestTopic:
        topic_id: uuid = since(10, default=bytes(16), ignorable=True)
        name: nullable[string] = field(null_since=10)

    topics: nullable[array[MetadataRequestTopic]] = field(null_since=1)
    allow_auto_topic_creation: boolean = since(4, default=True)
    include_cluster_authorized_operations: boolean = since(8, default=False, until=10)
    include_topic_authorized_operations: boolean = since(8, default=False)


@message(api_key=3, kind="response", versions=(0, 13), flexible=9)
class MetadataResponse:
    """Brokers, topics and leaders as one broker knows them (KIP-4, KIP-430, KIP-516).

    brokers: those that are not fenced.
    controller_id: a random live broker, since clients cannot reach the controllers; -1 for none.
    topics.name: null for a topic id that is not known.
    leader_id: -1 where there is no leader.
    """

    @struct
    class MetadataResponseBroker:
        node_id: int32
        host: string
        port: int32
        rack: nullable[string] = since(1, default=None, ignorable=True)

    @struct
    class MetadataResponseTopic:
        @struct
        class MetadataResponsePartition:
            error_code: int16
            partition_index: int32
            leader_id: int32
            leader_epoch: int32 = since(7, default=-1, ignorable=True)
            replica_nodes: array[int32]
            isr_nodes: array[int32]
            offline_replicas: array[int32] = since(5, default=(), ignorable=True)

        error_code: int16
        name: nullable[string] = field(null_since=12)
        topic_id: uuid = since(10, default=bytes(16), ignorable=True)
        is_internal: boolean = since(1, default=False, ignorable=True)
        partitions: array[MetadataResponsePartition]
        topic_authorized_operations: int32 = since(8, default=-2147483648)

    throttle_time_ms: int32 = since(3, default=0, ignorable=True)
    brokers: array[MetadataResponseBroker]
    cluster_id: nullable[string] = since(2, default=None, ignorable=True)
    controller_id: int32 = since(1, default=-1, ignorable=True)
    topics: array[MetadataResponseTopic]
    cluster_authorized_operations: int32 = since(8, default=-2147483648, until=10)
    error_code: int16 = since(13, default=0, ignorable=True)


@message(api_key=60, kind="request", versions=(0, 2), flexible=0)
class DescribeClusterRequest:
    """Asks which brokers, or which controllers, make up the cluster (KIP-700, KIP-919, KIP-1073).

    endpoint_type: 1 brokers, 2 controllers.
    include_fenced_brokers: whether to include fenced brokers.
    """

    include_cluster_authorized_operations: boolean
    endpoint_type: int8 = since(1, default=1)
    include_fenced_brokers: boolean = since(2, default=False)


@message(api_key=60, kind="response", versions=(0, 2), flexible=0)
class DescribeClusterResponse:
    """The cluster id, the active controller and the nodes (KIP-700, KIP-919, KIP-1073).

    endpoint_type: 1 brokers, 2 controllers.
    controller_id: the active controller where controllers were asked for, else a random broker; -1 for none.
    brokers: brokers, or controllers.
    broker_id: the node.
    """

    @struct
    class DescribeClusterBroker:
        broker_id: int32
        host: string
        port: int32
        rack: nullable[string] = None
        is_fenced: boolean = since(2, default=False)

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = None
    endpoint_type: int8 = since(1, default=1)
    cluster_id: string
    controller_id: int32 = -1
    brokers: array[DescribeClusterBroker]
    cluster_authorized_operations: int32 = -2147483648


@message(api_key=75, kind="request", versions=(0, 0), flexible=0)
class DescribeTopicPartitionsRequest:
    """Asks a broker for partitions of topics, page by page (KIP-966).

    topics: empty for all.
    response_partition_limit: how many partitions one answer may have.
    cursor: where to go on; null for the start.
    cursor.topic_name: the topic to go on with.
    cursor.partition_index: the partition to go on with.
    """

    @struct
    class TopicRequest:
        name: string

    @struct
    class Cursor:
        topic_name: string
        partition_index: int32

    topics: array[TopicRequest]
    response_partition_limit: int32 = 2000
    cursor: nullable[Cursor] = None


@message(api_key=75, kind="response", versions=(0, 0), flexible=0)
class DescribeTopicPartitionsResponse:
    """Describes partitions with their eligible leaders (KIP-966).

    next_cursor: where to go on; null at the end.
    next_cursor.topic_name: the topic to go on with.
    next_cursor.partition_index: the partition to go on with.
    leader_id: -1 where there is no leader.
    """

    @struct
    class DescribeTopicPartitionsResponseTopic:
        @struct
        class DescribeTopicPartitionsResponsePartition:
            error_code: int16
            partition_index: int32
            leader_id: int32
            leader_epoch: int32 = field(default=-1, ignorable=True)
            replica_nodes: array[int32]
            isr_nodes: array[int32]
            eligible_leader_replicas: nullable[array[int32]] = None
            last_known_elr: nullable[array[int32]] = None
            offline_replicas: array[int32] = field(ignorable=True)

        error_code: int16
        name: nullable[string]
        topic_id: uuid = field(ignorable=True)
        is_internal: boolean = field(default=False, ignorable=True)
        partitions: array[DescribeTopicPartitionsResponsePartition]
        topic_authorized_operations: int32 = -2147483648

    @struct
    class Cursor:
        topic_name: string
        partition_index: int32

    throttle_time_ms: int32 = field(ignorable=True)
    topics: array[DescribeTopicPartitionsResponseTopic]
    next_cursor: nullable[Cursor] = None
