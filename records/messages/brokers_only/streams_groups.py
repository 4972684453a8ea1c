"""Streams groups (KIP-1071)."""

from records.schema import message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, int64, nullable, string, uint16


@struct
class KeyValue:
    """A config of a topic, or a tag of a client."""

    key: string
    value: string


@message(api_key=88, kind="request", versions=(0, 1), flexible=0)
class StreamsGroupHeartbeatRequest:
    """A Streams client joins, stays in or leaves a group; what has not changed is null (KIP-1071, KIP-1331).

    member_id: drawn by the member, for its whole life.
    member_epoch: 0 joins, -1 leaves, -2 leaves for a while as a static member; else the epoch it was given.
    endpoint_information_epoch: the last that it received.
    instance_id: the name of a static member; null for others, or unchanged.
    rack_id: null where it has none, or unchanged.
    rebalance_timeout_ms: how long it may take to give tasks back; -1 unchanged.
    topology: what the application is made of; null where unchanged.
    topology.epoch: counts the topologies of the application.
    active_tasks: what it holds; null where unchanged.
    standby_tasks: what it holds; null where unchanged.
    warmup_tasks: what it holds; null where unchanged.
    process_id: the same for all threads of a process; null where unchanged.
    user_endpoint: where its stores can be asked; null for nowhere, or unchanged.
    client_tags: for assignment by rack; null where unchanged.
    task_offsets: how far its tasks have come in their changelogs; null where unchanged.
    task_end_offsets: where those changelogs end; null where unchanged.
    shutdown_application: whether the whole application shall stop.
    source_topic_regex: patterns of topics that it reads.
    state_changelog_topics: topics that keep its stores.
    repartition_sink_topics: internal topics that it writes.
    repartition_source_topics: internal topics that it reads.
    copartition_groups: topics that must have the same number of partitions; members are indexes into the lists beside.
    copartition_groups.source_topics: indexes.
    copartition_groups.source_topic_regex: indexes.
    copartition_groups.repartition_source_topics: indexes.
    partitions: of a topic, how many it must have, 0 for any; of a task, its partition numbers.
    topic_configs: configs that the topic must have.
    replication_factor: 0 for the default.
    """

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
    """Gives the member its epoch and its tasks (KIP-1071, KIP-1331).

    acceptable_recovery_lag_legacy: in version 0, how far a task may lag behind and count as caught up.
    acceptable_recovery_lag: how far a task may lag behind and count as caught up; -1 unknown.
    task_offset_interval_ms: how often to send task_offsets.
    status: what is wrong with the group; null for nothing.
    status_code: 0 stale topology, 1 missing source topics, 2 wrongly partitioned, 3 missing internal topics, 4
        shutdown, 5 assignment delayed, 6 missing client tags.
    status_detail: in words.
    active_tasks: what it shall hold; null where unchanged.
    standby_tasks: what it shall hold; null where unchanged.
    warmup_tasks: what it shall hold; null where unchanged.
    topology_description_required: whether the coordinator lacks the description of the topology.
    endpoint_information_epoch: counts up with partitions_by_user_endpoint.
    partitions_by_user_endpoint: which process can be asked for which partition; null where unchanged.
    user_endpoint: where to ask.
    active_partitions: those it works on.
    standby_partitions: those it keeps a copy for.
    """

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
    """Asks about Streams groups (KIP-1071, KIP-1331).

    include_topology_description: whether to include the topology in full.
    """

    group_ids: array[string]
    include_authorized_operations: boolean
    include_topology_description: boolean = since(1, default=False)


@struct
class TopologyDescriptionNode:
    """A node of a topology: a source, a processor or a sink."""

    name: string = since(1, default="")
    node_type: int8 = since(1, default=0)
    source_topics: array[string] = since(1, default=())
    sink_topic: nullable[string] = since(1, default=None)
    stores: array[string] = since(1, default=())
    successors: array[string] = since(1, default=())


@message(api_key=89, kind="response", versions=(0, 1), flexible=0)
class StreamsGroupDescribeResponse:
    """Describes Streams groups (KIP-1071, KIP-1331, KIP-1357).

    topology: what the group works with; null with an error.
    topology.epoch: counts the topologies of the application.
    state_changelog_topics: topics that keep its stores.
    repartition_sink_topics: internal topics that it writes.
    repartition_source_topics: internal topics that it reads.
    partitions: of a topic, how many it has; of a task, its partition numbers.
    topic_configs: configs that the topic must have.
    topology_epoch: of the topology that the member runs.
    process_id: the same for all threads of a process.
    user_endpoint: where its stores can be asked; null for nowhere.
    client_tags: for assignment by rack.
    task_offsets: how far its tasks have come in their changelogs.
    task_end_offsets: where those changelogs end.
    assignment: what the member holds.
    target_assignment: what it will hold.
    is_classic: whether it still uses the classic protocol.
    topology_description: the topology in full; null unless the status is 3.
    topology_description_status: 0 not asked for, 1 not there, 2 failed, 3 there.
    node_type: source, processor or sink.
    sink_topic: the topic that a sink writes; null for others, or chosen record by record.
    stores: names of its state stores.
    successors: names of the nodes behind it.
    global_stores: stores that every process keeps in full.
    processor: the node that fills the store.
    global_stores.source: the node that reads its topic.
    """

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
