"""Streams groups (KIP-1071)."""

from records.schema import message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, int64, nullable, string, uint16


@struct
class KeyValue:
    key: string
    value: string


@message(api_key=88, kind="request", versions=(0, 1), flexible=0)
class StreamsGroupHeartbeatRequest:
    """Asks: StreamsGroupHeartbeat."""

    @struct
    class Topology:
        @struct
        class Subtopology:
            @struct
            class TopicInfo:
                name: string
                partitions: int32
                replication_factor: int16
                topic_configs: array[KeyValue]

            @struct
            class CopartitionGroup:
                source_topics: array[int16]
                source_topic_regex: array[int16]
                repartition_source_topics: array[int16]

            subtopology_id: string
            source_topics: array[string]
            source_topic_regex: array[string]
            state_changelog_topics: array[TopicInfo]
            repartition_sink_topics: array[string]
            repartition_source_topics: array[TopicInfo]
            copartition_groups: array[CopartitionGroup]

        epoch: int32
        subtopologies: array[Subtopology]

    @struct
    class TaskIds:
        subtopology_id: string
        partitions: array[int32]

    @struct
    class Endpoint:
        host: string
        port: uint16

    @struct
    class TaskOffset:
        subtopology_id: string
        partition: int32
        offset: int64

    group_id: string
    member_id: string
    member_epoch: int32
    endpoint_information_epoch: int32
    instance_id: nullable[string] = None
    rack_id: nullable[string] = None
    rebalance_timeout_ms: int32 = -1
    topology: nullable[Topology] = None
    active_tasks: nullable[array[TaskIds]] = None
    standby_tasks: nullable[array[TaskIds]] = None
    warmup_tasks: nullable[array[TaskIds]] = None
    process_id: nullable[string] = None
    user_endpoint: nullable[Endpoint] = None
    client_tags: nullable[array[KeyValue]] = None
    task_offsets: nullable[array[TaskOffset]] = None
    task_end_offsets: nullable[array[TaskOffset]] = None
    shutdown_application: boolean = False


@message(api_key=88, kind="response", versions=(0, 1), flexible=0)
class StreamsGroupHeartbeatResponse:
    """Answers: StreamsGroupHeartbeat."""

    @struct
    class Status:
        status_code: int8
        status_detail: string

    @struct
    class TaskIds:
        subtopology_id: string
        partitions: array[int32]

    @struct
    class EndpointToPartitions:
        @struct
        class Endpoint:
            host: string
            port: uint16

        @struct
        class TopicPartition:
            topic: string
            partitions: array[int32]

        user_endpoint: Endpoint
        active_partitions: array[TopicPartition]
        standby_partitions: array[TopicPartition]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = None
    member_id: string
    member_epoch: int32
    heartbeat_interval_ms: int32
    acceptable_recovery_lag_legacy: int32 = until(0, default=0, formerly=("acceptableRecoveryLag", 0))
    task_offset_interval_ms: int32
    acceptable_recovery_lag: int64 = since(1, default=-1, ignorable=True)
    status: nullable[array[Status]]
    active_tasks: nullable[array[TaskIds]] = None
    standby_tasks: nullable[array[TaskIds]] = None
    warmup_tasks: nullable[array[TaskIds]] = None
    topology_description_required: boolean = since(1, default=False)
    endpoint_information_epoch: int32
    partitions_by_user_endpoint: nullable[array[EndpointToPartitions]] = None


@message(api_key=89, kind="request", versions=(0, 1), flexible=0)
class StreamsGroupDescribeRequest:
    """Asks: StreamsGroupDescribe."""

    group_ids: array[string]
    include_authorized_operations: boolean
    include_topology_description: boolean = since(1, default=False)


@struct
class TopologyDescriptionNode:
    name: string = since(1, default="")
    node_type: int8 = since(1, default=0)
    source_topics: array[string] = since(1, default=())
    sink_topic: nullable[string] = since(1, default=None)
    stores: array[string] = since(1, default=())
    successors: array[string] = since(1, default=())


@message(api_key=89, kind="response", versions=(0, 1), flexible=0)
class StreamsGroupDescribeResponse:
    """Answers: StreamsGroupDescribe."""

    @struct
    class DescribedGroup:
        @struct
        class Topology:
            @struct
            class Subtopology:
                @struct
                class TopicInfo:
                    name: string
                    partitions: int32
                    replication_factor: int16
                    topic_configs: array[KeyValue]

                subtopology_id: string
                source_topics: array[string]
                repartition_sink_topics: array[string]
                state_changelog_topics: array[TopicInfo]
                repartition_source_topics: array[TopicInfo]

            epoch: int32
            subtopologies: nullable[array[Subtopology]] = None

        @struct
        class Member:
            @struct
            class Endpoint:
                host: string
                port: uint16

            @struct
            class TaskOffset:
                subtopology_id: string
                partition: int32
                offset: int64

            @struct
            class Assignment:
                @struct
                class TaskIds:
                    subtopology_id: string
                    partitions: array[int32]

                active_tasks: array[TaskIds]
                standby_tasks: array[TaskIds]
                warmup_tasks: array[TaskIds]

            member_id: string
            member_epoch: int32
            instance_id: nullable[string] = None
            rack_id: nullable[string] = None
            client_id: string
            client_host: string
            topology_epoch: int32
            process_id: string
            user_endpoint: nullable[Endpoint] = None
            client_tags: array[KeyValue]
            task_offsets: array[TaskOffset]
            task_end_offsets: array[TaskOffset]
            assignment: Assignment
            target_assignment: Assignment
            is_classic: boolean

        @struct
        class TopologyDescription:
            @struct
            class TopologyDescriptionSubtopology:
                subtopology_id: string = since(1, default="")
                nodes: array[TopologyDescriptionNode] = since(1, default=())

            @struct
            class TopologyDescriptionGlobalStore:
                source: TopologyDescriptionNode = since(1, default=None)
                processor: TopologyDescriptionNode = since(1, default=None)

            subtopologies: array[TopologyDescriptionSubtopology] = since(1, default=())
            global_stores: array[TopologyDescriptionGlobalStore] = since(1, default=())

        error_code: int16
        error_message: nullable[string] = None
        group_id: string
        group_state: string
        group_epoch: int32
        assignment_epoch: int32
        topology: nullable[Topology] = None
        members: array[Member]
        authorized_operations: int32 = -2147483648
        topology_description: nullable[TopologyDescription] = since(1, default=None)
        topology_description_status: int8 = since(1, default=0)
        assignor_name: nullable[string] = since(1, default=None, ignorable=True)

    throttle_time_ms: int32
    groups: array[DescribedGroup]
