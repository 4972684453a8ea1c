"""Offsets that groups commit."""

from records.schema import field, message, since, struct, until
from records.wire import array, boolean, int16, int32, int64, nullable, string, uuid


@message(api_key=8, kind="request", versions=(0, 10), served=(2, 10), flexible=8)
class OffsetCommitRequest:
    """Commits how far a group has read (KIP-211, KIP-320, KIP-848).

    generation_id_or_member_epoch: the generation of a classic group, the member's epoch in a new one; -1 without a
        group.
    retention_time_ms: in versions 2 to 4, how long to keep the offsets; -1 for the broker's own time.
    commit_timestamp: in version 1, when the offset counts as committed; -1 for now.
    """

    @struct
    class OffsetCommitRequestTopic:
        @struct
        class OffsetCommitRequestPartition:
            partition_index: int32
            committed_offset: int64
            committed_leader_epoch: int32 = since(6, default=-1, ignorable=True)
            commit_timestamp: int64 = since(1, default=-1, until=1)
            committed_metadata: nullable[string]

        name: string = until(9, default="", ignorable=True)
        topic_id: uuid = since(10, default=bytes(16), ignorable=True)
        partitions: array[OffsetCommitRequestPartition]

    group_id: string
    generation_id_or_member_epoch: int32 = since(1, default=-1, ignorable=True)
    member_id: string = since(1, default="", ignorable=True)
    group_instance_id: nullable[string] = since(7, default=None)
    retention_time_ms: int64 = since(2, default=-1, until=4, ignorable=True)
    topics: array[OffsetCommitRequestTopic]


@message(api_key=8, kind="response", versions=(0, 10), served=(2, 10), flexible=8)
class OffsetCommitResponse:
    """Says for each partition whether its offset is committed."""

    @struct
    class OffsetCommitResponseTopic:
        @struct
        class OffsetCommitResponsePartition:
            partition_index: int32
            error_code: int16

        name: string = until(9, default="", ignorable=True)
        topic_id: uuid = since(10, default=bytes(16), ignorable=True)
        partitions: array[OffsetCommitResponsePartition]

    throttle_time_ms: int32 = since(3, default=0, ignorable=True)
    topics: array[OffsetCommitResponseTopic]


@message(api_key=9, kind="request", versions=(0, 10), served=(1, 10), flexible=6)
class OffsetFetchRequest:
    """Asks how far groups have read (KIP-447, KIP-709, KIP-848).

    groups: since version 8, several groups at once.
    topics: null for all topics of the group.
    member_epoch: the epoch of a member of a new group; -1 for others.
    require_stable: whether to refuse, for a while, where a transaction still holds offsets back.
    """

    @struct
    class OffsetFetchRequestTopic:
        name: string = until(7, default="")
        partition_indexes: array[int32] = until(7, default=())

    @struct
    class OffsetFetchRequestGroup:
        @struct
        class OffsetFetchRequestTopics:
            name: string = since(8, default="", until=9, ignorable=True)
            topic_id: uuid = since(10, default=bytes(16), ignorable=True)
            partition_indexes: array[int32] = since(8, default=())

        group_id: string = since(8, default="")
        member_id: nullable[string] = since(9, default=None, ignorable=True)
        member_epoch: int32 = since(9, default=-1, ignorable=True)
        topics: nullable[array[OffsetFetchRequestTopics]] = since(8, default=())

    group_id: string = until(7, default="")
    topics: nullable[array[OffsetFetchRequestTopic]] = until(7, default=(), null_since=2)
    groups: array[OffsetFetchRequestGroup] = since(8, default=())
    require_stable: boolean = since(7, default=False)


@message(api_key=9, kind="response", versions=(0, 10), served=(1, 10), flexible=6)
class OffsetFetchResponse:
    """Gives the committed offsets of groups.

    metadata: the text committed with the offset.
    committed_offset: -1 where nothing is committed.
    """

    @struct
    class OffsetFetchResponseTopic:
        @struct
        class OffsetFetchResponsePartition:
            partition_index: int32 = until(7, default=0)
            committed_offset: int64 = until(7, default=0)
            committed_leader_epoch: int32 = since(5, default=-1, until=7, ignorable=True)
            metadata: nullable[string] = until(7, default="")
            error_code: int16 = until(7, default=0)

        name: string = until(7, default="")
        partitions: array[OffsetFetchResponsePartition] = until(7, default=())

    @struct
    class OffsetFetchResponseGroup:
        @struct
        class OffsetFetchResponseTopics:
            @struct
            class OffsetFetchResponsePartitions:
                partition_index: int32 = since(8, default=0)
                committed_offset: int64 = since(8, default=0)
                committed_leader_epoch: int32 = since(8, default=-1, ignorable=True)
                metadata: nullable[string] = since(8, default="")
                error_code: int16 = since(8, default=0)

            name: string = since(8, default="", until=9, ignorable=True)
            topic_id: uuid = since(10, default=bytes(16), ignorable=True)
            partitions: array[OffsetFetchResponsePartitions] = since(8, default=())

        group_id: string = since(8, default="")
        topics: array[OffsetFetchResponseTopics] = since(8, default=())
        error_code: int16 = since(8, default=0)

    throttle_time_ms: int32 = since(3, default=0, ignorable=True)
    topics: array[OffsetFetchResponseTopic] = until(7, default=())
    error_code: int16 = since(2, default=0, until=7, ignorable=True)
    groups: array[OffsetFetchResponseGroup] = since(8, default=())


@message(api_key=47, kind="request", versions=(0, 0), flexible=None)
class OffsetDeleteRequest:
    """Deletes committed offsets of a group (KIP-496)."""

    @struct
    class OffsetDeleteRequestTopic:
        @struct
        class OffsetDeleteRequestPartition:
            partition_index: int32

        name: string
        partitions: array[OffsetDeleteRequestPartition]

    group_id: string
    topics: array[OffsetDeleteRequestTopic]


@message(api_key=47, kind="response", versions=(0, 0), flexible=None)
class OffsetDeleteResponse:
    """Says for each partition whether its committed offset is deleted."""

    @struct
    class OffsetDeleteResponseTopic:
        @struct
        class OffsetDeleteResponsePartition:
            partition_index: int32
            error_code: int16

        name: string
        partitions: array[OffsetDeleteResponsePartition]

    error_code: int16
    throttle_time_ms: int32 = field(ignorable=True)
    topics: array[OffsetDeleteResponseTopic]
