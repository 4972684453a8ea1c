"""Share groups (KIP-932)."""

from records.schema import field, message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, int64, nullable, record_bytes, string, uuid


@message(api_key=76, kind="request", versions=(0, 1), served=(1, 1), flexible=0)
class ShareGroupHeartbeatRequest:
    """Asks: ShareGroupHeartbeat."""

    group_id: string
    member_id: string
    member_epoch: int32
    rack_id: nullable[string] = None
    subscribed_topic_names: nullable[array[string]] = None


@message(api_key=76, kind="response", versions=(0, 1), served=(1, 1), flexible=0)
class ShareGroupHeartbeatResponse:
    """Answers: ShareGroupHeartbeat."""

    @struct
    class Assignment:
        @struct
        class TopicPartitions:
            topic_id: uuid
            partitions: array[int32]

        topic_partitions: array[TopicPartitions]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = None
    member_id: nullable[string] = None
    member_epoch: int32
    heartbeat_interval_ms: int32
    assignment: nullable[Assignment] = None


@message(api_key=77, kind="request", versions=(0, 1), served=(1, 1), flexible=0)
class ShareGroupDescribeRequest:
    """Asks: ShareGroupDescribe."""

    group_ids: array[string]
    include_authorized_operations: boolean


@message(api_key=77, kind="response", versions=(0, 1), served=(1, 1), flexible=0)
class ShareGroupDescribeResponse:
    """Answers: ShareGroupDescribe."""

    @struct
    class DescribedGroup:
        @struct
        class Member:
            @struct
            class Assignment:
                @struct
                class TopicPartitions:
                    topic_id: uuid
                    topic_name: string
                    partitions: array[int32]

                topic_partitions: array[TopicPartitions]

            member_id: string
            rack_id: nullable[string] = None
            member_epoch: int32
            client_id: string
            client_host: string
            subscribed_topic_names: array[string]
            assignment: Assignment

        error_code: int16
        error_message: nullable[string] = None
        group_id: string
        group_state: string
        group_epoch: int32
        assignment_epoch: int32
        assignor_name: string
        members: array[Member]
        authorized_operations: int32 = -2147483648

    throttle_time_ms: int32
    groups: array[DescribedGroup]


@message(api_key=78, kind="request", versions=(0, 2), served=(1, 2), flexible=0)
class ShareFetchRequest:
    """Asks: ShareFetch."""

    @struct
    class FetchTopic:
        @struct
        class FetchPartition:
            @struct
            class AcknowledgementBatch:
                first_offset: int64
                last_offset: int64
                acknowledge_types: array[int8]

            partition_index: int32
            partition_max_bytes: int32 = until(0, default=0)
            acknowledgement_batches: array[AcknowledgementBatch]

        topic_id: uuid = field(ignorable=True)
        partitions: array[FetchPartition]

    @struct
    class ForgottenTopic:
        topic_id: uuid = field(ignorable=True)
        partitions: array[int32]

    group_id: nullable[string] = None
    member_id: nullable[string]
    share_session_epoch: int32
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = field(default=2147483647, ignorable=True)
    max_records: int32 = since(1, default=0)
    batch_size: int32 = since(1, default=0)
    share_acquire_mode: int8 = since(2, default=0, ignorable=True)
    is_renew_ack: boolean = since(2, default=False)
    topics: array[FetchTopic]
    forgotten_topics_data: array[ForgottenTopic]


@message(api_key=78, kind="response", versions=(0, 2), served=(1, 2), flexible=0)
class ShareFetchResponse:
    """Answers: ShareFetch."""

    @struct
    class ShareFetchableTopicResponse:
        @struct
        class PartitionData:
            @struct
            class LeaderIdAndEpoch:
                leader_id: int32
                leader_epoch: int32

            @struct
            class AcquiredRecords:
                first_offset: int64
                last_offset: int64
                delivery_count: int16

            partition_index: int32
            error_code: int16
            error_message: nullable[string] = None
            acknowledge_error_code: int16
            acknowledge_error_message: nullable[string] = None
            current_leader: LeaderIdAndEpoch
            records: nullable[record_bytes] = field(null_until=0)
            acquired_records: array[AcquiredRecords]

        topic_id: uuid = field(ignorable=True)
        partitions: array[PartitionData]

    @struct
    class NodeEndpoint:
        node_id: int32
        host: string
        port: int32
        rack: nullable[string] = None

    throttle_time_ms: int32 = field(ignorable=True)
    error_code: int16 = field(ignorable=True)
    error_message: nullable[string] = None
    acquisition_lock_timeout_ms: int32 = since(1, default=0)
    responses: array[ShareFetchableTopicResponse]
    node_endpoints: array[NodeEndpoint]


