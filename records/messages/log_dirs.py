"""Log directories of brokers (KIP-113)."""

from records.schema import message, since, struct
from records.wire import array, boolean, int16, int32, int64, nullable, string


@message(api_key=34, kind="request", versions=(0, 2), served=(1, 2), flexible=2)
class AlterReplicaLogDirsRequest:
    """Moves replicas of one broker between its log directories (KIP-113).

    dirs: the directories to move to.
    path: absolute, as in log.dirs.
    """

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
    """Says for each replica whether its move has begun."""

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
    """Asks a broker for its log directories and what is in them (KIP-113).

    topics: null for all.
    """

    @struct
    class DescribableLogDirTopic:
        topic: string
        partitions: array[int32]

    topics: nullable[array[DescribableLogDirTopic]]


@message(api_key=35, kind="response", versions=(0, 5), served=(1, 5), flexible=2)
class DescribeLogDirsResponse:
    """Describes a broker's log directories (KIP-113, KIP-827, KIP-1066).

    log_dir: the directory's absolute path.
    partition_size: in bytes, of all segments.
    offset_lag: how far it is behind the high watermark; a replica on its way, behind the one it will replace.
    is_future_key: whether it will replace the replica in another directory.
    total_bytes: the size of the volume; -1 where unknown.
    usable_bytes: what is free on it; -1 where unknown.
    is_cordoned: whether no new replica is placed here.
    """

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
