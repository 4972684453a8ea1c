"""Transactions and idempotent producers (KIP-98, KIP-664, KIP-890)."""

from records.schema import field, message, since, struct, until
from records.wire import array, boolean, int8, int16, int32, int64, nullable, string, uuid


@message(api_key=22, kind="request", versions=(0, 6), flexible=2)
class InitProducerIdRequest:
    """Asks for a producer id and epoch, and fences older producers of the transactional id (KIP-98, KIP-360, KIP-939).

    transactional_id: null for an idempotent producer without transactions.
    producer_id: the id that the producer had; -1 for a new one.
    producer_epoch: the epoch that it had; -1 for a new one.
    enable2_pc: whether an outside coordinator commits in two phases.
    keep_prepared_txn: whether a prepared transaction stays open.
    """

    transactional_id: nullable[string]
    transaction_timeout_ms: int32
    producer_id: int64 = since(3, default=-1)
    producer_epoch: int16 = since(3, default=-1)
    enable2_pc: boolean = since(6, default=False)
    keep_prepared_txn: boolean = since(6, default=False)


@message(api_key=22, kind="response", versions=(0, 6), flexible=2)
class InitProducerIdResponse:
    """Gives a producer its id and epoch.

    ongoing_txn_producer_id: the id of a prepared transaction that is kept; -1 for none.
    ongoing_txn_producer_epoch: its epoch; -1 for none.
    """

    throttle_time_ms: int32 = field(ignorable=True)
    error_code: int16
    producer_id: int64 = -1
    producer_epoch: int16
    ongoing_txn_producer_id: int64 = since(6, default=-1)
    ongoing_txn_producer_epoch: int16 = since(6, default=-1)


@struct
class AddPartitionsToTxnTopic:
    """Partitions of one topic."""

    name: string
    partitions: array[int32]


@message(api_key=24, kind="request", versions=(0, 5), flexible=3)
class AddPartitionsToTxnRequest:
    """Makes partitions part of transactions, or asks whether they are (KIP-98, KIP-890).

    transactions: several at once, from brokers, since version 4.
    verify_only: whether only to ask.
    v3_and_below_transactional_id: up to version 3, the transaction's id.
    v3_and_below_producer_id: up to version 3, its producer's id.
    v3_and_below_producer_epoch: up to version 3, its producer's epoch.
    v3_and_below_topics: up to version 3, the partitions.
    topics.partitions: their indexes.
    """

    @struct
    class AddPartitionsToTxnTransaction:
        transactional_id: string = since(4, default="")
        producer_id: int64 = since(4, default=0)
        producer_epoch: int16 = since(4, default=0)
        verify_only: boolean = since(4, default=False)
        topics: array[AddPartitionsToTxnTopic] = since(4, default=())

    transactions: array[AddPartitionsToTxnTransaction] = since(4, default=())
    v3_and_below_transactional_id: string = until(3, default="")
    v3_and_below_producer_id: int64 = until(3, default=0)
    v3_and_below_producer_epoch: int16 = until(3, default=0)
    v3_and_below_topics: array[AddPartitionsToTxnTopic] = until(3, default=())


@struct
class AddPartitionsToTxnTopicResult:
    """The outcomes for partitions of one topic."""

    @struct
    class AddPartitionsToTxnPartitionResult:
        partition_index: int32
        partition_error_code: int16

    name: string
    results_by_partition: array[AddPartitionsToTxnPartitionResult]


@message(api_key=24, kind="response", versions=(0, 5), flexible=3)
class AddPartitionsToTxnResponse:
    """Says for each partition whether it is part of the transaction.

    results_by_transaction: since version 4.
    results_by_topic_v3_and_below: up to version 3.
    topic_results: by topic.
    results_by_partition: by partition.
    partition_error_code: the error of this partition; 0 for none.
    """

    @struct
    class AddPartitionsToTxnResult:
        transactional_id: string = since(4, default="")
        topic_results: array[AddPartitionsToTxnTopicResult] = since(4, default=())

    throttle_time_ms: int32
    error_code: int16 = since(4, default=0, ignorable=True)
    results_by_transaction: array[AddPartitionsToTxnResult] = since(4, default=())
    results_by_topic_v3_and_below: array[AddPartitionsToTxnTopicResult] = until(3, default=())