@message(api_key=79, kind="request", versions=(0, 2), served=(1, 2), flexible=0)
class ShareAcknowledgeRequest:
    """Asks: ShareAcknowledge."""

    @struct
    class AcknowledgeTopic:
        @struct
        class AcknowledgePartition:
            @struct
            class AcknowledgementBatch:
                first_offset: int64
                last_offset: int64
                acknowledge_types: array[int8]

            partition_index: int32
            acknowledgement_batches: array[AcknowledgementBatch]

        topic_id: uuid
        partitions: array[AcknowledgePartition]

    group_id: nullable[string] = None
    member_id: nullable[string]
    share_session_epoch: int32
    is_renew_ack: boolean = since(2, default=False)
    topics: array[AcknowledgeTopic]


@message(api_key=79, kind="response", versions=(0, 2), served=(1, 2), flexible=0)
class ShareAcknowledgeResponse:
    """Answers: ShareAcknowledge."""

    @struct
    class ShareAcknowledgeTopicResponse:
        @struct
        class PartitionData:
            @struct
            class LeaderIdAndEpoch:
                leader_id: int32
                leader_epoch: int32

            partition_index: int32
            error_code: int16
            error_message: nullable[string] = None
            current_leader: LeaderIdAndEpoch

        topic_id: uuid = field(ignorable=True)
        partitions: array[PartitionData]

    @struct
    class NodeEndpoint:
        node_id: int32
        host: string
        port: int32
        rack: nullable[string] = None

    throttle_time_ms: int32 = field(ignorable=True)
    error_code: int16 = field(ignorable=True)
    error_message: nullable[string] = None
    acquisition_lock_timeout_ms: int32 = since(2, default=0, ignorable=True)
    responses: array[ShareAcknowledgeTopicResponse]
    node_endpoints: array[NodeEndpoint]


@message(api_key=90, kind="request", versions=(0, 1), flexible=0)
class DescribeShareGroupOffsetsRequest:
    """Asks: DescribeShareGroupOffsets."""

    @struct
    class DescribeShareGroupOffsetsRequestGroup:
        @struct
        class DescribeShareGroupOffsetsRequestTopic:
            topic_name: string
            partitions: array[int32]

        group_id: string
        topics: nullable[array[DescribeShareGroupOffsetsRequestTopic]]

    groups: array[DescribeShareGroupOffsetsRequestGroup]


@message(api_key=90, kind="response", versions=(0, 1), flexible=0)
class DescribeShareGroupOffsetsResponse:
    """Answers: DescribeShareGroupOffsets."""

    @struct
    class DescribeShareGroupOffsetsResponseGroup:
        @struct
        class DescribeShareGroupOffsetsResponseTopic:
            @struct
            class DescribeShareGroupOffsetsResponsePartition:
                partition_index: int32
                start_offset: int64
                leader_epoch: int32
                lag: int64 = since(1, default=-1, ignorable=True)
                error_code: int16
                error_message: nullable[string] = None

            topic_name: string
            topic_id: uuid
            partitions: array[DescribeShareGroupOffsetsResponsePartition]

        group_id: string
        topics: array[DescribeShareGroupOffsetsResponseTopic]
        error_code: int16
        error_message: nullable[string] = None

    throttle_time_ms: int32
    groups: array[DescribeShareGroupOffsetsResponseGroup]


@message(api_key=91, kind="request", versions=(0, 0), flexible=0)
class AlterShareGroupOffsetsRequest:
    """Asks: AlterShareGroupOffsets."""

    @struct
    class AlterShareGroupOffsetsRequestTopic:
        @struct
        class AlterShareGroupOffsetsRequestPartition:
            partition_index: int32
            start_offset: int64

        topic_name: string
        partitions: array[AlterShareGroupOffsetsRequestPartition]

    group_id: string
    topics: array[AlterShareGroupOffsetsRequestTopic]


@message(api_key=91, kind="response", versions=(0, 0), flexible=0)
class AlterShareGroupOffsetsResponse:
    """Answers: AlterShareGroupOffsets."""

    @struct
    class AlterShareGroupOffsetsResponseTopic:
        @struct
        class AlterShareGroupOffsetsResponsePartition:
            partition_index: int32
            error_code: int16
            error_message: nullable[string] = None

        topic_name: string
        topic_id: uuid
        partitions: array[AlterShareGroupOffsetsResponsePartition]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = None
    responses: array[AlterShareGroupOffsetsResponseTopic]


@message(api_key=92, kind="request", versions=(0, 0), flexible=0)
class DeleteShareGroupOffsetsRequest:
    """Asks: DeleteShareGroupOffsets."""

    @struct
    class DeleteShareGroupOffsetsRequestTopic:
        topic_name: string

    group_id: string
    topics: array[DeleteShareGroupOffsetsRequestTopic]


@message(api_key=92, kind="response", versions=(0, 0), flexible=0)
class DeleteShareGroupOffsetsResponse:
    """Answers: DeleteShareGroupOffsets."""

    @struct
    class DeleteShareGroupOffsetsResponseTopic:
        topic_name: string
        topic_id: uuid
        error_code: int16
        error_message: nullable[string] = None

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string] = None
    responses: array[DeleteShareGroupOffsetsResponseTopic]
