"""Consumer groups of the new protocol (KIP-848)."""

from records.schema import message, since, struct
from records.wire import array, boolean, int8, int16, int32, nullable, string, uuid


@message(api_key=68, kind="request", versions=(0, 1), flexible=0)
class ConsumerGroupHeartbeatRequest:
    """Asks: ConsumerGroupHeartbeat."""

    @struct
    class TopicPartitions:
        topic_id: uuid
        partitions: array[int32]

    group_id: string
    member_id: string
    member_epoch: int32
    instance_id: nullable[string] = None
    rack_id: nullable[string] = None
    rebalance_timeout_ms: int32 = -1
    subscribed_topic_names: nullable[array[string]] = None
    subscribed_topic_regex: nullable[string] = since(1, default=None)
    server_assignor: nullable[string] = None
    topic_partitions: nullable[array[TopicPartitions]] = None


@message(api_key=68, kind="response", versions=(0, 1), flexible=0)
class ConsumerGroupHeartbeatResponse:
    """Answers: ConsumerGroupHeartbeat."""

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


@message(api_key=69, kind="request", versions=(0, 1), flexible=0)
class ConsumerGroupDescribeRequest:
    """Asks: ConsumerGroupDescribe."""

    group_ids: array[string]
    include_authorized_operations: boolean


@message(api_key=69, kind="response", versions=(0, 1), flexible=0)
class ConsumerGroupDescribeResponse:
    """Answers: ConsumerGroupDescribe."""

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
            instance_id: nullable[string] = None
            rack_id: nullable[string] = None
            member_epoch: int32
            client_id: string
            client_host: string
            subscribed_topic_names: array[string]
            subscribed_topic_regex: nullable[string] = None
            assignment: Assignment
            target_assignment: Assignment
            member_type: int8 = since(1, default=-1, ignorable=True)

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