@message(api_key=25, kind="request", versions=(0, 4), flexible=3)
class AddOffsetsToTxnRequest:
    """Makes the offsets of a group part of a transaction (KIP-98)."""

    transactional_id: string
    producer_id: int64
    producer_epoch: int16
    group_id: string


@message(api_key=25, kind="response", versions=(0, 4), flexible=3)
class AddOffsetsToTxnResponse:
    """Says whether the group's offsets are part of the transaction."""

    throttle_time_ms: int32
    error_code: int16


@message(api_key=26, kind="request", versions=(0, 5), flexible=3)
class EndTxnRequest:
    """Commits or aborts a transaction (KIP-98, KIP-890).

    committed: true to commit, false to abort.
    """

    transactional_id: string
    producer_id: int64
    producer_epoch: int16
    committed: boolean


@message(api_key=26, kind="response", versions=(0, 5), flexible=3)
class EndTxnResponse:
    """Says whether the transaction is decided, and the producer's epoch for the next one.

    producer_id: to go on with; -1 where it stays.
    producer_epoch: to go on with; -1 where it stays.
    """

    throttle_time_ms: int32
    error_code: int16
    producer_id: int64 = since(5, default=-1, ignorable=True)
    producer_epoch: int16 = since(5, default=-1, ignorable=True)


@message(api_key=27, kind="request", versions=(0, 2), served=(1, 2), flexible=1)
class WriteTxnMarkersRequest:
    """A transaction coordinator has the outcome written to partitions (KIP-98, KIP-1228).

    markers: one for each transaction.
    transaction_result: true commits, false aborts.
    coordinator_epoch: of the coordinator's partition of __transaction_state.
    transaction_version: the level of the feature that the marker is written for.
    """

    @struct
    class WritableTxnMarker:
        @struct
        class WritableTxnMarkerTopic:
            name: string
            partition_indexes: array[int32]

        producer_id: int64
        producer_epoch: int16
        transaction_result: boolean
        topics: array[WritableTxnMarkerTopic]
        coordinator_epoch: int32
        transaction_version: int8 = since(2, default=0, ignorable=True)

    markers: array[WritableTxnMarker]


@message(api_key=27, kind="response", versions=(0, 2), served=(1, 2), flexible=1)
class WriteTxnMarkersResponse:
    """Says for each partition whether the marker is written.

    markers: one for each transaction.
    """

    @struct
    class WritableTxnMarkerResult:
        @struct
        class WritableTxnMarkerTopicResult:
            @struct
            class WritableTxnMarkerPartitionResult:
                partition_index: int32
                error_code: int16

            name: string
            partitions: array[WritableTxnMarkerPartitionResult]

        producer_id: int64
        topics: array[WritableTxnMarkerTopicResult]

    markers: array[WritableTxnMarkerResult]


@message(api_key=28, kind="request", versions=(0, 6), flexible=3)
class TxnOffsetCommitRequest:
    """Commits offsets of a group as part of a transaction (KIP-98, KIP-447, KIP-1319).

    generation_id_or_member_epoch: the generation of a classic group, the member's epoch in a new one; -1 without a
        group.
    """

    @struct
    class TxnOffsetCommitRequestTopic:
        @struct
        class TxnOffsetCommitRequestPartition:
            partition_index: int32
            committed_offset: int64
            committed_leader_epoch: int32 = since(2, default=-1, ignorable=True)
            committed_metadata: nullable[string]

        name: string = until(5, default="", ignorable=True)
        topic_id: uuid = since(6, default=bytes(16), ignorable=True)
        partitions: array[TxnOffsetCommitRequestPartition]

    transactional_id: string
    group_id: string
    producer_id: int64
    producer_epoch: int16
    generation_id_or_member_epoch: int32 = since(3, default=-1, formerly=("generationId", 5))
    member_id: string = since(3, default="")
    group_instance_id: nullable[string] = since(3, default=None)
    topics: array[TxnOffsetCommitRequestTopic]


