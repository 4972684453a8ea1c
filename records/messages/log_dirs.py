"""Log directories of brokers (KIP-113)."""

from records.schema import message, since, struct
from records.wire import array, boolean, int16, int32, int64, nullable, string


@message(api_key=34, kind="request", versions=(0, 2), served=(1, 2), flexible=2)
class AlterReplicaLogDirsRequest:
    """Asks: AlterReplicaLogDirs."""

    @struct
    class AlterReplicaLogDir:
        @struct
        class AlterReplicaLogDirTopic:
            name: string
            partitions: array[int32]

        path: string
        topics: array[AlterReplicaLogDirTopic]

    dirs: array[AlterReplicaLogDir]


@message(api_key=34, kind="response", versions=(0, 2), served=(1, 2), flexible=2)
class AlterReplicaLogDirsResponse:
    """Answers: AlterReplicaLogDirs."""

    @struct
    class AlterReplicaLogDirTopicResult:
        @struct
        class AlterReplicaLogDirPartitionResult:
            partition_index: int32
            error_code: int16

        topic_name: string
        partitions: array[AlterReplicaLogDirPartitionResult]

    throttle_time_ms: int32
    results: array[AlterReplicaLogDirTopicResult]


@message(api_key=35, kind="request", versions=(0, 5), served=(1, 5), flexible=2)
class DescribeLogDirsRequest:
    """Asks: DescribeLogDirs."""

    @struct
    class DescribableLogDirTopic:
        topic: string
        partitions: array[int32]

    topics: nullable[array[DescribableLogDirTopic]]


@message(api_key=35, kind="response", versions=(0, 5), served=(1, 5), flexible=2)
class DescribeLogDirsResponse:
    """Answers: DescribeLogDirs."""

    @struct
    class DescribeLogDirsResult:
        @struct
        class DescribeLogDirsTopic:
            @struct
            class DescribeLogDirsPartition:
                partition_index: int32
                partition_size: int64
                offset_lag: int64
                is_future_key: boolean

            name: string
            partitions: array[DescribeLogDirsPartition]

        error_code: int16
        log_dir: string
        topics: array[DescribeLogDirsTopic]
        total_bytes: int64 = since(4, default=-1, ignorable=True)
        usable_bytes: int64 = since(4, default=-1, ignorable=True)
        is_cordoned: boolean = since(5, default=False, ignorable=True)

    throttle_time_ms: int32
    error_code: int16 = since(3, default=0, ignorable=True)
    results: array[DescribeLogDirsResult]
