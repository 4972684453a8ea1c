"""Offsets in a log: ListOffsets, DeleteRecords, OffsetForLeaderEpoch."""

from records.schema import message, since, struct, until
from records.wire import array, int8, int16, int32, int64, string


@message(api_key=2, kind="request", versions=(0, 11), served=(1, 11), flexible=6)
class ListOffsetsRequest:
    """Asks: ListOffsets."""

    @struct
    class ListOffsetsTopic:
        @struct
        class ListOffsetsPartition:
            partition_index: int32
            current_leader_epoch: int32 = since(4, default=-1, ignorable=True)
            timestamp: int64
            max_num_offsets: int32 = until(0, default=1)

        name: string
        partitions: array[ListOffsetsPartition]

    replica_id: int32
    isolation_level: int8 = since(2, default=0)
    topics: array[ListOffsetsTopic]
    timeout_ms: int32 = since(10, default=0, ignorable=True)


@message(api_key=2, kind="response", versions=(0, 11), served=(1, 11), flexible=6)
class ListOffsetsResponse:
    """Answers: ListOffsets."""

    @struct
    class ListOffsetsTopicResponse:
        @struct
        class ListOffsetsPartitionResponse:
            partition_index: int32
            error_code: int16
            old_style_offsets: array[int64] = until(0, default=())
            timestamp: int64 = since(1, default=-1)
            offset: int64 = since(1, default=-1)
            leader_epoch: int32 = since(4, default=-1)

        name: string
        partitions: array[ListOffsetsPartitionResponse]

    throttle_time_ms: int32 = since(2, default=0, ignorable=True)
    topics: array[ListOffsetsTopicResponse]


@message(api_key=21, kind="request", versions=(0, 2), flexible=2)
class DeleteRecordsRequest:
    """Asks: DeleteRecords."""

    @struct
    class DeleteRecordsTopic:
        @struct
        class DeleteRecordsPartition:
            partition_index: int32
            offset: int64

        name: string
        partitions: array[DeleteRecordsPartition]

    topics: array[DeleteRecordsTopic]
    timeout_ms: int32


@message(api_key=21, kind="response", versions=(0, 2), flexible=2)
class DeleteRecordsResponse:
    """Answers: DeleteRecords."""

    @struct
    class DeleteRecordsTopicResult:
        @struct
        class DeleteRecordsPartitionResult:
            partition_index: int32
            low_watermark: int64
            error_code: int16

        name: string
        partitions: array[DeleteRecordsPartitionResult]

    throttle_time_ms: int32
    topics: array[DeleteRecordsTopicResult]


@message(api_key=23, kind="request", versions=(0, 4), served=(2, 4), flexible=4)
class OffsetForLeaderEpochRequest:
    """Asks: OffsetForLeaderEpoch."""

    @struct
    class OffsetForLeaderTopic:
        @struct
        class OffsetForLeaderPartition:
            partition: int32
            current_leader_epoch: int32 = since(2, default=-1, ignorable=True)
            leader_epoch: int32

        topic: string
        partitions: array[OffsetForLeaderPartition]

    replica_id: int32 = since(3, default=-2, ignorable=True)
    topics: array[OffsetForLeaderTopic]


@message(api_key=23, kind="response", versions=(0, 4), served=(2, 4), flexible=4)
class OffsetForLeaderEpochResponse:
    """Answers: OffsetForLeaderEpoch."""

    @struct
    class OffsetForLeaderTopicResult:
        @struct
        class EpochEndOffset:
            error_code: int16
            partition: int32
            leader_epoch: int32 = since(1, default=-1, ignorable=True)
            end_offset: int64 = -1

        topic: string
        partitions: array[EpochEndOffset]

    throttle_time_ms: int32 = since(2, default=0, ignorable=True)
    topics: array[OffsetForLeaderTopicResult]
