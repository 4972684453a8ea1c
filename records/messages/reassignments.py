"""Moving and electing: ElectLeaders, AlterPartitionReassignments, ListPartitionReassignments (KIP-455, KIP-460)."""

from records.schema import message, since, struct
from records.wire import array, boolean, int8, int16, int32, nullable, string


@message(api_key=43, kind="request", versions=(0, 2), flexible=2)
class ElectLeadersRequest:
    """Elects leaders: the preferred one, or an unclean one where no clean one is left (KIP-183, KIP-460).

    election_type: 0 preferred, 1 unclean.
    topic_partitions: null for all partitions.
    topic_partitions.partitions: their indexes.
    """

    @struct
    class TopicPartitions:
        topic: string
        partitions: array[int32]

    election_type: int8 = since(1, default=0)
    topic_partitions: nullable[array[TopicPartitions]]
    timeout_ms: int32 = 60000


@message(api_key=43, kind="response", versions=(0, 2), flexible=2)
class ElectLeadersResponse:
    """Says for each partition whether it has its new leader.

    replica_election_results: the outcome by topic; with all partitions asked for, of those alone that were elected.
    partition_result: the outcome for each partition.
    """

    @struct
    class ReplicaElectionResult:
        @struct
        class PartitionResult:
            partition_id: int32
            error_code: int16
            error_message: nullable[string]

        topic: string
        partition_result: array[PartitionResult]

    throttle_time_ms: int32
    error_code: int16 = since(1, default=0)
    replica_election_results: array[ReplicaElectionResult]


@message(api_key=45, kind="request", versions=(0, 1), flexible=0)
class AlterPartitionReassignmentsRequest:
    """Begins to move partitions to other replicas, or calls it off (KIP-455, KIP-860).

    allow_replication_factor_change: whether the number of replicas may change.
    replicas: the replicas at the end, the preferred leader first; null to call off what is going on.
    """

    @struct
    class ReassignableTopic:
        @struct
        class ReassignablePartition:
            partition_index: int32
            replicas: nullable[array[int32]] = None

        name: string
        partitions: array[ReassignablePartition]

    timeout_ms: int32 = 60000
    allow_replication_factor_change: boolean = since(1, default=True)
    topics: array[ReassignableTopic]


@message(api_key=45, kind="response", versions=(0, 1), flexible=0)
class AlterPartitionReassignmentsResponse:
    """Says for each partition whether its move has begun, or is called off.

    allow_replication_factor_change: as it was asked for.
    """

    @struct
    class ReassignableTopicResponse:
        @struct
        class ReassignablePartitionResponse:
            partition_index: int32
            error_code: int16
            error_message: nullable[string]

        name: string
        partitions: array[ReassignablePartitionResponse]

    throttle_time_ms: int32
    allow_replication_factor_change: boolean = since(1, default=True, ignorable=True)
    error_code: int16
    error_message: nullable[string]
    responses: array[ReassignableTopicResponse]


@message(api_key=46, kind="request", versions=(0, 0), flexible=0)
class ListPartitionReassignmentsRequest:
    """Asks which partitions are on the move (KIP-455).

    topics: null for all.
    """

    @struct
    class ListPartitionReassignmentsTopics:
        name: string
        partition_indexes: array[int32]

    timeout_ms: int32 = 60000
    topics: nullable[array[ListPartitionReassignmentsTopics]] = None


@message(api_key=46, kind="response", versions=(0, 0), flexible=0)
class ListPartitionReassignmentsResponse:
    """Lists the partitions on the move.

    topics: those alone that have partitions on the move.
    replicas: all that there are now, with those that come and go.
    """

    @struct
    class OngoingTopicReassignment:
        @struct
        class OngoingPartitionReassignment:
            partition_index: int32
            replicas: array[int32]
            adding_replicas: array[int32]
            removing_replicas: array[int32]

        name: string
        partitions: array[OngoingPartitionReassignment]

    throttle_time_ms: int32
    error_code: int16
    error_message: nullable[string]
    topics: array[OngoingTopicReassignment]
