"""Consumer groups of the new protocol (KIP-848)."""

from records.schema import message, since, struct
from records.wire import array, boolean, int8, int16, int32, nullable, string, uuid


@message(api_key=68, kind="request", versions=(0, 1), flexible=0)
class ConsumerGroupHeartbeatRequest:
    """A consumer joins, stays in or leaves a group of the new protocol; what has not changed is null (KIP-848,
    KIP-1082).

    member_id: drawn by the member, for its whole life.
    member_epoch: 0 joins, -1 leaves, -2 leaves for a while as a static member; else the epoch it was given.
    instance_id: the name of a static member; null for others, or unchanged.
    rack_id: null where it has none, or unchanged.
    rebalance_timeout_ms: how long it may take to give partitions back; -1 unchanged.
    subscribed_topic_names: null where unchanged.
    subscribed_topic_regex: a regular expression (RE2); null where unchanged.
    server_assignor: the assignor that it wishes for; null for the default, or unchanged.
    topic_partitions: what it holds; null where unchanged.
    """

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
    """Gives the member its epoch and its assignment.

    member_id: as the member chose it; up to version 0 the coordinator chooses it.
    assignment: the partitions that it is to own; null where unchanged.
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


@message(api_key=69, kind="request", versions=(0, 1), flexible=0)
class ConsumerGroupDescribeRequest:
    """Asks about groups of the new protocol (KIP-848)."""

    group_ids: array[string]
    include_authorized_operations: boolean


@message(api_key=69, kind="response", versions=(0, 1), flexible=0)
class ConsumerGroupDescribeResponse:
    """Describes groups of the new protocol (KIP-848, KIP-1099).

    subscribed_topic_regex: null where there is none.
    member_type: 0 of the classic protocol, 1 of the new one; -1 unknown.
    assignment: what the member holds.
    target_assignment: what it will hold.
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
