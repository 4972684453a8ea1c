"""Share groups (KIP-932)."""

from records.schema import field, message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, int64, nullable, record_bytes, string, uuid


@message(api_key=76, kind="request", versions=(0, 1), served=(1, 1), flexible=0)
class ShareGroupHeartbeatRequest:
    """A consumer joins, stays in or leaves a share group; what has not changed is null (KIP-932).

    member_id: drawn by the member, for its whole life.
    member_epoch: 0 joins, -1 leaves; else the epoch it was given.
    rack_id: null where it has none, or unchanged.
    subscribed_topic_names: null where unchanged.
    """

    group_id: string
    member_id: string
    member_epoch: int32
    rack_id: nullable[string] = None
    subscribed_topic_names: nullable[array[string]] = None


@message(api_key=76, kind="response", versions=(0, 1), served=(1, 1), flexible=0)
class ShareGroupHeartbeatResponse:
    """Gives the member its epoch and the partitions that it shall fetch from.

    assignment: what it shall fetch from; null where unchanged.
    """

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
    """Asks about share groups (KIP-932)."""

    group_ids: array[string]
    include_authorized_operations: boolean


@message(api_key=77, kind="response", versions=(0, 1), served=(1, 1), flexible=0)
class ShareGroupDescribeResponse:
    """Describes share groups (KIP-932).

    assignment: what the member fetches from.
    """

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
    """A member of a share group acquires records, and acknowledges earlier ones (KIP-932, KIP-1206, KIP-1222).

    share_session_epoch: counts the requests of a session: 0 opens it, -1 ends it.
    max_wait_ms: how long the answer may wait until there are min_bytes.
    min_bytes: as soon as there are as many, the answer goes out.
    max_bytes: a bound for the whole answer; its first batch may exceed it.
    max_records: a bound in records, which whole batches may exceed.
    batch_size: how many records the member would like to have acquired, and acknowledge, together.
    share_acquire_mode: 0 whole batches, 1 no more than max_records.
    is_renew_ack: whether some acknowledgement renews a lock.
    partition_max_bytes: in version 0, a bound for the partition; 0 only to acknowledge.
    acknowledgement_batches: ranges of offsets, and what became of their records.
    acknowledge_types: one for the range, or one for each offset: 0 gap, 1 accept, 2 release, 3 reject, 4 renew.
    forgotten_topics_data: partitions that leave the session.
    forgotten_topics_data.partitions: their indexes.
    """

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
    """Gives records, and says which of them are acquired (KIP-932).

    acquisition_lock_timeout_ms: how long acquired records are the member's.
    acknowledge_error_code: what came of the acknowledgements; 0 when all is well.
    acknowledge_error_message: in words; null when all is well.
    current_leader: set where this broker is not the leader.
    acquired_records: ranges of offsets that the member now holds.
    """

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
    """A member of a share group acknowledges records (KIP-932, KIP-1222).

    share_session_epoch: counts the requests of a session; -1 ends it.
    is_renew_ack: whether some acknowledgement renews a lock.
    acknowledgement_batches: ranges of offsets, and what became of their records.
    acknowledge_types: one for the range, or one for each offset: 0 gap, 1 accept, 2 release, 3 reject, 4 renew.
    """

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
    """Says for each partition whether the acknowledgements are taken.

    acquisition_lock_timeout_ms: how long acquired records are the member's.
    current_leader: set where this broker is not the leader.
    """

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
    """Asks how far share groups have come (KIP-932).

    topics: null for all.
    partitions: their indexes.
    """

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
    """The start offsets of share groups (KIP-932, KIP-1226).

    start_offset: everything before it is done; -1 not known yet.
    lag: how many records are left to deliver; -1 unknown.
    """

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
    """Sets where share groups without members go on (KIP-932).

    start_offset: where delivery starts.
    """

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
    """Says for each partition whether its start is set."""

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
    """Deletes the offsets of topics in share groups without members (KIP-932)."""

    @struct
    class DeleteShareGroupOffsetsRequestTopic:
        topic_name: string

    group_id: string
    topics: array[DeleteShareGroupOffsetsRequestTopic]


@message(api_key=92, kind="response", versions=(0, 0), flexible=0)
class DeleteShareGroupOffsetsResponse:
    """Says for each topic whether its state is gone."""

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