@message(api_key=28, kind="response", versions=(0, 6), flexible=3)
class TxnOffsetCommitResponse:
    """Says for each partition whether its offset is part of the transaction."""

    @struct
    class TxnOffsetCommitResponseTopic:
        @struct
        class TxnOffsetCommitResponsePartition:
            partition_index: int32
            error_code: int16

        name: string = until(5, default="", ignorable=True)
        topic_id: uuid = since(6, default=bytes(16), ignorable=True)
        partitions: array[TxnOffsetCommitResponsePartition]

    throttle_time_ms: int32
    topics: array[TxnOffsetCommitResponseTopic]


@message(api_key=61, kind="request", versions=(0, 0), flexible=0)
class DescribeProducersRequest:
    """Asks the leader of partitions for the producers that it knows (KIP-664)."""

    @struct
    class TopicRequest:
        name: string
        partition_indexes: array[int32]

    topics: array[TopicRequest]


@message(api_key=61, kind="response", versions=(0, 0), flexible=0)
class DescribeProducersResponse:
    """Describes the producers of partitions, to find transactions that hang (KIP-664).

    active_producers: those that wrote not too long ago.
    last_sequence: the number of its last batch; -1 for none.
    last_timestamp: of its last batch; -1 for none.
    coordinator_epoch: by which its last marker was written; -1 for none.
    current_txn_start_offset: where its open transaction starts; -1 for none.
    """

    @struct
    class TopicResponse:
        @struct
        class PartitionResponse:
            @struct
            class ProducerState:
                producer_id: int64
                producer_epoch: int32
                last_sequence: int32 = -1
                last_timestamp: int64 = -1
                coordinator_epoch: int32
                current_txn_start_offset: int64 = -1

            partition_index: int32
            error_code: int16
            error_message: nullable[string] = None
            active_producers: array[ProducerState]

        name: string
        partitions: array[PartitionResponse]

    throttle_time_ms: int32
    topics: array[TopicResponse]


@message(api_key=65, kind="request", versions=(0, 0), flexible=0)
class DescribeTransactionsRequest:
    """Asks coordinators about transactions (KIP-664).

    transactional_ids: which.
    """

    transactional_ids: array[string]


@message(api_key=65, kind="response", versions=(0, 0), flexible=0)
class DescribeTransactionsResponse:
    """Describes transactions (KIP-664).

    transaction_states: one for each transactional id.
    transaction_start_time_ms: when it began; -1 where none is open.
    topics.partitions: those that are part of it.
    """

    @struct
    class TransactionState:
        @struct
        class TopicData:
            topic: string
            partitions: array[int32]

        error_code: int16
        transactional_id: string
        transaction_state: string
        transaction_timeout_ms: int32
        transaction_start_time_ms: int64
        producer_id: int64
        producer_epoch: int16
        topics: array[TopicData]

    throttle_time_ms: int32
    transaction_states: array[TransactionState]


@message(api_key=66, kind="request", versions=(0, 2), flexible=0)
class ListTransactionsRequest:
    """Asks a coordinator for its transactions (KIP-664, KIP-994, KIP-1152).

    state_filters: states to name; empty for all.
    producer_id_filters: producers to name; empty for all.
    duration_filter: in ms, to name those alone that run longer; negative for all.
    transactional_id_pattern: a regular expression (RE2); null or empty for all.
    """

    state_filters: array[string]
    producer_id_filters: array[int64]
    duration_filter: int64 = since(1, default=-1)
    transactional_id_pattern: nullable[string] = since(2, default=None)


@message(api_key=66, kind="response", versions=(0, 2), flexible=0)
class ListTransactionsResponse:
    """Lists transactions (KIP-664).

    unknown_state_filters: states asked for that there are not.
    transaction_states: those that match.
    """

    @struct
    class TransactionState:
        transactional_id: string
        producer_id: int64
        transaction_state: string

    throttle_time_ms: int32
    error_code: int16
    unknown_state_filters: array[string]
    transaction_states: array[TransactionState]
