"""Produce (KIP-98, KIP-951)."""

from records.schema import message, since, struct, tagged_field, until
from records.wire import array, int16, int32, int64, nullable, record_bytes, string, uuid


@message(api_key=0, kind="request", versions=(0, 13), served=(3, 13), flexible=9)
class ProduceRequest:
    """Appends record batches to partitions, for a producer (KIP-98; topic ids since version 13, KIP-516).

    acks: what the answer waits for: 0 nothing, and then there is no answer; 1 the leader's log; -1 all of the ISR.
    timeout_ms: how long the leader waits for the ISR.
    index: the partition.
    records: one record batch; null is refused by a leader.
    """

    @struct
    class TopicProduceData:
        @struct
        class PartitionProduceData:
            index: int32
            records: nullable[record_bytes]

        name: string = until(12, default="", ignorable=True)
        topic_id: uuid = since(13, default=bytes(16), ignorable=True)
        partition_data: array[PartitionProduceData]

    transactional_id: nullable[string] = since(3, default=None)
    acks: int16
    timeout_ms: int32
    topic_data: array[TopicProduceData]


@message(api_key=0, kind="response", versions=(0, 13), served=(3, 13), flexible=9)
class ProduceResponse:
    """Says for each partition at which offset its records stand, or why they do not (KIP-98, KIP-467, KIP-951).

    index: the partition.
    base_offset: the offset of the first record appended.
    log_append_time_ms: the time the leader gave the records; -1 where the producer's own times are kept.
    log_start_offset: the first offset that the leader still has; -1 where unknown.
    record_errors: the records for whose sake the batch was refused.
    batch_index: the place of a refused record in its batch, from 0.
    batch_index_error_message: why this record is refused.
    error_message: what the refused records have in common; null where nothing is refused.
    """

    @struct
    class TopicProduceResponse:
        @struct
        class PartitionProduceResponse:
            @struct
            class BatchIndexAndErrorMessage:
                batch_index: int32 = since(8, default=0)
                batch_index_error_message: nullable[string] = since(8, default=None)

            @struct
            class LeaderIdAndEpoch:
                leader_id: int32 = since(10, default=-1)
                leader_epoch: int32 = since(10, default=-1)

            index: int32
            error_code: int16
            base_offset: int64
            log_append_time_ms: int64 = since(2, default=-1, ignorable=True)
            log_start_offset: int64 = since(5, default=-1, ignorable=True)
            record_errors: array[BatchIndexAndErrorMessage] = since(8, default=(), ignorable=True)
            error_message: nullable[string] = since(8, default=None, ignorable=True)
            current_leader: LeaderIdAndEpoch = tagged_field(0, default=None, since=10)

        name: string = until(12, default="", ignorable=True)
        topic_id: uuid = since(13, default=bytes(16), ignorable=True)
        partition_responses: array[PartitionProduceResponse]

    @struct
    class NodeEndpoint:
        node_id: int32 = since(10, default=0)
        host: string = since(10, default="")
        port: int32 = since(10, default=0)
        rack: nullable[string] = since(10, default=None)

    responses: array[TopicProduceResponse]
    throttle_time_ms: int32 = since(1, default=0, ignorable=True)
    node_endpoints: array[NodeEndpoint] = tagged_field(0, default=(), since=10)
