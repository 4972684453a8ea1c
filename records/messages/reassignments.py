"""Elections and reassignments: ElectLeaders, AlterPartitionReassignments,
ListPartitionReassignments (KIP-455, KIP-460).
"""

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
    """Says for each partition whether a leader was elected.

    replica_election_results: the outcome by topic; if all partitions were requested, only those with an election.
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
    """Starts or cancels reassignments of partitions (KIP-455, KIP-860).

    allow_replication_factor_change: whether the number of replicas may change.
    replicas: the target replicas, the preferred leader first; null to cancel the reassignment in progress.
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
    """Says for each partition whether its reassignment was started or cancelled.

    allow_replication_factor_change: as in the request.
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
    """Asks which partitions are being reassigned (KIP-455).

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
    """Lists the partitions that are being reassigned.

    topics: only those with such partitions.
    replicas: all present replicas, adding and removing ones included.
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
