"""Offsets in a log: ListOffsets, DeleteRecords, OffsetForLeaderEpoch."""

from records.schema import message, since, struct, until
from records.wire import array, int8, int16, int32, int64, string


@message(api_key=2, kind="request", versions=(0, 11), served=(1, 11), flexible=6)
class ListOffsetsRequest:
    """Asks which offsets belong to points in time (KIP-79, KIP-734, KIP-1005, KIP-1023, KIP-1075).

    replica_id: the broker that asks; -1 from a consumer.
    isolation_level: 0 counts up to the high watermark, 1 up to the last stable offset.
    timestamp: ms since 1970, for the first record that is not older; or -1 the end, -2 the start, -3 the greatest
        timestamp, -4 the start of what is local, -5 the end of what is tiered, -6 the first that is not yet tiered.
    max_num_offsets: how many offsets version 0 may give.
    timeout_ms: how long the answer may wait for tiered storage.
    """

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
    """Gives an offset and its timestamp for each partition asked for (KIP-79, KIP-320).

    old_style_offsets: in version 0, the starts of segments, newest first.
    timestamp: of the record at the offset; -1 for none.
    offset: the offset found; -1 where nothing fits.
    """

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
    """Deletes the records below given offsets (KIP-107).

    offset: the first that stays; -1 for the high watermark.
    """

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
    """Says where each partition starts now.

    low_watermark: the least offset that all live replicas still have.
    """

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
    """Asks where leader epochs end, to find how far two logs agree (KIP-101, KIP-320).

    replica_id: the broker that asks; -1 a consumer, -2 a debugging consumer.
    leader_epoch: the epoch whose end is asked for.
    """

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
    """Says where the epoch, or the last one before it, ends.

    leader_epoch: the epoch of the end offset; -1 where there is none.
    end_offset: exclusive; -1 where there is none.
    """

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
